"""`make fuzz`: a bounded number of made-up inputs, from a seed, going on where the last run stopped.

    make fuzz                               every part: parsers, application, network, schemathesis
    make fuzz PART=parsers SEED=7 INPUTS=20000
    make fuzz PART=parsers SEED=7 AT=4711   one input alone, by its number

`FOLDER` (.fuzz) keeps how far each part is, and every fault with its input. The exit code is 1 when there was one: an
exception that nobody expects, a 500, a traceback in a log, more than a second of CPU in a parser, memory that grows.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.live.fuzz import application, network, parsers
from tests.live.fuzz.progress import Progress

PARTS: Final[dict[str, tuple[Callable[[Progress], None], int]]] = {
    "parsers": (parsers.run, 1_000_000),
    "application": (application.run, 100_000),
    "network": (network.run, 100_000),
}
"""What runs a part, and how many inputs it has."""
SCHEMATHESIS: Final = "schemathesis"


def main() -> int:
    """Run the parts that are asked for and print their tables; 1 for any fault."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--part", choices=(*PARTS, SCHEMATHESIS), action="append")
    reader.add_argument("--seed", type=int)
    reader.add_argument("--inputs", type=int)
    reader.add_argument("--at", type=int, help="run the input of this number alone")
    reader.add_argument("--folder", type=Path, default=Path(".fuzz"))
    asked = reader.parse_args()
    sys.stdout.reconfigure(line_buffering=True)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    bad = False
    for part in asked.part or (*PARTS, SCHEMATHESIS):
        if part == SCHEMATHESIS:
            command = [sys.executable, "-m", "tests.live.openapi.fuzz"]
            bad |= bool(subprocess.run(command, check=False).returncode)
            continue
        run, inputs = PARTS[part]
        if asked.at is not None:
            progress = Progress(part, asked.seed or 1, asked.at + 1, asked.folder / "one", done=asked.at)
        else:
            progress = Progress.load(part, asked.seed, asked.inputs or inputs, asked.folder)
        run(progress)
        grown = progress.grown()
        print(f"\n{progress.report()}\n{f'FAULT: {grown}' if grown else 'Memory is flat.'}\n")
        bad |= bool(progress.faults or grown)
    return bad


if __name__ == "__main__":
    sys.exit(main())
