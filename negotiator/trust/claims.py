"""Readers of single claims, which check their types and limits; and why an assertion is refused, as each door says it.

A claim that is present must have its type; `null` does not count as absent. Every text must be printable, so that no
control character, bidirectional mark or NUL reaches a log, a page or the database.
"""

import re
from enum import StrEnum
from typing import Any, Final, TypeGuard

from negotiator.base.errors import Forbidden, InvalidRequest, Refusal, Unauthorized, Unavailable
from negotiator.base.strict_json import is_array, is_object
from negotiator.base.values import ascii_host

_SCOPES = re.compile(r"[\x21\x23-\x5b\x5d-\x7e ]*")
_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])"
# A dot-string (RFC 5321 §4.1.2) that is no encoded word (RFC 2047): mail software decodes that, so that several texts
# would name one mailbox.
_EMAIL = re.compile(
    r"(?!.*=\?)(?=.{1,64}@)[!#-'*+/0-9=?A-Z^-~-]+(?:\.[!#-'*+/0-9=?A-Z^-~-]+)*" rf"@((?:{_LABEL}?\.)+{_LABEL})"
)
_LATEST: Final = 253_402_300_799


class Reason(StrEnum):
    """Why an assertion is refused; `replay`, `not_entitled` and `scope` are found by the callers."""

    MALFORMED = "malformed"
    TYPE = "type"
    SIGNATURE = "signature"
    ISSUER = "issuer"
    AUDIENCE = "audience"
    EXPIRED = "expired"
    REPLAY = "replay"
    CLIENT = "client"
    UNVERIFIED_EMAIL = "unverified_email"
    LOGIN_REQUIRED = "login_required"
    NOT_ENTITLED = "not_entitled"
    SCOPE = "scope"
    RESOURCE = "resource"
    PROOF = "proof"
    INTERACTION = "interaction"
    KEYS_UNAVAILABLE = "keys_unavailable"


