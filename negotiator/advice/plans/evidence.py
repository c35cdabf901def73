"""What a plan may cite besides the negotiation: memories, benchmarks, and leads to alternatives.

`LeadFinder` is a protocol, because the assistant also runs without the directory.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from negotiator.terms.terms import Terms


@dataclass(frozen=True, slots=True)
class RelevantMemory:
    """A memory that is relevant to this negotiation."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class BenchmarkFigure:
    """A comparison figure: its label, the usual value and the ends of the usual range, all as text.

    A figure that is not `public`, such as the user's own record, is never said to the other side.
    """

    id: str
    label: str
    value: str
    low: str | None = None
    high: str | None = None
    public: bool = True


@dataclass(frozen=True, slots=True)
class AlternativeLead:
    """A possible alternative to the other side; `source` is the id of its evidence."""

    name: str
    link: str
    why: str
    source: str = ""


class LeadFinder(Protocol):
    """Finds possible alternatives."""

    async def leads(self, sellers: Sequence[str], texts: Sequence[str]) -> tuple[AlternativeLead, ...]:
        """Leads by the names of the other side and by texts that describe the purchase; empty when unsure."""
        ...


class NoLeads:
    """The lead finder of an assistant without a directory."""

    async def leads(self, sellers: Sequence[str], texts: Sequence[str]) -> tuple[AlternativeLead, ...]:
        del sellers, texts
        return ()


async def find_leads(finder: LeadFinder, terms: Terms) -> tuple[AlternativeLead, ...]:
    """Leads for a negotiation in which the user buys; none otherwise."""
    if terms.role != "buyer":
        return ()
    sellers = terms.other_party.names if terms.other_party else ()
    labels = [issue.label for issue in terms.issues if issue.label != issue.name]
    return await finder.leads(sellers, [terms.title, *labels])
