"""`/sign-in` and `/sign-out`.

`/first-user/…`: where the link leads that `serve` prints while there is nobody.
"""

import asyncio
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.console.browser_sessions import AnySession, SignedInSession, local_path
from negotiator.console.page_router import SIGN_IN_PATH, FormFields, PageRouter, read_name
from negotiator.console.password_check import PasswordChecker
from negotiator.errors import Gone, ValidationFailed
from negotiator.users import invitation, user_queries

_TOLD: Final = {
    "out": "You are signed out.",
    "changed": "Your password was changed. Sign in with the new one.",
}


@dataclass(frozen=True, slots=True)
class SignInPage:
    """Lets people in by password. `provider` is what the button of the organisation's provider says, if any."""

    room: PageRouter
    passwords: PasswordChecker
    provider: str = ""

    def routes(self) -> list[Route]:
        """The page, its form and the way out."""
        return [
            self.room.open_page(SIGN_IN_PATH, self.show),
            self.room.open_form(SIGN_IN_PATH, self.enter),
            self.room.form("/sign-out", self.leave, back=self.room.home),
        ]

    async def show(self, request: Request, who: AnySession) -> Response:
        """The form; whoever is signed in goes on, unless `again` asks for the password once more."""
        onward = local_path(request.query_params.get("next"), otherwise=self.room.home)
        if isinstance(who, SignedInSession) and "again" not in request.query_params:
            return self.room.pages.see(onward)
        told, again = (
            _TOLD.get(request.query_params.get("told", ""), ""),
            isinstance(who, SignedInSession),
        )
        return self._page(who, onward, told=told, again=again)

    async def enter(self, request: Request, who: AnySession, form: FormFields) -> Response:
        """Begin a session, if the password is the account's."""
        onward = local_path(form.get("next"), otherwise=self.room.home)
        email = form.get("email", "")
        user = await self.passwords.check(request, email, form.get("password", ""))
        if user is None:
            return self._page(who, onward, email=email, wrong=True)
        response = self.room.redirect_after_sign_in(onward)
        await self.room.browser_sessions.sign_in(request, response, user.id)
        return response

    async def leave(self, request: Request, _who: SignedInSession, _form: FormFields) -> Response:
        """End the session."""
        response = self.room.pages.see(f"{SIGN_IN_PATH}?told=out")
        await self.room.browser_sessions.sign_out(request, response)
        return response

    def _page(
        self,
        who: AnySession,
        onward: str,
        *,
        email: str = "",
        told: str = "",
        wrong: bool = False,
        again: bool = False,
    ) -> Response:
        return self.room.render(
            "sign_in.html",
            who,
            403 if wrong else 200,
            onward=onward,
            email=email,
            told=told,
            wrong=wrong,
            again=again,
            provider=self.provider,
        )


@dataclass(frozen=True, slots=True)
class FirstUserPage:
    """Makes the first account, an administrator's, and signs him in."""

    room: PageRouter
    pepper: bytes

    def routes(self) -> list[Route]:
        """The page and its form."""
        path = "/first-user/{invitation}"
        return [self.room.open_page(path, self.show), self.room.open_form(path, self.make)]

    async def show(self, request: Request, who: AnySession) -> Response:
        """The form, while the link is good."""
        await self._expect(request)
        return self._page(who, {})

    async def make(self, request: Request, who: AnySession, form: FormFields) -> Response:
        """Make the account."""
        invited = await self._expect(request)
        try:
            email, name = user_queries.normalise_email(form.get("email", "")), read_name(form)
            hashed = await asyncio.to_thread(
                user_queries.hash_password, form.get("password", ""), about=(email, name)
            )
        except ValidationFailed as refusal:
            return self._page(who, form, wrong=refusal.errors[0].description)
        user_id = await self.room.store.write(
            lambda tx: invitation.accept(
                tx, self.pepper, invited, email=email, name=name, password_hash=hashed
            )
        )
        response = self.room.pages.see(self.room.home)
        await self.room.browser_sessions.sign_in(request, response, user_id)
        return response

    async def _expect(self, request: Request) -> str:
        invited: str = request.path_params["invitation"]
        if not await self.room.store.read(lambda tx: invitation.is_open(tx, self.pepper, invited)):
            raise Gone("This link was used, is more than a day old, or never was.")
        return invited

    def _page(self, who: AnySession, form: FormFields, *, wrong: str = "") -> Response:
        status = 422 if wrong else 200
        email, name = form.get("email", ""), form.get("name", "")
        return self.room.render("first_user.html", who, status, wrong=wrong, email=email, name=name)
