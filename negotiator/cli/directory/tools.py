"""`negotiator directory reports` and `negotiator directory tools`: what is wrong with a listed tool, and its end."""

from typing import Annotated

import typer

from negotiator.cli.output import Json, change, command, say, tabulate
from negotiator.directory.catalogue.tools import Tool
from negotiator.directory.reports import kept
from negotiator.values import timestamp

reports = typer.Typer(no_args_is_help=True, help="Reports about tools.")
tools = typer.Typer(no_args_is_help=True, help="Listed tools.")

Key = Annotated[str, typer.Argument(metavar="ID", help="The tool's id or slug.")]
Message = Annotated[str, typer.Option(help="What whoever looks at the tool reads.")]


@reports.command("list")
@command
async def list_reports(
    tool: Annotated[str | None, typer.Option(help="Only of this tool, by its id.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Settled ones too.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many.")] = 100,
    as_json: Json = False,
) -> None:
    """Show open reports, the oldest first, each with what it weighs. Details are a stranger's text, not ours."""
    status = None if everything else "open"
    found = await change(lambda tx: kept.listed(tx, tool=tool, status=status, limit=limit))
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
    tabulate(rows, "No reports.", as_json=as_json)


@tools.command("quarantine")
@command
async def quarantine_tool(key: Key, message: Message = "", as_json: Json = False) -> None:
    """Withhold a tool from search until it is released or deleted."""
    tool = await change(lambda tx: kept.quarantine(tx, key, message=message))
    _told(tool, f"{tool.id} is withheld.", as_json=as_json)


@tools.command("release")
@command
async def release_tool(key: Key, as_json: Json = False) -> None:
    """Show a withheld tool again; the reports about it are dismissed."""
    tool = await change(lambda tx: kept.release(tx, key))
    _told(tool, f"{tool.id} is shown again.", as_json=as_json)


@tools.command("delete")
@command
async def delete_tool(key: Key, message: Message = "", as_json: Json = False) -> None:
    """Delete a tool for good: a tombstone stays, its id and slug are never another's."""
    tool = await change(lambda tx: kept.remove(tx, key, message=message))
    _told(tool, f"{tool.id} is deleted.", as_json=as_json)


def _told(tool: Tool, line: str, *, as_json: bool) -> None:
    say({"id": tool.id, "slug": tool.slug, "status": tool.status}, line, as_json=as_json)
