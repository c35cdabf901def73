"""What a plan may cite beside the negotiation itself: memories, benchmarks, somebody else to turn to.

Who knows alternatives to what is being bought: a seam, since the assistant also runs without the directory.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from negotiator.negotiations.session import NegotiationSession


@dataclass(frozen=True, slots=True)
class RelevantMemory:
    """A memory that bears on this talk."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class BenchmarkFigure:
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
class AlternativeLead:
    """Somebody one could turn to instead: a candidate for a better alternative; `source` is what says so, by its id."""

    name: str
    link: str
    why: str
    source: str = ""


class LeadFinder(Protocol):
    """Finds leads: somebody one could turn to instead."""

    async def leads(
        self, sellers: Sequence[str], texts: Sequence[str]
    ) -> tuple[AlternativeLead, ...]:
        """Leads for a matter, by the names of the other side and by what the matter is called; none when unsure."""
        ...


class NoLeads:
    """Knows nobody: what an assistant without a directory has."""

    async def leads(
        self, sellers: Sequence[str], texts: Sequence[str]
    ) -> tuple[AlternativeLead, ...]:
        """No leads."""
        del sellers, texts
        return ()


async def find_leads(scout: LeadFinder, session: NegotiationSession) -> tuple[AlternativeLead, ...]:
    """Leads for a negotiation; only who buys could buy elsewhere."""
    terms = session.terms
    if terms.role != "buyer":
        return ()
    sellers = terms.other_party.names if terms.other_party else ()
    labels = [issue.label for issue in terms.issues if issue.label != issue.name]
    return await scout.leads(sellers, [terms.title, *labels])
