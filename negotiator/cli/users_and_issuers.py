"""`negotiator users` and `negotiator issuers`: accounts, and trusted identity providers."""

import getpass
import sys
from pathlib import Path
from typing import Annotated

import typer

from negotiator.cli.output import (
    JsonOption,
    async_command,
    load_settings,
    print_result,
    print_table,
    print_warning,
    run_unit,
)
from negotiator.errors import Conflict, FieldError, NotFound, ValidationFailed
from negotiator.store.statement import Transaction
from negotiator.strict_json import read_object
from negotiator.trust import issuer_queries, keysets
from negotiator.trust.fetch import Fetcher, FetchFailed
from negotiator.trust.issuers import ALGORITHMS, Issuer, check_algorithms
from negotiator.trust.keysets import KeysRefused, parse
from negotiator.users import identity_matching, password_links, user_queries
from negotiator.users.tables import User

users_app = typer.Typer(no_args_is_help=True)
issuers_app = typer.Typer(no_args_is_help=True)

_INVITED = """The account is without a password. Its user chooses one at this link, which works once, for 7 days:

    {link}
"""

EmailArgument = Annotated[str, typer.Argument(help="The user's e-mail address.")]
_ENABLED = """{email} is enabled: they can sign in, with their password, passkeys, provider and role as before.
What was ended stays ended: tokens, browser sessions and what their agents held. The agents get new tokens by a new
approval or registration."""
IssuerArgument = Annotated[
    str, typer.Argument(metavar="ISSUER", help="The issuer identifier, byte for byte.")
]


