"""`/account`: one's name, password, browsers, and the identities that are one's own."""

import asyncio
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator import values
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.page_router import FormFields, PageRouter, read_name
from negotiator.console.password_check import PasswordChecker
from negotiator.errors import FieldError, NotFound, ValidationFailed
from negotiator.users import identity_matching, session_queries, user_queries
from negotiator.users.tables import User

ACCOUNT_PATH: Final = "/account"
_FRESH: Final = 900_000
_TOLD: Final = {
    "name": "Your name is changed.",
    "password": "Your password is changed. Every other browser is signed out.",
    "ended": "That browser is signed out.",
    "others": "Every other browser is signed out.",
}


@dataclass(frozen=True, slots=True)
class AccountPage:
    """Where a user looks after himself."""

    room: PageRouter
    passwords: PasswordChecker

    def routes(self) -> list[Route]:
        """The page and its four forms."""
        form = self.room.form
        return [
            self.room.page(ACCOUNT_PATH, self.show),
            form(f"{ACCOUNT_PATH}/name", self.rename, back=ACCOUNT_PATH),
            form(f"{ACCOUNT_PATH}/password", self.change_password, back=ACCOUNT_PATH),
            form(f"{ACCOUNT_PATH}/sessions/end-others", self.end_others, back=ACCOUNT_PATH),
            form(f"{ACCOUNT_PATH}/sessions/{{id}}/end", self.end, back=ACCOUNT_PATH),
        ]

    async def show(self, request: Request, who: SignedInSession) -> Response:
        """Everything about the user."""
        return await self._page(who, told=_TOLD.get(request.query_params.get("told", ""), ""))

    async def rename(self, _request: Request, who: SignedInSession, form: FormFields) -> Response:
        """Another name to be greeted by."""
        try:
            name = read_name(form)
        except ValidationFailed as refusal:
            return await self._page(who, wrong=("name", refusal.errors[0].description))
        await self.room.store.write(lambda tx: user_queries.rename(tx, who.user_id, name))
        return self._see("name")

    async def change_password(
        self, request: Request, who: SignedInSession, form: FormFields
    ) -> Response:
        """Another password, for whoever knows the old one; this browser gets a new session, all others none."""
        user = await self.room.store.read(lambda tx: user_queries.by_id(tx, who.user_id))
        try:
            await self._prove(request, who, user, form)
            about = (who.email or "", who.name)
            hashed = await asyncio.to_thread(
                user_queries.hash_password, form.get("new", ""), about=about
            )
        except ValidationFailed as refusal:
            return await self._page(who, wrong=("password", refusal.errors[0].description))
        await self.room.store.write(
            lambda tx: user_queries.set_password(tx, who.user_id, hashed, actor=who.user_id)
        )
        response = self._see("password")
        await self.room.browser_sessions.sign_in(request, response, who.user_id)
        return response

    async def end(self, request: Request, who: SignedInSession, _form: FormFields) -> Response:
        """Sign one browser out; this one too, if it is this one."""
        session: str = request.path_params["id"]
        if not await self.room.store.write(
            lambda tx: session_queries.end(tx, session, user_id=who.user_id)
        ):
            raise NotFound("There is no such session of yours.")
        return self._see("ended")

    async def end_others(
        self, _request: Request, who: SignedInSession, _form: FormFields
    ) -> Response:
        """Sign every other browser out."""
        await self.room.store.write(
            lambda tx: session_queries.end_all(tx, who.user_id, but=who.session_id)
        )
        return self._see("others")

    async def _prove(
        self, request: Request, who: SignedInSession, user: User | None, form: FormFields
    ) -> None:
        """The old password, or a fresh sign-in where there is none; 422 without, or when the new ones differ."""
        if user is None or not user.email:
            raise ValidationFailed(
                [FieldError("/password", "An account without an e-mail address has no password.")]
            )
        if form.get("new", "") != form.get("repeated", ""):
            raise ValidationFailed([FieldError("/repeated", "The new passwords differ.")])
        if user.password_hash:
            if await self.passwords.check(request, user.email, form.get("password", "")) is None:
                raise ValidationFailed([FieldError("/password", "That is not your password.")])
        elif values.now() - who.auth_time > _FRESH:
            raise ValidationFailed(
                [FieldError("/password", "Sign out and in again; then set a password at once.")]
            )

    def _see(self, told: str) -> Response:
        return self.room.pages.see(f"{ACCOUNT_PATH}?told={told}")

    async def _page(
        self, who: SignedInSession, *, told: str = "", wrong: tuple[str, str] = ("", "")
    ) -> Response:
        user = await self.room.store.read(lambda tx: user_queries.by_id(tx, who.user_id))
        return self.room.render(
            "account.html",
            who,
            422 if wrong[0] else 200,
            user=user,
            browsers=await self.room.store.read(
                lambda tx: session_queries.of_user(tx, who.user_id)
            ),
            identities=await self.room.store.read(
                lambda tx: identity_matching.of_user(tx, who.user_id)
            ),
            shortest=user_queries.SHORTEST_PASSWORD,
            told=told,
            wrong=wrong,
            here="account",
        )
