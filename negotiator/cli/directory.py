"""`negotiator directory …`: the operator's commands for the AI tools directory.

`agents` lists, vets and revokes registered agents; `submissions` is the moderation queue; `reports` and `tools` handle
reported tools; `import` adds entries of other catalogues.
"""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from negotiator.base.values import escape_invisible, timestamp
from negotiator.cli.database import load_settings, open_store, run_unit
from negotiator.cli.output import JsonOption, async_command, exit_with_error, print_result, print_table
from negotiator.cli.tables import stderr_console, stdout_console
from negotiator.directory import (
    accounts_queries,
    exchange_import,
    reports_queries,
    submissions_queries,
    submissions_transitions,
)
from negotiator.directory.catalogue_queries import CatalogueTool
from negotiator.directory.exchange_import import DryRunRollback, ImportOutcome
from negotiator.directory.schemas_submissions import REJECTION_REASONS, SUBMISSION_STATUSES
from negotiator.directory.tables import Submission
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

agents_app = typer.Typer(no_args_is_help=True, help="Agents registered with the directory.")

AgentIdArgument = Annotated[str, typer.Argument(metavar="ID", help="The agent's client_id.")]


@agents_app.command("list")
@async_command
async def list_agents(
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many agents.")] = 100, as_json: JsonOption = False
) -> None:
    """List the newest agents. Unverified values are only claims."""
    rows = await run_unit(lambda tx: accounts_queries.newest(tx, limit))
    print_table(rows, "No agents.", as_json=as_json)