class AssertionRefused(Exception):
    """An assertion was refused: the reason, a public description and a private detail.

    `max_age` is set for a login that is too old: the seconds that the issuer's policy allows. `retry_after` is set for
    keys that cannot be fetched now: the seconds until they are fetched again.
    """

    def __init__(
        self,
        reason: Reason,
        description: str,
        *,
        detail: str = "",
        max_age: int | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(f"{reason}: {description}")
        self.reason = reason
        self.description = description
        self.detail = detail
        self.max_age = max_age
        self.retry_after = retry_after


def is_text(value: object, limit: int) -> TypeGuard[str]:
    """Whether this is a string of 1 to `limit` printable characters."""
    return isinstance(value, str) and 0 < len(value) <= limit and value.isprintable()


def required_text(claims: dict[str, Any], name: str, *, limit: int = 255, reason: Reason = Reason.MALFORMED) -> str:
    """The text of a required claim."""
    value = claims.get(name)
    if is_text(value, limit):
        return value
    raise AssertionRefused(reason, f"The claim {name} must be a string of 1 to {limit} printable characters.")


def optional_text(claims: dict[str, Any], name: str) -> str | None:
    """The text of a claim, or None when it is absent."""
    return required_text(claims, name) if name in claims else None


def texts(claims: dict[str, Any], name: str, *, single: bool = False) -> tuple[str, ...] | None:
    """An array of texts, which is not empty; with `single` also one text alone; None when absent."""
    if name not in claims:
        return None
    value: object = claims[name]
    values: object = [value] if single and isinstance(value, str) else value
    if not is_array(values) or not values or not all(is_text(entry, 2048) for entry in values):
        raise AssertionRefused(Reason.MALFORMED, f"The claim {name} must be an array of printable strings.")
    return tuple(values)


def is_moment(value: Any) -> TypeGuard[int | float]:
    """Whether this is a NumericDate (RFC 7519 §2) before the year 10000; never a boolean."""
    return type(value) in (int, float) and 0 <= value <= _LATEST


def required_moment(claims: dict[str, Any], name: str) -> int:
    """A NumericDate as milliseconds."""
    value = claims.get(name)
    if is_moment(value):
        return int(value * 1000)
    raise AssertionRefused(Reason.MALFORMED, f"The claim {name} must be a number of seconds.")


def optional_moment(claims: dict[str, Any], name: str) -> int | None:
    """A NumericDate as milliseconds, or None when absent."""
    return required_moment(claims, name) if name in claims else None


def optional_scopes(claims: dict[str, Any]) -> tuple[str, ...] | None:
    """The scopes (RFC 6749 §3.3), each once; None when absent, () for an empty claim."""
    if "scope" not in claims:
        return None
    value = claims["scope"]
    if not isinstance(value, str) or not _SCOPES.fullmatch(value):
        raise AssertionRefused(Reason.MALFORMED, "The claim scope must be a string of scopes with spaces between.")
    return tuple(dict.fromkeys(word for word in value.split(" ") if word))


def optional_object(claims: dict[str, Any], name: str) -> dict[str, Any] | None:
    """The object in a claim, or None when absent."""
    if name not in claims:
        return None
    value: object = claims[name]
    if is_object(value):
        return value
    raise AssertionRefused(Reason.MALFORMED, f"The claim {name} must be an object.")


def mail_domain(address: str) -> str | None:
    """The lower-case domain of an ASCII e-mail address up to 254 long; None for other texts.

    Only ASCII, since an address is an identity here and two others may have the same case-folded form.
    """
    found = _EMAIL.fullmatch(address) if len(address) <= 254 else None
    return found[1].lower() if found else None


def mail_address(text: str) -> str | None:
    """The e-mail address as it is kept: in lower case, its domain in ASCII; None for other texts."""
    local, at, domain = text.strip().rpartition("@")
    try:
        address = f"{local}{at}{ascii_host(domain)}"
    except ValueError:
        return None
    return address.lower() if mail_domain(address) else None


_GRANT: Final = (InvalidRequest, "invalid_grant")
_TABLE: Final[dict[Reason, tuple[tuple[type[Refusal], str], tuple[type[Refusal], str]]]] = {
    # reason: (at /api/agent/register, at /oauth/token)
    Reason.MALFORMED: ((InvalidRequest, "invalid_request"), _GRANT),
    Reason.TYPE: ((InvalidRequest, "invalid_request"), _GRANT),
    Reason.SIGNATURE: ((InvalidRequest, "invalid_signature"), _GRANT),
    Reason.ISSUER: ((InvalidRequest, "issuer_not_enabled"), _GRANT),
    Reason.AUDIENCE: ((InvalidRequest, "invalid_audience"), _GRANT),
    Reason.EXPIRED: ((InvalidRequest, "expired"), _GRANT),
    Reason.REPLAY: ((InvalidRequest, "replay_detected"), _GRANT),
    Reason.CLIENT: ((InvalidRequest, "invalid_client_id"), _GRANT),
    Reason.UNVERIFIED_EMAIL: ((InvalidRequest, "missing_verified_email"), _GRANT),
    Reason.LOGIN_REQUIRED: ((Unauthorized, "login_required"), (InvalidRequest, "insufficient_user_authentication")),
    Reason.INTERACTION: ((Unauthorized, "interaction_required"), _GRANT),
    Reason.NOT_ENTITLED: ((Forbidden, "access_denied"), (InvalidRequest, "access_denied")),
    Reason.SCOPE: ((InvalidRequest, "invalid_scope"), (InvalidRequest, "invalid_scope")),
    Reason.RESOURCE: ((InvalidRequest, "invalid_target"), _GRANT),
    Reason.PROOF: (_GRANT, _GRANT),
    Reason.KEYS_UNAVAILABLE: ((Unavailable, "temporarily_unavailable"), (Unavailable, "temporarily_unavailable")),
}


class AgentChallenge(Unauthorized):
    """A 401 that needs another login or the user's approval (auth.md §2.4)."""

    def __init__(self, description: str, **rest: Any) -> None:
        super().__init__(description, **rest)
        challenge = f'AgentAuth error="{self.error}"'
        if "max_age" in self.members:
            challenge += f', max_age="{self.members["max_age"]}"'
        self.headers = {"www-authenticate": challenge}


def at_registration(refused: AssertionRefused, **extra: Any) -> Refusal:
    """The refusal as `/api/agent/register` answers it."""
    kind, error = _TABLE[refused.reason][0]
    return _refusal(AgentChallenge if kind is Unauthorized else kind, error, refused, extra)


def at_token_endpoint(refused: AssertionRefused) -> Refusal:
    """The refusal as `/oauth/token` answers it."""
    kind, error = _TABLE[refused.reason][1]
    return _refusal(kind, error, refused, {})


def _refusal(kind: type[Refusal], error: str, refused: AssertionRefused, extra: dict[str, Any]) -> Refusal:
    if refused.retry_after is not None:
        extra["retry_after"] = refused.retry_after
    members = {} if refused.max_age is None else {"max_age": refused.max_age}
    return kind(refused.description, error=error, detail=refused.detail, members=members, **extra)