@users_app.command("add")
@async_command
async def add_user(
    email: EmailArgument,
    name: Annotated[str, typer.Option(help="The user's name.")] = "",
    admin: Annotated[bool, typer.Option("--admin", help="Make the user an administrator.")] = False,
    password_stdin: Annotated[
        bool,
        typer.Option("--password-stdin", help="Read the password from standard input."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Create an account. The first user is an administrator; without a password, a link to choose one is printed."""
    normal = user_queries.normalise_email(email)
    hashed = _hash_from_input(normal, name) if password_stdin else ""

    def unit(tx: Transaction) -> tuple[bool, User | None]:
        first = not user_queries.any_exist(tx)
        user_id = user_queries.add(
            tx,
            normal,
            name=name,
            is_admin=admin or first,
            password_hash=hashed,
            actor="operator",
        )
        return first, user_queries.by_id(tx, user_id)

    first, user = await run_unit(unit)
    assert user is not None  # noqa: S101
    role = (
        ", as the first user an administrator" if first else ", an administrator" if admin else ""
    )
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
        bool,
        typer.Option("--password-stdin", help="Read the password from standard input."),
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
    print_result(
        {"email": normal, "changed": True}, f"{normal} has a new password.", as_json=as_json
    )


@users_app.command("list")
@async_command
async def list_users(as_json: JsonOption = False) -> None:
    """List every account."""
    print_table(
        map(user_queries.summary, await run_unit(user_queries.list_users)),
        "No users.",
        as_json=as_json,
    )


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


@issuers_app.command("add")
@async_command
async def add_issuer(
    issuer: IssuerArgument,
    jwks_file: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="The issuer's keys, as a file."),
    ] = None,
    jwks_url: Annotated[str, typer.Option(help="URL of the issuer's keys.")] = "",
    discover: Annotated[
        bool,
        typer.Option("--discover", help="Find the keys through the issuer's metadata."),
    ] = False,
    algorithm: Annotated[
        list[str] | None, typer.Option(help="Signature algorithm; may repeat.")
    ] = None,
    client_id: Annotated[
        list[str] | None,
        typer.Option(help="Client id that assertions may name; may repeat."),
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(help="Scope that its users' agents may get; may repeat."),
    ] = None,
    email_domain: Annotated[
        list[str] | None, typer.Option(help="E-mail domain that it may assert; may repeat.")
    ] = None,
    email_verifier: Annotated[
        bool,
        typer.Option("--email-verifier", help="Trust its verified e-mail addresses."),
    ] = False,
    max_auth_age: Annotated[
        int | None, typer.Option(min=1, help="Most seconds since the user's sign-in.")
    ] = None,
    tenanted: Annotated[
        bool,
        typer.Option("--tenanted", help="Its subjects are unique only within a tenant."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Trust an identity provider, or change how it is trusted."""
    if sum((jwks_file is not None, bool(jwks_url), discover)) != 1:
        raise typer.BadParameter("name exactly one of --jwks-file, --jwks-url and --discover")
    settings = load_settings()
    algorithms = _algorithms(algorithm or ALGORITHMS)
    configured_issuer = Issuer(
        issuer,
        algorithms,
        jwks=_read_keys(jwks_file, algorithms) if jwks_file else "",
        jwks_uri=jwks_url,
        clients=frozenset(client_id or ()),
        scopes=tuple(scope or ()),
        email_domains=tuple(email_domain or ()),
        email_verifier=email_verifier,
        max_auth_age=max_auth_age,
        tenanted=tenanted,
    )
    loopback, found = settings.allow_loopback_fetch, ""

    def unit(tx: Transaction) -> None:
        own = settings.base_url
        issuer_queries.add(
            tx, configured_issuer, own=own, allow_loopback=loopback, discovered=found
        )

    if discover:
        issuer_queries.check_issuer(
            configured_issuer, own=settings.base_url, allow_loopback=loopback
        )
        found = await _discover(issuer, allow_loopback=loopback)
    await run_unit(unit)
    if not client_id:
        print_warning(
            "without --client-id, an assertion of this issuer for any client registers an agent"
        )
    key_source = f" Its keys are at {found}{_elsewhere(issuer, found)}." if found else ""
    result = issuer_queries.summary(configured_issuer) | ({"jwks_uri": found} if found else {})
    print_result(result, f"{issuer} is trusted.{key_source}", as_json=as_json)


async def _discover(issuer: str, *, allow_loopback: bool) -> str:
    """The URL of the keys in the issuer's metadata; empty, with a warning, when the metadata cannot be read."""
    fetcher = Fetcher(allow_loopback=allow_loopback)
    try:
        return await keysets.discover(fetcher, issuer)
    except FetchFailed as failed:
        print_warning(f"the issuer's metadata cannot be read now: {failed.detail}")
        return ""
    finally:
        await fetcher.close()


def _elsewhere(issuer: str, jwks_uri: str) -> str:
    return ", on another host" if keysets.is_elsewhere(issuer, jwks_uri) else ""


@issuers_app.command("list")
@async_command
async def list_issuers(as_json: JsonOption = False) -> None:
    """List the trusted issuers."""
    print_table(
        map(issuer_queries.summary, await run_unit(issuer_queries.list_issuers)),
        "No issuer is trusted.",
        as_json=as_json,
    )


@issuers_app.command("remove")
@async_command
async def remove_issuer(issuer: IssuerArgument, as_json: JsonOption = False) -> None:
    """Stop trusting an issuer; every token issued on its assertions ends at once."""
    await run_unit(lambda tx: issuer_queries.remove(tx, issuer))
    print_result(
        {"issuer": issuer, "removed": True},
        f"{issuer} is not trusted any more.",
        as_json=as_json,
    )


@issuers_app.command("revoke")
@async_command
async def revoke_subject(
    issuer: IssuerArgument,
    subject: Annotated[str, typer.Argument(help="The person's `sub` at the issuer.")],
    tenant: Annotated[
        str, typer.Option(help="The person's tenant, at an issuer that has them.")
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Revoke everything that one person's agents hold, unused assertions included."""

    def unit(tx: Transaction) -> bool:
        issuer_queries.revoke_subject(tx, issuer, subject, tenant=tenant)
        return identity_matching.is_known(tx, issuer, tenant, subject)

    known = await run_unit(unit)
    told = f"{subject} is revoked."
    if not known:
        told += " Nobody here has this identity yet."
    result = {"issuer": issuer, "subject": subject, "revoked": True, "known": known}
    print_result(result, told, as_json=as_json)


def _open_account(tx: Transaction, email: str) -> User:
    """The user with this e-mail address; 404 when there is none, 409 when the account is disabled."""
    user = user_queries.by_email(tx, email)
    if user is None:
        raise NotFound(f"There is no user {email}.")
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
    # Imported here, because they load the pages and half of the service.
    from negotiator.compose.shared_secrets import load_pepper
    from negotiator.console.password_reset_pages import NEW_PASSWORD_PATH

    settings = load_settings()
    secret = password_links.write_link(
        load_pepper(settings), user, life=password_links.INVITATION_LIFE
    )
    return f"{settings.base_url}{NEW_PASSWORD_PATH}/{secret}"


def _algorithms(names: list[str] | tuple[str, ...]) -> tuple[str, ...]:
    try:
        return check_algorithms(names)
    except ValueError as fault:
        raise ValidationFailed([FieldError("/algorithm", f"{fault}.")]) from None


def _read_keys(path: Path, algorithms: tuple[str, ...]) -> str:
    text = path.read_text()
    try:
        parse(read_object(text.encode()), algorithms)
    except (ValueError, KeysRefused) as fault:
        raise ValidationFailed([FieldError("/jwks", f"{path.name}: {fault}.")]) from None
    return text
