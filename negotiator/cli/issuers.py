"""`negotiator issuers`: trusted identity providers."""

from pathlib import Path
from typing import Annotated

import typer

from negotiator.base.errors import FieldError, ValidationFailed
from negotiator.cli.database import load_settings, run_unit
from negotiator.cli.output import JsonOption, async_command, print_result, print_table, print_warning
from negotiator.store.statement import Transaction
from negotiator.trust import issuer_queries
from negotiator.trust.issuers import ALGORITHMS, Issuer, check_algorithms

issuers_app = typer.Typer(no_args_is_help=True)

IssuerArgument = Annotated[str, typer.Argument(metavar="ISSUER", help="The issuer identifier, byte for byte.")]


@issuers_app.command("add")
@async_command
async def add_issuer(
    issuer: IssuerArgument,
    jwks_file: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="The issuer's keys, as a file.")
    ] = None,
    jwks_url: Annotated[str, typer.Option(help="URL of the issuer's keys.")] = "",
    discover: Annotated[bool, typer.Option("--discover", help="Find the keys through the issuer's metadata.")] = False,
    algorithm: Annotated[list[str] | None, typer.Option(help="Signature algorithm; may repeat.")] = None,
    client_id: Annotated[list[str] | None, typer.Option(help="Client id that assertions may name; may repeat.")] = None,
    scope: Annotated[list[str] | None, typer.Option(help="Scope that its users' agents may get; may repeat.")] = None,
    email_domain: Annotated[
        list[str] | None, typer.Option(help="E-mail domain that it may assert; may repeat.")
    ] = None,
    email_verifier: Annotated[
        bool, typer.Option("--email-verifier", help="Trust its verified e-mail addresses.")
    ] = False,
    max_auth_age: Annotated[int | None, typer.Option(min=1, help="Most seconds since the user's sign-in.")] = None,
    tenanted: Annotated[bool, typer.Option("--tenanted", help="Its subjects are unique only within a tenant.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Trust an identity provider, or change how it is trusted."""
    from negotiator.cli import issuer_keys  # imported here: it loads the HTTP client

    if sum((jwks_file is not None, bool(jwks_url), discover)) != 1:
        raise typer.BadParameter("name exactly one of --jwks-file, --jwks-url and --discover")
    settings = load_settings()
    algorithms, named = _algorithms(algorithm or ALGORITHMS), bool(algorithm)
    configured_issuer = Issuer(
        issuer,
        algorithms,
        jwks=issuer_keys.read_keys(jwks_file, algorithms, named=named) if jwks_file else "",
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
        issuer_queries.add(tx, configured_issuer, own=own, allow_loopback=loopback, discovered=found)

    issuer_queries.check_issuer(configured_issuer, own=settings.base_url, allow_loopback=loopback)
    if discover:
        found = await issuer_keys.discover(issuer, allow_loopback=loopback)
    if published := jwks_url or found:
        await issuer_keys.check_published(published, algorithms, named=named, allow_loopback=loopback)
    await run_unit(unit, makes=True)
    if not client_id:
        print_warning("without --client-id, an assertion of this issuer for any client registers an agent")
    key_source = f" Its keys are at {found}{issuer_keys.elsewhere(issuer, found)}." if found else ""
    result = issuer_queries.summary(configured_issuer) | ({"jwks_uri": found} if found else {})
    print_result(result, f"{issuer} is trusted.{key_source}", as_json=as_json)


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
    print_result({"issuer": issuer, "removed": True}, f"{issuer} is not trusted any more.", as_json=as_json)


@issuers_app.command("revoke")
@async_command
async def revoke_subject(
    issuer: IssuerArgument,
    subject: Annotated[str, typer.Argument(help="The person's `sub` at the issuer.")],
    tenant: Annotated[str, typer.Option(help="The person's tenant, at an issuer that has them.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Revoke everything that one person's agents hold, unused assertions included."""

    from negotiator.users import identity_matching  # imported here: it loads what verifies assertions

    def unit(tx: Transaction) -> bool:
        issuer_queries.revoke_subject(tx, issuer, subject, tenant=tenant)
        return identity_matching.is_known(tx, issuer, tenant, subject)

    known = await run_unit(unit)
    told = f"{subject} is revoked."
    if not known:
        told += " Nobody here has this identity yet."
    result = {"issuer": issuer, "subject": subject, "revoked": True, "known": known}
    print_result(result, told, as_json=as_json)


def _algorithms(names: list[str] | tuple[str, ...]) -> tuple[str, ...]:
    try:
        return check_algorithms(names)
    except ValueError as fault:
        raise ValidationFailed([FieldError("/algorithm", f"{fault}.")]) from None
