"""`/first-user/…`: where the link leads that `serve` prints while there is nobody."""

import asyncio
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.console.fields import name_of
from negotiator.console.room import Form, Room
from negotiator.console.visitor import Somebody
from negotiator.errors import Gone, ValidationFailed
from negotiator.users import invitation, people


@dataclass(frozen=True, slots=True)
class FirstUser:
    """Makes the first account, an administrator's, and signs him in."""

    room: Room
    pepper: bytes

    def routes(self) -> list[Route]:
        """The page and its form."""
        path = "/first-user/{invitation}"
        return [self.room.open_page(path, self.show), self.room.open_form(path, self.make)]

    async def show(self, request: Request, who: Somebody) -> Response:
        """The form, while the link is good."""
        await self._expect(request)
        return self._page(who, {})

    async def make(self, request: Request, who: Somebody, form: Form) -> Response:
        """Make the account."""
        invited = await self._expect(request)
        try:
            email, name = people.normal_email(form.get("email", "")), name_of(form)
            hashed = await asyncio.to_thread(
                people.hash_password, form.get("password", ""), about=(email, name)
            )
        except ValidationFailed as refusal:
            return self._page(who, form, wrong=refusal.errors[0].description)
        user_id = await self.room.store.write(
            lambda tx: invitation.accept(
                tx, self.pepper, invited, email=email, name=name, password_hash=hashed
            )
        )
        response = self.room.pages.see(self.room.home)
        await self.room.visitors.sign_in(request, response, user_id)
        return response

    async def _expect(self, request: Request) -> str:
        invited: str = request.path_params["invitation"]
        if not await self.room.store.read(lambda tx: invitation.is_open(tx, self.pepper, invited)):
            raise Gone("This link was used, is more than a day old, or never was.")
        return invited

    def _page(self, who: Somebody, form: Form, *, wrong: str = "") -> Response:
        status = 422 if wrong else 200
        email, name = form.get("email", ""), form.get("name", "")
        return self.room.render("first_user.html", who, status, wrong=wrong, email=email, name=name)
