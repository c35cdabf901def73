"""How a proposal becomes a record, the status changes of submissions, their quotas, and the removal of a tool by its
verified publisher.

pending → approved | rejected | changes_requested → pending | withdrawn | expired after 90 days rejected → pending,
once, by appeal

Each change adds an audit event with digests of the content before and after it.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import orjson

from negotiator.base import values
from negotiator.base.caller import Caller
from negotiator.base.errors import Conflict, Forbidden, TooManyRequests
from negotiator.base.schema import apply_merge_patch
from negotiator.directory import accounts_queries, catalogue_queries, draft_checks, submissions_queries
from negotiator.directory.accounts_queries import PROVEN, VETTED
from negotiator.directory.draft_checks import DraftScreening, DraftVerdict, HostProof, OwnershipProof, ToolOwnership
from negotiator.directory.tables import Submission
from negotiator.directory.tool_record import (
    CanonicalKey,
    EvidenceMethod,
    FieldEvidence,
    ProvenPublisher,
    ToolDraft,
    ToolRecord,
    ToolRecordBase,
    ToolView,
    keys_of,
)
from negotiator.http.input import validate
from negotiator.store import audit
from negotiator.store.statement import Transaction

_DRAFT: Final = frozenset(ToolDraft.model_fields)
_MOST_EVIDENCE: Final = 40

DraftJson = dict[str, Any]
"""A draft or a merge patch of one, as a submitter sends it."""


def draft_json(draft: ToolDraft) -> DraftJson:
    """A draft as the JSON a submitter would send, without empty members."""
    members = draft.model_dump(mode="json", include=set(_DRAFT))
    if draft.publisher:
        members["publisher"] = {"name": draft.publisher.name, "domain": draft.publisher.domain}
    return {name: value for name, value in members.items() if value not in (None, [], {})}


def patched_draft(current: ToolDraft, patch: DraftJson) -> ToolDraft:
    """The draft with a merge patch applied; 422 with a pointer for each fault."""
    draft: ToolDraft = validate(ToolDraft, apply_merge_patch(draft_json(current), patch))
    draft_checks.require_acceptable(draft)
    return draft


def combined_proposal(row: Submission, patch: DraftJson) -> DraftJson:
    """The proposal after its submitter's change: merged into a draft, or members of a patch replaced."""
    before: DraftJson = orjson.loads(row.proposed)
    return apply_merge_patch(before, patch) if row.type == "create" else {**before, **patch}


def draft_of(tx: Transaction, row: Submission, proposed: DraftJson) -> ToolDraft:
    """The draft of a submission: its own, or the present tool with the patch applied; 410, 422."""
    if row.tool and row.type == "update":
        return patched_draft(catalogue_queries.require(tx, row.tool).view, proposed)
    draft: ToolDraft = validate(ToolDraft, proposed)
    draft_checks.require_acceptable(draft)
    return draft


def require_new(tx: Transaction, draft: ToolDraft, *, of: str = "") -> None:
    """Refuse with 409 `duplicate` a draft that shares a key with another tool, deleted tools included."""
    found = catalogue_queries.duplicates(tx, draft, of=of)
    for (kind, value), key in found.items():
        tool = catalogue_queries.find(tx, key)
        if tool is not None:
            raise duplicate_conflict({"id": tool.id, "slug": tool.slug, "on": kind, "value": value})


def duplicate_conflict(existing: dict[str, str]) -> Conflict:
    """The 409 for a duplicate; `existing` refers to the original."""
    return Conflict("The directory has this already.", error="duplicate", members={"existing": existing})


def record_of(tx: Transaction, row: Submission, draft: ToolDraft, *, proofs: Sequence[OwnershipProof]) -> ToolRecord:
    """The record to store: the draft, its evidence, and its publisher, verified if the submitter owns the tool."""
    ownership = draft_checks.find_ownership(proofs, draft)
    method: EvidenceMethod = "owner" if ownership else "submission"
    moment, source = values.timestamp(values.now()), f"submission {row.id}"
    members = draft.model_dump(include=set(_DRAFT))
    if row.type == "create" or row.tool is None:
        lines = [FieldEvidence(source=source, checked_at=moment, method=method)]
        return ToolRecord.model_validate(
            {**members, "publisher": _publisher(draft, ownership, None), "evidence": lines}
        )
    current = catalogue_queries.require(tx, row.tool).view
    changed = sorted(orjson.loads(row.proposed)) or ["publisher"]
    lines = [
        *(line for line in current.evidence if line.field not in changed),
        *(FieldEvidence(field=name, source=source, checked_at=moment, method=method) for name in changed),
    ]
    return ToolRecord.model_validate(
        {
            **current.record.model_dump(),
            **members,
            "publisher": _publisher(draft, ownership, current),
            "evidence": lines[-_MOST_EVIDENCE:],
        }
    )


