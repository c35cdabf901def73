"""`POST /api/agent/events`: push delivery of security events (RFC 8935)."""

from dataclasses import dataclass
from typing import Final

from pydantic import ConfigDict, Field

from negotiator import audit
from negotiator.agents import security_events
from negotiator.base.errors import InvalidRequest, Refusal, Unavailable
from negotiator.base.schema import Strict, example_schema
from negotiator.http.operation import REGISTRATION_BODY_LIMIT, Answer, Call, Operation
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.trust.claims import AssertionRefused, Reason
from negotiator.trust.security_events import SecurityEventVerifier

EVENTS_PATH: Final = "/api/agent/events"
EVENTS_BUDGET: Final = "events"
_EXAMPLE: Final = "eyJ0eXAiOiJzZWNldmVudCtqd3QiLCJhbGciOiJFUzI1NiIsImtpZCI6IjEifQ.eyJqdGkiOiIxIn0.c2lnbmF0dXJl"
_WORDS: Final = {
    Reason.SIGNATURE: "authentication_failed",
    Reason.ISSUER: "invalid_issuer",
    Reason.AUDIENCE: "invalid_audience",
    Reason.NOT_ENTITLED: "access_denied",
}
"""RFC 8935 §2.4; everything else is `invalid_request`."""


class SecurityEventBody(Strict):
    """The body is the signed token itself; its media type is `application/secevent+jwt`."""

    model_config = ConfigDict(json_schema_extra=example_schema({"token": _EXAMPLE}))

    token: str = Field(min_length=1, description="A compact JWS of `typ` `secevent+jwt`.")


def _budget(_body: SecurityEventBody) -> str:
    return EVENTS_BUDGET


@dataclass(frozen=True, slots=True)
class SecurityEventRoutes:
    """The endpoint where trusted issuers report security events."""

    store: Store
    receiver: SecurityEventVerifier

    def operations(self) -> list[Operation]:
        return [
            Operation(
                name="report_event",
                method="POST",
                path=EVENTS_PATH,
                urgent=True,
                summary="Report, as a trusted issuer, a security event of one of your users; it takes effect at once",
                run=self.report,
                input=SecurityEventBody,
                status=202,
                access="open",
                encoding="event",
                body_limit=REGISTRATION_BODY_LIMIT,
                budget=_budget,
                refusals=(400, 503),
                tag="agents",
            )
        ]

    async def report(self, call: Call[SecurityEventBody]) -> Answer:
        """Apply one event: 202 once it is stored, and for one that was reported before (RFC 8935 §2.2)."""
        try:
            signal = await self.receiver.verify(call.input.token)
        except AssertionRefused as refused:
            raise _refusal(refused, call.address) from None
        await self.store.write(lambda tx: security_events.apply_event(tx, signal))
        return Answer(None, 202)


def _refusal(refused: AssertionRefused, address: str) -> Refusal:
    if refused.reason is Reason.KEYS_UNAVAILABLE:
        return Unavailable(refused.description, detail=refused.detail, retry_after=refused.retry_after or 1)
    word = _WORDS.get(refused.reason, "invalid_request")

    def remember(tx: Transaction) -> None:
        audit.record(tx, "signal.refused", "", actor=address, reason=refused.reason.value)

    return InvalidRequest(
        refused.description,
        error=word,
        detail=refused.detail,
        members={"err": word, "description": refused.description},
        # Only events signed by a trusted issuer are audited; anyone can send the others.
        remember=remember if refused.reason is Reason.NOT_ENTITLED else None,
    )
