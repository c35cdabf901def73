"""Queries of submissions, the submitter's own by owner and the moderation queue by status; and how one is shown."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, cast

import orjson
from sqlalchemy import BigInteger, String, bindparam, delete, func, or_, select, update
from sqlmodel import col

from negotiator.base import values
from negotiator.base.errors import NotFound, PreconditionFailed
from negotiator.directory import catalogue_queries
from negotiator.directory.schemas_listing import TOOLS_PATH
from negotiator.directory.schemas_submissions import SUBMISSION_PATH, CheckView, SubmissionView, ToolReference
from negotiator.directory.tables import Submission, SubmissionKey
from negotiator.directory.tool_record import CanonicalKey
from negotiator.store.ownership import delete_row
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, entity, insertion, table

OPEN_STATUSES: Final = ("pending", "changes_requested")
SUBMISSION_LIFETIME: Final = 90 * values.DAY
WITHDRAWN_KEPT: Final = 30 * values.DAY
"""How long a withdrawn submission stays; then its text is deleted."""
_LAST: Final = "sub_" + "z" * values.ID_LENGTH
_HARMLESS: Final = ("duplicate", "insufficient_detail", "broken_link")
"""Reasons of a rejection that do not count against the submitter."""
_CHANGING: Final = (
    *("status", "tool", "proposed", "checks", "alike", "reason", "note", "appeal"),
    *("revision", "updated_at", "expires_at", "proven_host"),
)

_by_id = col(Submission.id) == bindparam("submission")
_is_open = or_(*(col(Submission.status) == state for state in OPEN_STATUSES))
_ADD = RowInsertion(Submission)
_FIND = Query(select(Submission).where(_by_id), entity(Submission))
_MINE = Query(select(Submission).where(_by_id, col(Submission.owner) == bindparam("owner")), entity(Submission))
_any_or = or_(bindparam("status", type_=String).is_(None), col(Submission.status) == bindparam("status", type_=String))
_PAGE = Query(
    select(Submission)
    .where(col(Submission.owner) == bindparam("owner"), col(Submission.id) < bindparam("before"), _any_or)
    .order_by(col(Submission.id).desc())
    .limit(bindparam("limit")),
    entity(Submission),
)
_QUEUE = Query(
    select(Submission).where(_any_or).order_by(col(Submission.id)).limit(bindparam("limit")), entity(Submission)
)
_APPROVED = Query(
    select(Submission).where(col(Submission.tool) == bindparam("tool"), col(Submission.status) == "approved"),
    entity(Submission),
)
_OPEN_COUNT = Query(
    select(func.count()).where(col(Submission.owner) == bindparam("owner"), _is_open), lambda row: int(row[0])
)
_SINCE = Query(
    select(col(Submission.created_at))
    .where(
        col(Submission.owner) == bindparam("owner"), col(Submission.created_at) > bindparam("since", type_=BigInteger)
    )
    .order_by(col(Submission.created_at)),
    lambda row: int(row[0]),
)
_DISTRUSTED = Query(
    select(func.count()).where(
        col(Submission.owner) == bindparam("owner"),
        col(Submission.status) == "rejected",
        col(Submission.updated_at) > bindparam("since", type_=BigInteger),
        *(col(Submission.reason) != reason for reason in _HARMLESS),
    ),
    lambda row: int(row[0]),
)
_DUE = Query(
    select(Submission)
    .where(col(Submission.expires_at) <= bindparam("now", type_=BigInteger))
    .order_by(col(Submission.expires_at))
    .limit(bindparam("limit")),
    entity(Submission),
)
_WITHDRAWN = Query(
    select(col(Submission.id))
    .where(col(Submission.status) == "withdrawn", col(Submission.updated_at) <= bindparam("before", type_=BigInteger))
    .order_by(col(Submission.id))
    .limit(bindparam("limit")),
    lambda row: str(row[0]),
)
_ASKING = Query(
    select(Submission)
    .join(SubmissionKey, col(SubmissionKey.submission) == col(Submission.id))
    .where(col(SubmissionKey.kind) == bindparam("kind"), col(SubmissionKey.value) == bindparam("value"))
    .order_by(col(Submission.id)),
    entity(Submission),
)
_ADD_KEY = Statement(insertion(SubmissionKey).on_conflict_do_nothing())
_DROP_KEYS = Statement(delete(SubmissionKey).where(col(SubmissionKey.submission) == bindparam("submission")))
_SAVE = Statement(
    update(Submission)
    .where(_by_id)
    .values({name: bindparam(f"new_{name}", type_=table(Submission).c[name].type) for name in _CHANGING})
)


def find(tx: Transaction, submission: str) -> Submission:
    """Any submission, for a moderator; 404."""
    return _require(tx.one(_FIND, submission=submission))


def find_own(tx: Transaction, owner: str, submission: str, *, expected: int | None = None) -> Submission:
    """The principal's submission; 404, 412."""
    row = _require(tx.one(_MINE, submission=submission, owner=owner))
    if expected is not None and expected != row.revision:
        raise PreconditionFailed("The submission has changed since that revision.", members={"revision": row.revision})
    return row


def page(tx: Transaction, owner: str, *, status: str | None, before: str | None, limit: int) -> list[Submission]:
    """Up to `limit` + 1 of the principal's submissions older than `before`, newest first."""
    return tx.all(_PAGE, owner=owner, status=status, before=before or _LAST, limit=limit + 1)


def queue(tx: Transaction, *, status: str | None, limit: int) -> list[Submission]:
    """Submissions with this status, oldest first."""
    return tx.all(_QUEUE, status=status, limit=limit)


