"""One row of the table: a fault, what its clients saw, and whether the bounds held."""

import asyncio
import re
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from tests.live.faults.load import WITHOUT_ANSWER, Load, Sample
from tests.live.faults.site import Machine, Site, progress

COLUMNS: Final = ("Fault", "Clients saw", "Slowest, p99", "Acknowledged, lost", "Health", "Recovery", "Log lines")


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a row has to keep, besides that nothing acknowledged is lost. None: not judged."""

    reads: bool = True
    """Whether reads and pages are answered throughout, without a 5xx."""
    cut: int | None = 0
    """Requests that may get no answer."""
    health: float | None = 2.0
    """Seconds within which health answers."""
    recovery: float | None = 2.0
    """Seconds after the end of the cause within which every request is answered again."""
    slowest: float | None = None
    """Seconds that any request may take once the cause has begun."""
    log_lines: int | None = 10


@dataclass
class Finding:
    """What came of one fault. `broken` names the bounds that did not hold."""

    fault: str
    samples: list[Sample] = field(default_factory=list[Sample])
    """The requests from the beginning of the fault on."""
    quiet: list[Sample] = field(default_factory=list[Sample])
    """The requests before it."""
    began: float = 0.0
    """When the cause began (`time.monotonic`); seconds of a request count from it on."""
    acknowledged: Counter[str] = field(default_factory=Counter[str])
    missing: list[str] = field(default_factory=list[str])
    health_words: Counter[str] = field(default_factory=Counter[str])
    recovery: float | None = None
    log: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    broken: list[str] = field(default_factory=list[str])

    def judge(self, bounds: Bounds) -> None:
        """Add to `broken` what is out of bounds."""
        requests = [each for each in self.samples if each.kind != "health"]
        health = [each for each in self.samples if each.kind == "health"]
        cut = sum(each.outcome in WITHOUT_ANSWER for each in requests)
        refused = Counter(
            each.outcome for each in requests if each.kind in {"read", "page"} and each.outcome.startswith("5")
        )
        slow = max((each.seconds_from(self.began) for each in health), default=0.0)
        slowest = max((each.seconds_from(self.began) for each in requests), default=0.0)
        wrong = Counter(each.outcome for each in requests if each.outcome == "500")
        checks = (
            (bool(self.missing), f"{len(self.missing)} acknowledged and lost"),
            (bool(wrong), f"{wrong['500']} answers 500"),
            (bounds.reads and bool(refused), f"reads refused: {counted(refused)}"),
            (bounds.cut is not None and cut > bounds.cut, f"{cut} requests without an answer"),
            (bounds.health is not None and slow > bounds.health, f"health took {slow:.1f} s"),
            (
                bounds.recovery is not None and (self.recovery or 0) > bounds.recovery,
                f"recovery took {self.recovery or 0:.1f} s",
            ),
            (bounds.slowest is not None and slowest > bounds.slowest, f"slowest answer {slowest:.1f} s"),
            (bounds.log_lines is not None and len(self.log) > bounds.log_lines, f"{len(self.log)} log lines"),
        )
        self.broken += [text for is_broken, text in checks if is_broken]

    def cells(self) -> list[str]:
        """One text for each of `COLUMNS`."""
        requests = [each for each in self.samples if each.kind != "health"]
        health = [each for each in self.samples if each.kind == "health"]
        words = "; ".join(word for word, _ in self.health_words.most_common(4))
        total = sum(self.acknowledged.values())
        return [
            "<br>".join([self.fault, *self.notes, *(f"**{text}**" for text in self.broken)]),
            counted(_outcomes(requests)) or "–",
            f"{slowest_of(requests, self.began)}, {percentile(requests, self.began):.2f} s" if requests else "–",
            f"{total}, {len(self.missing)}" if total else "–",
            (f"{counted(_outcomes(health))}; ≤ {slowest_of(health, self.began)}" if health else "–")
            + (f"; {words}" if words else ""),
            "–" if self.recovery is None else f"{self.recovery:.2f} s",
            str(len(self.log)),
        ]


@dataclass(frozen=True, slots=True)
class Row:
    """A fault by its name on the command line. `run` makes it happen and returns one finding or several."""

    name: str
    summary: str
    run: Callable[[Site], Awaitable[list[Finding]]]


@dataclass
class Observation:
    """A load during which a fault happens."""

    finding: Finding
    load: Load
    began: float = 0.0
    ended: float = 0.0

    @asynccontextmanager
    async def fault(self) -> AsyncGenerator[None]:
        """The time from the beginning of the cause to its end, by what is inside `async with`."""
        self.began = time.monotonic()
        yield
        self.ended = time.monotonic()


@asynccontextmanager
async def observed(
    fault: str,
    machines: Sequence[Machine],
    bounds: Bounds,
    load: Load,
    *,
    quiet: float = 3.0,
    after: float = 4.0,
    verify: bool = True,
) -> AsyncGenerator[Observation]:
    """A load over the machines; inside, the row does its worst under `Observation.fault`.

    `quiet` seconds pass before and `after` seconds behind it, then the ledger is compared and the finding is judged.
    The log lines that a server writes when it starts do not count.
    """
    progress(f"{fault}: load of {load.clients} clients")
    finding = Finding(fault)
    async with load:
        await asyncio.sleep(quiet)
        sizes = [machine.log_size() for machine in machines]
        observation = Observation(finding, load)
        yield observation
        await asyncio.sleep(after)
    finding.samples = [each for each in load.samples if each.ended >= observation.began]
    finding.quiet = [each for each in load.samples if each.ended < observation.began]
    finding.began = observation.began
    finding.recovery = recovery(load.samples, observation.ended)
    finding.acknowledged, finding.health_words = load.ledger.counts, load.health_words
    finding.log = [
        line
        for machine, size in zip(machines, sizes, strict=True)
        for line in machine.log_lines(size)
        if not _STARTING.match(line)
    ]
    if verify:
        progress(f"{fault}: comparing {sum(load.ledger.counts.values())} acknowledged writes")
        finding.missing = await load.missing()
    finding.judge(bounds)


_STARTING: Final = re.compile(
    r"Negotiator at |Data folder: |Settings: |No user account exists|\s+https?://\S+$|"
    r"Or from the command line"
)
"""What `negotiator serve` prints when it starts."""


def recovery(samples: Iterable[Sample], ended: float) -> float:
    """Seconds from the end of a cause until requests begin that are all answered."""
    after = sorted(
        (each for each in samples if each.began >= ended and each.kind != "health"), key=lambda each: each.began
    )
    last = max((each.began for each in after if each.failed), default=0.0)
    good = (each.ended for each in after if each.began >= last and not each.failed)
    return min(good, default=float("inf")) - ended


def percentile(samples: Sequence[Sample], cause: float = 0.0, share: float = 0.99) -> float:
    """Seconds from the cause on within which this share of the requests was answered."""
    seconds = sorted(each.seconds_from(cause) for each in samples)
    return seconds[min(len(seconds) - 1, int(len(seconds) * share))] if seconds else 0.0


def slowest_of(samples: Iterable[Sample], cause: float = 0.0) -> str:
    """The longest time of all, from the cause on."""
    return f"{max((each.seconds_from(cause) for each in samples), default=0.0):.2f} s"


def counted(counts: Counter[str]) -> str:
    """`200 × 12, 503 × 3`, the most frequent first."""
    return ", ".join(f"{name} × {count}" for name, count in counts.most_common())


def _outcomes(samples: Iterable[Sample]) -> Counter[str]:
    return Counter(each.outcome for each in samples)


def table(findings: Sequence[Finding]) -> str:
    """The findings as a Markdown table."""
    lines = [COLUMNS, ("---",) * len(COLUMNS), *(finding.cells() for finding in findings)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
