"""The two ceremonies of Web Authentication: making a passkey for a user, and signing in with one (W3C WebAuthn §7).

A challenge is not stored. It is random, carries its end and a signature over the session of the browser that asked for
it, and is spent in the transaction that accepts its answer, so that it works once, in one browser, for five minutes.
"""

import contextlib
import secrets
from dataclasses import dataclass
from importlib import import_module
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

from negotiator.base import values
from negotiator.base.strict_json import is_object, read_object
from negotiator.console.browser_sessions import AnySession, SignedInSession
from negotiator.runtime.thread_pools import BuiltOnce
from negotiator.users.passkey_queries import NewPasskey
from negotiator.users.tables import Passkey

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
