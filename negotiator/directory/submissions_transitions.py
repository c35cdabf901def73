"""How much one submitter may ask for: so many waiting, so many a day.

What a tool's proven owner may do without asking: take it down.

The moves of a submission, each a unit's work: ask, change, withdraw, appeal; approve, reject, send back, expire.

    pending → approved | rejected | changes_requested → pending | withdrawn | expired after 90 days
    rejected → pending, once, by appeal

Each leaves a line in the trail with the digests of what was and what is.
"""

from typing import Any, Final

import orjson

from negotiator import audit, values
from negotiator.caller import Caller
from negotiator.directory import (
    accounts_queries,
    catalogue_queries,
    draft_checks,
    submissions_drafts,
    submissions_queries,
    tool_ownership,
)
from negotiator.directory.draft_checks import DraftScreening, DraftVerdict
from negotiator.directory.tables import Submission
from negotiator.directory.tool_keys import keys_of
from negotiator.directory.tool_record import ToolDraft, ToolRecordBase
from negotiator.errors import Conflict, Forbidden, PreconditionFailed, TooManyRequests
from negotiator.store.statement import Transaction

MOST_OPEN_SUBMISSIONS: Final = 5
SUBMISSIONS_PER_DAY: Final = 10
SUBMISSIONS_PER_DAY_PROVEN: Final = 50
_DAY: Final = 24 * 3600 * 1000
_PROVEN: Final = 2


def require_quota(tx: Transaction, caller: Caller) -> None:
    """Refuse one more submission: 409 at five waiting, 429 at ten a day; a proven agent has fifty a day."""
    require_open_quota(tx, caller)
    now, most = (
        values.now(),
        SUBMISSIONS_PER_DAY_PROVEN if caller.level >= _PROVEN else SUBMISSIONS_PER_DAY,
    )
    made = submissions_queries.created_since(tx, caller.principal, now - _DAY)
    if len(made) >= most:
        raise TooManyRequests(
            f"You made {most} submissions within a day.",
            error="submission_quota",
            retry_after=(made[-most] + _DAY - now) // 1000 + 1,
        )


def require_open_quota(tx: Transaction, caller: Caller) -> None:
    """Refuse one more waiting submission of somebody unproven."""
    if (
        caller.level < _PROVEN
        and submissions_queries.count_open(tx, caller.principal) >= MOST_OPEN_SUBMISSIONS
    ):
        raise Conflict(
            f"You have {MOST_OPEN_SUBMISSIONS} submissions waiting; withdraw one, or prove who you are.",
            error="too_many_open",
        )


def take_down(tx: Transaction, caller: Caller, key: str, *, expected: int | None) -> None:
    """Remove a tool at its owner's word: a tombstone stays, its id, slug and coordinates are nobody else's later.

    404, 410; 403 `not_owner` for whoever has not proven to publish it; 412.
    """
    tool = catalogue_queries.require(tx, key)
    view = tool.view
    ownership = tool_ownership.find_listed_ownership(
        accounts_queries.proven_identities(tx, caller.client_id), view
    )
    if ownership is None:
        raise Forbidden(
            "Only whoever proved to publish the tool may take it down; report it instead.",
            error="not_owner",
        )
    if expected is not None and expected != tool.revision:
        raise PreconditionFailed(
            "The tool has changed since that revision.", members={"revision": tool.revision}
        )
    gone = catalogue_queries.withdraw(
        tx, tool.id, "deleted", message="Taken down by its publisher.", actor=caller.client_id
    )
    audit.record(
        tx,
        "tool.taken_down",
        tool.id,
        actor=caller.client_id,
        before=submissions_drafts.digest(tool.document),
        after=submissions_drafts.digest(gone.document),
        domain=ownership.domain,
    )


OPERATOR: Final = "operator"
_APPEAL_WITHIN: Final = 30 * 24 * 3600 * 1000
_VETTED: Final = 3


def propose(tx: Transaction, caller: Caller, draft: ToolDraft, seen: DraftScreening) -> Submission:
    """Take a new tool: 409 `duplicate`, 409 and 429 at the quota. An owner's clear entry is approved at once."""
    require_quota(tx, caller)
    submissions_drafts.require_new(tx, draft)
    keys = keys_of(draft)
    if own := [
        row for row in submissions_queries.find_competing(tx, keys) if row.owner == caller.principal
    ]:
        raise submissions_drafts.duplicate_conflict(submissions_drafts.reference_of(own[0]))
    judged = _judged(tx, caller, draft, seen)
    document = orjson.dumps(submissions_drafts.draft_json(draft))
    row = _new(caller, "create", proposed=document, judged=judged)
    submissions_queries.add(tx, row, keys)
    return _begun(tx, caller, row, judged)


