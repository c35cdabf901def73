"""The moves of a submission, each a unit's work: ask, change, withdraw, appeal; approve, reject, send back, expire.

    pending → approved | rejected | changes_requested → pending | withdrawn | expired after 90 days
    rejected → pending, once, by appeal

Each leaves a line in the trail with the digests of what was and what is.
"""

from typing import Any, Final

import orjson

from negotiator import audit, values
from negotiator.caller import Caller
from negotiator.directory.accounts import registered
from negotiator.directory.catalogue import tools
from negotiator.directory.checks import verdict
from negotiator.directory.checks.verdict import Seen, Verdict
from negotiator.directory.record.keys import keys_of
from negotiator.directory.record.tool import Known, ToolDraft
from negotiator.directory.submissions import kept
from negotiator.directory.submissions.proposing import drafts, quota
from negotiator.directory.submissions.tables import Submission
from negotiator.errors import Conflict
from negotiator.store.statement import Transaction

OPERATOR: Final = "operator"
_APPEAL_WITHIN: Final = 30 * 24 * 3600 * 1000
_PROVEN: Final = 2
_VETTED: Final = 3


def propose(tx: Transaction, caller: Caller, draft: ToolDraft, seen: Seen) -> Submission:
    """Take a new tool: 409 `duplicate`, 409 and 429 at the quota. An owner's clear entry is approved at once."""
    quota.demand(tx, caller)
    drafts.demand_new(tx, draft)
    keys = keys_of(draft)
    if own := [row for row in kept.asking(tx, keys) if row.owner == caller.principal]:
        raise drafts.duplicate(drafts.reference_of(own[0]))
    judged = _judged(tx, caller, draft, seen)
    document = orjson.dumps(drafts.dumped(draft))
    row = _new(caller, "create", proposed=document, judged=judged)
    kept.add(tx, row, keys)
    return _begun(tx, caller, row, judged)


def request_change(
    tx: Transaction, caller: Caller, tool: tools.Tool, patch: dict[str, Any], seen: Seen
) -> Submission:
    """Take a change to a tool, under the same rules."""
    quota.demand(tx, caller)
    draft = drafts.patched(tool.view, patch)
    drafts.demand_new(tx, draft, of=tool.id)
    judged = _judged(tx, caller, draft, seen, current=tool.view)
    row = _new(caller, "update", proposed=orjson.dumps(patch), judged=judged, tool=tool.id)
    kept.add(tx, row)
    return _begun(tx, caller, row, judged)


