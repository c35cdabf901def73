"""Who knows alternatives to what is being bought: a seam, since the assistant also runs without the directory."""

from collections.abc import Sequence
from typing import Protocol

from negotiator.negotiations.plans.evidence import Lead
from negotiator.negotiations.session import Session


class Scout(Protocol):
    """Finds leads: somebody one could turn to instead."""

    async def leads(self, sellers: Sequence[str], texts: Sequence[str]) -> tuple[Lead, ...]:
        """Leads for a matter, by the names of the other side and by what the matter is called; none when unsure."""
        ...


class Nobody:
    """Knows nobody: what an assistant without a directory has."""

    async def leads(self, sellers: Sequence[str], texts: Sequence[str]) -> tuple[Lead, ...]:
        """No leads."""
        del sellers, texts
        return ()


async def leads_for(scout: Scout, session: Session) -> tuple[Lead, ...]:
    """Leads for a negotiation; only who buys could buy elsewhere."""
    body = session.body
    if session.terms.role != "buyer":
        return ()
    other = body.counterparty
    sellers = [name for name in (other.organisation, other.name) if name] if other else []
    labels = [issue.label for issue in body.issues if issue.label]
    return await scout.leads(sellers, [body.title, *labels])