@agents_app.command("vet")
@async_command
async def vet_agent(
    agent_id: AgentIdArgument,
    undo: Annotated[bool, typer.Option("--undo", help="Withdraw the vetting.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Mark an agent as known to you: it gets level 3 and its rate limit at once."""
    await run_unit(lambda tx: accounts_queries.vet(tx, agent_id, vetted=not undo))
    line = f"{agent_id} is {'not vetted any more' if undo else 'vetted'}."
    print_result({"client_id": agent_id, "vetted": not undo}, line, as_json=as_json)


@agents_app.command("revoke")
@async_command
async def revoke_agent(agent_id: AgentIdArgument, as_json: JsonOption = False) -> None:
    """Revoke an agent: its keys and tokens end at once, its proven identities become free."""
    await run_unit(lambda tx: accounts_queries.revoke(tx, agent_id, actor="operator"))
    print_result({"client_id": agent_id, "revoked": True}, f"{agent_id} is revoked.", as_json=as_json)


submissions_app = typer.Typer(no_args_is_help=True, help="Changes to the catalogue that agents propose.")

SubmissionIdArgument = Annotated[str, typer.Argument(metavar="ID", help="The submission's id.")]
NoteOption = Annotated[str, typer.Option(help="Text for the submitter.")]


@submissions_app.command("list")
@async_command
async def list_submissions(
    status: Annotated[str, typer.Option(help=f"One of {', '.join(SUBMISSION_STATUSES)}, or all.")] = "pending",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many.")] = 100,
    as_json: JsonOption = False,
) -> None:
    """List submissions, oldest first, with the checks that flagged them."""
    if status not in (*SUBMISSION_STATUSES, "all"):
        exit_with_error(f"No state {status}; it is one of {', '.join(SUBMISSION_STATUSES)}, or all.", 2)
    base, selected_status = load_settings().base_url, None if status == "all" else status

    def unit(tx: Transaction) -> list[dict[str, Any]]:
        return [_line(tx, row, base) for row in submissions_queries.queue(tx, status=selected_status, limit=limit)]

    print_table(await run_unit(unit), "No submissions.", as_json=as_json)


@submissions_app.command("show")
@async_command
async def show_submission(key: SubmissionIdArgument, as_json: JsonOption = False) -> None:
    """Show a whole submission: the proposal, every check, the submitter. Its text comes from outside."""
    base = load_settings().base_url

    def unit(tx: Transaction) -> dict[str, Any]:
        row = submissions_queries.find(tx, key)
        return {**submissions_queries.submission_view(tx, row, base), "owner": row.owner, "agent": row.agent}

    view = await run_unit(unit)
    lines = "\n".join(f"{name}: {_text(value)}" for name, value in view.items())
    print_result(view, lines, as_json=as_json)


@submissions_app.command("approve")
@async_command
async def approve_submission(key: SubmissionIdArgument, note: NoteOption = "", as_json: JsonOption = False) -> None:
    """Approve a submission and publish it at once."""
    row = await run_unit(lambda tx: submissions_transitions.approve(tx, key, note=note))
    _print_submission(row, f"{key} is approved: {row.tool}.", as_json=as_json)


@submissions_app.command("reject")
@async_command
async def reject_submission(
    key: SubmissionIdArgument,
    reason: Annotated[str, typer.Option(help=f"One of {', '.join(REJECTION_REASONS)}.")] = "policy",
    note: NoteOption = "",
    as_json: JsonOption = False,
) -> None:
    """Reject a submission; the submitter may appeal once."""
    _check_reason(reason)
    row = await run_unit(lambda tx: submissions_transitions.reject(tx, key, reason=reason, note=note))
    _print_submission(row, f"{key} is rejected: {reason}.", as_json=as_json)


@submissions_app.command("request-changes")
@async_command
async def request_changes(
    key: SubmissionIdArgument,
    note: Annotated[str, typer.Option(help="What the submitter has to change.")],
    reason: Annotated[str, typer.Option(help=f"One of {', '.join(REJECTION_REASONS)}.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Send a submission back to its submitter for changes."""
    if reason:
        _check_reason(reason)
    row = await run_unit(lambda tx: submissions_transitions.send_back(tx, key, note=note, reason=reason or None))
    _print_submission(row, f"{key} waits for changes.", as_json=as_json)


def _check_reason(reason: str) -> None:
    if reason not in REJECTION_REASONS:
        exit_with_error(f"No reason {reason}; it is one of {', '.join(REJECTION_REASONS)}.", 2)


def _print_submission(row: Submission, line: str, *, as_json: bool) -> None:
    value = {"id": row.id, "status": row.status, "tool": row.tool, "reason_code": row.reason}
    print_result(value, line, as_json=as_json)


def _line(tx: Transaction, row: Submission, base: str) -> dict[str, Any]:
    view = submissions_queries.submission_view(tx, row, base)
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
    return "–" if value is None else escape_invisible(str(value))


reports_app = typer.Typer(no_args_is_help=True, help="Reports about tools.")
tools_app = typer.Typer(no_args_is_help=True, help="Listed tools.")

ToolKeyArgument = Annotated[str, typer.Argument(metavar="ID", help="The tool's id or slug.")]
MessageOption = Annotated[str, typer.Option(help="Text shown to readers of the tool.")]


@reports_app.command("list")
@async_command
async def list_reports(
    tool: Annotated[str | None, typer.Option(help="Only reports about this tool, by its id.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Include settled reports.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many.")] = 100,
    as_json: JsonOption = False,
) -> None:
    """List open reports, oldest first, with their weight. Details are text from outside."""
    status = None if everything else "open"
    found = await run_unit(lambda tx: reports_queries.list_reports(tx, tool=tool, status=status, limit=limit))
    rows = (
        {
            "id": row.id,
            "tool": row.tool,
            "reason": row.reason,
            "weight": row.weight,
            "status": row.status,
            "reporter": row.reporter,
            "details": row.details,
            "created_at": timestamp(row.created_at),
        }
        for row in found
    )
    print_table(rows, "No reports.", as_json=as_json)


@tools_app.command("quarantine")
@async_command
async def quarantine_tool(key: ToolKeyArgument, message: MessageOption = "", as_json: JsonOption = False) -> None:
    """Hide a tool from search until it is released or deleted."""
    tool = await run_unit(lambda tx: reports_queries.quarantine(tx, key, message=message))
    _print_tool(tool, f"{tool.id} is withheld.", as_json=as_json)


@tools_app.command("release")
@async_command
async def release_tool(key: ToolKeyArgument, as_json: JsonOption = False) -> None:
    """Show a hidden tool again; the reports about it are dismissed."""
    tool = await run_unit(lambda tx: reports_queries.release(tx, key))
    _print_tool(tool, f"{tool.id} is shown again.", as_json=as_json)


@tools_app.command("delete")
@async_command
async def delete_tool(key: ToolKeyArgument, message: MessageOption = "", as_json: JsonOption = False) -> None:
    """Delete a tool for good. A tombstone keeps its id and slug from being reused."""
    tool = await run_unit(lambda tx: reports_queries.remove(tx, key, message=message))
    _print_tool(tool, f"{tool.id} is deleted.", as_json=as_json)


def _print_tool(tool: CatalogueTool, line: str, *, as_json: bool) -> None:
    print_result({"id": tool.id, "slug": tool.slug, "status": tool.status}, line, as_json=as_json)


@async_command
async def import_entries(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True)],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Report what would happen without storing anything.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Import a JSON array, {"servers": […]} or NDJSON of server.json entries or of facts.

    Tools that exist already are recognised and gain missing values; a better attested value is never overwritten.
    """
    async with open_store(load_settings(), makes=True) as store:
        outcomes = await _import(store, file, dry=dry_run, quiet=as_json)
    counts = Counter(outcome.action for outcome in outcomes)
    if as_json:
        result = {"dry_run": dry_run, "counts": dict(counts), "lines": list(map(asdict, outcomes))}
        print_result(result, "", as_json=True)
        return
    not_imported = [each for each in outcomes if each.action in {"refused", "skipped"}]
    if not_imported:
        print_table(map(asdict, not_imported), "", as_json=False)
    summary = ", ".join(f"{number} {action}" for action, number in sorted(counts.items()))
    print_result(None, f"{'Would be: ' if dry_run else ''}{summary or 'nothing to import'}", as_json=False)


async def _import(store: Store, file: Path, *, dry: bool, quiet: bool) -> list[ImportOutcome]:
    outcomes: list[ImportOutcome] = []
    entries = list(exchange_import.read_file(file))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=stderr_console, disable=quiet or not stdout_console.is_terminal) as bar:
        task = bar.add_task("Importing", total=len(entries))
        for start in range(0, len(entries), exchange_import.BATCH_LINES):
            batch = entries[start : start + exchange_import.BATCH_LINES]
            try:
                outcomes += await store.write(lambda tx, batch=batch: exchange_import.import_batch(tx, batch, dry=dry))
            except DryRunRollback as undone:
                outcomes += undone.outcomes
            bar.advance(task, len(batch))
    return outcomes


directory_app = typer.Typer(no_args_is_help=True)
directory_app.add_typer(agents_app, name="agents")
directory_app.add_typer(submissions_app, name="submissions")
directory_app.add_typer(reports_app, name="reports")
directory_app.add_typer(tools_app, name="tools")
directory_app.command("import")(import_entries)
