"""`/sign-in`, `/sign-out`, `/first-user/…`, whose link `serve` prints while no account exists, and forgotten passwords.

`/sign-in/forgotten` mails a link to `/password/…`, where a password is set.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.agents.mail_queue import MailQueue
from negotiator.base import values
from negotiator.base.caller import anonymous_caller
from negotiator.base.errors import Gone, TooManyRequests, ValidationFailed
from negotiator.console import browser_sessions
from negotiator.console.browser_sessions import AnySession, SignedInSession, local_path
from negotiator.console.page_router import (
    NO_FORM,
    SIGN_IN_PATH,
    FormFields,
    PageRouter,
    RefusedForm,
    UnreadFields,
    read_name,
)
from negotiator.runtime import thread_pools
from negotiator.store import audit
from negotiator.store.statement import Transaction
from negotiator.users import identity_matching, invitation, password_links, user_queries
from negotiator.users.password_links import NEW_PASSWORD_PATH
from negotiator.users.tables import User

SIGN_INS_BY_ADDRESS: Final = "signins"
PASSWORDS_BY_ACCOUNT: Final = "passwords"
_DELAY: Final = 3.0
"""Seconds that an attempt from an unknown browser waits while many addresses try the account's password."""
_MOST_WAITING: Final = 512
"""Attempts that may wait at once in one process; more are not delayed, so that an attack locks no user out."""
_MOST_WAITING_FROM_ADDRESS: Final = 4


@dataclass(frozen=True, slots=True)
class PasswordChecker:
    """Checks passwords. Every budget is charged before the check, so parallel attempts cannot exceed it.

    A known device has a budget of its own. Any other browser uses its address's budget and the account's budget at that
    address. Attempts at an account from all addresses together only delay the next attempt from an unknown browser.
    """

    router: PageRouter
    waiting: Counter[str] = field(default_factory=Counter[str])

    async def check(self, request: Request, account: str, password: str) -> User | None:
        """The enabled account with this e-mail, if this is its password; 429 when this browser tried too often."""
        email, address = _normal(account), self.router.address(request)
        user = await self.router.store.read(lambda tx: user_queries.by_email(tx, email))
        if device := browser_sessions.find_device(self.router.browser_sessions.cookies, request, user):
            await self._charge(PASSWORDS_BY_ACCOUNT, f"device:{device}")
        else:
            await self._admit_unknown(values.digest(email), address)
        hashed = user.password_hash if user and user.disabled_at is None else ""
        # argon2 needs 15 ms and 19 MiB, in a thread and not on the event loop.
        if await thread_pools.PASSWORDS.run(user_queries.verify_password, hashed, password):
            return user
        subject = user.id if user else ""
        await self.router.store.write(lambda tx: audit.record(tx, "user.sign_in_refused", subject, actor=address))
        return None

    async def charge_address(self, request: Request) -> None:
        """Charge one attempt to sign in without a password to the address; 429 when it tried too often."""
        reading = await self.router.limits.charge(anonymous_caller(self.router.address(request)), SIGN_INS_BY_ADDRESS)
        if not reading.taken:
            raise TooManyRequests(
                "Too many attempts to sign in came from here. Wait before you try again.",
                retry_after=reading.retry_after,
            )

    async def _admit_unknown(self, account: str, address: str) -> None:
        """Charge an unknown browser. An account that does not exist is charged and delayed alike."""
        await self._charge(SIGN_INS_BY_ADDRESS, address)
        await self._charge(PASSWORDS_BY_ACCOUNT, f"{account}:{address}")
        everywhere = await self.router.limits.charge(anonymous_caller(account), PASSWORDS_BY_ACCOUNT)
        if not everywhere.taken:
            await self._delay(address)

    async def _delay(self, address: str) -> None:
        """Wait without a thread; 429 for an address with several waiting attempts."""
        if self.waiting[address] >= _MOST_WAITING_FROM_ADDRESS:
            raise _too_many(round(_DELAY) or 1)
        if self.waiting.total() >= _MOST_WAITING:
            return
        self.waiting[address] += 1
        try:
            await asyncio.sleep(_DELAY)
        finally:
            self.waiting[address] -= 1
            if not self.waiting[address]:
                del self.waiting[address]

    async def _charge(self, name: str, key: str) -> None:
        reading = await self.router.limits.charge(anonymous_caller(key), name)
        if not reading.taken:
            raise _too_many(reading.retry_after)


