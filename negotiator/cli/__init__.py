"""The `negotiator` command for operators.

Every command takes `--json`, prints one line or table, exits with 1 when it is refused and with 2 when it is misused,
and works while the server runs, because it opens the same database. `main` holds the command tree, `output` the
printing and error handling, `tables` what rich prints, `database` opens the store, `worker` loads the application in a
server process and `supervisor` replaces those that died; the other modules hold the commands of one topic each.
"""

import gc
import io
import sys
from collections.abc import Generator
from contextlib import contextmanager


def main() -> None:
    """Run the command of `sys.argv`."""
    with uncollected():
        from negotiator.cli.main import app

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A character that the terminal's encoding lacks must not end the command.
            stream.reconfigure(errors="backslashreplace")
    app()


@contextmanager
def uncollected() -> Generator[None]:
    """Collect nothing inside the block, and never what is loaded in it: that stays, and takes a quarter of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
