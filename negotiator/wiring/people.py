"""The wing of people: signing in, and the pages on which they look after themselves and their agents."""

from negotiator import values
from negotiator.agents.delegation import Delegations
from negotiator.console.account import Account
from negotiator.console.agents.routes import AgentsPage
from negotiator.console.approve import Approve
from negotiator.console.consent.connections import LetIn
from negotiator.console.entry.first_user import FirstUser
from negotiator.console.entry.passwords import Passwords
from negotiator.console.entry.provider import BACK, ProviderSignIn
from negotiator.console.entry.sign_in import SignIn
from negotiator.console.memories.routes import MemoriesPage
from negotiator.trust.openid.provider import Provider, Registration
from negotiator.wiring.ground import Ground
from negotiator.wiring.wing import Wing


def people(ground: Ground, delegations: Delegations) -> Wing:
    """Make the wing."""
    chosen, room = ground.settings, ground.room
    passwords = Passwords(room)
    provider = _provider(ground) if chosen.oidc_issuer else None
    name = chosen.oidc_name if provider else ""
    pages = [
        *room.pages.routes(),
        *SignIn(room, passwords, name).routes(),
        *FirstUser(room, ground.secret).routes(),
        *Account(room, passwords).routes(),
        *Approve(room, passwords, delegations, name).routes(),
    ]
    if "assistant" in chosen.services:
        pages += AgentsPage(room, delegations, LetIn()).routes()
        pages += MemoriesPage(room).routes()
    if provider is None:
        return Wing(pages=tuple(pages))
    pages += ProviderSignIn(room, provider).routes()
    return Wing(pages=tuple(pages), closes=(provider.close,))


def _provider(ground: Ground) -> Provider:
    chosen = ground.settings
    registered = Registration(
        chosen.oidc_issuer,
        chosen.oidc_client_id,
        chosen.oidc_client_secret,
        chosen.oidc_name,
        f"{chosen.base_url}{BACK}",
    )
    return Provider(registered, ground.fetcher, clock=lambda: values.now())