def request_change(
    tx: Transaction,
    caller: Caller,
    tool: catalogue_queries.CatalogueTool,
    patch: dict[str, Any],
    seen: DraftScreening,
) -> Submission:
    """Take a change to a tool, under the same rules."""
    require_quota(tx, caller)
    draft = submissions_drafts.patched_draft(tool.view, patch)
    submissions_drafts.require_new(tx, draft, of=tool.id)
    judged = _judged(tx, caller, draft, seen, current=tool.view)
    row = _new(caller, "update", proposed=orjson.dumps(patch), judged=judged, tool=tool.id)
    submissions_queries.add(tx, row)
    return _begun(tx, caller, row, judged)


def change(
    tx: Transaction, caller: Caller, row: Submission, patch: dict[str, Any], seen: DraftScreening
) -> Submission:
    """Change an open submission and put it into the queue again."""
    _demand(row, submissions_queries.OPEN_STATUSES, "pending")
    proposed = submissions_drafts.combined_proposal(row, patch)
    draft = submissions_drafts.draft_of(tx, row, proposed)
    submissions_drafts.require_new(tx, draft, of=row.tool or "")
    if row.type == "create":
        keys = keys_of(draft)
        others = [
            other
            for other in submissions_queries.find_competing(tx, keys)
            if other.owner == row.owner and other.id != row.id
        ]
        if others:
            raise submissions_drafts.duplicate_conflict(submissions_drafts.reference_of(others[0]))
        submissions_queries.replace_keys(tx, row.id, keys)
    current = catalogue_queries.require(tx, row.tool).view if row.tool else None
    judged = _judged(tx, caller, draft, seen, current=current)
    after = submissions_queries.save(
        tx,
        row,
        status="pending",
        proposed=orjson.dumps(proposed),
        checks=orjson.dumps(judged.checks),
        alike=_alike(judged),
        reason=None,
    )
    _trail(tx, "submission.changed", row, after, caller.client_id)
    return _passed(tx, caller, after, judged)


def withdraw(tx: Transaction, caller: Caller, row: Submission) -> Submission:
    """Take a submission back; again is nothing more, 409 once it was decided."""
    if row.status == "withdrawn":
        return row
    _demand(row, submissions_queries.OPEN_STATUSES, "withdrawn")
    after = submissions_queries.save(tx, row, status="withdrawn")
    _trail(tx, "submission.withdrawn", row, after, caller.client_id)
    return after


def appeal(tx: Transaction, caller: Caller, row: Submission, message: str) -> Submission:
    """Put a rejected submission before a person once more; 409 a second time, or after 30 days."""
    _demand(row, ("rejected",), "pending")
    if row.appeal:
        raise Conflict("This submission was appealed before.", error="already_appealed")
    if values.now() - row.updated_at > _APPEAL_WITHIN:
        raise Conflict(
            "It was rejected more than 30 days ago; submit anew.", error="appeal_too_late"
        )
    require_open_quota(tx, caller)
    after = submissions_queries.save(tx, row, status="pending", appeal=message)
    if row.type == "create":
        submissions_queries.replace_keys(
            tx, row.id, keys_of(submissions_drafts.draft_of(tx, row, orjson.loads(row.proposed)))
        )
    _trail(tx, "submission.appealed", row, after, caller.client_id)
    return after


def approve(tx: Transaction, key: str, *, actor: str = OPERATOR, note: str = "") -> Submission:
    """Put what is proposed into the catalogue, now and whole; who asked for the same is told it is a duplicate.

    404; 409 `illegal_transition` for what does not wait, `duplicate` when another tool has its coordinates by now.
    """
    row = submissions_queries.find(tx, key)
    _demand(row, ("pending",), "approved")
    draft = submissions_drafts.draft_of(tx, row, orjson.loads(row.proposed))
    submissions_drafts.require_new(tx, draft, of=row.tool or "")
    before = catalogue_queries.find(tx, row.tool).document if row.tool else b""  # pyright: ignore[reportOptionalMemberAccess]
    proofs = accounts_queries.proven_identities(tx, row.agent)
    tool = catalogue_queries.put(
        tx, submissions_drafts.record_of(tx, row, draft, proofs=proofs), actor=actor
    )
    after = submissions_queries.save(
        tx, row, status="approved", tool=tool.id, note=note, reason=None
    )
    _trail(tx, "submission.approved", row, after, actor)
    detail = {
        "before": submissions_drafts.digest(before),
        "after": submissions_drafts.digest(tool.document),
    }
    audit.record(tx, "tool.changed" if before else "tool.listed", tool.id, actor=actor, **detail)
    for other in submissions_queries.find_competing(tx, keys_of(draft)):
        _close(tx, other, "rejected", actor=actor, reason="duplicate", tool=tool.id)
    return after


