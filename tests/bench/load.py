"""One load of `wrk` on one server, and how its figures are written."""

import os
import platform
import re
import resource
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from tests.bench.contestants import Contestant

LUA: Final = Path(__file__).parent / "lua"
CONNECTIONS: Final = 32


@dataclass(frozen=True, slots=True)
class Figure:
    """What one load measured; `foreign` is the CPU in cores that neither the server nor `wrk` used."""

    rps: float
    p99_ms: float
    cpu_us: float
    foreign: float


@dataclass(frozen=True, slots=True)
class Load:
    """The wrk script, and the path and the script's environment for a contestant."""

    name: str
    script: str
    path: Callable[[Contestant], str]
    environment: Callable[[Contestant], dict[str, str]]


def measure(contestant: Contestant, load: Load, seconds: float) -> Figure:
    """Run a load: wrk on core 1 with one thread. Raises `RuntimeError` when an answer is a refusal or wrk fails."""
    url = f"http://127.0.0.1:{contestant.port}{load.path(contestant)}"
    command = ["taskset", "-c", "1", "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds:.0f}s"]
    command += ["--latency", "-s", str(LUA / load.script), url]
    environment = {**os.environ, **load.environment(contestant)}
    busy, server, wrk, began = _busy(), contestant.cpu_seconds(), _children(), time.monotonic()
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    wall, spent = time.monotonic() - began, contestant.cpu_seconds() - server
    foreign = max(0.0, _busy() - busy - spent - (_children() - wrk)) / wall
    if refused := re.search(r"(Non-2xx or 3xx responses|Socket errors): (.*)", ran.stdout):
        raise RuntimeError(f"{contestant.name}, {load.name}: {refused[0]}")
    requests = int(_found(r"(\d+) requests in", ran.stdout)[0])
    if not requests:
        raise RuntimeError(f"{contestant.name}, {load.name}: no answer in {seconds:g} s")
    value, unit = _found(r"99%\s+([\d.]+)(us|ms|s)\b", ran.stdout)
    p99 = float(value) * {"us": 0.001, "ms": 1, "s": 1000}[unit]
    rps = float(_found(r"Requests/sec:\s+([\d.]+)", ran.stdout)[0])
    return Figure(rps, p99, spent / requests * 1e6, foreign)


def _found(pattern: str, text: str) -> tuple[str, ...]:
    found = re.search(pattern, text)
    if not found:
        raise RuntimeError(f"wrk printed no {pattern!r}: {text}")
    return tuple(found.groups())


def _busy() -> float:
    """Seconds of CPU that all processes of the machine have used."""
    times = psutil.cpu_times()
    return sum(times) - times.idle - times.iowait - times.guest - times.guest_nice


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def spread(values: Sequence[float], digits: int) -> str:
    """The median, with the range where there are several values."""
    middle = f"{statistics.median(values):,.{digits}f}"
    if len(values) == 1:
        return middle
    return f"{middle} [{min(values):,.{digits}f}–{max(values):,.{digits}f}]"


def conditions(rounds: int, seconds: float, foreign: Sequence[float]) -> str:
    """When, where and beside what a table was measured."""
    model = next(
        (
            line.partition(": ")[2]
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    times = f"{rounds} round{'s' * (rounds > 1)} of {seconds:g} s"
    return (
        f"{time.strftime('%Y-%m-%d')}, {times} a load, {os.cpu_count()} cores ({model}), Python "
        f"{platform.python_version()}. Other processes used {spread(foreign, 1)} cores during the loads."
    )
