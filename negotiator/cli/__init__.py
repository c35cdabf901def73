"""The `negotiator` command for operators.

Every command takes `--json`, prints one line or table, exits with 1 when it is refused and with 2 when it is misused,
and works while the server runs, because it opens the same database. `main` holds the command tree, `output` the
printing and error handling, `tables` what rich prints, `database` opens the store, `loading` imports without garbage
collection, `worker` loads the application in a server process and `supervisor` replaces those that died; the other
modules hold the commands of one topic each.
"""

import io
import sys

from negotiator.cli.loading import uncollected


def main() -> None:
    """Run the command of `sys.argv`."""
    with uncollected():
        from negotiator.cli.main import app

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A character that the terminal's encoding lacks must not end the command.
            stream.reconfigure(errors="backslashreplace")
    app()
