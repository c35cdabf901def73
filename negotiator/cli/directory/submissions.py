"""`negotiator directory submissions`: the moderator's queue."""

from typing import Annotated, Any

import typer

from negotiator.cli.output import Json, change, command, configured, fail, say, tabulate
from negotiator.directory.submissions import deciding, kept
from negotiator.directory.submissions.routes import shown
from negotiator.directory.submissions.schemas import REASONS, STATUSES
from negotiator.directory.submissions.tables import Submission
from negotiator.store.statement import Transaction
from negotiator.values import visible

submissions = typer.Typer(no_args_is_help=True, help="What agents propose for the catalogue.")

Id = Annotated[str, typer.Argument(metavar="ID", help="The submission's id.")]
Note = Annotated[str, typer.Option(help="What the submitter reads.")]


@submissions.command("list")
@command
async def list_submissions(
    status: Annotated[str, typer.Option(help=f"One of {', '.join(STATUSES)}, or all.")] = "pending",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many.")] = 100,
    as_json: Json = False,
) -> None:
    """Show what waits, the oldest first, with what the checks flagged."""
    if status not in (*STATUSES, "all"):
        fail(f"No state {status}; it is one of {', '.join(STATUSES)}, or all.", 2)
    base, wanted = configured().base_url, None if status == "all" else status

    def unit(tx: Transaction) -> list[dict[str, Any]]:
        return [_line(tx, row, base) for row in kept.queue(tx, status=wanted, limit=limit)]

    tabulate(await change(unit), "Nothing waits.", as_json=as_json)


@submissions.command("show")
@command
async def show_submission(key: Id, as_json: Json = False) -> None:
    """Show one submission whole: what is proposed, every check, who asks. It is a stranger's text, not ours."""
    base = configured().base_url

    def unit(tx: Transaction) -> dict[str, Any]:
        row = kept.find(tx, key)
        return {**shown(tx, row, base), "owner": row.owner, "agent": row.agent}

    view = await change(unit)
    lines = "\n".join(f"{name}: {_text(value)}" for name, value in view.items())
    say(view, lines, as_json=as_json)


@submissions.command("approve")
@command
async def approve_submission(key: Id, note: Note = "", as_json: Json = False) -> None:
    """Put it into the catalogue, now."""
    row = await change(lambda tx: deciding.approve(tx, key, note=note))
    _told(row, f"{key} is approved: {row.tool}.", as_json=as_json)


@submissions.command("reject")
@command
async def reject_submission(
    key: Id,
    reason: Annotated[str, typer.Option(help=f"One of {', '.join(REASONS)}.")] = "policy",
    note: Note = "",
    as_json: Json = False,
) -> None:
    """Say no; the submitter may appeal once."""
    _known(reason)
    row = await change(lambda tx: deciding.reject(tx, key, reason=reason, note=note))
    _told(row, f"{key} is rejected: {reason}.", as_json=as_json)


@submissions.command("request-changes")
@command
async def request_changes(
    key: Id,
    note: Annotated[str, typer.Option(help="What the submitter has to change.")],
    reason: Annotated[str, typer.Option(help=f"One of {', '.join(REASONS)}.")] = "",
    as_json: Json = False,
) -> None:
    """Send it back; it waits for its submitter."""
    if reason:
        _known(reason)
    row = await change(lambda tx: deciding.send_back(tx, key, note=note, reason=reason or None))
    _told(row, f"{key} waits for changes.", as_json=as_json)


def _known(reason: str) -> None:
    if reason not in REASONS:
        fail(f"No reason {reason}; it is one of {', '.join(REASONS)}.", 2)


def _told(row: Submission, line: str, *, as_json: bool) -> None:
    value = {"id": row.id, "status": row.status, "tool": row.tool, "reason_code": row.reason}
    say(value, line, as_json=as_json)


def _line(tx: Transaction, row: Submission, base: str) -> dict[str, Any]:
    view = shown(tx, row, base)
    flagged = [check["name"] for check in view["checks"] if check["outcome"] != "passed"]
    return {
        "id": row.id,
        "type": row.type,
        "status": row.status,
        "name": view["proposed"].get("name") or row.tool,
        "look_at": flagged,
        "agent": row.agent,
        "created_at": view["created_at"],
    }


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "".join(f"\n  - {_text(each)}" for each in value) or "none"  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return ", ".join(f"{_text(name)}={_text(each)}" for name, each in value.items())  # pyright: ignore[reportUnknownVariableType]
    return "–" if value is None else visible(str(value))
