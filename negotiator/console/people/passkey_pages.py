"""Passkeys on the pages: signing in with one, and adding, naming and removing them on the account page.

The script `passkeys.js` asks the browser and puts its answer into a form; everything else is a form like any other.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from negotiator.base.errors import Conflict, Forbidden, ValidationFailed
from negotiator.console.browser_sessions import AnySession, SignedInSession, local_path
from negotiator.console.page_router import SIGN_IN_PATH, FormFields, PageRouter, read_name
from negotiator.console.people.account_page import ACCOUNT_PATH, AccountPage, is_recent
from negotiator.console.people.passkey_ceremonies import (
    WEBAUTHN,
    PasskeyCeremonies,
    PasskeyRefused,
    SpentChallenge,
    read_credential,
)
from negotiator.console.people.password_check import PasswordChecker
from negotiator.console.people.sign_in_pages import SignInPage
from negotiator.store import atomic_updates, audit
from negotiator.store.statement import Transaction
from negotiator.users import passkey_queries, user_queries
from negotiator.users.passkey_queries import NewPasskey

PASSKEY_SIGN_IN_PATH: Final = f"{SIGN_IN_PATH}/passkey"
PASSKEYS_PATH: Final = f"{ACCOUNT_PATH}/passkeys"
_NOT_SIGNED_IN: Final = (
    "This passkey did not sign you in: it is not known here any more, or took too long. "
    "Try again, or use your password."
)
_NOT_ADDED: Final = "The passkey was not added: it took too long or began elsewhere. Try again."


@dataclass(frozen=True, slots=True)
class PasskeySignIn:
    """Signs users in by a passkey that finds its user by itself, so that no form says who has an account."""

    router: PageRouter
    ceremonies: PasskeyCeremonies
    passwords: PasswordChecker
    page: SignInPage

    def routes(self) -> list[Route]:
        return [
            self.router.open_page(f"{PASSKEY_SIGN_IN_PATH}/options", self.options),
            self.router.open_form(PASSKEY_SIGN_IN_PATH, self.enter),
        ]

    async def options(self, _request: Request, session: AnySession) -> Response:
        """A new challenge for this browser."""
        await WEBAUTHN.get()
        return _json(self.ceremonies.request_options(session))

    async def enter(self, request: Request, session: AnySession, form: FormFields) -> Response:
        """Start a session, if the browser proved a passkey of an open account."""
        await self.passwords.charge_address(request)
        next_path = local_path(form.get("next"), otherwise=self.router.home)
        try:
            user_id = await self._prove(session, form.get("credential", ""))
        except PasskeyRefused as refused:
            detail, address = refused.detail[:200], self.router.address(request)
            await self.router.store.write(
                lambda tx: audit.record(tx, "user.sign_in_refused", "", actor=address, passkey=detail)
            )
            return self.page.refuse(session, next_path, _NOT_SIGNED_IN)
        response = self.router.redirect_after_sign_in(next_path)
        await self.router.browser_sessions.sign_in(request, response, user_id)
        return response

    async def _prove(self, session: AnySession, answer: str) -> str:
        credential = read_credential(answer)
        passkey = await self.router.store.read(lambda tx: passkey_queries.find(tx, credential["id"]))
        if passkey is None:
            raise PasskeyRefused("unknown passkey")
        await WEBAUTHN.get()
        sign_count, challenge = self.ceremonies.verify_request(session, credential, passkey)

        def unit(tx: Transaction) -> None:
            _spend(tx, challenge)
            user = user_queries.by_id(tx, passkey.user_id)
            if user is None or user.disabled_at is not None:
                raise PasskeyRefused("a closed account")
            if not passkey_queries.record_use(tx, passkey, sign_count):
                raise PasskeyRefused("removed, or used elsewhere at the same moment")

        await self.router.store.write(unit)
        return passkey.user_id


@dataclass(frozen=True, slots=True)
class AccountPasskeys:
    """The forms for passkeys on the account page."""

    router: PageRouter
    ceremonies: PasskeyCeremonies
    page: AccountPage

    def routes(self) -> list[Route]:
        form = partial(self.router.form, back=ACCOUNT_PATH)
        return [
            self.router.page(f"{PASSKEYS_PATH}/options", self.options),
            form(PASSKEYS_PATH, self.add),
            form(f"{PASSKEYS_PATH}/{{id}}/name", self.rename),
            form(f"{PASSKEYS_PATH}/{{id}}/remove", self.remove),
        ]

    async def options(self, _request: Request, session: SignedInSession) -> Response:
        """A new challenge for this session; 403 when the sign-in is not recent."""
        if not is_recent(session):
            raise Forbidden("Sign in again to add a passkey.")
        known = await self.router.store.read(lambda tx: passkey_queries.of_user(tx, session.user_id))
        await WEBAUTHN.get()
        return _json(self.ceremonies.creation_options(session, known))

    async def add(self, _request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Store the passkey that the browser made."""
        try:
            name = read_name(form) or "A passkey"
            if not is_recent(session):
                raise Forbidden("Sign in again to add a passkey.")
            await WEBAUTHN.get()
            new, challenge = self.ceremonies.verify_creation(session, form.get("credential", ""))
            await self.router.store.write(lambda tx: _add(tx, session.user_id, new, challenge, name))
        except PasskeyRefused:
            return await self._refuse(session, form, _NOT_ADDED)
        except (Conflict, Forbidden, ValidationFailed) as refusal:
            faults = refusal.errors if isinstance(refusal, ValidationFailed) else ()
            sentence = faults[0].description if faults else refusal.description
            return await self._refuse(session, form, sentence)
        return self._see("passkey")

    async def rename(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        passkey_id: str = request.path_params["id"]
        try:
            name = read_name(form) or "A passkey"
        except ValidationFailed as refusal:
            return await self.page.show_error(session, (passkey_id, refusal.errors[0].description), form)
        await self.router.store.write(lambda tx: passkey_queries.rename(tx, passkey_id, name, user_id=session.user_id))
        return self._see("passkey-name")

    async def remove(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        passkey_id: str = request.path_params["id"]
        await self.router.store.write(lambda tx: passkey_queries.remove(tx, passkey_id, user_id=session.user_id))
        return self._see("passkey-removed")

    async def _refuse(self, session: SignedInSession, form: FormFields, sentence: str) -> Response:
        return await self.page.show_error(session, ("passkey", sentence), form)

    def _see(self, notice: str) -> Response:
        return self.router.pages.see(f"{ACCOUNT_PATH}?told={notice}")


def _add(tx: Transaction, user_id: str, new: NewPasskey, challenge: SpentChallenge, name: str) -> None:
    _spend(tx, challenge)
    passkey_queries.add(tx, user_id, new, name=name)


def _spend(tx: Transaction, challenge: SpentChallenge) -> None:
    if not atomic_updates.spend(tx, "passkey", challenge.text, expires_at=challenge.ends_at):
        raise PasskeyRefused("the challenge was used before")


def _json(options: dict[str, object]) -> Response:
    return JSONResponse(options, headers={"cache-control": "no-store"})
