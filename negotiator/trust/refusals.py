"""Why an assertion was refused, as each door says it: one table (docs/contract 2.5, 3.1)."""

from typing import Any, Final

from negotiator.base.errors import Forbidden, InvalidRequest, Refusal, Unauthorized, Unavailable
from negotiator.trust.claims import AssertionRefused, Reason

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

    @property
    def headers(self) -> dict[str, str]:
        challenge = f'AgentAuth error="{self.error}"'
        if "max_age" in self.members:
            challenge += f', max_age="{self.members["max_age"]}"'
        return {"www-authenticate": challenge}


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