async def hash_new_password(form: FormFields, *, about: tuple[str, str]) -> str:
    """The hash of a password that was typed twice; 422 at its field for one that differs or is too weak.

    `about` are the address and the name of its user, which it must not be.
    """
    if form.get("new", "") != form.get("repeated", ""):
        raise UnreadFields({"repeated": "The passwords differ."})
    try:
        return await thread_pools.PASSWORDS.run(user_queries.hash_password, form.get("new", ""), about=about)
    except ValidationFailed as refusal:
        raise UnreadFields({"new": refusal.errors[0].description}) from None


def _too_many(seconds: int) -> TooManyRequests:
    return TooManyRequests("Too many passwords were tried from here. Wait before you try again.", retry_after=seconds)


def _normal(account: str) -> str:
    try:
        return user_queries.normalise_email(account)
    except ValidationFailed:
        return account


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
        return [self.router.open_page(path, self.page), self.router.open_form(path, self.make, again=self.page)]

    async def make(self, request: Request, _session: AnySession, form: FormFields) -> Response:
        invited = await self._expect(request)
        email, name = user_queries.normalise_email(form.get("email", "")), read_name(form)
        hashed = await thread_pools.PASSWORDS.run(
            user_queries.hash_password, form.get("password", ""), about=(email, name)
        )
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

    async def page(self, request: Request, session: AnySession, form: RefusedForm = NO_FORM) -> Response:
        """The form, while the link is valid."""
        await self._expect(request)
        return self.router.render(
            "first_user.html",
            session,
            form.status,
            faults=form.faults(),
            email=form.typed.get("email", ""),
            name=form.typed.get("name", ""),
            shortest=user_queries.SHORTEST_PASSWORD,
        )


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
        return [
            self.router.open_page(FORGOTTEN_PATH, self.page),
            self.router.open_form(FORGOTTEN_PATH, self.ask, again=self.page),
        ]

    async def ask(self, request: Request, session: AnySession, form: FormFields) -> Response:
        """Answer, then send the mail if there is an account: three a day and one in ten minutes to one address."""
        await self.passwords.charge_address(request)
        email = user_queries.normalise_email(form.get("email", ""))
        response = await self.page(request, session, RefusedForm(typed={"email": email}), is_sent=True)
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

    async def page(
        self, _request: Request, session: AnySession, form: RefusedForm = NO_FORM, *, is_sent: bool = False
    ) -> Response:
        email = form.typed.get("email", "")
        return self.router.render(
            "forgotten_password.html", session, form.status, email=email, faults=form.faults(), is_sent=is_sent
        )


@dataclass(frozen=True, slots=True)
class NewPasswordPage:
    """Sets the password of the user whom a link was sent to. Opening it changes nothing: mail scanners do."""

    router: PageRouter
    pepper: bytes

    def routes(self) -> list[Route]:
        path = f"{NEW_PASSWORD_PATH}/{{link}}"
        return [self.router.open_page(path, self.page), self.router.open_form(path, self.set, again=self.page)]

    async def set(self, request: Request, _session: AnySession, form: FormFields) -> Response:
        """Set the password and lead to the sign-in; 410 when the link has ended."""
        user, link = await self._owner(request), request.path_params["link"]
        hashed = await hash_new_password(form, about=(user.email or "", user.name))
        await self.router.store.write(lambda tx: password_links.set_password(tx, self.pepper, link, hashed))
        return self.router.pages.see(f"{SIGN_IN_PATH}?told=changed")

    async def _owner(self, request: Request) -> User:
        link: str = request.path_params["link"]
        return await self.router.store.read(lambda tx: password_links.read_link(tx, self.pepper, link))

    async def page(self, request: Request, session: AnySession, form: RefusedForm = NO_FORM) -> Response:
        """The form, while the link works."""
        return self.router.render(
            "new_password.html",
            session,
            form.status,
            user=await self._owner(request),
            faults=form.faults(),
            shortest=user_queries.SHORTEST_PASSWORD,
        )
