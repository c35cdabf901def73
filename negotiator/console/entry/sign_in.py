"""`/sign-in` and `/sign-out`."""

from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.console.entry.passwords import Passwords
from negotiator.console.room import Form, Room
from negotiator.console.visitor import Somebody, Visitor, own_path

_TOLD: Final = {
    "out": "You are signed out.",
    "changed": "Your password was changed. Sign in with the new one.",
}


@dataclass(frozen=True, slots=True)
class SignIn:
    """Lets people in by password. `provider` is what the button of the organisation's provider says, if any."""

    room: Room
    passwords: Passwords
    provider: str = ""

    def routes(self) -> list[Route]:
        """The page, its form and the way out."""
        return [
            self.room.open_page("/sign-in", self.show),
            self.room.open_form("/sign-in", self.enter),
            self.room.form("/sign-out", self.leave, back=self.room.home),
        ]

    async def show(self, request: Request, who: Somebody) -> Response:
        """The form; whoever is signed in goes on, unless `again` asks for the password once more."""
        onward = own_path(request.query_params.get("next"), otherwise=self.room.home)
        if isinstance(who, Visitor) and "again" not in request.query_params:
            return self.room.pages.see(onward)
        told, again = _TOLD.get(request.query_params.get("told", ""), ""), isinstance(who, Visitor)
        return self._page(who, onward, told=told, again=again)

    async def enter(self, request: Request, who: Somebody, form: Form) -> Response:
        """Begin a session, if the password is the account's."""
        onward = own_path(form.get("next"), otherwise=self.room.home)
        email = form.get("email", "")
        user = await self.passwords.check(request, email, form.get("password", ""))
        if user is None:
            return self._page(who, onward, email=email, wrong=True)
        response = self.room.go_on(onward)
        await self.room.visitors.sign_in(request, response, user.id)
        return response

    async def leave(self, request: Request, _who: Visitor, _form: Form) -> Response:
        """End the session."""
        response = self.room.pages.see("/sign-in?told=out")
        await self.room.visitors.sign_out(request, response)
        return response

    def _page(
        self,
        who: Somebody,
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
