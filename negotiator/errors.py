"""The refusal family.

    Refusal
    ├── InvalidRequest        400  invalid_request and its kin (the code is the caller's to name)
    │   └── ProofRefused      400  invalid_dpop_proof, or use_dpop_nonce with the nonce
    ├── Unauthorized          401  with a challenge
    │   └── Unpossessed       401  with a challenge to prove the possession of a key (DPoP)
    ├── InsufficientScope     403  names every scope the operation needs
    ├── Forbidden             403
    ├── NotFound              404  also for somebody else's object
    ├── MethodNotAllowed      405  with Allow
    ├── RequestTimeout        408  headers or body came too slowly
    ├── Conflict              409
    ├── Gone                  410
    ├── PreconditionFailed    412  the revision moved on
    ├── PayloadTooLarge       413
    ├── TargetTooLong         414  the request target
    ├── UnsupportedMediaType  415
    ├── ValidationFailed      422  one entry per field
    ├── UpgradeRequired       426  with Upgrade: the path speaks WebSocket
    ├── PreconditionRequired  428  a change needs If-Match
    ├── TooManyRequests       429  with Retry-After
    ├── HeadersTooLarge       431  their bytes or their number
    └── Unavailable           503  with Retry-After

A refusal has a public sentence and a private detail. The sentence crosses the wire; the detail reaches the
log only. `remember` is a unit that the edge writes after the rollback: what must survive the refusal.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class FieldError:
    """One refused field: an RFC 6901 pointer into the body and a sentence."""

    pointer: str
    description: str


class Refusal(Exception):
    """Base of everything the service says no with; `error` is a stable word, `description` is prose."""

    status: ClassVar[int] = 400
    default_error: ClassVar[str] = "invalid_request"

    def __init__(
        self,
        description: str,
        *,
        error: str | None = None,
        detail: str = "",
        members: dict[str, Any] | None = None,
        remember: Callable[[Any], object] | None = None,
    ) -> None:
        super().__init__(description)
        self.description = description
        self.error = error or self.default_error
        self.detail = detail
        self.members = members or {}
        self.remember = remember

    @property
    def headers(self) -> dict[str, str]:
        """Headers that belong to this refusal."""
        return {}


class InvalidRequest(Refusal):
    """The request could not be understood."""


class ProofRefused(InvalidRequest):
    """A proof of possession is not good, or lacks `nonce`, the server's own (RFC 9449 §5, §8)."""

    default_error = "invalid_dpop_proof"

    def __init__(self, description: str, *, nonce: str = "", **rest: Any) -> None:
        super().__init__(description, **rest)
        self.nonce = nonce

    @property
    def headers(self) -> dict[str, str]:
        return {"dpop-nonce": self.nonce} if self.nonce else {}


class Unauthorized(Refusal):
    """No credential, or one that is not believed. `sent` tells which, `scopes` what to ask for (RFC 6750 §3)."""

    status = 401
    default_error = "invalid_token"

    def __init__(self, description: str, *, sent: bool = True, **rest: Any) -> None:
        super().__init__(description, **rest)
        self.sent = sent
        self.scopes: tuple[str, ...] = ()


class ProofRequired(Unauthorized):
    """The credential wants a proof of possession it did not get, or got one it does not want (RFC 9449 §7.1)."""

    def __init__(
        self, description: str, *, algorithms: Sequence[str], nonce: str = "", **rest: Any
    ) -> None:
        super().__init__(description, **rest)
        self.algorithms = tuple(algorithms)
        self.nonce = nonce

    @property
    def headers(self) -> dict[str, str]:
        return {"dpop-nonce": self.nonce} if self.nonce else {}


class InsufficientScope(Refusal):
    """The credential is good but lacks a scope; `scopes` are all that the operation needs.

    `algorithms` are those of proofs, where the credential is bound to a key.
    """

    status = 403
    default_error = "insufficient_scope"

    def __init__(self, scopes: Sequence[str], *, algorithms: Sequence[str] = ()) -> None:
        super().__init__(f"This operation needs the scope {' '.join(scopes)}.")
        self.scopes = tuple(scopes)
        self.algorithms = tuple(algorithms)


