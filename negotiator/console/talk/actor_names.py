"""The names of those who acted in a negotiation, as pages say them."""

from collections.abc import Iterable, Mapping
from typing import Final

from negotiator.agents import registration
from negotiator.console.browser_sessions import SignedInSession
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

UNNAMED: Final = {"clock": "The clock", "agent": "An agent", "client": "An application", "user": "Another user"}


async def actor_names(store: Store, session: SignedInSession, actors: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Names by id: `You`, the user's agents as they call themselves; others are missing."""
    ids = sorted({one["id"] for one in actors if one["kind"] == "agent"})

    def unit(tx: Transaction) -> dict[str, str]:
        found = [registration.find(tx, one) for one in ids]
        return {one.id: one.name for one in found if one and one.user_id == session.user_id}

    named = await store.read(unit) if ids else {}
    return {**named, session.user_id: "You"}


def name_of(actor: Mapping[str, str], names: Mapping[str, str]) -> str:
    """The actor's name at the beginning of a sentence."""
    return names.get(actor["id"]) or UNNAMED[actor["kind"]]
