"""`negotiator directory import`: entries of other catalogues into ours."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from negotiator.cli.output import Json, command, configured, faults, opened, people, say, tabulate
from negotiator.directory.exchange import importing, lines
from negotiator.directory.exchange.importing import Outcome, Undone
from negotiator.store.store import Store


@command
async def import_entries(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True)],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would happen and keep nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Take over a JSON array, {"servers": […]} or NDJSON of server.json entries or of facts.

    What is here already is found again and learns what it did not know; nothing overwrites what is better attested.
    """
    async with opened(configured()) as store:
        outcomes = await _import(store, file, dry=dry_run, quiet=as_json)
    counts = Counter(outcome.action for outcome in outcomes)
    if as_json:
        listed = [_shown(outcome) for outcome in outcomes]
        shown = {"dry_run": dry_run, "counts": dict(counts), "lines": listed}
        say(shown, "", as_json=True)
        return
    told = [each for each in outcomes if each.action in {"refused", "skipped"}]
    if told:
        tabulate(map(_shown, told), "", as_json=False)
    summed = ", ".join(f"{number} {action}" for action, number in sorted(counts.items()))
    say(None, f"{'Would be: ' if dry_run else ''}{summed or 'nothing to take over'}", as_json=False)


async def _import(store: Store, file: Path, *, dry: bool, quiet: bool) -> list[Outcome]:
    outcomes: list[Outcome] = []
    every = list(lines.read_file(file))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=faults, disable=quiet or not people.is_terminal) as bar:
        task = bar.add_task("Importing", total=len(every))
        for batch in lines.batches(iter(every)):
            try:
                outcomes += await store.write(
                    lambda tx, batch=batch: importing.take_all(tx, batch, dry=dry)
                )
            except Undone as undone:
                outcomes += undone.outcomes
            bar.advance(task, len(batch))
    return outcomes


def _shown(outcome: Outcome) -> dict[str, object]:
    return {
        "line": outcome.line,
        "action": outcome.action,
        "tool": outcome.tool,
        "slug": outcome.slug,
        "reason": outcome.reason,
    }
