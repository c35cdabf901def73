"""`make bench`: throughput of the doors beside the ceiling and a peer, alternating in the same minutes.

    python -m tests.bench.http --shared ../shared/bench/http [--rounds 5] [--seconds 4]

The server runs on one core, the load generator (wrk) on the other; two workers share both with it. Figures are
medians over the rounds with their range; every ratio is taken inside one round. CPU is user and system time of the
server's process tree per request, which a busy machine disturbs least.
"""

import argparse
import contextlib
import os
import re
import statistics
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.bench import contestants
from tests.bench.contestants import Contestant, Provider

LUA = Path(__file__).parent / "lua"
CONNECTIONS = 32


@dataclass(frozen=True)
class Figure:
    rps: float
    p99_ms: float
    cpu_us: float


@dataclass(frozen=True)
class Load:
    """One row's load: the wrk script, the path and the script's environment for a contestant."""

    name: str
    script: str
    path: Callable[[Contestant], str]
    environment: Callable[[Contestant], dict[str, str]]


def measure(contestant: Contestant, load: Load, seconds: float) -> Figure:
    before = contestant.cpu_seconds()
    url = f"http://127.0.0.1:{contestant.port}{load.path(contestant)}"
    command = [
        "taskset",
        "-c",
        "1",
        "wrk",
        "-t1",
        f"-c{CONNECTIONS}",
        f"-d{seconds:.0f}s",
        "--latency",
        "-s",
        str(LUA / load.script),
        url,
    ]
    ran = subprocess.run(
        command,
        env={**os.environ, **load.environment(contestant)},
        capture_output=True,
        text=True,
        check=True,
    )
    spent = contestant.cpu_seconds() - before
    if refused := re.search(r"Non-2xx or 3xx responses: (\d+)", ran.stdout):
        raise RuntimeError(f"{contestant.name}, {load.name}: {refused[1]} refused")
    requests = int(re.search(r"(\d+) requests in", ran.stdout)[1])  # type: ignore[index]
    value, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)\b", ran.stdout).groups()  # type: ignore[union-attr]
    p99 = float(value) * {"us": 0.001, "ms": 1, "s": 1000}[unit]
    rps = float(re.search(r"Requests/sec:\s+([\d.]+)", ran.stdout)[1])  # type: ignore[index]
    return Figure(rps, p99, spent / requests * 1e6)


class Bench:
    """All the rows, round after round."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder = folder
        self.seconds = seconds
        self.provider = Provider(folder)
        self.figures: dict[tuple[str, str], list[Figure]] = defaultdict(list)
        self.memory: dict[str, float] = {}

    def run(self, contestant: Contestant, load: Load) -> None:
        self.figures[load.name, contestant.name].append(measure(contestant, load, self.seconds))
        self.memory[contestant.name] = contestant.largest_mb()

    def registration(self, path: str) -> Load:
        body = '{"agent_name":"a","identity_type":"anonymous"}'
        return Load("anonymous registration", "post.lua", lambda _: path, lambda _: {"BODY": body})

    def dynamic(self) -> Load:
        body = '{"redirect_uris":["https://app.example/cb"]}'
        return Load(
            "anonymous registration", "post.lua", lambda _: "/reg", lambda _: {"BODY": body}
        )

    def assertion(self) -> Load:
        path = self.folder / "assertions"
        self.provider.write_assertions(path, int(self.seconds * 9000))
        return Load(
            "ID-JAG registration",
            "assertions.lua",
            lambda _: "/api/agent/register",
            lambda _: {"ASSERTIONS": str(path)},
        )

    def listing(self, tokens: int) -> Load:
        def environment(contestant: Contestant) -> dict[str, str]:
            path = self.folder / f"tokens-{contestant.port}"
            path.write_text("\n".join(contestant.tokens[:tokens]) + "\n")
            return {"TOKENS": str(path)}

        name = "guarded list of 20, one token" if tokens == 1 else "guarded list of 20, many tokens"
        return Load(name, "get.lua", lambda _: "/api/negotiations", environment)

    def credentials(self, path: str) -> Load:
        def environment(contestant: Contestant) -> dict[str, str]:
            body = "grant_type=client_credentials&scope=negotiations:read"
            return {
                "BODY": body,
                "TYPE": "application/x-www-form-urlencoded",
                "BASIC": contestant.basic,
            }

        return Load("client credentials", "post.lua", lambda _: path, environment)

    def report(self) -> str:
        reference = {
            "anonymous registration": "ceiling",
            "ID-JAG registration": "ceiling",
            "client credentials": "oidc-provider, memory",
        }
        lines = [
            "| row | contestant | requests/s | p99 ms | CPU µs | × reference (rps) | × reference (CPU) |",
            "|---|---|---:|---:|---:|---:|---:|",
        ]
        for (row, name), figures in self.figures.items():
            against = self.figures.get((row, reference.get(row, "ceiling")), figures)
            rps = [pair[0].rps / pair[1].rps for pair in zip(figures, against, strict=False)]
            cpu = [pair[1].cpu_us / pair[0].cpu_us for pair in zip(figures, against, strict=False)]
            lines.append(
                f"| {row} | {name} | {spread([f.rps for f in figures], 0)} | {spread([f.p99_ms for f in figures], 1)} "
                f"| {spread([f.cpu_us for f in figures], 0)} | {spread(rps, 2)} | {spread(cpu, 2)} |"
            )
        memory = ", ".join(f"{name} {size:.0f} MB" for name, size in self.memory.items())
        return "\n".join([*lines, "", f"Largest process: {memory}."])


def spread(values: list[float], digits: int) -> str:
    return f"{statistics.median(values):.{digits}f} [{min(values):.{digits}f}–{max(values):.{digits}f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--shared", type=Path, required=True, help="folder with ceiling.py and oidc_provider.mjs"
    )
    parser.add_argument(
        "--modules", type=Path, default=None, help="folder whose node_modules has oidc-provider"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        bench = Bench(folder, chosen.seconds)
        top = stack.enter_context(contestants.ceiling(folder, chosen.shared.resolve(), "0"))
        one = stack.enter_context(contestants.ours(folder, 1, "0"))
        two = stack.enter_context(contestants.ours(folder, 2, "0,1"))
        rival = (
            stack.enter_context(contestants.peer(folder, chosen.shared, chosen.modules, "0"))
            if chosen.modules
            else None
        )
        for _ in range(chosen.rounds):
            for contestant in (top, one, two):
                bench.run(contestant, bench.registration("/api/agent/register"))
                bench.run(contestant, bench.assertion())
                bench.run(contestant, bench.listing(1))
                if contestant is not top:
                    bench.run(contestant, bench.listing(50))
                    bench.run(contestant, bench.credentials("/oauth/token"))
            if rival:
                bench.run(rival, bench.dynamic())
                bench.run(rival, bench.credentials("/token"))
        print(bench.report())


if __name__ == "__main__":
    main()
