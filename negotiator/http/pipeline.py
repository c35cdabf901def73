"""One shape for every refusal, rendered in one place (docs/contract 1.3).

The steps that no operation can forget, however its call came: guard, limit, input, run.

A way in (HTTP, MCP) implements `Arrival`: it knows where a credential, an input, a revision and a key stand in its own
messages. What is done with them, and in which order, is decided here alone.
"""

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import formatdate
from functools import partial
from typing import Any, Final, Protocol

from negotiator.caller import Caller, RetiringCredential, anonymous_caller
from negotiator.errors import (
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
from negotiator.store.statement import write_condition
from negotiator.store.store import Store
from negotiator.telemetry import logger, request_id

log = logger(__name__)


class RefusalRenderer:
    """Renders refusals for the service at this base; `resource` is the path of the resource that challenges."""

    def __init__(self, base: str, resource: str = "") -> None:
        metadata = f"{base}/.well-known/oauth-protected-resource{resource}"
        self._parameters = f'realm="negotiator", resource_metadata="{metadata}"'

    def answer(self, refusal: Refusal) -> Answer:
        """The answer that carries this refusal; its private detail goes to the log."""
        if refusal.detail:
            log.info(
                "refused",
                error=refusal.error,
                status=refusal.status,
                detail=refusal.detail,
            )
        body: dict[str, Any] = {
            "error": refusal.error,
            "error_description": refusal.description,
            "request_id": request_id.get(),
        }
        for name, value in refusal.members.items():
            body[name] = _errors(value) if name == "errors" else value
        if isinstance(refusal, ValidationFailed):
            body["errors"] = _errors(refusal.errors)
        headers = {**refusal.headers, **self._challenged(refusal)}
        return Answer(body, refusal.status, headers)

    def crash(self, fault: Exception) -> Answer:
        """The answer to a fault of ours: it says nothing but where to look."""
        log.error("crashed", exc_info=fault)
        body = {
            "error": "server_error",
            "error_description": "Something went wrong on our side; the request id leads to it in the log.",
            "request_id": request_id.get(),
        }
        return Answer(body, 500)

    def not_found(self) -> Answer:
        """No such path."""
        return self.answer(NotFound("There is nothing at this path."))

    def method_not_allowed(self, allowed: Sequence[str]) -> Answer:
        """The path exists, the method does not."""
        return self.answer(MethodNotAllowed(allowed))

    def _challenged(self, refusal: Refusal) -> dict[str, str]:
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
        return {
            **refusal.headers,
            "www-authenticate": refusal.headers.get("www-authenticate", challenge),
        }


def _algorithms(refusal: ProofRequired | InsufficientScope) -> str:
    """What a proof may be signed with (RFC 9449 §7.1)."""
    return f'algs="{" ".join(refusal.algorithms)}"'


def _errors(errors: Sequence[FieldError]) -> list[dict[str, str]]:
    return [{"pointer": error.pointer, "description": error.description} for error in errors]


_KEY_LENGTH: Final = 255
_BELIEVED_FOR: Final = 1.0
"""Seconds."""


@dataclass(slots=True)
class ResponseContext:
    """What a call leaves for its answer's headers, whatever the answer is."""

    reading: BudgetState | None = None
    retiring: RetiringCredential | None = None

    def headers(self) -> list[tuple[bytes, bytes]]:
        """The limit headers; for a credential that has a successor, RFC 9745's and RFC 8594's too."""
        told = self.reading.headers() if self.reading else []
        if self.retiring:
            until = formatdate(self.retiring.until / 1000, usegmt=True)
            told.append((b"deprecation", b"@%d" % (self.retiring.since // 1000)))
            told.append((b"sunset", until.encode()))
        return told


@dataclass(frozen=True, slots=True)
class Pipeline:
    """What every way in shares."""

    guard: Guard
    limits: RateLimits
    refusals: RefusalRenderer
    store: Store

    async def charge(
        self,
        caller: Caller,
        name: str | None,
        left: ResponseContext,
        *,
        baseline: str = BASELINE_BUDGET,
        public: bool = False,
    ) -> None:
        """Charge one budget, 429 when it was empty; of several, the headers tell of the one that binds first."""
        taken = await self._take(caller, name, left, baseline=baseline, public=public)
        if not taken.taken:
            raise too_many_requests(taken)

    async def admit(self, operation: Operation, caller: Caller, left: ResponseContext) -> None:
        """Let the caller pass, or charge them for the refusal: 401 without a credential, 403 without a scope.

        A 403 is the answer even when the credential's budget is empty: it names the scope that is missing, which a
        429 could not, and costs no more.
        """
        try:
            self.guard.allow(operation, caller)
        except InsufficientScope:
            await self._take(caller, None, left)
            raise
        except Refusal:
            await self.charge(caller, None, left, baseline=operation.baseline)
            raise

    async def _take(
        self,
        caller: Caller,
        name: str | None,
        left: ResponseContext,
        *,
        baseline: str = BASELINE_BUDGET,
        public: bool = False,
    ) -> BudgetState:
        taken = await self.limits.charge(caller, name, baseline=baseline, public=public)
        if not left.reading or not taken.taken or taken.remaining < left.reading.remaining:
            left.reading = taken
        return taken

    async def confirm(self, caller: Caller, since: float) -> None:
        """401 when the credential has ended, asked only if it was believed too long ago: while a slow body was read."""
        if time.monotonic() - since > _BELIEVED_FOR:
            await self.store.read(lambda tx: self.guard.check(tx, caller))

    async def refused(self, refusal: Refusal) -> Answer:
        """The refusal, once what it has to leave behind is kept; 503 while that cannot be."""
        if refusal.remember is None:
            return self.refusals.answer(refusal)
        try:
            await self.store.write(refusal.remember)
        except Refusal as unkept:
            return self.refusals.answer(unkept)
        except Exception as fault:
            return self.refusals.crash(fault)
        return self.refusals.answer(refusal)


@dataclass(frozen=True, slots=True)
class ParsedInput:
    """An input that is believed, and the bytes that a repetition of the call has to bring again."""

    input: Any
    body: bytes = b""


class IncomingCall(Protocol):
    """One call of an operation, as it came."""

    @property
    def headers(self) -> Mapping[str, str]:
        """What was said beside the input, by lower-case name."""
        ...

    @property
    def address(self) -> str:
        """The client address that limits of nobody are kept by."""
        ...

    async def identify(self, operation: Operation) -> Caller:
        """The sender of the call; 401 for a credential that does not stand."""
        ...

    async def read(self) -> ParsedInput:
        """The believed input."""
        ...

    def expected(self) -> int | None:
        """The revision that the call is meant for, if it named one."""
        ...

    def key(self) -> str | None:
        """The idempotency key, if one came."""
        ...


async def run(
    operation: Operation, doorway: Pipeline, arrival: IncomingCall, left: ResponseContext
) -> Answer:
    """Guard, limit, input, run, in this order; a `Refusal` at any of them. What is left of budgets goes to `left`.

    A call is charged to its credential if that stands, else to the address it came from. Whatever the operation writes
    is written only while the credential stands.
    """
    baseline, public = operation.baseline, operation.access != "bearer"
    try:
        caller = await arrival.identify(operation)
    except Refusal:
        await doorway.charge(anonymous_caller(arrival.address), None, left, baseline=baseline)
        raise
    since = time.monotonic()
    left.retiring = caller.retiring
    await doorway.admit(operation, caller, left)
    if operation.budget is None:
        await doorway.charge(caller, None, left, baseline=baseline, public=public)
        given = await arrival.read()
    else:
        # The input names the budget; an input that cannot be read is charged to the baseline.
        try:
            given = await arrival.read()
        except Refusal:
            await doorway.charge(caller, None, left, baseline=baseline, public=public)
            raise
        named = operation.budget(given.input)
        for name in (named,) if isinstance(named, str) else named:
            await doorway.charge(caller, name, left, baseline=baseline)
    call = Call(
        caller,
        given.input,
        arrival.headers,
        arrival.address,
        arrival.expected(),
        _once(operation, caller, arrival.key(), given),
    )
    await doorway.confirm(caller, since)
    with write_condition(partial(doorway.guard.check, caller=caller)):
        result = await operation.run(call)
    return result if isinstance(result, Answer) else Answer(result, operation.status)


def _once(
    operation: Operation, caller: Caller, key: str | None, given: ParsedInput
) -> IdempotentCreation:
    if key is None or not operation.creates:
        return IdempotentCreation()
    if not 1 <= len(key) <= _KEY_LENGTH:
        raise InvalidRequest(f"Idempotency-Key has 1 to {_KEY_LENGTH} characters.")
    named = hashlib.sha256(f"{operation.name}\n".encode() + given.body).hexdigest()
    return IdempotentCreation(caller.principal, key, named)
