"""The components of identity: agent registration and delegation, the OAuth endpoints, and the users' own pages."""

from dataclasses import dataclass

from negotiator.agents.assertion_registration import AssertionRegistration, EmailVerification
from negotiator.agents.delegation import DelegationRedemption, Delegations
from negotiator.agents.identity_routes import AgentIdentityRoutes
from negotiator.agents.identity_tokens import AgentIdentityTokens
from negotiator.agents.registration import AgentRegistration
from negotiator.agents.routes import AgentRoutes
from negotiator.agents.security_event_routes import SecurityEventRoutes
from negotiator.base import scopes, values
from negotiator.base.scopes import OPENID
from negotiator.compose.ownership import claim
from negotiator.compose.services import Component, OperationSlice, Services, offered_operations
from negotiator.console.people.account_page import AccountPage, AccountPasskeys, PasskeyCeremonies, PasskeySignIn
from negotiator.console.people.agents_page import AgentsPage
from negotiator.console.people.approval_page import ApprovalPage
from negotiator.console.people.authorization_page import AuthorizationPage
from negotiator.console.people.provider_sign_in import PROVIDER_RETURN_PATH, ProviderSignInPages
from negotiator.console.people.sign_in_pages import (
    FirstUserPage,
    ForgottenPasswordPage,
    NewPasswordPage,
    PasswordChecker,
    SignInPage,
)
from negotiator.store.statement import Transaction
from negotiator.tokens.access_tokens import TokenSubject
from negotiator.tokens.assertion_grants import BearerAssertionVerifier, IdentityAssertionExchange
from negotiator.tokens.client_authentication import ClientAssertionVerifier
from negotiator.tokens.client_documents import ClientDocuments, ClientLookup
from negotiator.tokens.client_registration_routes import ClientRegistrationRoutes
from negotiator.tokens.id_tokens import IdTokenSigner
from negotiator.tokens.refresh_tokens import RefreshTokens
from negotiator.tokens.routes import TokenEndpoints
from negotiator.trust.assertions import Assertion
from negotiator.trust.fetcher import Fetcher
from negotiator.trust.openid import CALLS_AT_ONCE, OpenIdProvider, ProviderRegistration
from negotiator.users import identity_matching
from negotiator.users.userinfo_routes import UserInfoRoutes


def build_authorization_flow(services: Services) -> Component:
    """Build the OAuth endpoints: tokens, authorization, client registration, user info."""
    settings, loopback = services.settings, services.settings.allow_loopback_fetch
    offered_scopes = scopes.of_services(settings.services)
    documents = ClientDocuments(services.client_urls, tuple(offered_scopes), loopback)
    clients = ClientLookup(services.store, documents)
    refreshing = RefreshTokens(services.secret, settings.refresh_ttl)
    endpoints = TokenEndpoints(
        services.store,
        services.credentials,
        BearerAssertionVerifier(services.verifier, _assertion_subject),
        clients,
        ClientAssertionVerifier(settings.base_url, services.client_keys, services.client_key_urls),
        refreshing,
        services.secret,
        IdTokenSigner(services.keyring, settings.base_url),
        services.resources,
        settings.token_ttl,
        services.api_keys,
        services.proofs,
        IdentityAssertionExchange(services.credentials),
    )
    authorize = AuthorizationPage(
        services.page_router, clients, endpoints.identity, services.resources, offered_scopes, services.secret
    )
    slices: list[OperationSlice] = [
        endpoints,
        ClientRegistrationRoutes(services.store, tuple(offered_scopes), loopback),
    ]
    if OPENID in offered_scopes:
        slices.append(UserInfoRoutes(services.store))
    return Component(operations=offered_operations(slices), pages=tuple(authorize.routes()))


def _assertion_subject(tx: Transaction, assertion: Assertion, client_id: str) -> TokenSubject:
    """The subject of a token that a client gets for an assertion: the assertion's user."""
    found = identity_matching.match_assertion(tx, assertion, actor=client_id)
    return TokenSubject(client_id, found.user_id, found.issuer, found.identity)


