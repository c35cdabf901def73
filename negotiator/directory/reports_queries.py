"""What a report weighs: pure. A crowd of agents that anybody can make weighs nothing.

An operator-vetted reporter alone calls for quarantine, of others three that control three different domains. A key or
a mailbox proves who somebody is, not that he is one of few: it weighs nothing here.

Reports as rows, and what they lead to: a quarantine by weight, a moderator's release or deletion.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from sqlalchemy import BigInteger, String, bindparam, func, or_, select, update
from sqlmodel import col

from negotiator import audit, values
from negotiator.caller import Caller
from negotiator.directory import accounts_queries, catalogue_queries
from negotiator.directory.catalogue_queries import CatalogueTool
from negotiator.directory.schemas_reports import NewReport
from negotiator.directory.tables import Report
from negotiator.errors import Conflict, TooManyRequests
from negotiator.store.statement import Query, Statement, Transaction, entity, insertion
from negotiator.values import digest

QUARANTINE_WEIGHT: Final = 3
_VETTED: Final = 3
_DOMAIN: Final = 1
SEVERE_REASONS: Final = frozenset({"malware", "misleading_name", "policy", "spam"})
"""Reasons to hide a tool before a person has looked; a broken link is none."""
_SHARED_LABELS: Final = frozenset({"ac", "co", "com", "edu", "gov", "net", "ne", "or", "org"})


class ReporterProof(Protocol):
    """An identity that was proven."""

    @property
    def domain(self) -> str | None:
        """The host that is controlled by whoever proved it, if it is a whole one."""
        ...


def reporter_voice(
    reporter: str, proofs: Sequence[ReporterProof], *, vetted: bool
) -> tuple[str, int]:
    """For whom a report counts, and how much."""
    if vetted:
        return reporter, _VETTED
    domains = [proof.domain for proof in proofs if proof.domain]
    return (registrable_domain(domains[0]), _DOMAIN) if domains else (reporter, 0)


def registrable_domain(host: str) -> str:
    """Roughly the domain that was bought: a hundred names below one of them are one voice."""
    labels = host.lower().split(".")
    wide = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SHARED_LABELS
    return ".".join(labels[-3:] if wide else labels[-2:])


def total_weight(reports: Iterable[tuple[str, int, str]], *, guarded: bool) -> int:
    """What open reports, each a voice, a weight and a reason, weigh together.

    Of a `guarded` tool, one whose publisher is verified, only vetted reporters' count.
    """
    voices = {
        who: weight
        for who, weight, reason in reports
        if reason in SEVERE_REASONS and (weight >= _VETTED or not guarded)
    }
    return sum(voices.values())


OPERATOR: Final = "operator"
REPORTS_PER_DAY: Final = 10
REPORTS_PER_DAY_PROVEN: Final = 50
_PROVEN, _VETTED_LEVEL = 2, 3
_DAY: Final = 24 * 3600 * 1000
_CALLED_FOR: Final = "Withheld until a moderator has looked at reports about it."

_of_tool = col(Report.tool) == bindparam("tool")
_is_open = col(Report.status) == "open"
_ADD = Statement(insertion(Report))
_THEIRS = Query(
    select(Report).where(_of_tool, col(Report.reporter) == bindparam("reporter")), entity(Report)
)
_DISMISSED = Query(
    select(func.count()).where(
        _of_tool,
        col(Report.voice) == bindparam("voice"),
        col(Report.status) == "dismissed",
    ),
    lambda row: int(row[0]),
)
_OPEN = Query(
    select(col(Report.voice), col(Report.weight), col(Report.reason)).where(_of_tool, _is_open),
    lambda row: (str(row[0]), int(row[1]), str(row[2])),
)
_MADE = Query(
    select(col(Report.created_at))
    .where(
        col(Report.reporter) == bindparam("reporter"),
        col(Report.created_at) > bindparam("since", type_=BigInteger),
    )
    .order_by(col(Report.created_at)),
    lambda row: int(row[0]),
)
_LIST = Query(
    select(Report)
    .where(
        or_(
            bindparam("tool", type_=String).is_(None),
            col(Report.tool) == bindparam("tool", type_=String),
        ),
        or_(
            bindparam("status", type_=String).is_(None),
            col(Report.status) == bindparam("status", type_=String),
        ),
    )
    .order_by(col(Report.id))
    .limit(bindparam("limit")),
    entity(Report),
)
_SETTLE = Statement(update(Report).where(_of_tool, _is_open).values(status=bindparam("new_status")))


def add_report(tx: Transaction, caller: Caller, asked: NewReport) -> Report:
    """Take a report; a tool that is reported with enough weight is quarantined in the same unit.

    404, 410; 409 `already_reported` while one of the caller's is open, 429 at ten a day, fifty for the proven.
    """
    tool, now = catalogue_queries.require(tx, asked.id), values.now()
    _demand(tx, caller, now)
    if any(
        row.status == "open" for row in tx.all(_THEIRS, tool=tool.id, reporter=caller.principal)
    ):
        raise Conflict("You have reported this tool already.", error="already_reported")
    proofs = (
        accounts_queries.proven_identities(tx, caller.client_id) if caller.level >= _PROVEN else []
    )
    who, weight = reporter_voice(caller.principal, proofs, vetted=caller.level >= _VETTED_LEVEL)
    if tx.one(_DISMISSED, tool=tool.id, voice=who):
        weight = 0  # a moderator has looked at what this one says of it
    row = Report(
        id=values.new_id("rep"),
        tool=tool.id,
        reporter=caller.principal,
        voice=who,
        weight=weight,
        reason=asked.reason,
        details=asked.details,
        status="open",
        created_at=now,
    )
    tx.run(_ADD, **row.model_dump())
    audit.record(tx, "report.made", tool.id, actor=caller.client_id, reason=asked.reason)
    _weigh(tx, tool)
    return row


def list_reports(
    tx: Transaction, *, tool: str | None, status: str | None, limit: int
) -> list[Report]:
    """Reports for a moderator, the oldest first."""
    return tx.all(_LIST, tool=tool, status=status, limit=limit)


def quarantine(
    tx: Transaction, key: str, *, message: str = "", actor: str = OPERATOR
) -> CatalogueTool:
    """Withhold a tool from everybody until somebody releases or deletes it; 404, 409, 410."""
    return _moved(tx, key, "quarantined", message=message or _CALLED_FOR, actor=actor)


def release(tx: Transaction, key: str, *, actor: str = OPERATOR) -> CatalogueTool:
    """Show a withheld tool again; what was reported of it is dismissed, and its reporters weigh no more."""
    tool = catalogue_queries.require(tx, key)
    if tool.status != "quarantined":
        raise Conflict(f"The tool is {tool.status}.", error="illegal_transition")
    tx.run(_SETTLE, tool=tool.id, new_status="dismissed")
    return _moved(tx, key, "active", message="", actor=actor)


def remove(tx: Transaction, key: str, *, message: str = "", actor: str = OPERATOR) -> CatalogueTool:
    """Delete a tool for good; what was reported of it is upheld."""
    gone = _moved(tx, key, "deleted", message=message, actor=actor)
    tx.run(_SETTLE, tool=gone.id, new_status="upheld")
    return gone


def _demand(tx: Transaction, caller: Caller, now: int) -> None:
    most = REPORTS_PER_DAY_PROVEN if caller.level >= _PROVEN else REPORTS_PER_DAY
    made = tx.all(_MADE, reporter=caller.principal, since=now - _DAY)
    if len(made) >= most:
        raise TooManyRequests(
            f"You made {most} reports within a day.",
            error="report_quota",
            retry_after=(made[-most] + _DAY - now) // 1000 + 1,
        )


def _weigh(tx: Transaction, tool: CatalogueTool) -> None:
    publisher = tool.view.publisher
    guarded = publisher is not None and publisher.verified
    weight = total_weight(tx.all(_OPEN, tool=tool.id), guarded=guarded)
    if weight >= QUARANTINE_WEIGHT and tool.status in {"active", "deprecated"}:
        quarantine(tx, tool.id, actor="reports")


def _moved(
    tx: Transaction, key: str, status: catalogue_queries.ToolStatus, *, message: str, actor: str
) -> CatalogueTool:
    before = catalogue_queries.require(tx, key)
    after = catalogue_queries.withdraw(tx, before.id, status, message=message, actor=actor)
    event = {"quarantined": "tool.quarantined", "active": "tool.released"}.get(
        status, "tool.deleted"
    )
    was, now = digest(before.document.decode()), digest(after.document.decode())
    audit.record(tx, event, before.id, actor=actor, before=was, after=now)
    return after
