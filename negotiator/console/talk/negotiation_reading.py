"""Reads a negotiation and its offers for a page, as the API answers them."""

from typing import cast

from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.page_calls import PageCalls
from negotiator.negotiations.schemas_negotiations import NegotiationView
from negotiator.negotiations.schemas_offers import OfferView

MAX_OFFERS = 100


async def read_negotiation(calls: PageCalls, session: SignedInSession, negotiation: str) -> NegotiationView:
    """The negotiation; raises NotFound where it is not the user's."""
    return cast("NegotiationView", await calls.run(session, "get_negotiation", {"id": negotiation}))


async def read_offers(calls: PageCalls, session: SignedInSession, negotiation: str) -> list[OfferView]:
    """The last 100 rows of its ledger, newest first."""
    members = {"id": negotiation, "limit": MAX_OFFERS}
    return cast("list[OfferView]", (await calls.run(session, "list_offers", members))["items"])
