"""Reports about tools: storing them, their weight, and quarantine, release and deletion that follow.

A report of a vetted agent alone leads to quarantine; otherwise three reports by holders of three different domains do.
Keys and mailboxes are easy to get in numbers, so their holders' reports weigh nothing.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from sqlalchemy import BigInteger, String, bindparam, func, or_, select, update
from sqlmodel import col

from negotiator.base import values
from negotiator.base.caller import Caller
from negotiator.base.errors import Conflict, TooManyRequests
from negotiator.directory import accounts_queries, catalogue_queries
from negotiator.directory.accounts_queries import PROVEN, VETTED
from negotiator.directory.catalogue_queries import CatalogueTool
from negotiator.directory.identity_proof import ClaimedIdentity
from negotiator.directory.schemas_submissions import NewReport
from negotiator.directory.tables import Report
from negotiator.store import audit
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, entity

QUARANTINE_WEIGHT: Final = 3
_VETTED: Final = 3
_DOMAIN: Final = 1
SEVERE_REASONS: Final = frozenset({"malware", "misleading_name", "policy", "spam"})
"""Reasons for hiding a tool before a moderator has reviewed it."""
_SHARED_LABELS: Final = frozenset({"ac", "co", "com", "edu", "gov", "net", "ne", "or", "org"})


def reporter_voice(reporter: str, proofs: Sequence[ClaimedIdentity], *, vetted: bool) -> tuple[str, int]:
    """The voice that a report counts for, and its weight."""
    if vetted:
        return reporter, _VETTED
    domains = [proof.domain for proof in proofs if proof.domain]
    return (registrable_domain(domains[0]), _DOMAIN) if domains else (reporter, 0)


def registrable_domain(host: str) -> str:
    """An approximation of the registrable domain, so that all names below one domain are one voice."""
    labels = host.lower().split(".")
    wide = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SHARED_LABELS
    return ".".join(labels[-3:] if wide else labels[-2:])


def total_weight(reports: Iterable[tuple[str, int, str]], *, guarded: bool) -> int:
    """The weight of open reports, each given as voice, weight and reason.

    For a `guarded` tool, whose publisher is verified, only reports of vetted agents count.
    """
    voices = {
        voice: weight
        for voice, weight, reason in reports
        if reason in SEVERE_REASONS and (weight >= _VETTED or not guarded)
    }
    return sum(voices.values())


OPERATOR: Final = "operator"
REPORTS_PER_DAY: Final = 10
REPORTS_PER_DAY_PROVEN: Final = 50
_QUARANTINE_MESSAGE: Final = "Hidden until a moderator has reviewed reports about it."

_of_tool = col(Report.tool) == bindparam("tool")
_is_open = col(Report.status) == "open"
_ADD = RowInsertion(Report)
_THEIRS = Query(select(Report).where(_of_tool, col(Report.reporter) == bindparam("reporter")), entity(Report))
_DISMISSED = Query(
    select(func.count()).where(_of_tool, col(Report.voice) == bindparam("voice"), col(Report.status) == "dismissed"),
    lambda row: int(row[0]),
)
_OPEN = Query(
    select(col(Report.voice), col(Report.weight), col(Report.reason)).where(_of_tool, _is_open),
    lambda row: (str(row[0]), int(row[1]), str(row[2])),
)
_MADE = Query(
    select(col(Report.created_at))
    .where(col(Report.reporter) == bindparam("reporter"), col(Report.created_at) > bindparam("since", type_=BigInteger))
    .order_by(col(Report.created_at)),
    lambda row: int(row[0]),
)
_LIST = Query(
    select(Report)
    .where(
        or_(bindparam("tool", type_=String).is_(None), col(Report.tool) == bindparam("tool", type_=String)),
        or_(bindparam("status", type_=String).is_(None), col(Report.status) == bindparam("status", type_=String)),
    )
    .order_by(col(Report.id))
    .limit(bindparam("limit")),
    entity(Report),
)
_SETTLE = Statement(update(Report).where(_of_tool, _is_open).values(status=bindparam("new_status")))


def add_report(tx: Transaction, caller: Caller, body: NewReport) -> Report:
    """Store a report; enough weight quarantines the tool in the same unit.

    404, 410; 409 `already_reported` while one of the caller's is open, 429 after ten a day, fifty with a proven
    identity.
    """
    tool, now = catalogue_queries.require(tx, body.id), values.now()
    _check_quota(tx, caller, now)
    if any(row.status == "open" for row in tx.all(_THEIRS, tool=tool.id, reporter=caller.principal)):
        raise Conflict("You have reported this tool already.", error="already_reported")
    proofs = accounts_queries.proven_identities(tx, caller.client_id) if caller.level >= PROVEN else []
    voice, weight = reporter_voice(caller.principal, proofs, vetted=caller.level >= VETTED)
    if tx.one(_DISMISSED, tool=tool.id, voice=voice):
        weight = 0  # a moderator has dismissed a report of this voice
    row = Report(
        id=values.new_id("rep"),
        tool=tool.id,
        reporter=caller.principal,
        voice=voice,
        weight=weight,
        reason=body.reason,
        details=body.details,
        status="open",
        created_at=now,
    )
    tx.run(_ADD, **row.model_dump())
    audit.record(tx, "report.made", tool.id, actor=caller.actor, reason=body.reason)
    _weigh(tx, tool)
    return row


def list_reports(tx: Transaction, *, tool: str | None, status: str | None, limit: int) -> list[Report]:
    """Reports for a moderator, oldest first."""
    return tx.all(_LIST, tool=tool, status=status, limit=limit)


def quarantine(tx: Transaction, key: str, *, message: str = "", actor: str = OPERATOR) -> CatalogueTool:
    """Hide a tool until a moderator releases or deletes it; 404, 409, 410."""
    return _change_status(tx, key, "quarantined", message=message or _QUARANTINE_MESSAGE, actor=actor)


def release(tx: Transaction, key: str, *, actor: str = OPERATOR) -> CatalogueTool:
    """Show a hidden tool again; its open reports are dismissed, and their reporters' voices weigh nothing for it any
    more.
    """
    tool = catalogue_queries.require(tx, key)
    if tool.status != "quarantined":
        raise Conflict(f"The tool is {tool.status}.", error="illegal_transition")
    tx.run(_SETTLE, tool=tool.id, new_status="dismissed")
    return _change_status(tx, key, "active", message="", actor=actor)


def remove(tx: Transaction, key: str, *, message: str = "", actor: str = OPERATOR) -> CatalogueTool:
    """Delete a tool for good; its open reports are upheld."""
    gone = _change_status(tx, key, "deleted", message=message, actor=actor)
    tx.run(_SETTLE, tool=gone.id, new_status="upheld")
    return gone


def _check_quota(tx: Transaction, caller: Caller, now: int) -> None:
    most = REPORTS_PER_DAY_PROVEN if caller.level >= PROVEN else REPORTS_PER_DAY
    made = tx.all(_MADE, reporter=caller.principal, since=now - values.DAY)
    if len(made) >= most:
        raise TooManyRequests(
            f"You made {most} reports within a day.",
            error="report_quota",
            retry_after=(made[-most] + values.DAY - now) // 1000 + 1,
        )


def _weigh(tx: Transaction, tool: CatalogueTool) -> None:
    publisher = tool.view.publisher
    guarded = publisher is not None and publisher.verified
    weight = total_weight(tx.all(_OPEN, tool=tool.id), guarded=guarded)
    if weight >= QUARANTINE_WEIGHT and tool.status in {"active", "deprecated"}:
        quarantine(tx, tool.id, actor="reports")


def _change_status(
    tx: Transaction, key: str, status: catalogue_queries.ToolStatus, *, message: str, actor: str
) -> CatalogueTool:
    before = catalogue_queries.require(tx, key)
    after = catalogue_queries.withdraw(tx, before.id, status, message=message, actor=actor)
    event = {"quarantined": "tool.quarantined", "active": "tool.released"}.get(status, "tool.deleted")
    catalogue_queries.record_event(tx, event, before, after, actor=actor)
    return after
