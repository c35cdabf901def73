"""`/sign-in/provider`: sign-in with the organisation's OpenID provider.

A sealed cookie holds state, nonce, verifier and the next path while the browser is at the provider.
"""

from dataclasses import asdict, dataclass
from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from negotiator.base import values
from negotiator.base.errors import Forbidden, InvalidRequest, Unavailable
from negotiator.console.browser_sessions import AnySession, BrowserCookies, local_path
from negotiator.console.page_router import PageRouter
from negotiator.store import atomic_updates
from negotiator.store.statement import Transaction
from negotiator.trust.claims import AssertionRefused, Reason
from negotiator.trust.fetch import FetchFailed
from negotiator.trust.openid import OpenIdProvider, OpenIdUser
from negotiator.users import approval_queries, identity_matching
from negotiator.users.identity_matching import LinkApprovalRequired, MatchedUser

PENDING_SIGN_IN_SECONDS: Final = 600


@dataclass(frozen=True, slots=True)
class PendingSignIn:
    """A sign-in at the provider, of one browser, valid for ten minutes (`until` in milliseconds)."""

    state: str
    nonce: str
    verifier: str
    next_path: str
    until: int


def read_pending_sign_in(cookies: BrowserCookies, request: Request) -> PendingSignIn | None:
    """The pending sign-in of this browser, if the provider's answer belongs to it and comes in time."""
    fields = cookies.read_sealed(request, "pending-sign-in")
    pending = PendingSignIn(**fields) if fields else None
    if pending is None or pending.until <= values.now():
        return None
    state = request.query_params.get("state", "")
    return pending if values.equal_in_constant_time(pending.state, state) else None


PROVIDER_SIGN_IN_PATH = "/sign-in/provider"
PROVIDER_RETURN_PATH = f"{PROVIDER_SIGN_IN_PATH}/return"


@dataclass(frozen=True, slots=True)
class ProviderSignInPages:
    """Redirects users to the provider and signs them in when they return."""

    router: PageRouter
    provider: OpenIdProvider

    def routes(self) -> list[Route]:
        return [
            self.router.open_page(PROVIDER_SIGN_IN_PATH, self.start),
            self.router.open_page(PROVIDER_RETURN_PATH, self.finish),
        ]

    async def start(self, request: Request, _session: AnySession) -> Response:
        """Redirect to the provider, with a state bound to this browser."""
        state, nonce, verifier = values.new_secret(), values.new_secret(), values.new_secret()
        next_path = local_path(request.query_params.get("next"), otherwise=self.router.home)
        pending = PendingSignIn(state, nonce, verifier, next_path, values.now() + PENDING_SIGN_IN_SECONDS * 1000)
        try:
            provider_url = await self.provider.ask(
                state=pending.state,
                nonce=pending.nonce,
                verifier=pending.verifier,
                again="again" in request.query_params,
            )
        except FetchFailed as failed:
            raise self._unavailable(failed) from failed
        response = RedirectResponse(provider_url, 303, headers={"cache-control": "no-store"})
        cookies = self.router.browser_sessions.cookies
        cookies.write_sealed(response, "pending-sign-in", asdict(pending), life=PENDING_SIGN_IN_SECONDS)
        return response

    async def finish(self, request: Request, _session: AnySession) -> Response:
        """The provider's answer: start a session, or ask the account's owner to link the identity first."""
        query, cookies = request.query_params, self.router.browser_sessions.cookies
        pending = read_pending_sign_in(cookies, request)
        if pending is None:
            raise InvalidRequest("This sign-in took too long or began elsewhere. Start again.")
        if "code" not in query:
            error = query.get("error", "")[:60]
            raise Forbidden(f"{self.provider.registered.name} did not sign you in ({error or '?'}).")
        person = await self._identify(query["code"], query.get("iss"), pending)
        secret, address = values.new_secret(), self.router.address(request)
        try:
            found = await self.router.store.write(lambda tx: _sign_in_user(tx, person, pending, address))
        except LinkApprovalRequired as unlinked:
            await self.router.store.write(partial(_ask_owner, unlinked=unlinked, secret=secret))
            response = self.router.pages.see(f"/approve/{secret}")
        except AssertionRefused as refused:
            raise Forbidden(refused.description, detail=refused.detail) from refused
        else:
            next_path = local_path(pending.next_path, otherwise=self.router.home)
            response = self.router.redirect_after_sign_in(next_path)
            await self.router.browser_sessions.sign_in(
                request, response, found.user_id, issuer=found.issuer, identity=found.identity
            )
        cookies.drop(response, "pending-sign-in")
        return response

    async def _identify(self, code: str, issuer: str | None, pending: PendingSignIn) -> OpenIdUser:
        try:
            return await self.provider.redeem(code, issuer=issuer, nonce=pending.nonce, verifier=pending.verifier)
        except FetchFailed as failed:
            raise self._unavailable(failed) from failed
        except AssertionRefused as refused:
            if refused.reason is Reason.KEYS_UNAVAILABLE:
                raise Unavailable(refused.description, detail=refused.detail) from refused
            raise Forbidden(refused.description, detail=refused.detail) from refused

    def _unavailable(self, failed: FetchFailed) -> Unavailable:
        name = self.provider.registered.name
        return Unavailable(f"{name} cannot be reached now. Try again soon.", detail=failed.detail)


def _sign_in_user(tx: Transaction, person: OpenIdUser, pending: PendingSignIn, address: str) -> MatchedUser:
    """The user of this identity; each answer of the provider is accepted once."""
    if not atomic_updates.spend(tx, "openid-state", pending.state, expires_at=pending.until):
        raise AssertionRefused(Reason.REPLAY, "This sign-in was used before. Start again.")
    return identity_matching.sign_in_user(tx, person, actor=address)


def _ask_owner(tx: Transaction, unlinked: LinkApprovalRequired, secret: str) -> None:
    approval_queries.request_link(
        tx, secret, email=unlinked.email, identity=unlinked.identity, issuer=unlinked.issuer, agent_name=""
    )
