"""`/sign-in`, `/sign-out`, and `/first-user/…`, whose link `serve` prints while no account exists."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Gone, ValidationFailed
from negotiator.console.browser_sessions import AnySession, SignedInSession, local_path
from negotiator.console.page_router import (
    NO_FIELD,
    SIGN_IN_PATH,
    FormFields,
    PageRouter,
    RefusedField,
    field_error,
    read_name,
)
from negotiator.console.people.password_check import PasswordChecker
from negotiator.runtime import thread_pools
from negotiator.users import invitation, user_queries


@dataclass(frozen=True, slots=True)
class SignInPage:
    """Signs users in by password. `provider` is the name on the button of the OpenID provider, if there is one.

    `has_passkeys` is whether browsers offer passkeys at this address, `sends_mail` whether a forgotten password is
    replaced by mail.
    """

    router: PageRouter
    passwords: PasswordChecker
    provider: str = ""
    has_passkeys: bool = False
    sends_mail: bool = False

    def routes(self) -> list[Route]:
        return [
            self.router.open_page(SIGN_IN_PATH, self.show),
            self.router.open_form(SIGN_IN_PATH, self.enter),
            self.router.form("/sign-out", self.leave, back=self.router.home),
        ]

    async def show(self, request: Request, session: AnySession) -> Response:
        """The form. A signed-in user is redirected, unless `again` demands the password once more."""
        next_path = local_path(request.query_params.get("next"), otherwise=self.router.home)
        if isinstance(session, SignedInSession) and "again" not in request.query_params:
            return self.router.pages.see(next_path)
        return self._page(session, next_path, again=isinstance(session, SignedInSession))

    async def enter(self, request: Request, session: AnySession, form: FormFields) -> Response:
        """Start a session, if the password is the account's."""
        next_path = local_path(form.get("next"), otherwise=self.router.home)
        email = form.get("email", "")
        user = await self.passwords.check(request, email, form.get("password", ""))
        if user is None:
            return self._page(session, next_path, email=email, error="E-mail or password is wrong.")
        response = self.router.redirect_after_sign_in(next_path)
        await self.router.browser_sessions.sign_in(request, response, user.id)
        return response

    def refuse(self, session: AnySession, next_path: str, sentence: str) -> Response:
        """The page with the reason why another way to sign in did not work."""
        return self._page(session, next_path, error=sentence, again=isinstance(session, SignedInSession))

    async def leave(self, request: Request, _session: SignedInSession, _form: FormFields) -> Response:
        response = self.router.pages.see(f"{SIGN_IN_PATH}?told=out")
        await self.router.browser_sessions.sign_out(request, response)
        return response

    def _page(
        self, session: AnySession, next_path: str, *, email: str = "", error: str = "", again: bool = False
    ) -> Response:
        return self.router.render(
            "sign_in.html",
            session,
            403 if error else 200,
            next_path=next_path,
            email=email,
            error=error,
            again=again,
            provider=self.provider,
            has_passkeys=self.has_passkeys,
            sends_mail=self.sends_mail,
        )


@dataclass(frozen=True, slots=True)
class FirstUserPage:
    """Creates the first account, an administrator's, and signs the user in."""

    router: PageRouter
    pepper: bytes

    def routes(self) -> list[Route]:
        path = "/first-user/{invitation}"
        return [self.router.open_page(path, self.show), self.router.open_form(path, self.make)]

    async def show(self, request: Request, session: AnySession) -> Response:
        """The form, while the link is valid."""
        await self._expect(request)
        return self._page(session, {})

    async def make(self, request: Request, session: AnySession, form: FormFields) -> Response:
        invited = await self._expect(request)
        try:
            email, name = user_queries.normalise_email(form.get("email", "")), read_name(form)
            hashed = await thread_pools.PASSWORDS.run(
                user_queries.hash_password, form.get("password", ""), about=(email, name)
            )
        except ValidationFailed as refusal:
            return self._page(session, form, error=field_error(refusal))
        user_id = await self.router.store.write(
            lambda tx: invitation.accept(tx, self.pepper, invited, email=email, name=name, password_hash=hashed)
        )
        response = self.router.pages.see(self.router.home)
        await self.router.browser_sessions.sign_in(request, response, user_id)
        return response

    async def _expect(self, request: Request) -> str:
        invited: str = request.path_params["invitation"]
        if not await self.router.store.read(lambda tx: invitation.is_open(tx, self.pepper, invited)):
            raise Gone("This link was used, is more than a day old, or is not valid.")
        return invited

    def _page(self, session: AnySession, form: FormFields, *, error: RefusedField = NO_FIELD) -> Response:
        return self.router.render(
            "first_user.html",
            session,
            422 if error[0] else 200,
            error=error,
            email=form.get("email", ""),
            name=form.get("name", ""),
            shortest=user_queries.SHORTEST_PASSWORD,
        )
