"""The application as a server process loads it."""

import multiprocessing
import os
import signal
import sys
import threading
from typing import Final

from starlette.applications import Starlette

from negotiator.cli import uncollected
from negotiator.runtime import stopping

SWITCH_SECONDS: Final = 0.0005
"""How long a thread of advice keeps the interpreter from the event loop; Python's own 5 ms delay every answer."""


def create_app() -> Starlette:
    """The application."""
    sys.setswitchinterval(SWITCH_SECONDS)
    signal.signal(stopping.ANNOUNCEMENT, lambda _number, _frame: stopping.announce())
    end_with_supervisor()
    with uncollected():
        from negotiator.compose import app  # imported here, without the garbage collector

        return app.create_app()


def end_with_supervisor() -> None:
    """Stop as after SIGTERM when the supervisor is gone: alone, this process would only keep the port from the next."""
    supervisor = multiprocessing.parent_process()
    if supervisor is None:  # a single worker has none
        return

    def wait() -> None:
        supervisor.join()  # the end of a pipe, which tells of every kind of death at once
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="supervisor", daemon=True).start()
