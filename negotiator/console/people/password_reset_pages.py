"""`/sign-in/forgotten`, which mails a link, and `/password/…`, where the link leads and a password is set."""

from dataclasses import dataclass
from typing import Final

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.agents.mail_queue import MailQueue
from negotiator.base.errors import ValidationFailed
from negotiator.console.browser_sessions import AnySession
from negotiator.console.page_router import NO_FIELD, SIGN_IN_PATH, FormFields, PageRouter, RefusedField, field_error
from negotiator.console.people.password_check import PasswordChecker
from negotiator.runtime import thread_pools
from negotiator.store import audit
from negotiator.store.statement import Transaction
from negotiator.users import identity_matching, password_links, user_queries
from negotiator.users.password_links import NEW_PASSWORD_PATH
from negotiator.users.tables import User

FORGOTTEN_PATH: Final = f"{SIGN_IN_PATH}/forgotten"
_RESET_SUBJECT: Final = "A new password for Negotiator"
_RESET: Final = """Somebody asked for a new password for your account at
{base}. If it was you, open this link and choose one:

    {base}{path}/{link}

The link works once, for 30 minutes. Every browser is then signed out; your agents keep working.
If it was not you, do nothing: your password stays as it is.
"""
_BY_ORGANISATION: Final = """Somebody asked for a new password for your account at
{base}. Your account has none: your organisation signs you in.
Open {base}{path} and sign in with your organisation.

If it was not you, do nothing.
"""


@dataclass(frozen=True, slots=True)
class ForgottenPasswordPage:
    """Mails a link to the owner of an account.

    The answer says the same for every address, and is sent before the account is looked for, so that neither its words
    nor its time tell who has an account.
    """

    router: PageRouter
    passwords: PasswordChecker
    mails: MailQueue
    pepper: bytes

    def routes(self) -> list[Route]:
        return [self.router.open_page(FORGOTTEN_PATH, self.show), self.router.open_form(FORGOTTEN_PATH, self.ask)]

    async def show(self, _request: Request, session: AnySession) -> Response:
        return self._page(session)

    async def ask(self, request: Request, session: AnySession, form: FormFields) -> Response:
        """Answer, then send the mail if there is an account: three a day and one in ten minutes to one address."""
        await self.passwords.charge_address(request)
        try:
            email = user_queries.normalise_email(form.get("email", ""))
        except ValidationFailed as refusal:
            return self._page(session, email=form.get("email", ""), error=field_error(refusal))
        response = self._page(session, email=email, is_sent=True)
        response.background = BackgroundTask(self._send, email, self.router.address(request))
        return response

    async def _send(self, email: str, address: str) -> None:
        def unit(tx: Transaction) -> None:
            user = user_queries.by_email(tx, email)
            if user is None or user.disabled_at is not None:
                return
            text = self._text(tx, user)
            if self.mails.add(tx, email, _RESET_SUBJECT, text, life=password_links.RESET_LIFE):
                audit.record(tx, "user.reset_requested", user.id, actor=address)

        await self.router.store.write(unit)
        await self.mails.dispatch()

    def _text(self, tx: Transaction, user: User) -> str:
        base = self.router.pages.base
        if not user.password_hash and identity_matching.of_user(tx, user.id):
            return _BY_ORGANISATION.format(base=base, path=SIGN_IN_PATH)
        link = password_links.write_link(self.pepper, user, life=password_links.RESET_LIFE)
        return _RESET.format(base=base, path=NEW_PASSWORD_PATH, link=link)

    def _page(
        self, session: AnySession, *, email: str = "", error: RefusedField = NO_FIELD, is_sent: bool = False
    ) -> Response:
        status = 422 if error[0] else 200
        return self.router.render("forgotten_password.html", session, status, email=email, error=error, is_sent=is_sent)


@dataclass(frozen=True, slots=True)
class NewPasswordPage:
    """Sets the password of the user whom a link was sent to. Opening it changes nothing: mail scanners do."""

    router: PageRouter
    pepper: bytes

    def routes(self) -> list[Route]:
        path = f"{NEW_PASSWORD_PATH}/{{link}}"
        return [self.router.open_page(path, self.show), self.router.open_form(path, self.set)]

    async def show(self, request: Request, session: AnySession) -> Response:
        """The form, while the link works."""
        return self._page(session, await self._owner(request))

    async def set(self, request: Request, session: AnySession, form: FormFields) -> Response:
        """Set the password and lead to the sign-in; 410 when the link has ended."""
        user, link = await self._owner(request), request.path_params["link"]
        if form.get("new", "") != form.get("repeated", ""):
            return self._page(session, user, error=("repeated", "The passwords differ."))
        about = (user.email or "", user.name)
        try:
            hashed = await thread_pools.PASSWORDS.run(user_queries.hash_password, form.get("new", ""), about=about)
        except ValidationFailed as refusal:
            return self._page(session, user, error=("new", refusal.errors[0].description))
        await self.router.store.write(lambda tx: password_links.set_password(tx, self.pepper, link, hashed))
        return self.router.pages.see(f"{SIGN_IN_PATH}?told=changed")

    async def _owner(self, request: Request) -> User:
        link: str = request.path_params["link"]
        return await self.router.store.read(lambda tx: password_links.read_link(tx, self.pepper, link))

    def _page(self, session: AnySession, user: User, *, error: RefusedField = NO_FIELD) -> Response:
        return self.router.render(
            "new_password.html",
            session,
            422 if error[0] else 200,
            user=user,
            error=error,
            shortest=user_queries.SHORTEST_PASSWORD,
        )
