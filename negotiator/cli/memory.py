"""`negotiator memory`: embedding memories again, and reviewing unreviewed memories."""

from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from negotiator.base.errors import NotFound
from negotiator.cli.database import load_settings, open_store, run_unit
from negotiator.cli.output import JsonOption, async_command, print_result, print_table
from negotiator.cli.tables import stderr_console
from negotiator.memory import memories_lifecycle
from negotiator.memory.search import reembed_all
from negotiator.memory.searchable_text import MemoryEmbedder
from negotiator.store.statement import Transaction
from negotiator.users import user_queries

memory_app = typer.Typer(no_args_is_help=True)

UserOption = Annotated[str, typer.Option(help="The user's e-mail address.")]
_MAX_TEXT = 80


@memory_app.command("reembed")
@async_command
async def reembed_memories(as_json: JsonOption = False) -> None:
    """Embed every memory with the model in use; can be interrupted and started again."""
    from negotiator.compose.assistant import build_embedder  # imported here, because it loads half of the service

    settings = load_settings()
    model = MemoryEmbedder(build_embedder(settings))
    columns = (TextColumn("Memories"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    try:
        async with open_store(settings) as store:
            with Progress(*columns, console=stderr_console, disable=not stderr_console.is_terminal) as bar:
                task = bar.add_task("")
                done = await reembed_all(store, model, lambda now, total: bar.update(task, completed=now, total=total))
    finally:
        await model.close()
    name = model.embedder.model
    result = {"model": name, "reembedded": done}
    print_result(result, f"{done} memories have a new vector by {name}.", as_json=as_json)


@memory_app.command("review")
@async_command
async def review_memories(
    user: UserOption,
    keep: Annotated[list[str] | None, typer.Option(help="Memory to keep; may repeat.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Memory to erase; may repeat.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the memories that a user has not reviewed, and keep or drop some of them."""

    def unit(tx: Transaction) -> list[dict[str, Any]]:
        owner = _owner(tx, user)
        for key in keep or ():
            memories_lifecycle.review_memory(tx, owner, key, keep=True)
        for key in drop or ():
            memories_lifecycle.review_memory(tx, owner, key, keep=False)
        return memories_lifecycle.list_unreviewed(tx, owner, 1000)

    rows = (
        {
            "id": view["id"],
            "status": view["status"],
            "reason": view["status_reason"],
            "source": view["source"]["type"],
            "origin": view["origin"],
            "text": view["text"] if as_json else view["text"][:_MAX_TEXT],
        }
        for view in await run_unit(unit, scrub=bool(drop))
    )
    print_table(rows, "No memory waits for review.", as_json=as_json)


@memory_app.command("quarantine")
@async_command
async def quarantine_memories(
    user: UserOption,
    client: Annotated[str, typer.Option(help="The agent or client that wrote them.")],
    as_json: JsonOption = False,
) -> None:
    """Quarantine everything that a client wrote for a user; `review` restores the good ones."""
    count = await run_unit(
        lambda tx: memories_lifecycle.quarantine_memories(tx, _owner(tx, user), client, actor="operator")
    )
    print_result({"quarantined": count}, f"{count} memories are quarantined.", as_json=as_json)


def _owner(tx: Transaction, email: str) -> str:
    found = user_queries.by_email(tx, user_queries.normalise_email(email))
    if found is None:
        raise NotFound(f"There is no account {email}.")
    return found.id
