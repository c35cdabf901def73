"""What a plan may cite beside the negotiation itself: memories, benchmarks, somebody else to turn to."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Remembered:
    """A memory that bears on this talk."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A comparison figure: what it measures, the usual value and the ends of the usual range as shown.

    One that is not `public`, such as the user's own record, is never said to the other side.
    """

    id: str
    label: str
    value: str
    low: str | None = None
    high: str | None = None
    public: bool = True


@dataclass(frozen=True, slots=True)
class Lead:
    """Somebody one could turn to instead: a candidate for a better alternative; `source` is what says so, by its id."""

    name: str
    link: str
    why: str
    source: str = ""