def change(
    tx: Transaction, caller: Caller, row: Submission, patch: dict[str, Any], seen: Seen
) -> Submission:
    """Change an open submission and put it into the queue again."""
    _demand(row, kept.OPEN, "pending")
    proposed = drafts.combined(row, patch)
    draft = drafts.draft_of(tx, row, proposed)
    drafts.demand_new(tx, draft, of=row.tool or "")
    if row.type == "create":
        keys = keys_of(draft)
        others = [
            other
            for other in kept.asking(tx, keys)
            if other.owner == row.owner and other.id != row.id
        ]
        if others:
            raise drafts.duplicate(drafts.reference_of(others[0]))
        kept.ask(tx, row.id, keys)
    current = tools.require(tx, row.tool).view if row.tool else None
    judged = _judged(tx, caller, draft, seen, current=current)
    after = kept.save(
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
    _demand(row, kept.OPEN, "withdrawn")
    after = kept.save(tx, row, status="withdrawn")
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
    quota.demand_room(tx, caller)
    after = kept.save(tx, row, status="pending", appeal=message)
    if row.type == "create":
        kept.ask(tx, row.id, keys_of(drafts.draft_of(tx, row, orjson.loads(row.proposed))))
    _trail(tx, "submission.appealed", row, after, caller.client_id)
    return after


def approve(tx: Transaction, key: str, *, actor: str = OPERATOR, note: str = "") -> Submission:
    """Put what is proposed into the catalogue, now and whole; who asked for the same is told it is a duplicate.

    404; 409 `illegal_transition` for what does not wait, `duplicate` when another tool has its coordinates by now.
    """
    row = kept.find(tx, key)
    _demand(row, ("pending",), "approved")
    draft = drafts.draft_of(tx, row, orjson.loads(row.proposed))
    drafts.demand_new(tx, draft, of=row.tool or "")
    before = tools.find(tx, row.tool).document if row.tool else b""  # pyright: ignore[reportOptionalMemberAccess]
    proofs = registered.proven(tx, row.agent)
    tool = tools.put(tx, drafts.record_of(tx, row, draft, proofs=proofs), actor=actor)
    after = kept.save(tx, row, status="approved", tool=tool.id, note=note, reason=None)
    _trail(tx, "submission.approved", row, after, actor)
    detail = {"before": drafts.digest(before), "after": drafts.digest(tool.document)}
    audit.record(tx, "tool.changed" if before else "tool.listed", tool.id, actor=actor, **detail)
    for other in kept.asking(tx, keys_of(draft)):
        _close(tx, other, "rejected", actor=actor, reason="duplicate", tool=tool.id)
    return after


def reject(
    tx: Transaction, key: str, *, reason: str, note: str = "", actor: str = OPERATOR
) -> Submission:
    """Say no, with a reason of the list."""
    row = kept.find(tx, key)
    _demand(row, kept.OPEN, "rejected")
    return _close(tx, row, "rejected", actor=actor, reason=reason, note=note)


def send_back(
    tx: Transaction, key: str, *, note: str, reason: str | None = None, actor: str = OPERATOR
) -> Submission:
    """Ask the submitter for changes; it waits for them."""
    row = kept.find(tx, key)
    _demand(row, ("pending",), "changes_requested")
    return _close(tx, row, "changes_requested", actor=actor, reason=reason, note=note)


def sweep(tx: Transaction, now: int) -> None:
    """Let what nobody decided in 90 days expire, some hundred at a time."""
    for row in kept.due(tx, now):
        _close(tx, row, "expired", actor="clock")


def _new(
    caller: Caller, kind: str, *, proposed: bytes, judged: Verdict, tool: str | None = None
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
        expires_at=now + kept.LIFE,
    )


def _begun(tx: Transaction, caller: Caller, row: Submission, judged: Verdict) -> Submission:
    _trail(tx, "submission.made", None, row, caller.client_id)
    return _passed(tx, caller, row, judged)


def _passed(tx: Transaction, caller: Caller, row: Submission, judged: Verdict) -> Submission:
    """Approve what needs no person: clear, and by its proven owner or by somebody the operator vetted.

    What a moderator has had in hand stays with him, and so does what comes from somebody he turned away lately.
    """
    owned = caller.level >= _PROVEN and judged.ownership is not None
    moderated = row.note or row.appeal or kept.is_distrusted(tx, row.owner, values.now())
    if judged.clear and (owned or caller.level >= _VETTED) and not moderated:
        return approve(tx, row.id, actor=caller.client_id)
    return row


def _judged(
    tx: Transaction,
    caller: Caller,
    draft: ToolDraft,
    seen: Seen,
    *,
    current: Known | None = None,
) -> Verdict:
    proofs = registered.proven(tx, caller.client_id)
    return verdict.judge(draft, seen, proofs=proofs, current=current)


def _alike(judged: Verdict) -> bytes:
    return orjson.dumps([each.tool for each in judged.similar[:10]])


def _close(tx: Transaction, row: Submission, status: str, *, actor: str, **said: Any) -> Submission:
    after = kept.save(tx, row, status=status, **said)
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
    was = drafts.digest(kept.fingerprint(before)) if before else None
    now = drafts.digest(kept.fingerprint(after))
    said = {"reason": after.reason} if after.reason else {}
    audit.record(tx, event, after.id, actor=actor, before=was, after=now, **said)