def approved_of(tx: Transaction, tool: str) -> list[Submission]:
    """The submissions of which this tool, as it is listed, was made."""
    return tx.all(_APPROVED, tool=tool)


def count_open(tx: Transaction, owner: str) -> int:
    """The number of the principal's open submissions."""
    return tx.one(_OPEN_COUNT, owner=owner) or 0


def created_since(tx: Transaction, owner: str, since: int) -> list[int]:
    """When the principal's submissions after `since` were made, oldest first; milliseconds."""
    return tx.all(_SINCE, owner=owner, since=since)


def is_distrusted(tx: Transaction, owner: str, now: int) -> bool:
    """Whether a moderator rejected a submission of the principal in the last 90 days for a reason that counts."""
    return bool(tx.one(_DISTRUSTED, owner=owner, since=now - SUBMISSION_LIFETIME))


def find_competing(tx: Transaction, keys: Iterable[CanonicalKey]) -> list[Submission]:
    """The open submissions that claim one of these keys, once each."""
    found = (row for kind, value in keys for row in tx.all(_ASKING, kind=kind, value=value))
    return list({row.id: row for row in found}.values())


def due(tx: Transaction, now: int, limit: int) -> list[Submission]:
    """Expired open submissions, up to `limit`."""
    return tx.all(_DUE, now=now, limit=limit)


def delete_withdrawn(tx: Transaction, now: int, limit: int) -> int:
    """Delete up to `limit` submissions that were withdrawn 30 days ago or earlier; returns their number."""
    gone = tx.all(_WITHDRAWN, before=now - WITHDRAWN_KEPT, limit=limit)
    for submission in gone:
        delete_row(tx, Submission, submission)
    return len(gone)


def add(tx: Transaction, row: Submission, keys: Sequence[CanonicalKey] = ()) -> None:
    """Store a new submission and the keys it claims."""
    tx.run(_ADD, **row.model_dump())
    replace_keys(tx, row.id, keys)


def replace_keys(tx: Transaction, submission: str, keys: Sequence[CanonicalKey]) -> None:
    """Replace the keys that a submission claims."""
    tx.run(_DROP_KEYS, submission=submission)
    for kind, value in keys:
        tx.run(_ADD_KEY, kind=kind, value=value, submission=submission)


def save(tx: Transaction, row: Submission, **changes: Any) -> Submission:
    """Store the next revision of a submission; a closed one claims no keys and does not expire."""
    now = values.now()
    after: dict[str, Any] = {**row.model_dump(), **changes, "revision": row.revision + 1, "updated_at": now}
    after["expires_at"] = now + SUBMISSION_LIFETIME if after["status"] in OPEN_STATUSES else None
    if after["status"] not in OPEN_STATUSES:
        tx.run(_DROP_KEYS, submission=row.id)
    tx.run(_SAVE, submission=row.id, **{f"new_{name}": after[name] for name in _CHANGING})
    return Submission(**after)


def fingerprint(row: Submission) -> bytes:
    """The bytes that the audit trail digests: status and proposal."""
    return orjson.dumps([row.status, row.tool, row.reason]) + row.proposed


def _require(row: Submission | None) -> Submission:
    if row is None:
        raise NotFound("There is no such submission.")
    return row


def submission_view(tx: Transaction, row: Submission, base: str) -> SubmissionView:
    """A submission as its submitter and the moderator see it."""
    similar = [_reference(tx, key, base) for key in orjson.loads(row.alike)]
    checks: list[CheckView] = orjson.loads(row.checks)
    view = {
        "id": row.id,
        "type": row.type,
        "status": row.status,
        "checks": checks,
        "tool": _reference(tx, row.tool, base) if row.tool else None,
        "similar_to": [each for each in similar if each],
        "waits_for": _waits_for(row, checks),
        "claim_url": _claim_url(row, base),
        "proven_host": row.proven_host,
        "proposed": orjson.loads(row.proposed),
        "reason_code": row.reason,
        "note": row.note or None,
        "appeal": row.appeal or None,
        "origin": row.origin,
        "revision": row.revision,
        "created_at": values.timestamp(row.created_at),
        "updated_at": values.timestamp(row.updated_at),
        "expires_at": values.timestamp_or_none(row.expires_at),
    }
    return cast("SubmissionView", view)


_REASONS: Final = {
    ("text", "flagged"): "a text reads like an instruction to a model",
    ("name", "flagged"): "the name is like that of another tool",
    ("publisher", "flagged"): "the publisher's name is like that of a verified one",
    ("publisher", "unproven"): "it is not proven that all its addresses are yours",
}
"""Why a submission waits, by check and outcome."""


def _waits_for(row: Submission, checks: list[CheckView]) -> str | None:
    if row.status == "changes_requested":
        return "You: the note says what to change."
    if row.status != "pending":
        return None
    found = [(check["name"], check["outcome"]) for check in checks]
    reasons = " and ".join(_REASONS[each] for each in found if each in _REASONS)
    return f"A moderator of this directory decides{', because ' if reasons else ''}{reasons}."


def _claim_url(row: Submission, base: str) -> str | None:
    waits = row.type == "create" and row.status in OPEN_STATUSES
    proposed = orjson.loads(row.proposed)
    has_home = proposed.get("homepage_url") or proposed.get("repository")
    if not waits or not has_home or row.proven_host:
        return None
    return f"{base}{SUBMISSION_PATH.format(id=row.id)}/claim"


def _reference(tx: Transaction, key: str, base: str) -> ToolReference | None:
    tool = catalogue_queries.find(tx, key)
    if tool is None:
        return None
    url = f"{base}{TOOLS_PATH}/{tool.id}"
    return {"id": tool.id, "slug": tool.slug, "status": tool.status, "url": url}
