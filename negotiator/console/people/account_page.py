"""`/account`: the user's name, password, passkeys, signed-in browsers and linked identities."""

from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base import values
from negotiator.base.errors import FieldError, NotFound, ValidationFailed
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.page_router import NO_FIELD, FormFields, PageRouter, RefusedField, field_error, read_name
from negotiator.console.people.password_check import PasswordChecker
from negotiator.runtime import thread_pools
from negotiator.users import identity_matching, passkey_queries, session_queries, user_queries
from negotiator.users.tables import User

ACCOUNT_PATH: Final = "/account"
_RECENT_SIGN_IN_MS: Final = 900_000


@dataclass(frozen=True, slots=True)
class AccountPage:
    """The page where a user manages their account."""

    router: PageRouter
    passwords: PasswordChecker
    has_passkeys: bool = False

    def routes(self) -> list[Route]:
        form = self.router.form
        return [
            self.router.page(ACCOUNT_PATH, self.show),
            form(f"{ACCOUNT_PATH}/name", self.rename, back=ACCOUNT_PATH),
            form(f"{ACCOUNT_PATH}/password", self.change_password, back=ACCOUNT_PATH),
            form(f"{ACCOUNT_PATH}/sessions/end-others", self.end_others, back=ACCOUNT_PATH),
            form(f"{ACCOUNT_PATH}/sessions/{{id}}/end", self.end, back=ACCOUNT_PATH),
        ]

    async def show(self, _request: Request, session: SignedInSession) -> Response:
        return await self._page(session)

    async def rename(self, _request: Request, session: SignedInSession, form: FormFields) -> Response:
        try:
            name = read_name(form)
        except ValidationFailed as refusal:
            return await self.show_error(session, field_error(refusal), form)
        await self.router.store.write(lambda tx: user_queries.rename(tx, session.user_id, name))
        return self._see("name")

    async def change_password(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Set another password; signs every other browser out and renews this browser's session."""
        user = await self.router.store.read(lambda tx: user_queries.by_id(tx, session.user_id))
        try:
            await self._prove(request, session, user, form)
        except ValidationFailed as refusal:
            return await self._page(session, error=field_error(refusal))
        about = (session.email or "", session.name)
        try:
            hashed = await thread_pools.PASSWORDS.run(user_queries.hash_password, form.get("new", ""), about=about)
        except ValidationFailed as refusal:
            return await self._page(session, error=("new", refusal.errors[0].description))
        await self.router.store.write(
            lambda tx: user_queries.set_password(tx, session.user_id, hashed, actor=session.user_id)
        )
        response = self._see("password")
        await self.router.browser_sessions.sign_in(request, response, session.user_id)
        return response

    async def end(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        session_id: str = request.path_params["id"]
        if not await self.router.store.write(lambda tx: session_queries.end(tx, session_id, user_id=session.user_id)):
            raise NotFound("You have no such session.")
        return self._see("ended")

    async def end_others(self, _request: Request, session: SignedInSession, _form: FormFields) -> Response:
        await self.router.store.write(lambda tx: session_queries.end_all(tx, session.user_id, but=session.session_id))
        return self._see("others")

    async def _prove(self, request: Request, session: SignedInSession, user: User | None, form: FormFields) -> None:
        """Check the current password, or a recent sign-in when there is none. 422 otherwise, or when the new ones
        differ.
        """
        if user is None or not user.email:
            raise ValidationFailed(
                [FieldError("/password", "An account without an e-mail address cannot have a password.")]
            )
        if form.get("new", "") != form.get("repeated", ""):
            raise ValidationFailed([FieldError("/repeated", "The new passwords differ.")])
        if user.password_hash:
            if await self.passwords.check(request, user.email, form.get("password", "")) is None:
                raise ValidationFailed([FieldError("/password", "That is not your password.")])
        elif not is_recent(session):
            raise ValidationFailed(
                [FieldError("/password", "Sign out and in again, then set a password within 15 minutes.")]
            )

    async def show_error(self, session: SignedInSession, error: RefusedField, form: FormFields) -> Response:
        """The page with what was typed in the refused form, and why at its field."""
        return await self._page(session, error=error, typed=form)

    def _see(self, notice: str) -> Response:
        return self.router.pages.see(f"{ACCOUNT_PATH}?told={notice}")

    async def _page(
        self, session: SignedInSession, *, error: RefusedField = NO_FIELD, typed: FormFields | None = None
    ) -> Response:
        user = await self.router.store.read(lambda tx: user_queries.by_id(tx, session.user_id))
        browsers = await self.router.store.read(lambda tx: session_queries.of_user(tx, session.user_id))
        return self.router.render(
            "account.html",
            session,
            422 if error[0] else 200,
            user=user,
            typed=typed or {},
            passkeys=await self.router.store.read(lambda tx: passkey_queries.of_user(tx, session.user_id)),
            has_passkeys=self.has_passkeys,
            is_recent=is_recent(session),
            browsers=browsers,
            here_browser=next((each.browser for each in browsers if each.id == session.session_id), ""),
            identities=await self.router.store.read(lambda tx: identity_matching.of_user(tx, session.user_id)),
            shortest=user_queries.SHORTEST_PASSWORD,
            error=error,
            here="account",
        )


def is_recent(session: SignedInSession) -> bool:
    """Whether the user signed in within 15 minutes, which adding a way to sign in demands."""
    return abs(values.now() - session.auth_time) <= _RECENT_SIGN_IN_MS
