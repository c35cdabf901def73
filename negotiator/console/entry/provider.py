"""`/sign-in/provider`: signing in with the organisation's OpenID provider, there and back."""

from dataclasses import dataclass
from functools import partial

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from negotiator import values
from negotiator.console.entry import errand
from negotiator.console.entry.errand import Errand
from negotiator.console.room import Room
from negotiator.console.visitor import Somebody, own_path
from negotiator.errors import Forbidden, InvalidRequest, Unavailable
from negotiator.store import moves
from negotiator.store.statement import Transaction
from negotiator.telemetry import logger
from negotiator.trust.assertions import AssertionRefused, Reason
from negotiator.trust.fetch import FetchFailed
from negotiator.trust.openid.id_tokens import Identified
from negotiator.trust.openid.provider import Provider
from negotiator.users import approvals, matching
from negotiator.users.matching import LinkNeedsUser, Match

log = logger(__name__)

THERE = "/sign-in/provider"
BACK = f"{THERE}/return"


@dataclass(frozen=True, slots=True)
class ProviderSignIn:
    """Sends people to the provider and takes them in when they come back."""

    room: Room
    provider: Provider

    def routes(self) -> list[Route]:
        """There and back."""
        return [self.room.open_page(THERE, self.leave), self.room.open_page(BACK, self.enter)]

    async def leave(self, request: Request, _who: Somebody) -> Response:
        """To the provider, with a state that only this browser can come back with."""
        going = errand.send_off(
            own_path(request.query_params.get("next"), otherwise=self.room.home)
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
        errand.carry(self.room.visitors.cookies, response, going)
        return response

    async def enter(self, request: Request, _who: Somebody) -> Response:
        """Back with a code: begin a session, or ask the owner of the address to link the identity first."""
        query, cookies = request.query_params, self.room.visitors.cookies
        back = errand.back_from(cookies, request, otherwise=self.room.home)
        if back is None:
            raise InvalidRequest("This sign-in took too long or began elsewhere. Start again.")
        if "code" not in query:
            said = query.get("error", "")[:60]
            raise Forbidden(f"{self.provider.registered.name} did not sign you in ({said or '?'}).")
        person = await self._identify(query["code"], query.get("iss"), back)
        secret, address = values.new_secret(), self.room.address(request)
        try:
            found = await self.room.store.write(lambda tx: _admit(tx, person, back, address))
        except LinkNeedsUser as unlinked:
            await self.room.store.write(partial(_ask_owner, unlinked=unlinked, secret=secret))
            response = self.room.pages.see(f"/approve/{secret}")
        except AssertionRefused as refused:
            raise Forbidden(refused.description, detail=refused.detail) from refused
        else:
            response = self.room.go_on(back.onward)
            await self.room.visitors.sign_in(
                request, response, found.user_id, issuer=found.issuer, identity=found.identity
            )
        cookies.drop(response, "errand")
        return response

    async def _identify(self, code: str, issuer: str | None, back: Errand) -> Identified:
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


def _admit(tx: Transaction, person: Identified, back: Errand, address: str) -> Match:
    """The person's user; each answer of the provider counts once."""
    if not moves.spend(tx, "openid-state", back.state, expires_at=back.until):
        raise AssertionRefused(Reason.REPLAY, "This sign-in was used before. Start again.")
    return matching.enter(tx, person, actor=address)


def _ask_owner(tx: Transaction, unlinked: LinkNeedsUser, secret: str) -> None:
    approvals.request_link(
        tx,
        secret,
        email=unlinked.email,
        identity=unlinked.identity,
        issuer=unlinked.issuer,
        agent_name="",
    )
