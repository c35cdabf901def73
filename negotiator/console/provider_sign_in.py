"""What a browser carries while it is away at the provider, sealed: state, nonce, verifier, and where it was going.

`/sign-in/provider`: signing in with the organisation's OpenID provider, there and back.
"""

from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final

import orjson
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from negotiator import values
from negotiator.console.browser_sessions import AnySession, local_path
from negotiator.console.cookies import BrowserCookies
from negotiator.console.page_router import PageRouter
from negotiator.errors import Forbidden, InvalidRequest, Unavailable
from negotiator.store import atomic_updates
from negotiator.store.statement import Transaction
from negotiator.strict_json import read_object
from negotiator.telemetry import logger
from negotiator.trust.claims import AssertionRefused, Reason
from negotiator.trust.fetch import FetchFailed
from negotiator.trust.openid import OpenIdProvider, OpenIdUser
from negotiator.users import approval_queries, identity_matching
from negotiator.users.identity_matching import LinkApprovalRequired, MatchedUser

PENDING_SIGN_IN_SECONDS: Final = 600


@dataclass(frozen=True, slots=True)
class PendingSignIn:
    """One sign-in at the provider, for one browser, for ten minutes (`until` in milliseconds)."""

    state: str
    nonce: str
    verifier: str
    onward: str
    until: int


def begin_sign_in(onward: str) -> PendingSignIn:
    """A new errand with secrets of its own."""
    return PendingSignIn(
        values.new_secret(),
        values.new_secret(),
        values.new_secret(),
        onward,
        values.now() + PENDING_SIGN_IN_SECONDS * 1000,
    )


def write_pending_sign_in(
    cookies: BrowserCookies, response: Response, errand: PendingSignIn
) -> None:
    """Give it to the browser."""
    cookies.write(
        response,
        "errand",
        cookies.seal("errand", orjson.dumps(asdict(errand))),
        life=PENDING_SIGN_IN_SECONDS,
    )


def read_pending_sign_in(
    cookies: BrowserCookies, request: Request, *, otherwise: str
) -> PendingSignIn | None:
    """The errand this browser was on, if its answer is to that and comes in time."""
    content = cookies.unseal("errand", cookies.read(request, "errand"))
    if content is None:
        return None
    told: dict[str, Any] = read_object(content)
    errand = PendingSignIn(**told)
    if errand.until <= values.now() or not values.equal_in_constant_time(
        errand.state, request.query_params.get("state", "")
    ):
        return None
    return PendingSignIn(
        errand.state,
        errand.nonce,
        errand.verifier,
        local_path(errand.onward, otherwise=otherwise),
        errand.until,
    )


log = logger(__name__)

PROVIDER_SIGN_IN_PATH = "/sign-in/provider"
PROVIDER_RETURN_PATH = f"{PROVIDER_SIGN_IN_PATH}/return"


@dataclass(frozen=True, slots=True)
class ProviderSignInPages:
    """Sends people to the provider and takes them in when they come back."""

    room: PageRouter
    provider: OpenIdProvider

    def routes(self) -> list[Route]:
        """There and back."""
        return [
            self.room.open_page(PROVIDER_SIGN_IN_PATH, self.leave),
            self.room.open_page(PROVIDER_RETURN_PATH, self.enter),
        ]

    async def leave(self, request: Request, _who: AnySession) -> Response:
        """To the provider, with a state that only this browser can come back with."""
        going = begin_sign_in(
            local_path(request.query_params.get("next"), otherwise=self.room.home)
        )
        try:
            there = await self.provider.ask(
                state=going.state,
                nonce=going.nonce,
                verifier=going.verifier,
                again="again" in request.query_params,
            )
        except FetchFailed as failed:
            raise self._away(failed) from failed
        response = RedirectResponse(there, 303, headers={"cache-control": "no-store"})
        write_pending_sign_in(self.room.browser_sessions.cookies, response, going)
        return response

    async def enter(self, request: Request, _who: AnySession) -> Response:
        """Back with a code: begin a session, or ask the owner of the address to link the identity first."""
        query, cookies = request.query_params, self.room.browser_sessions.cookies
        back = read_pending_sign_in(cookies, request, otherwise=self.room.home)
        if back is None:
            raise InvalidRequest("This sign-in took too long or began elsewhere. Start again.")
        if "code" not in query:
            said = query.get("error", "")[:60]
            raise Forbidden(f"{self.provider.registered.name} did not sign you in ({said or '?'}).")
        person = await self._identify(query["code"], query.get("iss"), back)
        secret, address = values.new_secret(), self.room.address(request)
        try:
            found = await self.room.store.write(lambda tx: _admit(tx, person, back, address))
        except LinkApprovalRequired as unlinked:
            await self.room.store.write(partial(_ask_owner, unlinked=unlinked, secret=secret))
            response = self.room.pages.see(f"/approve/{secret}")
        except AssertionRefused as refused:
            raise Forbidden(refused.description, detail=refused.detail) from refused
        else:
            response = self.room.redirect_after_sign_in(back.onward)
            await self.room.browser_sessions.sign_in(
                request, response, found.user_id, issuer=found.issuer, identity=found.identity
            )
        cookies.drop(response, "errand")
        return response

    async def _identify(self, code: str, issuer: str | None, back: PendingSignIn) -> OpenIdUser:
        try:
            return await self.provider.redeem(
                code, issuer=issuer, nonce=back.nonce, verifier=back.verifier
            )
        except FetchFailed as failed:
            raise self._away(failed) from failed
        except AssertionRefused as refused:
            if refused.reason is Reason.KEYS_UNAVAILABLE:
                raise Unavailable(refused.description, detail=refused.detail) from refused
            raise Forbidden(refused.description, detail=refused.detail) from refused

    def _away(self, failed: FetchFailed) -> Unavailable:
        name = self.provider.registered.name
        return Unavailable(f"{name} cannot be asked now. Try again soon.", detail=failed.detail)


def _admit(tx: Transaction, person: OpenIdUser, back: PendingSignIn, address: str) -> MatchedUser:
    """The person's user; each answer of the provider counts once."""
    if not atomic_updates.spend(tx, "openid-state", back.state, expires_at=back.until):
        raise AssertionRefused(Reason.REPLAY, "This sign-in was used before. Start again.")
    return identity_matching.sign_in_user(tx, person, actor=address)


def _ask_owner(tx: Transaction, unlinked: LinkApprovalRequired, secret: str) -> None:
    approval_queries.request_link(
        tx,
        secret,
        email=unlinked.email,
        identity=unlinked.identity,
        issuer=unlinked.issuer,
        agent_name="",
    )
