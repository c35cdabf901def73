"""The exceptions by which the service refuses a request.

A refusal has a public description, which is sent, and a private detail, which is only logged. `remember` is a unit that
the pipeline writes after the rollback, for what must be stored although the request is refused.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar


class UnusableFileError(Exception):
    """A file of the operator's cannot be used; the message is one sentence that names it or says why."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """One refused field: a JSON Pointer into the body (RFC 6901) and a sentence."""

    pointer: str
    description: str


class Refusal(Exception):
    """Base of all refusals; `error` is a stable word for programs, `description` a sentence for people."""

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
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(description)
        self.description = description
        self.error = error or self.default_error
        self.detail = detail
        self.members = members or {}
        self.remember = remember
        self.headers = dict(headers or {})


class RequestAborted(Exception):
    """The client disconnected, so that nothing can be answered; not a refusal."""


class InvalidRequest(Refusal):
    """The request could not be understood."""


class ProofRefused(InvalidRequest):
    """A DPoP proof is invalid or lacks the server's `nonce` (RFC 9449 §5, §8)."""

    default_error = "invalid_dpop_proof"

    def __init__(self, description: str, *, nonce: str = "", **rest: Any) -> None:
        super().__init__(description, headers={"dpop-nonce": nonce} if nonce else None, **rest)
        self.nonce = nonce


class Unauthorized(Refusal):
    """No credential or an invalid one, as `sent` tells; `scopes` are those to ask for (RFC 6750 §3)."""

    status = 401
    default_error = "invalid_token"

    def __init__(self, description: str, *, sent: bool = True, **rest: Any) -> None:
        super().__init__(description, **rest)
        self.sent = sent
        self.scopes: tuple[str, ...] = ()


class ProofRequired(Unauthorized):
    """The credential lacks a valid DPoP proof, or came with one although it is not bound (RFC 9449 §7.1)."""

    def __init__(self, description: str, *, algorithms: Sequence[str], nonce: str = "", **rest: Any) -> None:
        super().__init__(description, headers={"dpop-nonce": nonce} if nonce else None, **rest)
        self.algorithms = tuple(algorithms)


class InsufficientScope(Refusal):
    """The credential is valid but lacks a scope; `scopes` are all that the operation needs.

    `algorithms` are those of DPoP proofs, for a credential that is bound to a key.
    """

    status = 403
    default_error = "insufficient_scope"

    def __init__(self, scopes: Sequence[str], *, algorithms: Sequence[str] = ()) -> None:
        super().__init__(f"This operation needs the scope {' '.join(scopes)}.")
        self.scopes = tuple(scopes)
        self.algorithms = tuple(algorithms)


class Forbidden(Refusal):
    """The caller is authenticated and not entitled, with any scopes."""

    status = 403
    default_error = "access_denied"


class NotFound(Refusal):
    """The resource does not exist or belongs to another owner; both must look the same."""

    status = 404
    default_error = "not_found"


class MethodNotAllowed(Refusal):
    """The path exists but not with this method; `allowed` are its methods."""

    status = 405
    default_error = "method_not_allowed"

    def __init__(self, allowed: Sequence[str]) -> None:
        super().__init__(f"Only {', '.join(allowed)} is allowed here.", headers={"allow": ", ".join(allowed)})


class RequestTimeout(Refusal):
    """The headers or the body did not arrive in time (RFC 9110 §15.5.9)."""

    status = 408
    default_error = "request_timeout"


class Conflict(Refusal):
    """The state of the resource does not allow the request."""

    status = 409
    default_error = "conflict"


class Gone(Refusal):
    """The resource existed and has ended for good."""

    status = 410
    default_error = "gone"


class PreconditionFailed(Refusal):
    """`If-Match` names another revision than the current one (RFC 9110 §13.1.1), whose ETag is sent if it is known."""

    status = 412
    default_error = "precondition_failed"

    def __init__(self, description: str, **rest: Any) -> None:
        super().__init__(description, **rest)
        if (revision := self.members.get("revision")) is not None:
            self.headers["etag"] = f'"{revision}"'


class UpgradeRequired(Refusal):
    """The path needs another protocol than plain HTTP (RFC 9110 §15.5.22)."""

    status = 426
    default_error = "upgrade_required"

    def __init__(self, description: str) -> None:
        super().__init__(description, headers={"upgrade": "websocket", "connection": "Upgrade"})


class PreconditionRequired(Refusal):
    """A change of a shared resource came without `If-Match` (RFC 6585 §3)."""

    status = 428
    default_error = "precondition_required"


class PayloadTooLarge(Refusal):
    """The body has more bytes than the operation accepts."""

    status = 413


class TargetTooLong(Refusal):
    """The request target has more bytes than the server reads (RFC 9110 §15.5.15)."""

    status = 414


class UnsupportedMediaType(Refusal):
    """The operation does not accept the body's media type."""

    status = 415


class ValidationFailed(Refusal):
    """Members of the input are invalid."""

    status = 422
    default_error = "validation_failed"

    def __init__(self, errors: Sequence[FieldError]) -> None:
        first = errors[0]
        super().__init__(f"{first.pointer or '/'}: {first.description}")
        self.errors = tuple(errors)


class TooManyRequests(Refusal):
    """A rate budget is empty; `retry_after` is in whole seconds, at least one."""

    status = 429
    default_error = "rate_limit_exceeded"

    def __init__(self, description: str, *, retry_after: int, **rest: Any) -> None:
        self.retry_after = max(1, retry_after)
        super().__init__(description, headers={"retry-after": str(self.retry_after)}, **rest)


class HeadersTooLarge(Refusal):
    """The headers are more, or have more bytes, than the server reads (RFC 6585 §5)."""

    status = 431


class Unavailable(Refusal):
    """The service cannot answer now, through no fault of the caller; `retry_after` is in seconds."""

    status = 503
    default_error = "temporarily_unavailable"

    def __init__(self, description: str, *, retry_after: int = 5, **rest: Any) -> None:
        super().__init__(description, headers={"retry-after": str(retry_after)}, **rest)
        self.retry_after = retry_after
