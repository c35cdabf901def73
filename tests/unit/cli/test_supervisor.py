"""The supervisor says how each worker ended, and waits before it replaces one that dies at once."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import uvicorn
from structlog.testing import capture_logs

from negotiator.cli import supervisor
from negotiator.cli.supervisor import STARTUP_FAILURE, DrainingServer, Supervisor
from negotiator.runtime import stopping, telemetry


class ScriptedProcess:
    """A worker process that ends when the test says so."""

    made = 0

    def __init__(self, *_given: Any) -> None:
        ScriptedProcess.made += 1
        self.pid = ScriptedProcess.made
        self.exitcode: int | None = None
        self.answers = True
        self.process = Mock()

    def is_alive(self, timeout: float) -> bool:
        assert timeout
        return self.answers and self.exitcode is None

    def start(self) -> None: ...

    def join(self) -> None: ...

    def kill(self) -> None:
        self.exitcode = -9 if self.exitcode is None else self.exitcode


@pytest.fixture
def supervised(monkeypatch: pytest.MonkeyPatch) -> Supervisor:
    """A supervisor of one worker, whose clock is `clock`."""
    monkeypatch.setattr(supervisor, "Process", ScriptedProcess)
    monkeypatch.setattr("signal.signal", Mock())
    monkeypatch.setattr(telemetry, "configure", Mock())
    made = Supervisor(uvicorn.Config("app", workers=1), [], "json")
    made.processes = [ScriptedProcess()]  # pyright: ignore[reportAttributeAccessIssue]
    return made


def _now(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setattr("time.monotonic", lambda: seconds)


def _step(supervised: Supervisor) -> tuple[Any, list[Any]]:
    with capture_logs() as lines:
        supervised.keep_subprocess_alive()
    return supervised.processes[0], lines


def test_a_killed_worker_is_one_line_with_its_signal_and_replaced_at_once(
    supervised: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    _now(monkeypatch, 0)
    worker, lines = _step(supervised)
    assert lines == []
    worker.exitcode = -11
    _now(monkeypatch, 100)
    replaced, [line] = _step(supervised)
    assert replaced is not worker
    assert (line["event"], line["signal"], line["pid"]) == ("a worker died", "SIGSEGV", worker.pid)
    assert line["module"] == "negotiator.cli.supervisor"


def test_a_worker_that_does_not_answer_is_killed_and_said_so(
    supervised: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    _now(monkeypatch, 0)
    worker, _ = _step(supervised)
    worker.answers = False
    _now(monkeypatch, 100)
    replaced, [line] = _step(supervised)
    assert worker.exitcode == -9
    assert replaced is not worker
    assert line["event"] == "a worker did not answer and was killed"
    assert "signal" not in line


def test_a_worker_that_dies_at_once_is_replaced_after_pauses_that_double(
    supervised: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, pauses = 0.0, list[float]()
    for _ in range(9):
        _now(monkeypatch, now)
        worker, lines = _step(supervised)
        assert lines == []
        worker.exitcode = 1
        died, replaced = now, worker
        _, [line] = _step(supervised)
        assert line["code"] == 1
        while replaced is worker:
            now += 1
            _now(monkeypatch, now)
            replaced, lines = _step(supervised)
            assert lines == []
        pauses.append(now - died)
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_a_replacement_that_cannot_start_is_tried_again_and_the_others_go_on(
    supervised: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    supervised.processes.append(ScriptedProcess())  # pyright: ignore[reportArgumentType]
    other, now, pauses = supervised.processes[1], 100.0, list[float]()
    _now(monkeypatch, now)
    worker, _ = _step(supervised)
    worker.exitcode = -9
    _now(monkeypatch, now := now + 100)
    replaced, _ = _step(supervised)
    for lived in (1, 1, 50):  # the last one takes long to fail
        replaced.exitcode = STARTUP_FAILURE
        _now(monkeypatch, now := now + lived)
        _, [line] = _step(supervised)
        assert line["event"] == "a worker cannot start"
        assert line["code"] == STARTUP_FAILURE
        pauses.append(line["again_in_seconds"])
        _now(monkeypatch, now := now + pauses[-1])
        replaced, lines = _step(supervised)
        assert lines == []
    assert pauses == [1, 2, 4]
    assert not supervised.should_exit.is_set()
    assert not supervised.cannot_start
    assert supervised.processes[1] is other
    assert replaced.exitcode is None


def test_a_worker_that_cannot_start_stops_the_server(supervised: Supervisor) -> None:
    supervised.processes[0].exitcode = STARTUP_FAILURE  # pyright: ignore[reportAttributeAccessIssue]
    _, [line] = _step(supervised)
    assert line["event"] == "a worker cannot start, the server stops"
    assert supervised.should_exit.is_set()
    assert supervised.cannot_start


def test_after_sigterm_the_workers_are_told_and_go_on_for_the_drain(
    supervised: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = Mock()
    monkeypatch.setattr("os.kill", sent)
    supervised._drain = 5  # pyright: ignore[reportPrivateUsage]
    _now(monkeypatch, 100)
    supervised.signal_queue.append(signal.SIGTERM)
    supervised.handle_signals()
    sent.assert_called_once_with(supervised.processes[0].pid, stopping.ANNOUNCEMENT)
    for now, ends in ((104.9, False), (105, True)):
        _now(monkeypatch, now)
        _step(supervised)
        assert supervised.should_exit.is_set() == ends


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_the_drain_and_no_worker_is_made_in_it(
    supervised: Supervisor, monkeypatch: pytest.MonkeyPatch, second: signal.Signals
) -> None:
    monkeypatch.setattr("os.kill", Mock())
    supervised._drain = 5  # pyright: ignore[reportPrivateUsage]
    worker = supervised.processes[0]
    supervised.signal_queue += [signal.SIGTERM]
    supervised.handle_signals()
    supervised.signal_queue += [signal.SIGHUP, signal.SIGTTIN]
    supervised.handle_signals()
    worker.exitcode = -9  # pyright: ignore[reportAttributeAccessIssue]
    assert _step(supervised) == (worker, [])
    assert supervised.processes == [worker]
    assert not supervised.should_exit.is_set()
    supervised.signal_queue += [second]
    supervised.handle_signals()
    assert supervised.should_exit.is_set()


@pytest.mark.asyncio
async def test_one_server_goes_on_for_the_drain_unless_it_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "_is_announced", False)
    server = DrainingServer(uvicorn.Config("app"), 5)
    server.started = True
    _now(monkeypatch, 100)
    server.handle_exit(signal.SIGTERM, None)
    assert stopping.is_announced()
    for now, ends in ((104.9, False), (105, True)):
        _now(monkeypatch, now)
        assert await server.on_tick(1) == ends
    interrupted = DrainingServer(uvicorn.Config("app"), 5)
    interrupted.started = True
    interrupted.handle_exit(signal.SIGINT, None)
    assert await interrupted.on_tick(1)


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
