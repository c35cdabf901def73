"""Runs uvicorn for `negotiator serve`: one server in the process of the command, or the supervisor of several workers.

With `drain_seconds`, SIGTERM first makes every worker answer 503 at `/readyz`; they stop listening that much later. A
second signal, or SIGINT, does not wait. A worker that is replaced (SIGHUP) says nothing, since the others go on.

The supervisor is a process of its own. It imports uvicorn alone until a worker dies, so that it stays small.
"""

import contextlib
import json
import os
import signal
import sys
import time
from dataclasses import dataclass
from socket import socket
from types import FrameType
from typing import Any, Final, Literal

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess
from uvicorn.supervisors.multiprocess import Process

from negotiator.runtime import stopping

_MODULE: Final = "negotiator.cli.supervisor"
"""This module is run as `__main__`."""
LogFormat = Literal["console", "json"]

_SHORT_LIFE: Final = 30.0
"""Seconds. A worker that died younger is replaced after a pause, which doubles each time."""
_LONGEST_PAUSE: Final = 60.0
_ENDING_SIGNALS: Final = {signal.SIGTERM, signal.SIGINT}
_ENDING: Final = 0.2
"""Seconds in which a process that no longer answers because it is ending has ended."""


@dataclass(slots=True)
class WorkerPlace:
    """What is known of the worker at one place of the list, in seconds of the monotonic clock."""

    since: float
    pause: float = 0.0
    replace_at: float | None = None


class DrainingServer(uvicorn.Server):
    """uvicorn's server, which goes on for `drain` seconds after SIGTERM."""

    def __init__(self, config: uvicorn.Config, drain: float) -> None:
        super().__init__(config)
        self._drain = drain
        self._stops_at: float | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        waits = sig == signal.SIGTERM and self._drain and self.started
        if not waits or self._stops_at is not None:
            super().handle_exit(sig, frame)
            return
        self._captured_signals.append(sig)
        self._stops_at = time.monotonic() + self._drain
        stopping.announce()

    async def on_tick(self, counter: int) -> bool:
        if self._stops_at is not None and time.monotonic() >= self._stops_at:
            self.should_exit = True
        return await super().on_tick(counter)


class Supervisor(Multiprocess):
    """uvicorn's supervisor, which also logs how a worker ended, and waits before it replaces one that dies at once.

    After SIGTERM it announces the end to its workers, and ends them `drain` seconds later.
    """

    def __init__(self, config: uvicorn.Config, sockets: list[socket], log_format: LogFormat, drain: float = 0) -> None:
        super().__init__(config, sockets)
        self._log_format: LogFormat = log_format
        self._drain = drain
        self._stops_at: float | None = None
        self._places: dict[int, WorkerPlace] = {}
        self._first: list[Process] = []
        self.cannot_start = False

    def handle_signals(self) -> None:
        if self._stops_at is not None:  # no worker is started any more
            self.signal_queue[:] = [each for each in self.signal_queue if each in _ENDING_SIGNALS]
        super().handle_signals()

    def handle_term(self) -> None:
        if not self._drain or self._stops_at is not None:
            super().handle_term()
            return
        self._stops_at = time.monotonic() + self._drain
        for process in self.processes:
            if process.exitcode is None and process.pid is not None:
                os.kill(process.pid, stopping.ANNOUNCEMENT)

    def keep_subprocess_alive(self) -> None:
        """Replace each worker that died or does not answer; stop the server when a first one cannot start."""
        if self._stops_at is not None:
            if time.monotonic() >= self._stops_at:
                self.should_exit.set()
            return
        self._first = self._first or [*self.processes]
        for index, process in enumerate(self.processes):
            if self.should_exit.is_set():
                return
            place = self._places.setdefault(index, WorkerPlace(time.monotonic()))
            if process.is_alive(timeout=self.config.timeout_worker_healthcheck):
                place.replace_at = None
                continue
            now = time.monotonic()
            if place.replace_at is None:
                place.replace_at = now + self._ended(process, place, now - place.since)
            if now >= place.replace_at and not self.should_exit.is_set():
                self.processes[index] = Process(self.config, self.sockets)
                self.processes[index].start()
                place.since, place.replace_at = time.monotonic(), None

    def terminate_all(self) -> None:
        """Stop listening, then the workers: a connection that none of them accepts is refused."""
        for listening in self.sockets:
            listening.close()
        super().terminate_all()

    def _ended(self, process: Process, place: WorkerPlace, lived: float) -> float:
        """Log how this worker ended, and make sure of it; returns the seconds until it may be replaced."""
        process.process.join(_ENDING)
        code = process.exitcode
        process.kill()
        process.join()
        if code == STARTUP_FAILURE and process in self._first:
            self._log("a worker cannot start, the server stops", process)
            self.cannot_start = True
            self.should_exit.set()
            return 0.0
        failed = code == STARTUP_FAILURE  # others serve meanwhile, and its cause may pass, such as a read-only disk
        is_quick = failed or lived < _SHORT_LIFE
        place.pause = min(max(1.0, 2 * place.pause), _LONGEST_PAUSE) if is_quick else 0.0
        what = "a worker cannot start" if failed else "a worker died"
        what = "a worker did not answer and was killed" if code is None else what
        again = {"again_in_seconds": round(place.pause)} if place.pause else {}
        self._log(what, process, **ending(code), **again)
        return place.pause

    def _log(self, event: str, process: Process, **facts: str | int) -> None:
        from negotiator.runtime import telemetry  # imported here: a supervisor rarely logs, and stays small

        telemetry.configure(self._log_format)
        telemetry.logger(_MODULE).error(event, pid=process.pid, **facts)


def ending(code: int | None) -> dict[str, str | int]:
    """The signal or the exit code of a process, in the words of a log line; nothing while it runs."""
    if code is None:
        return {}
    if code >= 0:
        return {"code": code}
    try:
        return {"signal": signal.Signals(-code).name}
    except ValueError:
        return {"signal": f"{-code}"}


def main(log_format: LogFormat, options: dict[str, Any], drain: float = 0) -> None:
    """Run uvicorn with these options until a signal; several workers get a supervisor."""
    if options["reload"]:
        uvicorn.run(**options)
        return
    config = uvicorn.Config(**options)
    if options["workers"] == 1:
        _run_alone(DrainingServer(config, drain))
        return
    supervisor = Supervisor(config, [config.bind_socket()], log_format, drain)
    supervisor.run()
    if supervisor.cannot_start:
        sys.exit(STARTUP_FAILURE)


def _run_alone(server: DrainingServer) -> None:
    """Run the server in this process, as `uvicorn.run` does."""
    with contextlib.suppress(KeyboardInterrupt):
        server.run()
    if not server.started:
        sys.exit(STARTUP_FAILURE)


if __name__ == "__main__":
    given_options = json.loads(sys.argv[2])
    main("json" if sys.argv[1] == "json" else "console", given_options, float(sys.argv[3]))
