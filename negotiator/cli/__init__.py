"""The `negotiator` command (docs/contract 5.2).

Every command takes `--json`, prints one clear line, exits 1 on refusal and 2 on misuse, and works while the
server runs: it opens the same database. `output` is how a command speaks; one file a topic.
"""

import gc
import io
import sys


def main() -> None:
    """Run the command that was typed."""
    # What is loaded stays: walking it again and again would take a quarter of a command's time.
    gc.disable()
    from negotiator.cli.main import app

    gc.freeze()
    gc.enable()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A name in an alphabet that the terminal's encoding lacks must not end the command.
            stream.reconfigure(errors="backslashreplace")
    app()
