"""`negotiator users erase` and `negotiator agents erase`: delete a person or an agent with everything they left."""

import sys
from collections.abc import Callable
from typing import Annotated, Any, Final

import typer

from negotiator.agents import mail
from negotiator.base.errors import Conflict, NotFound
from negotiator.cli.database import load_settings, run_unit
from negotiator.cli.output import JsonOption, async_command, counted, print_result, print_warning
from negotiator.cli.users import users_app
from negotiator.compose import ownership
from negotiator.compose.ownership import ErasedPrincipal
from negotiator.store.statement import Transaction
from negotiator.users import user_queries
from negotiator.users.tables import User

agents_app = typer.Typer(no_args_is_help=True)
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
_WORDS: Final = {"battle_plans": "plans", "cue_examples": "examples", "tool_reports": "reports"}


@users_app.command("erase")
@async_command
async def erase_user(
    email: Annotated[str, typer.Argument(help="The user's e-mail address, or their id.")],
    yes: YesOption = False,
    last: Annotated[bool, typer.Option("--last", help="Erase them even if no administrator is left then.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Delete an account with its agents and everything they own; tokens and sessions end at once."""

    def find(tx: Transaction) -> User:
        by_id = email.startswith("usr_")
        user = (
            user_queries.by_id(tx, email) if by_id else user_queries.by_email(tx, user_queries.normalise_email(email))
        )
        if user is None:
            raise NotFound(f"There is no user {email}.")
        if not last and user_queries.is_only_administrator(tx, user.id):
            raise Conflict("They are the only administrator. Make somebody else one first, or add --last.")
        return user

    await _erase(
        email,
        lambda tx: ownership.describe_user(tx, find(tx)),
        lambda tx: ownership.erase_user(tx, find(tx)),
        yes=yes,
        as_json=as_json,
    )


@agents_app.command("erase")
@async_command
async def erase_agent(
    agent: Annotated[str, typer.Argument(metavar="ID", help="The agent's client id.")],
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Delete an agent of either service with everything it owns; what it made for its user stays with the user."""
    await _erase(
        agent,
        lambda tx: ownership.describe_agent(tx, agent),
        lambda tx: ownership.erase_agent(tx, agent),
        yes=yes,
        as_json=as_json,
    )


async def _erase(
    name: str,
    describe: Callable[[Transaction], ErasedPrincipal],
    erase: Callable[[Transaction], ErasedPrincipal],
    *,
    yes: bool,
    as_json: bool,
) -> None:
    settings = load_settings()
    if not yes:
        if not sys.stdin.isatty():
            raise typer.BadParameter("nobody can be asked here: add --yes")
        question = f"Erase {name}, with {_summary(await run_unit(describe))}? There is no way back."
        typer.confirm(question, abort=True, err=True)
    erased = await run_unit(erase, scrub=True)
    mails = mail.delete_mails(settings.outbox_folder, erased.emails)
    result: dict[str, Any] = {
        "id": erased.id,
        "agents": list(erased.agents),
        "rows": erased.rows,
        "mails": mails,
        "erased": True,
    }
    line = f"{name} is erased, with {_summary(erased)}. Backups made before still have them."
    print_result(result, line, as_json=as_json)
    if await run_unit(user_queries.lacks_administrator):
        print_warning("no administrator is left; make one with negotiator users admin EMAIL")


def _summary(erased: ErasedPrincipal) -> str:
    """What belongs to them in words, such as `2 agents, 5 negotiations`."""
    agents = len([agent for agent in erased.agents if agent != erased.id])
    counts = {"agents": agents, **erased.rows}
    parts = [counted(number, _WORDS.get(table, table).replace("_", " ")) for table, number in counts.items() if number]
    return ", ".join(parts) or "nothing else"