def digest(document: bytes) -> str | None:
    """SHA-256 of a document for the audit trail; None when it is empty."""
    return hashlib.sha256(document).hexdigest() if document else None


def _publisher(draft: ToolDraft, ownership: ToolOwnership | None, current: ToolView | None) -> ProvenPublisher | None:
    """The claimed publisher, verified if proven now, or before and nothing relevant has changed."""
    claimed = draft.publisher
    if ownership:
        return ProvenPublisher(
            name=claimed.name if claimed else None, domain=ownership.domain, verified=True, method=ownership.method
        )
    if claimed is None:
        return None
    before = current.publisher if current else None
    unchanged = current is not None and (
        (claimed.name, claimed.domain) == ((before.name, before.domain) if before else None)
        and (draft.homepage_url, draft.repository) == (current.homepage_url, current.repository)
    )
    if unchanged:
        return before
    return ProvenPublisher(name=claimed.name, domain=claimed.domain)


MOST_OPEN_SUBMISSIONS: Final = 5
SUBMISSIONS_PER_DAY: Final = 10
SUBMISSIONS_PER_DAY_PROVEN: Final = 50


def require_quota(tx: Transaction, caller: Caller) -> None:
    """Refuse another submission: 409 at five open ones, 429 at ten a day; fifty a day with a proven identity."""
    require_open_quota(tx, caller)
    now, most = (values.now(), SUBMISSIONS_PER_DAY_PROVEN if caller.level >= PROVEN else SUBMISSIONS_PER_DAY)
    made = submissions_queries.created_since(tx, caller.principal, now - values.DAY)
    if len(made) >= most:
        raise TooManyRequests(
            f"You made {most} submissions within a day.",
            error="submission_quota",
            retry_after=(made[-most] + values.DAY - now) // 1000 + 1,
        )


def require_open_quota(tx: Transaction, caller: Caller) -> None:
    """Refuse another open submission of an agent without a proven identity."""
    if caller.level < PROVEN and submissions_queries.count_open(tx, caller.principal) >= MOST_OPEN_SUBMISSIONS:
        raise Conflict(
            f"You have {MOST_OPEN_SUBMISSIONS} open submissions; withdraw one, or prove your identity.",
            error="too_many_open",
        )


def take_down(tx: Transaction, caller: Caller, key: str, *, expected: int | None) -> None:
    """Delete a tool for its verified publisher; its id, slug and keys stay reserved.

    404, 410; 403 `not_owner` for any other agent; 412.
    """
    tool = catalogue_queries.require(tx, key)
    view = tool.view
    ownership = draft_checks.find_listed_ownership(accounts_queries.proven_identities(tx, caller.client_id), view)
    if ownership is None:
        raise Forbidden(
            "Only the verified publisher of the tool may take it down; report it instead.", error="not_owner"
        )
    catalogue_queries.require_revision(tool, expected)
    removed = catalogue_queries.withdraw(
        tx, tool.id, "deleted", message="Taken down by its publisher.", actor=caller.actor
    )
    catalogue_queries.record_event(tx, "tool.taken_down", tool, removed, actor=caller.actor, domain=ownership.domain)


OPERATOR: Final = "operator"
_APPEAL_WITHIN: Final = 30 * values.DAY


def propose(tx: Transaction, caller: Caller, draft: ToolDraft, screening: DraftScreening) -> Submission:
    """Submit a new tool: 409 `duplicate`, 409 and 429 at the quotas. Some submissions are approved at once."""
    require_quota(tx, caller)
    require_new(tx, draft)
    keys = keys_of(draft)
    _require_no_other(tx, caller.principal, keys)
    verdict = _judge(tx, caller, draft, screening)
    document = orjson.dumps(draft_json(draft))
    row = _new(caller, "create", proposed=document, verdict=verdict)
    submissions_queries.add(tx, row, keys)
    _audit(tx, "submission.made", None, row, caller.actor)
    return _approve_if_clear(tx, caller, row, verdict)


def request_change(
    tx: Transaction, caller: Caller, tool: catalogue_queries.CatalogueTool, patch: DraftJson, screening: DraftScreening
) -> Submission:
    """Submit a change to a tool, under the same rules."""
    require_quota(tx, caller)
    draft = patched_draft(tool.view, patch)
    require_new(tx, draft, of=tool.id)
    verdict = _judge(tx, caller, draft, screening, current=tool.view)
    row = _new(caller, "update", proposed=orjson.dumps(patch), verdict=verdict, tool=tool.id)
    submissions_queries.add(tx, row)
    _audit(tx, "submission.made", None, row, caller.actor)
    return _approve_if_clear(tx, caller, row, verdict)


