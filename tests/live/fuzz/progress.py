"""How far a part has come: kept in a file, so that the next run goes on; told per tenth, with time and memory.

An input follows from its part, seed and number alone, so any one of them can be made again.
"""

import contextlib
import gc
import json
import os
import signal
import traceback
from collections import Counter
from collections.abc import Generator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

from tests.live.fuzz.mutations import Mutator

TENTHS: Final = 10
_GROWTH: Final = 1.1
_QUIET_MB: Final = 24
"""How much memory may grow after the second tenth of a process: caches fill, and the allocator keeps pages."""
_SAVES: Final = 40
_FILLING: Final = 2
_SHOWN: Final = 2_000
"""Characters of an input that are kept with a fault."""


@dataclass(slots=True)
class Tenth:
    """One tenth of a part. `process` numbers the runs that the part took; memory is compared inside one of them."""

    number: int
    process: int
    inputs: int = 0
    seconds: float = 0.0
    memory_mb: float = 0.0
    slowest_ms: float = 0.0
    slowest: str = ""


@dataclass(slots=True)
class Fault:
    """One kind of fault: where it was raised or seen, how often, and the first input that led to it."""

    where: str
    count: int
    first: int
    about: str


@dataclass(slots=True)
class Progress:
    """What a part has done. `outcomes` counts the answers by their kind."""

    part: str
    seed: int
    inputs: int
    folder: Path
    done: int = 0
    processes: int = 0
    tenths: list[Tenth] = field(default_factory=list[Tenth])
    outcomes: Counter[str] = field(default_factory=Counter[str])
    faults: dict[str, Fault] = field(default_factory=dict[str, Fault])

    @classmethod
    def load(cls, part: str, seed: int | None, inputs: int, folder: Path) -> "Progress":
        """The unfinished run of the part, else a new one: of this seed, or of one after the last seed."""
        path = folder / f"{part}.json"
        last: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        ended = last.get("done", 0) >= last.get("inputs", 0)
        if last and not ended and seed in (None, last["seed"]) and inputs == last["inputs"]:
            return cls(
                part,
                last["seed"],
                inputs,
                folder,
                last["done"],
                last["processes"],
                [Tenth(**each) for each in last["tenths"]],
                Counter(last["outcomes"]),
                {each["where"]: Fault(**each) for each in last["faults"]},
            )
        return cls(part, last.get("seed", 0) + 1 if seed is None else seed, inputs, folder)

    def mutator(self, number: int) -> Mutator:
        """The changes of one input."""
        return Mutator(Random(f"{self.part}:{self.seed}:{number}"))

    def begin(self) -> None:
        """A process begins to work on this part."""
        self.processes += 1
        if self.done:
            print(f"{self.part}: goes on after {self.done:,} of {self.inputs:,}, seed {self.seed}")
        else:
            print(f"{self.part}: {self.inputs:,} inputs, seed {self.seed}")

    def count(self, outcome: str, took: float, what: str) -> None:
        """One input was answered after so many seconds."""
        number = min(self.done * TENTHS // self.inputs, TENTHS - 1) + 1
        if not self.tenths or (self.tenths[-1].number, self.tenths[-1].process) != (number, self.processes):
            self.tenths.append(Tenth(number, self.processes))
        tenth = self.tenths[-1]
        self.done += 1
        tenth.inputs += 1
        tenth.seconds += took
        self.outcomes[outcome] += 1
        if took * 1000 > tenth.slowest_ms:
            tenth.slowest_ms, tenth.slowest = round(took * 1000, 1), what

    def fault(self, number: int, where: str, sent: Any, about: str) -> None:
        """Keep a fault; only the first of its kind is kept whole."""
        known = self.faults.get(where)
        if known is not None:
            known.count += 1
            return
        text = f"{about}\n\ninput {number}:\n{sent!r:.{_SHOWN}}\n"
        self.faults[where] = Fault(where, 1, number, text)
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / f"fault-{self.part}-{self.seed}-{number}.txt").write_text(text)
        print(f"{self.part}: FAULT at input {number}: {where}")

    def raised(self, number: int, fault: BaseException, sent: Any) -> None:
        """Keep an exception that no caller expects."""
        frames = traceback.extract_tb(fault.__traceback__)
        own = [each for each in frames if "/negotiator/" in each.filename] or list(frames)
        where = f"{type(fault).__name__} in {Path(own[-1].filename).name}:{own[-1].lineno}"
        self.fault(number, where, sent, "".join(traceback.format_exception(fault)))

    def is_saving(self) -> bool:
        """Whether it is time to save: forty times a part, and at its end."""
        return self.done % max(1, self.inputs // _SAVES) == 0 or self.done >= self.inputs

    def save(self, memory_mb: float) -> None:
        """Write down how far it is; `memory_mb` is what the tested processes take now."""
        if self.tenths:
            self.tenths[-1].memory_mb = round(memory_mb, 1)
        self.folder.mkdir(parents=True, exist_ok=True)
        kept = {
            **{name: getattr(self, name) for name in ("seed", "inputs", "done", "processes")},
            "tenths": [asdict(each) for each in self.tenths],
            "outcomes": dict(self.outcomes),
            "faults": [asdict(each) for each in self.faults.values()],
        }
        path = self.folder / f"{self.part}.json"
        path.with_suffix(".new").write_text(json.dumps(kept, indent=1))
        path.with_suffix(".new").replace(path)

    def grown(self) -> str:
        """How memory grew from the second tenth of a process to its last, if that is too much; else empty."""
        for process in range(1, self.processes + 1):
            mine = [each for each in self.tenths if each.process == process]
            if len(mine) > _FILLING:
                before, after = mine[_FILLING - 1].memory_mb, mine[-1].memory_mb
                if after > before * _GROWTH + _QUIET_MB:
                    return f"memory grew from {before:.0f} to {after:.0f} MB"
        return ""

    def report(self) -> str:
        """The table of the tenths, the answers and the faults."""
        lines = [
            f"### {self.part}: {self.done:,} inputs, seed {self.seed}",
            "",
            "| tenth | inputs | CPU s | memory MB | slowest ms | of |",
            "|---:|---:|---:|---:|---:|---|",
            *(
                f"| {each.number} | {each.inputs:,} | {each.seconds:.0f} | {each.memory_mb:.0f} "
                f"| {each.slowest_ms:.0f} | {each.slowest} |"
                for each in self.tenths
            ),
            "",
            "Answers: " + ", ".join(f"{name} {count:,}" for name, count in self.outcomes.most_common(20)),
            *(f"FAULT, {each.count} times, first at input {each.first}: {each.where}" for each in self.faults.values()),
        ]
        return "\n".join(lines)


def memory_mb(*processes: int) -> float:
    """The memory that these processes take, in MB; this one's if none is named."""
    gc.collect()
    pages = 0
    for process in processes or (os.getpid(),):
        with contextlib.suppress(OSError):
            pages += int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


class Hanging(Exception):
    """An input was not done in time."""


@contextlib.contextmanager
def ends_hanging(seconds: float = 60) -> Generator[None]:
    """Raise `Hanging` inside a block that computes for so long."""

    def stop(_signal: int, _frame: object) -> None:
        raise Hanging

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