@dataclass(frozen=True, slots=True)
class AgentAccess:
    """The component, and the delegations, which the operator's commands use too."""

    component: Component
    delegations: Delegations


def build_agent_access(services: Services) -> AgentAccess:
    """Build registration, delegation and the OAuth endpoints."""
    settings = services.settings
    refreshing = RefreshTokens(services.secret, settings.refresh_ttl)
    delegations = Delegations(
        pepper=services.secret,
        credentials=services.credentials,
        refreshing=refreshing,
        life=settings.token_ttl,
        transfer_ownership=claim,
    )
    agents = _agents(services, delegations)
    events = SecurityEventRoutes(services.store, services.receiver)
    slices: list[OperationSlice] = [*agents, events] if "assistant" in settings.services else []
    flow = build_authorization_flow(services)
    component = Component(
        operations=(*offered_operations(slices), *flow.operations),
        pages=flow.pages,
        checks={"issuers": services.issuer_keys.state},
    )
    return AgentAccess(component, delegations)


def _agents(services: Services, delegations: Delegations) -> tuple[AgentRoutes, AgentIdentityRoutes]:
    """The agents' two sets of routes over the same functions: `/api/agents` and auth.md's `/agent/identity`."""
    settings, base, store = services.settings, services.settings.base_url, services.store
    registration = AgentRegistration(
        services.credentials, settings.ephemeral_ttl, settings.token_ttl, settings.unclaimed_retention_days
    )
    verification = EmailVerification(base, services.mails)
    redemption = DelegationRedemption(store, delegations, services.pipeline.limits)
    assertions = AssertionRegistration(base, store, services.verifier, registration)
    tokens = AgentIdentityTokens(services.credentials, delegations.refreshing, settings.token_ttl)
    identities = AgentIdentityRoutes(
        base, store, services.secret, registration, redemption, verification, assertions, tokens, services.proofs
    )
    agents = AgentRoutes(
        base, store, registration, redemption, verification, assertions, identities.claim, services.proofs
    )
    return agents, identities


def build_user_pages(services: Services, delegations: Delegations) -> Component:
    """Build the pages on which users sign in and manage their accounts and agents."""
    settings, page_router = services.settings, services.page_router
    passwords = PasswordChecker(page_router)
    provider = _provider(services) if settings.oidc_issuer else None
    name = settings.oidc_name if provider else ""
    ceremonies = PasskeyCeremonies(settings.base_url, services.secret)
    has_passkeys = ceremonies.are_possible
    sign_in = SignInPage(page_router, passwords, name, has_passkeys, bool(settings.smtp_url))
    account = AccountPage(page_router, passwords, has_passkeys)
    pages = [
        *page_router.pages.routes(),
        *sign_in.routes(),
        *FirstUserPage(page_router, services.secret).routes(),
        *NewPasswordPage(page_router, services.secret).routes(),
        *account.routes(),
        *ApprovalPage(page_router, passwords, delegations, name).routes(),
    ]
    if "assistant" in settings.services:
        pages += AgentsPage(page_router, delegations).routes()
    if settings.smtp_url:
        pages += ForgottenPasswordPage(page_router, passwords, services.mails, services.secret).routes()
    if has_passkeys:
        pages += PasskeySignIn(page_router, ceremonies, passwords, sign_in).routes()
        pages += AccountPasskeys(page_router, ceremonies, account).routes()
    if provider is None:
        return Component(pages=tuple(pages))
    pages += ProviderSignInPages(page_router, provider).routes()
    return Component(pages=tuple(pages), checks={"sign_in": provider.state}, closes=(provider.close,))


def _provider(services: Services) -> OpenIdProvider:
    settings = services.settings
    registered = ProviderRegistration(
        settings.oidc_issuer,
        settings.oidc_client_id,
        settings.oidc_client_secret,
        settings.oidc_name,
        f"{settings.base_url}{PROVIDER_RETURN_PATH}",
    )
    fetcher = Fetcher(allow_loopback=settings.allow_loopback_fetch, at_once=CALLS_AT_ONCE)
    return OpenIdProvider(registered, fetcher, clock=lambda: values.now())