def change(tx: Transaction, caller: Caller, row: Submission, patch: DraftJson, screening: DraftScreening) -> Submission:
    """Change an open submission and queue it again."""
    _require_status(row, submissions_queries.OPEN_STATUSES, "pending")
    proposed = combined_proposal(row, patch)
    draft = draft_of(tx, row, proposed)
    require_new(tx, draft, of=row.tool or "")
    if row.type == "create":
        keys = keys_of(draft)
        _require_no_other(tx, row.owner, keys, but=row.id)
        submissions_queries.replace_keys(tx, row.id, keys)
    current = catalogue_queries.require(tx, row.tool).view if row.tool else None
    verdict = _judge(tx, caller, draft, screening, current=current, proven_host=row.proven_host)
    after = submissions_queries.save(
        tx,
        row,
        status="pending",
        proposed=orjson.dumps(proposed),
        checks=orjson.dumps(verdict.checks),
        alike=_similar_tools(verdict),
        reason=None,
    )
    _audit(tx, "submission.changed", row, after, caller.actor)
    return _approve_if_clear(tx, caller, after, verdict)


def prove(tx: Transaction, caller: Caller, row: Submission, screening: DraftScreening, host: str) -> Submission:
    """Note that the submitter of an open submission proved the host by a file, and check it again."""
    _require_status(row, submissions_queries.OPEN_STATUSES, row.status)
    draft = draft_of(tx, row, orjson.loads(row.proposed))
    verdict = _judge(tx, caller, draft, screening, proven_host=host)
    after = submissions_queries.save(
        tx, row, proven_host=host, checks=orjson.dumps(verdict.checks), alike=_similar_tools(verdict)
    )
    _audit(tx, "submission.proven", row, after, caller.actor, domain=host)
    return _approve_if_clear(tx, caller, after, verdict) if row.status == "pending" else after


def withdraw(tx: Transaction, caller: Caller, row: Submission) -> Submission:
    """Withdraw an open submission; repeating it changes nothing, 409 once it is decided."""
    if row.status == "withdrawn":
        return row
    _require_status(row, submissions_queries.OPEN_STATUSES, "withdrawn")
    after = submissions_queries.save(tx, row, status="withdrawn")
    _audit(tx, "submission.withdrawn", row, after, caller.actor)
    return after


def appeal(tx: Transaction, caller: Caller, row: Submission, message: str) -> Submission:
    """Queue a rejected submission again; 409 a second time, or after 30 days."""
    _require_status(row, ("rejected",), "pending")
    if row.appeal:
        raise Conflict("This submission was appealed before.", error="already_appealed")
    if values.now() - row.updated_at > _APPEAL_WITHIN:
        raise Conflict("It was rejected more than 30 days ago; submit it again.", error="appeal_too_late")
    require_open_quota(tx, caller)
    after = submissions_queries.save(tx, row, status="pending", appeal=message)
    if row.type == "create":
        submissions_queries.replace_keys(tx, row.id, keys_of(draft_of(tx, row, orjson.loads(row.proposed))))
    _audit(tx, "submission.appealed", row, after, caller.actor)
    return after


def approve(tx: Transaction, key: str, *, actor: str = OPERATOR, note: str = "") -> Submission:
    """Store the proposal in the catalogue; competing submissions are rejected as duplicates.

    404; 409 `illegal_transition` unless it is pending, `duplicate` when another tool has its keys by now.
    """
    row = submissions_queries.find(tx, key)
    _require_status(row, ("pending",), "approved")
    draft = draft_of(tx, row, orjson.loads(row.proposed))
    require_new(tx, draft, of=row.tool or "")
    before = catalogue_queries.find(tx, row.tool).document if row.tool else b""  # pyright: ignore[reportOptionalMemberAccess]
    proofs = _proofs(tx, row.agent, row.proven_host)
    tool = catalogue_queries.put(tx, record_of(tx, row, draft, proofs=proofs), actor=actor)
    after = submissions_queries.save(tx, row, status="approved", tool=tool.id, note=note, reason=None)
    _audit(tx, "submission.approved", row, after, actor)
    detail = {"before": digest(before), "after": digest(tool.document)}
    audit.record(tx, "tool.changed" if before else "tool.listed", tool.id, actor=actor, **detail)
    for other in submissions_queries.find_competing(tx, keys_of(draft)):
        _close(tx, other, "rejected", actor=actor, reason="duplicate", tool=tool.id)
    return after


