"""The one way to onnxruntime: on one thread, and telling nobody.

Since 1.29 its official Linux builds report what they load to their maker, keep a device id in the user's cache
folder, and are only stopped by a variable that they read when they are imported; `disable_telemetry_events` comes too
late.
"""

import os
from importlib import import_module
from pathlib import Path
from typing import Any, Final

_SILENT: Final = "ORT_DISABLE_TELEMETRY"


def import_silently(name: str = "onnxruntime") -> Any:
    """The runtime or a module of it, imported with its reporting off; it has no types."""
    os.environ[_SILENT] = "1"
    return import_module(name)


def make_session(path: Path, *, arena: bool = True) -> Any:
    """A model ready to run on one thread; without an `arena` the memory of the largest input is given back."""
    onnxruntime = import_silently()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = arena
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
