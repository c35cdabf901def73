"""`negotiator users`: accounts; `users erase` and `agents erase` delete somebody with everything they left."""

import getpass
import sys
from collections.abc import Callable
from typing import Annotated, Any, Final

import typer

from negotiator.agents import mail
from negotiator.base.errors import Conflict, NotFound
from negotiator.cli.database import load_settings, run_unit
from negotiator.cli.output import JsonOption, async_command, counted, print_result, print_table, print_warning
from negotiator.compose import ownership
from negotiator.compose.ownership import ErasedPrincipal
from negotiator.store.statement import Transaction
from negotiator.users import password_links, user_queries
from negotiator.users.password_links import NEW_PASSWORD_PATH
from negotiator.users.tables import User

users_app = typer.Typer(no_args_is_help=True)

_INVITED = """The account is without a password. Its user chooses one at this link, which works once, for 7 days:

    {link}
"""

EmailArgument = Annotated[str, typer.Argument(help="The user's e-mail address.")]
_ENABLED = """{email} is enabled: they can sign in, with their password, passkeys, provider and role as before.
What was ended stays ended: tokens, browser sessions and what their agents held. The agents get new tokens by a new
approval or registration."""


@users_app.command("add")
@async_command
async def add_user(
    email: EmailArgument,
    name: Annotated[str, typer.Option(help="The user's name.")] = "",
    admin: Annotated[bool, typer.Option("--admin", help="Make the user an administrator.")] = False,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Create an account. The first user is an administrator; without a password, a link to choose one is printed."""
    normal = user_queries.normalise_email(email)
    hashed = _hash_from_input(normal, name) if password_stdin else ""

    def unit(tx: Transaction) -> tuple[bool, User | None]:
        first = not user_queries.any_exist(tx)
        user_id = user_queries.add(
            tx, normal, name=name, is_admin=admin or first, password_hash=hashed, actor="operator"
        )
        return first, user_queries.by_id(tx, user_id)

    first, user = await run_unit(unit, makes=True)
    assert user is not None  # noqa: S101
    role = ", as the first user an administrator" if first else ", an administrator" if admin else ""
    lines, link = [f"{normal} is {user.id}{role}."], None
    if not hashed:
        link = _password_link(user)
        lines += ["", _INVITED.format(link=link)]
    result = {"id": user.id, "email": normal, "is_admin": bool(user.is_admin), "link": link}
    print_result(result, "\n".join(lines), as_json=as_json)


@users_app.command("password")
@async_command
async def set_password(
    email: EmailArgument,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Set a user's password; all of their browsers are signed out."""
    if not password_stdin:
        raise typer.BadParameter("the password is read from standard input: add --password-stdin")
    normal = user_queries.normalise_email(email)
    hashed = _hash_from_input(normal)

    def unit(tx: Transaction) -> None:
        user = _open_account(tx, normal)
        user_queries.set_password(tx, user.id, hashed, actor="operator")

    await run_unit(unit)
    print_result({"email": normal, "changed": True}, f"{normal} has a new password.", as_json=as_json)


@users_app.command("list")
@async_command
async def list_users(as_json: JsonOption = False) -> None:
    """List every account."""
    print_table(map(user_queries.summary, await run_unit(user_queries.list_users)), "No users.", as_json=as_json)


@users_app.command("admin")
@async_command
async def set_admin(
    email: EmailArgument,
    off: Annotated[bool, typer.Option("--off", help="Take the role away.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make a user an administrator, who may open the admin pages."""
    normal = user_queries.normalise_email(email)

    def unit(tx: Transaction) -> None:
        user = _open_account(tx, normal)
        user_queries.set_admin(tx, user.id, not off, actor="operator")

    await run_unit(unit)
    told = f"{normal} is {'no administrator any more' if off else 'an administrator'}."
    print_result({"email": normal, "is_admin": not off}, told, as_json=as_json)


@users_app.command("disable")
@async_command
async def disable_user(email: EmailArgument, as_json: JsonOption = False) -> None:
    """Disable an account, until `users enable`; every token of the user's agents ends at once."""
    normal = user_queries.normalise_email(email)
    await run_unit(lambda tx: user_queries.disable(tx, normal))
    told = f"{normal} is disabled. `users enable` opens the account again, without its tokens."
    print_result({"email": normal, "disabled": True}, told, as_json=as_json)


@users_app.command("enable")
@async_command
async def enable_user(email: EmailArgument, as_json: JsonOption = False) -> None:
    """Open a disabled account again; tokens and sessions that ended with it stay ended."""
    normal = user_queries.normalise_email(email)
    await run_unit(lambda tx: user_queries.enable(tx, normal))
    told = _ENABLED.format(email=normal)
    print_result({"email": normal, "disabled": False}, told, as_json=as_json)


def _open_account(tx: Transaction, email: str) -> User:
    """The user with this e-mail address; 404 when there is none, 409 when the account is disabled."""
    user = user_queries.require(tx, email)
    if user.disabled_at is not None:
        raise Conflict(f"The account of {email} is disabled. `users enable` opens it again.")
    return user


def _hash_from_input(*about: str) -> str:
    """The hash of the password on standard input; a person at a terminal types it unseen."""
    if sys.stdin.isatty():
        password = getpass.getpass("Password: ")
    else:
        password = sys.stdin.readline().rstrip("\n")
    return user_queries.hash_password(password, about=about)


def _password_link(user: User) -> str:
    """The link by which an invited user chooses a password."""
    from negotiator.compose.shared_secrets import load_pepper  # imported here, because it loads the keys

    settings = load_settings()
    secret = password_links.write_link(load_pepper(settings), user, life=password_links.INVITATION_LIFE)
    return f"{settings.base_url}{NEW_PASSWORD_PATH}/{secret}"


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
