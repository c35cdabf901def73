"""Imports onnxruntime with its telemetry off and runs models on one thread.

Since 1.29 its official Linux builds report to their vendor what they load and keep a device id in the user's cache
folder. Only an environment variable that is read at import stops this; `disable_telemetry_events` comes too late.
"""

import os
from importlib import import_module
from pathlib import Path
from typing import Any, Final

_SILENT: Final = "ORT_DISABLE_TELEMETRY"


def import_silently(name: str = "onnxruntime") -> Any:
    """The runtime or one of its modules, imported with telemetry off; it has no types."""
    os.environ[_SILENT] = "1"
    return import_module(name)


def make_session(path: Path, *, arena: bool = True) -> Any:
    """A session that runs the model on one thread; without `arena` the memory of large inputs is freed."""
    onnxruntime = import_silently()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = arena
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
