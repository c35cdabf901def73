"""A worker ends when its supervisor does, however that dies."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

_SUPERVISOR = """
import multiprocessing, time
from negotiator.cli.worker import end_with_supervisor

def work():
    end_with_supervisor()
    print("ready", flush=True)
    time.sleep(60)

if __name__ == "__main__":
    multiprocessing.get_context("spawn").Process(target=work).start()
    time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_ends_with_its_supervisor(tmp_path: Path, number: signal.Signals) -> None:
    script = tmp_path / "supervising.py"
    script.write_text(_SUPERVISOR)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, env=environment) as supervisor:
        assert supervisor.stdout is not None
        assert supervisor.stdout.readline() == b"ready\n"
        supervisor.send_signal(number)
        supervisor.communicate(timeout=30)  # until the worker has closed its end of the pipe too