def reject(tx: Transaction, key: str, *, reason: str, note: str = "", actor: str = OPERATOR) -> Submission:
    """Reject a submission with a reason of the list."""
    row = submissions_queries.find(tx, key)
    _require_status(row, submissions_queries.OPEN_STATUSES, "rejected")
    return _close(tx, row, "rejected", actor=actor, reason=reason, note=note)


def send_back(tx: Transaction, key: str, *, note: str, reason: str | None = None, actor: str = OPERATOR) -> Submission:
    """Send a submission back to its submitter for changes."""
    row = submissions_queries.find(tx, key)
    _require_status(row, ("pending",), "changes_requested")
    return _close(tx, row, "changes_requested", actor=actor, reason=reason, note=note)


def expire_overdue(tx: Transaction, now: int, limit: int) -> int:
    """Expire up to `limit` submissions that were open for 90 days; returns their number."""
    due = submissions_queries.due(tx, now, limit)
    for row in due:
        _close(tx, row, "expired", actor="clock")
    return len(due)


def _require_no_other(tx: Transaction, owner: str, keys: list[CanonicalKey], *, but: str = "") -> None:
    """409 `duplicate` when another open submission of the owner's claims one of these keys."""
    for row in submissions_queries.find_competing(tx, keys):
        if row.owner == owner and row.id != but:
            raise duplicate_conflict({"submission": row.id, "status": row.status})


def _new(caller: Caller, kind: str, *, proposed: bytes, verdict: DraftVerdict, tool: str | None = None) -> Submission:
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
        checks=orjson.dumps(verdict.checks),
        alike=_similar_tools(verdict),
        reason=None,
        note="",
        appeal="",
        revision=1,
        created_at=now,
        updated_at=now,
        expires_at=now + submissions_queries.SUBMISSION_LIFETIME,
    )


def _approve_if_clear(tx: Transaction, caller: Caller, row: Submission, verdict: DraftVerdict) -> Submission:
    """Approve a submission that needs no moderator: unflagged, and from the verified publisher or a vetted agent.

    A submission that a moderator has handled stays with the moderators, and so do those of a recently rejected
    submitter.
    """
    owned = caller.level >= PROVEN and verdict.ownership is not None
    moderated = row.note or row.appeal or submissions_queries.is_distrusted(tx, row.owner, values.now())
    if verdict.clear and (owned or caller.level >= VETTED) and not moderated:
        return approve(tx, row.id, actor=caller.actor)
    return row


def _judge(
    tx: Transaction,
    caller: Caller,
    draft: ToolDraft,
    screening: DraftScreening,
    *,
    current: ToolRecordBase | None = None,
    proven_host: str | None = None,
) -> DraftVerdict:
    proofs = _proofs(tx, caller.client_id, proven_host)
    foreign = tuple(each for each in screening.tools if not _owns(tx, proofs, each.tool))
    screening = replace(screening, tools=foreign)
    return draft_checks.judge_draft(draft, screening, proofs=proofs, current=current)


def _owns(tx: Transaction, proofs: list[OwnershipProof], tool: str) -> bool:
    """Whether the listed tool is the holder's of these proofs too: nobody imitates themselves."""
    found = catalogue_queries.find(tx, tool) if proofs else None
    return found is not None and bool(draft_checks.find_listed_ownership(proofs, found.view))


def _proofs(tx: Transaction, agent: str, proven_host: str | None) -> list[OwnershipProof]:
    """The proven identities of the agent, and the host that a submission's owner proved by a file."""
    files = [HostProof(proven_host)] if proven_host else []
    return [*accounts_queries.proven_identities(tx, agent), *files]


def _similar_tools(verdict: DraftVerdict) -> bytes:
    return orjson.dumps([each.tool for each in verdict.similar[:10]])


def _close(tx: Transaction, row: Submission, status: str, *, actor: str, **changes: Any) -> Submission:
    after = submissions_queries.save(tx, row, status=status, **changes)
    _audit(tx, f"submission.{status}", row, after, actor)
    return after


def _require_status(row: Submission, states: tuple[str, ...], to: str) -> None:
    if row.status not in states:
        members = {"status": row.status, "to": to}
        raise Conflict(f"The submission is {row.status}.", error="illegal_transition", members=members)


def _audit(
    tx: Transaction, event: str, before: Submission | None, after: Submission, actor: str, **detail: str
) -> None:
    was = digest(submissions_queries.fingerprint(before)) if before else None
    now = digest(submissions_queries.fingerprint(after))
    changes = {"reason": after.reason} if after.reason else {}
    audit.record(tx, event, after.id, actor=actor, before=was, after=now, **changes, **detail)
