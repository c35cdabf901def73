"""CPU, time and memory of a start: `negotiator serve` until its first answer, and two commands.

    python -m tests.bench.start [--rounds 5]

The database is migrated and the modules are compiled before. PSS counts a page that processes share once: other servers
of this installation lower it, which RSS shows.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.contestants import ROOT, MemoryUse, cpu_seconds, settle, started
from tests.helpers.live_server import free_port

COMMANDS = (("--help",), ("issuers", "list"))
WORKERS = (1, 2)
_HEADER = (
    "| Start | CPU, s | Until the first answer, s | PSS, MB | RSS of each process |",
    "|---|---:|---:|---:|---:|",
)


def serve(environment: dict[str, str], workers: int) -> tuple[float, float, MemoryUse]:
    """CPU seconds and seconds of one start until its first answer, and its memory then."""
    port = free_port()
    command = [sys.executable, "-m", "negotiator", "serve", "--port", str(port)]
    command += ["--workers", str(workers)]
    began = time.monotonic()
    with started("start", command, environment, port, "0,1") as server:
        server.request("GET", "/api/health")
        seconds, used = time.monotonic() - began, cpu_seconds(server.tree())
        settle(server)
        return used, seconds, server.memory()


def command_cpu(environment: dict[str, str], words: tuple[str, ...]) -> float:
    """CPU seconds of one run of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "negotiator", *words], env={**os.environ, **environment}, check=True, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def report(environment: dict[str, str], rounds: int) -> str:
    """The table, with the medians of the rounds."""
    serve(environment, 1)  # makes database and keys, and compiles
    lines = list(_HEADER)
    for workers in WORKERS:
        runs = [serve(environment, workers) for _ in range(rounds)]
        cpu, seconds = (statistics.median(run[at] for run in runs) for at in (0, 1))
        memory = sorted((run[2] for run in runs), key=lambda use: sum(use.pss))[rounds // 2]
        each = " + ".join(f"{size:.0f}" for size in memory.rss)
        name = f"`serve --workers {workers}`"
        lines.append(f"| {name} | {cpu:.2f} | {seconds:.2f} | {sum(memory.pss):.0f} | {each} |")
    for words in COMMANDS:
        cpu = statistics.median(command_cpu(environment, words) for _ in range(rounds))
        lines.append(f"| `negotiator {' '.join(words)}` | {cpu:.2f} | | | |")
    load = os.getloadavg()[0]
    return "\n".join([*lines, "", f"Medians of {rounds} rounds; load average {load:.1f}."])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {
            "NEGOTIATOR_CONFIG": os.devnull,
            "NEGOTIATOR_DATA_DIR": str(folder / "data"),
            "NEGOTIATOR_KEYS_DIR": str(folder / "keys"),
            "NEGOTIATOR_MODELS_DIR": str(ROOT / ".bench/models"),
            "XDG_STATE_HOME": str(folder),
            "PYTHONPATH": str(ROOT),
        }
        print(report(environment, rounds))


if __name__ == "__main__":
    main()
