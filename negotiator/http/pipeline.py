"""The steps of every call, whichever protocol it came by: guard, limits, input, run; and the rendering of refusals.

HTTP and MCP each implement `IncomingCall`, which finds the credential, the input, the revision and the idempotency key
in their own messages. What is done with them, and in which order, is decided here alone.
"""

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import formatdate
from functools import partial
from typing import Any, Final, NamedTuple, Protocol, cast

from negotiator.base.caller import Caller, RetiringCredential, anonymous_caller
from negotiator.base.errors import (
    FieldError,
    InsufficientScope,
    InvalidRequest,
    MethodNotAllowed,
    NotFound,
    ProofRequired,
    Refusal,
    Unauthorized,
    ValidationFailed,
)
from negotiator.http.guard import Guard
from negotiator.http.idempotency import IdempotentCreation
from negotiator.http.limits import BASELINE_BUDGET, BudgetState, RateLimits, too_many_requests
from negotiator.http.operation import Answer, Call, Operation
from negotiator.runtime.telemetry import logger, request_id
from negotiator.runtime.tracing import current_span
from negotiator.store.statement import write_condition
from negotiator.store.store import Store

log = logger(__name__)


class RefusalRenderer:
    """Renders refusals as answers; `resource` is the path that challenges name as the protected resource (RFC 9728)."""

    def __init__(self, base: str, resource: str = "") -> None:
        self.base = base
        metadata = f"{base}/.well-known/oauth-protected-resource{resource}"
        self._parameters = f'realm="negotiator", resource_metadata="{metadata}"'

    def answer(self, refusal: Refusal) -> Answer:
        """The answer for this refusal; the refusal's private detail is logged and not sent."""
        if refusal.detail:
            log.info("refused", error=refusal.error, status=refusal.status, detail=refusal.detail)
        body: dict[str, Any] = {
            "error": refusal.error,
            "error_description": refusal.description,
            "request_id": request_id.get(),
        }
        for name, value in refusal.members.items():
            body[name] = _errors(value) if name == "errors" else value
        if isinstance(refusal, ValidationFailed):
            body["errors"] = _errors(refusal.errors)
        headers = {**refusal.headers, **self._challenge(refusal)}
        return Answer(body, refusal.status, headers)

    def crash(self, fault: Exception) -> Answer:
        """The answer to an unexpected exception: 500, without any detail; the exception is logged."""
        log.error("crashed", exc_info=fault)
        body = {
            "error": "server_error",
            "error_description": "Something went wrong on our side; the request id leads to it in the log.",
            "request_id": request_id.get(),
        }
        return Answer(body, 500)

    def not_found(self) -> Answer:
        return self.answer(NotFound("There is nothing at this path."))

    def method_not_allowed(self, allowed: Sequence[str]) -> Answer:
        return self.answer(MethodNotAllowed(allowed))

    def _challenge(self, refusal: Refusal) -> dict[str, str]:
        challenge = f"Bearer {self._parameters}"
        proving = f"DPoP {self._parameters}"
        if isinstance(refusal, ProofRequired):
            challenge = f'{proving}, error="{refusal.error}", {_algorithms(refusal)}'
        elif isinstance(refusal, InsufficientScope):
            lacking = f'error="insufficient_scope", scope="{" ".join(refusal.scopes)}"'
            challenge = f"{challenge}, {lacking}"
            if refusal.algorithms:
                challenge = f"{proving}, {lacking}, {_algorithms(refusal)}"
        elif isinstance(refusal, Unauthorized):
            if refusal.sent and refusal.error == "invalid_token":
                challenge += ', error="invalid_token"'
            if refusal.scopes:
                challenge += f', scope="{" ".join(refusal.scopes)}"'
        else:
            return {}
        return {"www-authenticate": refusal.headers.get("www-authenticate", challenge)}


def _algorithms(refusal: ProofRequired | InsufficientScope) -> str:
    """The accepted algorithms of a DPoP proof (RFC 9449 §7.1)."""
    return f'algs="{" ".join(refusal.algorithms)}"'


def _errors(errors: Sequence[FieldError]) -> list[dict[str, str]]:
    return [{"pointer": error.pointer, "description": error.description} for error in errors]


_KEY_LENGTH: Final = 255
_RECHECK_AFTER: Final = 1.0
"""Seconds."""


