"""The wing of the standard endpoints: tokens, the code flow, clients that register themselves, who signed in.

The wing where agents get in: registration, delegation codes, tokens.

The wing of people: signing in, and the pages on which they look after themselves and their agents.
"""

from dataclasses import dataclass

from negotiator import scopes, values
from negotiator.agents.assertion_registration import AssertionRegistration
from negotiator.agents.delegation import DelegationRedemption, Delegations
from negotiator.agents.email_verification import EmailVerification
from negotiator.agents.identity_routes import AgentIdentityRoutes
from negotiator.agents.identity_tokens import AgentIdentityTokens
from negotiator.agents.registration import AgentRegistration
from negotiator.agents.routes import AgentRoutes
from negotiator.agents.security_event_routes import SecurityEventRoutes
from negotiator.compose.component import Component, OperationSlice, offered_operations
from negotiator.compose.ownership import claim
from negotiator.compose.services import Services
from negotiator.console.account_page import AccountPage
from negotiator.console.agents_overview import ConsentConnections
from negotiator.console.agents_page import AgentsPage
from negotiator.console.approval_page import ApprovalPage
from negotiator.console.authorization_page import AuthorizationPage
from negotiator.console.memories_page import MemoriesPage
from negotiator.console.password_check import PasswordChecker
from negotiator.console.provider_sign_in import PROVIDER_RETURN_PATH, ProviderSignInPages
from negotiator.console.sign_in_pages import FirstUserPage, SignInPage
from negotiator.scopes import OPENID
from negotiator.store.statement import Transaction
from negotiator.tokens.access_tokens import TokenSubject
from negotiator.tokens.assertion_grants import BearerAssertionVerifier, IdentityAssertionExchange
from negotiator.tokens.authlib_grants import CodeFlowGrants
from negotiator.tokens.client_documents import ClientDocuments, ClientLookup
from negotiator.tokens.client_registration_routes import ClientRegistrationRoutes
from negotiator.tokens.id_tokens import IdTokenSigner
from negotiator.tokens.refresh_tokens import RefreshTokens
from negotiator.tokens.routes import TokenEndpoints
from negotiator.trust.assertions import Assertion
from negotiator.trust.openid import OpenIdProvider, ProviderRegistration
from negotiator.users import identity_matching
from negotiator.users.userinfo_routes import UserInfoRoutes


def build_authorization_flow(ground: Services) -> Component:
    """Make the wing."""
    chosen, loopback = ground.settings, ground.settings.allow_loopback_fetch
    offered_scopes = scopes.of_services(chosen.services)
    documents = ClientDocuments(ground.named_hosts, tuple(offered_scopes), loopback)
    known = ClientLookup(ground.store, documents)
    refreshing = RefreshTokens(ground.secret, chosen.refresh_ttl, chosen.refresh_max_ttl)
    flow = CodeFlowGrants(ground.secret, refreshing)
    endpoints = TokenEndpoints(
        ground.store,
        ground.credentials,
        BearerAssertionVerifier(ground.verifier, _admit),
        known,
        flow,
        IdTokenSigner(ground.keyring, chosen.base_url),
        ground.resources,
        chosen.token_ttl,
        ground.api_keys,
        ground.proofs,
        IdentityAssertionExchange(ground.credentials),
    )
    authorize = AuthorizationPage(
        ground.router,
        known,
        endpoints.identity,
        ground.resources,
        offered_scopes,
        ground.secret,
    )
    slices: list[OperationSlice] = [
        endpoints,
        ClientRegistrationRoutes(ground.store, tuple(offered_scopes)),
    ]
    if OPENID in offered_scopes:
        slices.append(UserInfoRoutes(ground.store))
    return Component(
        operations=offered_operations(slices),
        pages=tuple(authorize.routes()),
    )


def _admit(tx: Transaction, assertion: Assertion, client_id: str) -> TokenSubject:
    """At the token endpoint: the client's token stands on the assertion's user."""
    found = identity_matching.match_assertion(tx, assertion, actor=client_id)
    return TokenSubject(client_id, found.user_id, found.issuer, found.identity)


@dataclass(frozen=True, slots=True)
class AgentAccess:
    """The wing, and the delegations that the operator's commands use too."""

    wing: Component
    delegations: Delegations


def build_agent_access(ground: Services) -> AgentAccess:
    """Make the wing."""
    chosen = ground.settings
    refreshing = RefreshTokens(ground.secret, chosen.refresh_ttl, chosen.refresh_max_ttl)
    delegations = Delegations(
        pepper=ground.secret,
        credentials=ground.credentials,
        refreshing=refreshing,
        life=chosen.token_ttl,
        transfer_ownership=claim,
    )
    agents = _agents(ground, delegations)
    events = SecurityEventRoutes(ground.store, ground.receiver)
    slices: list[OperationSlice] = [*agents, events] if "assistant" in chosen.services else []
    flow = build_authorization_flow(ground)
    wing = Component(operations=(*offered_operations(slices), *flow.operations), pages=flow.pages)
    return AgentAccess(wing, delegations)


def _agents(ground: Services, delegations: Delegations) -> tuple[AgentRoutes, AgentIdentityRoutes]:
    """Registration and claim of agents, and auth.md's newer endpoints over the same units."""
    chosen, base, store = ground.settings, ground.settings.base_url, ground.store
    registration = AgentRegistration(
        ground.credentials,
        chosen.ephemeral_ttl,
        chosen.token_ttl,
        chosen.unclaimed_retention_days,
    )
    verification = EmailVerification(base, ground.mailer)
    claims = DelegationRedemption(store, delegations, ground.doorway.limits)
    asserting = AssertionRegistration(base, store, ground.verifier, registration)
    identities = AgentIdentityTokens(ground.credentials, delegations.refreshing, chosen.token_ttl)
    ceremony = AgentIdentityRoutes(
        base,
        store,
        ground.secret,
        registration,
        claims,
        verification,
        asserting,
        identities,
        ground.proofs,
    )
    claim, proofs = ceremony.claim, ground.proofs
    agents = AgentRoutes(base, store, registration, claims, verification, asserting, claim, proofs)
    return agents, ceremony


def build_user_pages(ground: Services, delegations: Delegations) -> Component:
    """Make the wing."""
    chosen, router = ground.settings, ground.router
    passwords = PasswordChecker(router)
    provider = _provider(ground) if chosen.oidc_issuer else None
    name = chosen.oidc_name if provider else ""
    pages = [
        *router.pages.routes(),
        *SignInPage(router, passwords, name).routes(),
        *FirstUserPage(router, ground.secret).routes(),
        *AccountPage(router, passwords).routes(),
        *ApprovalPage(router, passwords, delegations, name).routes(),
    ]
    if "assistant" in chosen.services:
        pages += AgentsPage(router, delegations, ConsentConnections()).routes()
        pages += MemoriesPage(router).routes()
    if provider is None:
        return Component(pages=tuple(pages))
    pages += ProviderSignInPages(router, provider).routes()
    return Component(pages=tuple(pages), closes=(provider.close,))


def _provider(ground: Services) -> OpenIdProvider:
    chosen = ground.settings
    registered = ProviderRegistration(
        chosen.oidc_issuer,
        chosen.oidc_client_id,
        chosen.oidc_client_secret,
        chosen.oidc_name,
        f"{chosen.base_url}{PROVIDER_RETURN_PATH}",
    )
    return OpenIdProvider(registered, ground.fetcher, clock=lambda: values.now())