class Forbidden(Refusal):
    """The caller is known and may not, whatever scopes it has."""

    status = 403
    default_error = "access_denied"


class NotFound(Refusal):
    """It is not there, or it is somebody else's, which must look the same."""

    status = 404
    default_error = "not_found"


class MethodNotAllowed(Refusal):
    """The path exists, the method does not; `allowed` are those that do."""

    status = 405
    default_error = "method_not_allowed"

    def __init__(self, allowed: Sequence[str]) -> None:
        super().__init__(f"Only {', '.join(allowed)} is allowed here.")
        self.allowed = tuple(allowed)

    @property
    def headers(self) -> dict[str, str]:
        return {"allow": ", ".join(self.allowed)}


class RequestTimeout(Refusal):
    """The headers or the body did not arrive in time (RFC 9110 §15.5.9)."""

    status = 408
    default_error = "request_timeout"


class Conflict(Refusal):
    """The state of the resource forbids it."""

    status = 409
    default_error = "conflict"


class Gone(Refusal):
    """It was there and is over for good."""

    status = 410
    default_error = "gone"


class PreconditionFailed(Refusal):
    """`If-Match` names another revision than the current one (RFC 9110 §13.1.1)."""

    status = 412
    default_error = "precondition_failed"

    @property
    def headers(self) -> dict[str, str]:
        """The current revision's tag, where the refusal knows it: what to read again and try with."""
        revision = self.members.get("revision")
        return {} if revision is None else {"etag": f'"{revision}"'}


class UpgradeRequired(Refusal):
    """The path speaks another protocol than plain HTTP (RFC 9110 §15.5.22)."""

    status = 426
    default_error = "upgrade_required"

    @property
    def headers(self) -> dict[str, str]:
        return {"upgrade": "websocket", "connection": "Upgrade"}


class PreconditionRequired(Refusal):
    """A change of what others may change too came without `If-Match` (RFC 6585 §3)."""

    status = 428
    default_error = "precondition_required"


class PayloadTooLarge(Refusal):
    """The body has more bytes than the operation takes."""

    status = 413


class TargetTooLong(Refusal):
    """The request target has more bytes than the server reads (RFC 9110 §15.5.15)."""

    status = 414


class UnsupportedMediaType(Refusal):
    """The body is declared as something the operation does not read."""

    status = 415


class ValidationFailed(Refusal):
    """The body was understood and fields of it are refused."""

    status = 422
    default_error = "validation_failed"

    def __init__(self, errors: Sequence[FieldError]) -> None:
        first = errors[0]
        super().__init__(f"{first.pointer or '/'}: {first.description}")
        self.errors = tuple(errors)


class TooManyRequests(Refusal):
    """A budget is empty; `retry_after` is in whole seconds, at least one."""

    status = 429
    default_error = "rate_limit_exceeded"

    def __init__(self, description: str, *, retry_after: int, **rest: Any) -> None:
        super().__init__(description, **rest)
        self.retry_after = max(1, retry_after)

    @property
    def headers(self) -> dict[str, str]:
        return {"retry-after": str(self.retry_after)}


class HeadersTooLarge(Refusal):
    """The headers have more bytes, or there are more of them, than the server reads (RFC 6585 §5)."""

    status = 431


class Unavailable(Refusal):
    """Not now, through no fault of the caller; `retry_after` is in seconds."""

    status = 503
    default_error = "temporarily_unavailable"

    def __init__(self, description: str, *, retry_after: int = 5, **rest: Any) -> None:
        super().__init__(description, **rest)
        self.retry_after = retry_after

    @property
    def headers(self) -> dict[str, str]:
        return {"retry-after": str(self.retry_after)}
