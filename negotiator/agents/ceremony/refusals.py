"""auth.md's words for what the codes' own slice refuses (identity.md §2.5)."""

from typing import Final

from negotiator.errors import Conflict, Gone, Refusal, Unauthorized

_SAME: Final = {"already_claimed", "too_many_attempts"}
_EXPIRED: Final = {"claim_expired", "claim_revoked"}


def said_twice(refused: Refusal) -> Refusal:
    """The refusal with `message` beside `error_description`: the first generations of auth.md look there."""
    refused.members.setdefault("message", refused.description)
    if interaction := refused.members.get("interaction"):
        refused.members.setdefault("claim", {"attempt": interaction})
    return refused


def no_claim_token() -> Refusal:
    """401: nobody we know sent this."""
    refused = Unauthorized("This is no claim token.", error="invalid_claim_token")
    return said_twice(refused)


def at_claim(refused: Refusal, *, confirmed: bool) -> Refusal:
    """A refused code, as whoever completes a claim is told; `confirmed` says that the user has made one by now."""
    if refused.error in _SAME:
        return refused
    if refused.error in _EXPIRED:
        error = "user_code_expired" if refused.error == "claim_expired" else refused.error
        return Gone(refused.description, error=error, remember=refused.remember)
    if not confirmed:
        return Conflict(
            "The user has not approved yet.", error="claim_not_confirmed", remember=refused.remember
        )
    return Unauthorized(
        "This is not the code.", error="invalid_user_code", remember=refused.remember
    )
