"""`negotiator memory`: vectors of another model, and what waits for a person's word."""

from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from negotiator.cli.output import Json, change, command, configured, faults, opened, say, tabulate
from negotiator.errors import NotFound
from negotiator.memory.memories import review
from negotiator.memory.vectors import reembed
from negotiator.store.statement import Transaction
from negotiator.users import people

memory = typer.Typer(no_args_is_help=True, help="What agents remember.")

User = Annotated[str, typer.Option(help="The user's e-mail address.")]
_SHOWN = 80


@memory.command("reembed")
@command
async def reembed_memories(as_json: Json = False) -> None:
    """Give every memory the vector of the model in use; may be interrupted and begun again."""
    from negotiator.wiring.memory import embedder  # and half the service with it

    chosen = configured()
    model = embedder(chosen)
    columns = (TextColumn("Memories"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    try:
        async with opened(chosen) as store:
            with Progress(*columns, console=faults, disable=not faults.is_terminal) as bar:
                task = bar.add_task("")
                done = await reembed(
                    store, model, lambda now, whole: bar.update(task, completed=now, total=whole)
                )
    finally:
        await model.close()
    told = {"model": model.model, "reembedded": done}
    say(told, f"{done} memories have a new vector by {model.model}.", as_json=as_json)


@memory.command("review")
@command
async def review_memories(
    user: User,
    keep: Annotated[list[str] | None, typer.Option(help="Memory to keep; may repeat.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Memory to erase; may repeat.")] = None,
    as_json: Json = False,
) -> None:
    """Show what a user has not looked over yet, or pass the user's word on it: keep, drop."""

    def unit(tx: Transaction) -> list[dict[str, Any]]:
        owner = _owner(tx, user)
        for key in keep or ():
            review.review(tx, owner, key, keep=True)
        for key in drop or ():
            review.review(tx, owner, key, keep=False)
        return review.waiting(tx, owner, 1000)

    rows = (
        {
            "id": view["id"],
            "status": view["status"],
            "reason": view["status_reason"],
            "source": view["source"]["type"],
            "origin": view["origin"],
            "text": view["text"] if as_json else view["text"][:_SHOWN],
        }
        for view in await change(unit, scrub=bool(drop))
    )
    tabulate(rows, "Nothing waits for a word.", as_json=as_json)


@memory.command("quarantine")
@command
async def quarantine_memories(
    user: User,
    client: Annotated[str, typer.Option(help="The agent or client that wrote them.")],
    as_json: Json = False,
) -> None:
    """Put everything that a client wrote for a user out of sight; `review` brings back what is good."""
    held = await change(lambda tx: review.set_aside(tx, _owner(tx, user), client, actor="operator"))
    say({"quarantined": held}, f"{held} memories are out of sight.", as_json=as_json)


def _owner(tx: Transaction, email: str) -> str:
    found = people.by_email(tx, people.normal_email(email))
    if found is None:
        raise NotFound(f"There is no account {email}.")
    return found.id