def reject(
    tx: Transaction, key: str, *, reason: str, note: str = "", actor: str = OPERATOR
) -> Submission:
    """Say no, with a reason of the list."""
    row = submissions_queries.find(tx, key)
    _demand(row, submissions_queries.OPEN_STATUSES, "rejected")
    return _close(tx, row, "rejected", actor=actor, reason=reason, note=note)


def send_back(
    tx: Transaction, key: str, *, note: str, reason: str | None = None, actor: str = OPERATOR
) -> Submission:
    """Ask the submitter for changes; it waits for them."""
    row = submissions_queries.find(tx, key)
    _demand(row, ("pending",), "changes_requested")
    return _close(tx, row, "changes_requested", actor=actor, reason=reason, note=note)


def expire_overdue(tx: Transaction, now: int) -> None:
    """Let what nobody decided in 90 days expire, some hundred at a time."""
    for row in submissions_queries.due(tx, now):
        _close(tx, row, "expired", actor="clock")


def _new(
    caller: Caller, kind: str, *, proposed: bytes, judged: DraftVerdict, tool: str | None = None
) -> Submission:
    now = values.now()
    return Submission(
        id=values.new_id("sub"),
        owner=caller.principal,
        origin=None,
        agent=caller.client_id,
        type=kind,
        status="pending",
        tool=tool,
        proposed=proposed,
        checks=orjson.dumps(judged.checks),
        alike=_alike(judged),
        reason=None,
        note="",
        appeal="",
        revision=1,
        created_at=now,
        updated_at=now,
        expires_at=now + submissions_queries.SUBMISSION_LIFETIME,
    )


def _begun(tx: Transaction, caller: Caller, row: Submission, judged: DraftVerdict) -> Submission:
    _trail(tx, "submission.made", None, row, caller.client_id)
    return _passed(tx, caller, row, judged)


def _passed(tx: Transaction, caller: Caller, row: Submission, judged: DraftVerdict) -> Submission:
    """Approve what needs no person: clear, and by its proven owner or by somebody the operator vetted.

    What a moderator has had in hand stays with him, and so does what comes from somebody he turned away lately.
    """
    owned = caller.level >= _PROVEN and judged.ownership is not None
    moderated = (
        row.note or row.appeal or submissions_queries.is_distrusted(tx, row.owner, values.now())
    )
    if judged.clear and (owned or caller.level >= _VETTED) and not moderated:
        return approve(tx, row.id, actor=caller.client_id)
    return row


def _judged(
    tx: Transaction,
    caller: Caller,
    draft: ToolDraft,
    seen: DraftScreening,
    *,
    current: ToolRecordBase | None = None,
) -> DraftVerdict:
    proofs = accounts_queries.proven_identities(tx, caller.client_id)
    return draft_checks.judge_draft(draft, seen, proofs=proofs, current=current)


def _alike(judged: DraftVerdict) -> bytes:
    return orjson.dumps([each.tool for each in judged.similar[:10]])


def _close(tx: Transaction, row: Submission, status: str, *, actor: str, **said: Any) -> Submission:
    after = submissions_queries.save(tx, row, status=status, **said)
    _trail(tx, f"submission.{status}", row, after, actor)
    return after


def _demand(row: Submission, states: tuple[str, ...], to: str) -> None:
    if row.status not in states:
        members = {"status": row.status, "to": to}
        raise Conflict(
            f"The submission is {row.status}.", error="illegal_transition", members=members
        )


def _trail(
    tx: Transaction, event: str, before: Submission | None, after: Submission, actor: str
) -> None:
    was = submissions_drafts.digest(submissions_queries.fingerprint(before)) if before else None
    now = submissions_drafts.digest(submissions_queries.fingerprint(after))
    said = {"reason": after.reason} if after.reason else {}
    audit.record(tx, event, after.id, actor=actor, before=was, after=now, **said)
