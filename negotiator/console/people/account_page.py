"""`/account`: the user's name, password, passkeys, signed-in browsers and linked identities; signing in with a passkey.

Passkeys are made and used in the two ceremonies of Web Authentication (W3C WebAuthn §7). A challenge is not stored. It
is random, carries its end and a signature over the session of the browser that asked for it, and is spent in the
transaction that accepts its answer, so that it works once, in one browser, for five minutes. The script `passkeys.js`
asks the browser and puts its answer into a form; everything else is a form like any other.
"""

import contextlib
import secrets
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from negotiator.base import values
from negotiator.base.errors import Conflict, Forbidden, NotFound, ValidationFailed
from negotiator.base.strict_json import is_object, read_object
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
from negotiator.console.people.sign_in_pages import PasswordChecker, SignInPage, hash_new_password
from negotiator.runtime.thread_pools import BuiltOnce
from negotiator.store import atomic_updates, audit
from negotiator.store.statement import Transaction
from negotiator.users import identity_matching, passkey_queries, session_queries, user_queries
from negotiator.users.passkey_queries import NewPasskey
from negotiator.users.tables import Passkey, User

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
            self.router.page(ACCOUNT_PATH, self.page),
            form(f"{ACCOUNT_PATH}/name", self.rename, again=self.page, back=ACCOUNT_PATH),
            form(f"{ACCOUNT_PATH}/password", self.change_password, again=self.page, back=ACCOUNT_PATH),
            form(f"{ACCOUNT_PATH}/sessions/end-others", self.end_others, back=ACCOUNT_PATH),
            form(f"{ACCOUNT_PATH}/sessions/{{id}}/end", self.end, back=ACCOUNT_PATH),
        ]

    async def rename(self, _request: Request, session: SignedInSession, form: FormFields) -> Response:
        name = read_name(form)
        await self.router.store.write(lambda tx: user_queries.rename(tx, session.user_id, name))
        return self._see("name")

    async def change_password(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Set another password; signs every other browser out and renews this browser's session."""
        user = await self.router.store.read(lambda tx: user_queries.by_id(tx, session.user_id))
        await self._prove(request, session, user, form)
        hashed = await hash_new_password(form, about=(session.email or "", session.name))
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
        """Check the current password, or a recent sign-in when there is none; 422 otherwise."""
        if user is None or not user.email:
            raise UnreadFields({"password": "An account without an e-mail address cannot have a password."})
        if user.password_hash:
            if await self.passwords.check(request, user.email, form.get("password", "")) is None:
                raise UnreadFields({"password": "That is not your password."})
        elif not is_recent(session):
            raise UnreadFields({"password": "Sign out and in again, then set a password within 15 minutes."})

    def _see(self, notice: str) -> Response:
        return self.router.pages.see(f"{ACCOUNT_PATH}?told={notice}")

    async def page(self, _request: Request, session: SignedInSession, form: RefusedForm = NO_FORM) -> Response:
        """The page; a refused form keeps what was typed, with why at its field."""
        user = await self.router.store.read(lambda tx: user_queries.by_id(tx, session.user_id))
        browsers = await self.router.store.read(lambda tx: session_queries.of_user(tx, session.user_id))
        return self.router.render(
            "account.html",
            session,
            form.status,
            user=user,
            typed=form.typed,
            faults=form.faults(),
            passkeys=await self.router.store.read(lambda tx: passkey_queries.of_user(tx, session.user_id)),
            has_passkeys=self.has_passkeys,
            is_recent=is_recent(session),
            browsers=browsers,
            here_browser=next((each.browser for each in browsers if each.id == session.session_id), ""),
            identities=await self.router.store.read(lambda tx: identity_matching.of_user(tx, session.user_id)),
            shortest=user_queries.SHORTEST_PASSWORD,
            here="account",
        )


def is_recent(session: SignedInSession) -> bool:
    """Whether the user signed in within 15 minutes, which adding a way to sign in demands."""
    return abs(values.now() - session.auth_time) <= _RECENT_SIGN_IN_MS


CHALLENGE_SECONDS: Final = 300
_RANDOM: Final = 16
_BODY: Final = _RANDOM + 8
"""Bytes of a challenge before its signature: random ones, and its end in milliseconds."""
_SERVICE: Final = "Negotiator"


WEBAUTHN: Final = BuiltOnce[Any](lambda: import_module("webauthn"))
"""The library: 90 modules more, of X.509, ASN.1 and CBOR, which few processes need."""


class PasskeyRefused(Exception):
    """The answer of the browser does not prove the passkey; `detail` is for the audit trail only."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


@dataclass(frozen=True, slots=True)
class SpentChallenge:
    """A challenge that was answered: its text, and when it ends in milliseconds."""

    text: str
    ends_at: int


@dataclass(frozen=True, slots=True)
class PasskeyCeremonies:
    """The ceremonies of the service at `base`, whose host is the relying party's id."""

    base: str
    pepper: bytes

    @property
    def host(self) -> str:
        return urlsplit(self.base).hostname or ""

    @property
    def are_possible(self) -> bool:
        """Whether browsers offer passkeys at this address: by https or on localhost, and at a name, not a number."""
        secure = self.base.startswith("https:") or self.host == "localhost"
        return secure and not _is_number(self.host)

    def creation_options(self, session: SignedInSession, known: list[Passkey]) -> dict[str, Any]:
        """What the browser needs to make a passkey that finds its user by itself and checks who holds it."""
        webauthn = WEBAUTHN.now()
        options = webauthn.generate_registration_options(
            rp_id=self.host,
            rp_name=_SERVICE,
            user_name=session.email or session.user_id,
            user_id=session.user_id.encode(),
            user_display_name=session.greeting,
            challenge=self._challenge(session, "creation"),
            timeout=CHALLENGE_SECONDS * 1000,
            authenticator_selection=webauthn.helpers.structs.AuthenticatorSelectionCriteria(
                resident_key=webauthn.helpers.structs.ResidentKeyRequirement.REQUIRED,
                user_verification=webauthn.helpers.structs.UserVerificationRequirement.REQUIRED,
            ),
            exclude_credentials=[
                webauthn.helpers.structs.PublicKeyCredentialDescriptor(
                    id=webauthn.helpers.base64url_to_bytes(each.credential_id)
                )
                for each in known
            ],
        )
        return webauthn.helpers.options_to_json_dict(options)

    def request_options(self, session: AnySession) -> dict[str, Any]:
        """What the browser needs to sign in with any passkey of this service; it names no user."""
        webauthn = WEBAUTHN.now()
        options = webauthn.generate_authentication_options(
            rp_id=self.host,
            challenge=self._challenge(session, "request"),
            timeout=CHALLENGE_SECONDS * 1000,
            user_verification=webauthn.helpers.structs.UserVerificationRequirement.REQUIRED,
        )
        return webauthn.helpers.options_to_json_dict(options)

    def verify_creation(self, session: SignedInSession, answer: str) -> tuple[NewPasskey, SpentChallenge]:
        """The passkey that the browser made; raises `PasskeyRefused`."""
        webauthn = WEBAUTHN.now()
        credential = read_credential(answer)
        challenge = self._answered(session, "creation", credential)
        try:
            verified = webauthn.verify_registration_response(
                credential=credential,
                expected_challenge=webauthn.helpers.base64url_to_bytes(challenge.text),
                expected_rp_id=self.host,
                expected_origin=self._origin,
                require_user_verification=True,
            )
        except Exception as fault:  # the parsers of hostile bytes below raise many kinds
            raise PasskeyRefused(f"{type(fault).__name__}: {fault}") from fault
        new = NewPasskey(
            webauthn.helpers.bytes_to_base64url(verified.credential_id),
            webauthn.helpers.bytes_to_base64url(verified.credential_public_key),
            verified.sign_count,
            verified.credential_backed_up,
        )
        return new, challenge

    def verify_request(
        self, session: AnySession, credential: dict[str, Any], passkey: Passkey
    ) -> tuple[int, SpentChallenge]:
        """The counter that the authenticator reports with a valid signature; raises `PasskeyRefused`."""
        webauthn = WEBAUTHN.now()
        challenge = self._answered(session, "request", credential)
        try:
            handle = webauthn.helpers.base64url_to_bytes(credential["response"].get("userHandle") or "").decode()
            verified = webauthn.verify_authentication_response(
                credential=credential,
                expected_challenge=webauthn.helpers.base64url_to_bytes(challenge.text),
                expected_rp_id=self.host,
                expected_origin=self._origin,
                credential_public_key=webauthn.helpers.base64url_to_bytes(passkey.public_key),
                credential_current_sign_count=passkey.sign_count,
                require_user_verification=True,
            )
        except Exception as fault:  # as above
            raise PasskeyRefused(f"{type(fault).__name__}: {fault}") from fault
        if handle != passkey.user_id:
            raise PasskeyRefused("the passkey names another user")
        return verified.new_sign_count, challenge

    @property
    def _origin(self) -> str:
        parts = urlsplit(self.base)
        return f"{parts.scheme}://{parts.netloc}"

    def _challenge(self, session: AnySession, purpose: str) -> bytes:
        ends_at = values.now() + CHALLENGE_SECONDS * 1000
        body = secrets.token_bytes(_RANDOM) + ends_at.to_bytes(_BODY - _RANDOM)
        return body + self._signature(session, purpose, body)

    def _answered(self, session: AnySession, purpose: str, credential: dict[str, Any]) -> SpentChallenge:
        """The challenge in the browser's answer, if it was made for this session and this purpose and has not ended."""
        webauthn = WEBAUTHN.now()
        try:
            client_data = webauthn.helpers.base64url_to_bytes(credential["response"]["clientDataJSON"])
            challenge = webauthn.helpers.parse_client_data_json(client_data).challenge
            told = read_object(client_data)
        except Exception as fault:
            raise PasskeyRefused(f"unreadable client data: {type(fault).__name__}") from fault
        # No page of this service is shown in another site's frame (WebAuthn Level 3 §7.1, §7.2).
        if told.get("crossOrigin", False) is not False or "topOrigin" in told:
            raise PasskeyRefused("made in a frame of another site")
        body, ends_at = challenge[:_BODY], int.from_bytes(challenge[_RANDOM:_BODY])
        expected = self._signature(session, purpose, body)
        if not values.equal_in_constant_time(challenge[_BODY:].hex(), expected.hex()):
            raise PasskeyRefused("the challenge is not of this session")
        if ends_at <= values.now():
            raise PasskeyRefused("the challenge is too old")
        return SpentChallenge(webauthn.helpers.bytes_to_base64url(challenge), ends_at)

    def _signature(self, session: AnySession, purpose: str, body: bytes) -> bytes:
        bound = f"passkey {purpose}:{session.csrf}:{body.hex()}"
        return bytes.fromhex(values.keyed_digest(self.pepper, bound))


def read_credential(text: str) -> dict[str, Any]:
    """The JSON object that the browser's script sent; raises `PasskeyRefused`."""
    try:
        credential = read_object(text.encode())
    except ValueError as fault:
        raise PasskeyRefused("not a JSON object") from fault
    if not is_object(credential.get("response")) or not isinstance(credential.get("id"), str):
        raise PasskeyRefused("not a credential")
    return credential


def _is_number(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return bool(ip_address(host))
    return False


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
            form(PASSKEYS_PATH, self.add, again=self.page.page),
            form(f"{PASSKEYS_PATH}/{{id}}/name", self.rename, again=self.page.page),
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
            raise UnreadFields({"passkey": _NOT_ADDED}) from None
        except (Conflict, Forbidden, ValidationFailed) as refusal:
            faults = refusal.errors if isinstance(refusal, ValidationFailed) else (refusal,)
            raise UnreadFields({"passkey": faults[0].description}) from None
        return self._see("passkey")

    async def rename(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        passkey_id: str = request.path_params["id"]
        try:
            name = read_name(form) or "A passkey"
        except ValidationFailed as refusal:
            raise UnreadFields({passkey_id: refusal.errors[0].description}) from None
        await self.router.store.write(lambda tx: passkey_queries.rename(tx, passkey_id, name, user_id=session.user_id))
        return self._see("passkey-name")

    async def remove(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        passkey_id: str = request.path_params["id"]
        await self.router.store.write(lambda tx: passkey_queries.remove(tx, passkey_id, user_id=session.user_id))
        return self._see("passkey-removed")

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
