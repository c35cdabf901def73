"""What each security event asks of us (CAEP 1.0, RISC 1.0, SSF 1.0, auth.md); events we do not know ask nothing."""

from enum import StrEnum
from typing import Any, Final

_CAEP: Final = "https://schemas.openid.net/secevent/caep/event-type/"
_RISC: Final = "https://schemas.openid.net/secevent/risc/event-type/"
_SSF: Final = "https://schemas.openid.net/secevent/ssf/event-type/"
AUTH_MD: Final = "https://schemas.workos.com/events/agent/auth/identity/assertion/revoked"


class Effect(StrEnum):
    """What is done: `end` all that is held; `close` also what is to come, until `open`; `forget` the link as well;
    `renew` ends and wants a new login; `step_up` only wants the login; `note` does nothing.
    """

    END = "end"
    CLOSE = "close"
    FORGET = "forget"
    OPEN = "open"
    RENEW = "renew"
    STEP_UP = "step_up"
    NOTE = "note"


_EFFECTS: Final = {
    AUTH_MD: Effect.END,
    f"{_CAEP}session-revoked": Effect.END,
    f"{_CAEP}credential-change": Effect.RENEW,
    f"{_RISC}sessions-revoked": Effect.END,
    f"{_RISC}account-disabled": Effect.CLOSE,
    f"{_RISC}account-purged": Effect.FORGET,
    f"{_RISC}account-enabled": Effect.OPEN,
    f"{_RISC}credential-compromise": Effect.RENEW,
    f"{_RISC}account-credential-change-required": Effect.RENEW,
}
_WORSE: Final = {
    f"{_CAEP}assurance-level-change": ("change_direction", "decrease"),
    f"{_CAEP}device-compliance-change": ("current_status", "not-compliant"),
    f"{_CAEP}risk-level-change": ("current_level", "HIGH"),
}
"""Changes that count only for the worse, by a member of the event."""
_NOTED: Final = (
    f"{_CAEP}token-claims-change",
    f"{_RISC}identifier-changed",
    f"{_RISC}identifier-recycled",
    f"{_SSF}verification",
    f"{_SSF}stream-updated",
)
SUPPORTED: Final = (*_EFFECTS, *_WORSE, *_NOTED)


def effect(uri: str, event: dict[str, Any]) -> Effect:
    """What this event asks; people are told apart by (`iss`, `sub`), so a new address of theirs asks nothing."""
    if uri in _WORSE:
        member, worse = _WORSE[uri]
        return Effect.STEP_UP if event.get(member) == worse else Effect.NOTE
    return _EFFECTS.get(uri, Effect.NOTE)