@dataclass(slots=True)
class ResponseContext:
    """What the headers of the answer tell about budgets and the credential, whether the call succeeds or not."""

    budget: BudgetState | None = None
    retiring: RetiringCredential | None = None

    def note(self, taken: BudgetState) -> None:
        """Describe this budget if it is the tightest one charged so far."""
        known = self.budget
        if known is None or not taken.taken or taken.remaining < known.remaining:
            self.budget = taken

    def header_lines(self) -> bytes:
        """The rate limit headers, and `Deprecation` and `Sunset` for a replaced credential (RFC 9745, RFC 8594)."""
        lines = self.budget.header_lines() if self.budget else b""
        if self.retiring:
            until = formatdate(self.retiring.until / 1000, usegmt=True).encode()
            lines += b"deprecation: @%d\r\nsunset: %s\r\n" % (self.retiring.since // 1000, until)
        return lines


class CallObserver(Protocol):
    """Hears of every call whose credential was valid."""

    def note(self, caller: Caller, operation: str, subject: str, refusal: Refusal | None) -> None:
        """`subject` is the id that the call was about, empty for none; `refusal` how it was refused."""
        ...


@dataclass(frozen=True, slots=True)
class Pipeline:
    """What all endpoints share."""

    guard: Guard
    limits: RateLimits
    refusals: RefusalRenderer
    store: Store
    calls: CallObserver

    async def charge(
        self,
        caller: Caller,
        name: str | None,
        context: ResponseContext,
        *,
        baseline: str = BASELINE_BUDGET,
        public: bool = False,
    ) -> None:
        """Charge one budget; 429 when it is empty. Of several budgets the headers describe the tightest one."""
        taken = await self.limits.charge(caller, name, baseline=baseline, public=public)
        context.note(taken)
        if not taken.taken:
            raise too_many_requests(taken)

    async def admit(self, operation: Operation, caller: Caller, context: ResponseContext) -> None:
        """Raise 401 without a credential, 403 without a scope; the refusal is charged to the caller.

        The answer is 403 even when the credential's budget is empty: it names the missing scope, which a 429 could
        not.
        """
        try:
            self.guard.allow(operation, caller)
        except InsufficientScope:
            context.note(await self.limits.charge(caller))
            raise
        except Refusal:
            await self.charge(caller, None, context, baseline=operation.baseline)
            raise

    async def confirm(self, caller: Caller, since: float) -> None:
        """Raise 401 if the credential has ended since the time `since`; checked only after more than a second."""
        if time.monotonic() - since > _RECHECK_AFTER:
            await self.store.read(lambda tx: self.guard.check(tx, caller))

    async def refused(self, refusal: Refusal) -> Answer:
        """The answer for a refusal, after storing what the refusal has to record; 503 when that fails."""
        if refusal.remember is None:
            return self.refusals.answer(refusal)
        try:
            await self.store.write(refusal.remember)
        except Refusal as unavailable:
            return self.refusals.answer(unavailable)
        except Exception as fault:
            return self.refusals.crash(fault)
        return self.refusals.answer(refusal)


class ParsedInput(NamedTuple):
    """A validated input, and the bytes that a repeated call with the same idempotency key must send again."""

    input: Any
    body: bytes = b""


class IncomingCall(Protocol):
    """One call of an operation, as HTTP or MCP received it."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers by lower-case name."""
        ...

    @property
    def address(self) -> str:
        """The client address; it keys the budgets of callers without a credential."""
        ...

    async def identify(self, operation: Operation) -> Caller:
        """The caller; 401 for a credential that is not valid."""
        ...

    async def read(self) -> ParsedInput:
        """The validated input."""
        ...

    def expected(self) -> int | None:
        """The revision that the call expects (`If-Match`), if it names one."""
        ...

    def key(self) -> str | None:
        """The idempotency key, if one was sent."""
        ...


async def run(operation: Operation, pipeline: Pipeline, incoming: IncomingCall, context: ResponseContext) -> Answer:
    """Run the steps in order; each may raise a `Refusal`. The state of the charged budgets goes to `context`.

    A call is charged to its credential if that is valid, else to its address. The operation's writes happen only while
    the credential is still valid.
    """
    try:
        caller = await incoming.identify(operation)
    except Refusal:
        await pipeline.charge(anonymous_caller(incoming.address), None, context, baseline=operation.baseline)
        raise
    current_span().set_attribute("negotiator.operation", operation.name)
    subject = ""
    try:
        call = await _admitted(operation, pipeline, incoming, context, caller)
        if caller.user_id is not None:  # only calls for a user are recorded, and the look-up is slow
            subject = str(getattr(call.input, "id", ""))
        with write_condition(partial(pipeline.guard.check, caller=caller)):
            result = await operation.run(call)
    except Refusal as refusal:
        current_span().set_attribute("negotiator.refusal", refusal.error)
        pipeline.calls.note(caller, operation.name, subject, refusal)
        raise
    answer = result if isinstance(result, Answer) else Answer(result, operation.status)
    pipeline.calls.note(caller, operation.name, subject or _made(operation, answer), None)
    return answer


async def _admitted(
    operation: Operation, pipeline: Pipeline, incoming: IncomingCall, context: ResponseContext, caller: Caller
) -> Call[Any]:
    """The call after guard, limits and input; raises their refusals."""
    baseline, public = operation.baseline, operation.access != "bearer"
    since = time.monotonic()
    context.retiring = caller.retiring
    await pipeline.admit(operation, caller, context)
    if operation.probe:
        parsed = await incoming.read()
    elif operation.budget is None:
        await pipeline.charge(caller, None, context, baseline=baseline, public=public)
        parsed = await incoming.read()
    else:
        # The input names the budget; a call whose input is invalid is charged to the caller's own.
        try:
            parsed = await incoming.read()
        except Refusal:
            await pipeline.charge(caller, None, context, baseline=baseline, public=public)
            raise
        names = operation.budget(parsed.input)
        for name in (names,) if isinstance(names, str) else names:
            await pipeline.charge(caller, name, context, baseline=baseline)
    call = Call(caller, parsed.input, incoming.headers, incoming.address, incoming.expected())
    if operation.creates and (key := incoming.key()) is not None:
        call.once = _once(operation, caller, key, parsed)
    await pipeline.confirm(caller, since)
    return call


def _made(operation: Operation, answer: Answer) -> str:
    """The id of what a creating operation made, empty for any other."""
    body: Any = answer.body
    if not operation.creates or not isinstance(body, dict):
        return ""
    return str(cast("dict[str, Any]", body).get("id", ""))


def _once(operation: Operation, caller: Caller, key: str, parsed: ParsedInput) -> IdempotentCreation:
    if not 1 <= len(key) <= _KEY_LENGTH:
        raise InvalidRequest(f"Idempotency-Key has 1 to {_KEY_LENGTH} characters.")
    request = hashlib.sha256(f"{operation.name}\n".encode() + parsed.body).hexdigest()
    return IdempotentCreation(caller.principal, key, request)
