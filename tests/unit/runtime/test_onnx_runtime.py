"""The runtime of the small networks reports to nobody."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.house.source_tree import PACKAGE, sources

ROOT = Path(__file__).parents[3]
LOADS = """
import sys
from pathlib import Path
from negotiator.runtime import onnx_runtime
onnx_runtime.make_session(Path(sys.argv[1]))
onnx_runtime.import_silently("onnxruntime.quantization")
"""


@pytest.mark.skipif(find_spec("silero_vad") is None, reason="no model to load: silero-vad is missing")
def test_loading_a_model_leaves_nothing_behind(tmp_path: Path) -> None:
    spec = find_spec("silero_vad")
    assert spec is not None
    assert spec.origin is not None
    model = Path(spec.origin).parent / "data" / "silero_vad.onnx"
    # A variable of build machines would keep it silent too, and hide what is tested here.
    plain = {name: os.environ[name] for name in ("PATH", "VIRTUAL_ENV") if name in os.environ}
    plain |= {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", LOADS, str(model)], env=plain, cwd=ROOT, check=True)
    assert list(tmp_path.rglob("*")) == []


def test_there_is_no_other_way_to_the_runtime() -> None:
    ways = [
        path.name
        for path in sources(PACKAGE)
        if 'import_module("onnxruntime' in path.read_text() or "import onnxruntime" in path.read_text()
    ]
    assert ways == []
