"""The wing of the standard endpoints: tokens, the code flow, clients that register themselves, who signed in."""

from negotiator import scopes
from negotiator.console.consent.authorize import Authorize
from negotiator.store.statement import Transaction
from negotiator.tokens.flow.identity import Identity
from negotiator.tokens.flow.refreshing import Refreshing
from negotiator.tokens.identities import Exchange
from negotiator.tokens.issued import Subject
from negotiator.tokens.registration.documents import Documents
from negotiator.tokens.registration.known import KnownClients
from negotiator.tokens.registration.routes import ClientRegistration
from negotiator.tokens.routes import TokenEndpoints
from negotiator.tokens.standard.flow import Flow
from negotiator.tokens.standard.presented import Presenter
from negotiator.trust.assertions import Assertion
from negotiator.users import matching
from negotiator.users.userinfo import UserInfo
from negotiator.wiring.ground import Ground
from negotiator.wiring.wing import Slice, Wing, offered


def code_flow(ground: Ground) -> Wing:
    """Make the wing."""
    chosen, loopback = ground.settings, ground.settings.allow_loopback_fetch
    offered_scopes = scopes.of(chosen.services)
    documents = Documents(ground.named_hosts, tuple(offered_scopes), loopback)
    known = KnownClients(ground.store, documents)
    refreshing = Refreshing(ground.secret, chosen.refresh_ttl, chosen.refresh_max_ttl)
    flow = Flow(ground.secret, refreshing)
    endpoints = TokenEndpoints(
        ground.store,
        ground.credentials,
        Presenter(ground.verifier, _admit),
        known,
        flow,
        Identity(ground.keyring, chosen.base_url),
        ground.resources,
        chosen.token_ttl,
        ground.api_keys,
        ground.proofs,
        Exchange(ground.credentials),
    )
    authorize = Authorize(
        ground.room,
        known,
        endpoints.identity,
        ground.resources,
        offered_scopes,
        ground.secret,
    )
    slices: list[Slice] = [endpoints, ClientRegistration(ground.store, tuple(offered_scopes))]
    if "openid" in offered_scopes:
        slices.append(UserInfo(ground.store))
    return Wing(
        operations=offered(slices),
        pages=tuple(authorize.routes()),
    )


def _admit(tx: Transaction, assertion: Assertion, client_id: str) -> Subject:
    """At the token endpoint: the client's token stands on the assertion's user."""
    found = matching.match(tx, assertion, actor=client_id)
    return Subject(client_id, found.user_id, found.issuer, found.identity)
