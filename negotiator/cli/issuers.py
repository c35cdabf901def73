"""`negotiator issuers`: trusted identity providers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from negotiator.base.errors import FieldError, ValidationFailed
from negotiator.base.strict_json import read_object
from negotiator.cli.database import load_settings, run_unit
from negotiator.cli.output import JsonOption, async_command, print_result, print_table, print_warning
from negotiator.store.statement import Transaction
from negotiator.trust import issuer_queries, keysets
from negotiator.trust.fetch import FetchFailed
from negotiator.trust.fetcher import Fetcher
from negotiator.trust.issuers import ALGORITHMS, Issuer, check_algorithms
from negotiator.trust.keysets import KeysRefused
from negotiator.users import identity_matching

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
    if sum((jwks_file is not None, bool(jwks_url), discover)) != 1:
        raise typer.BadParameter("name exactly one of --jwks-file, --jwks-url and --discover")
    settings = load_settings()
    algorithms, named = _algorithms(algorithm or ALGORITHMS), bool(algorithm)
    configured_issuer = Issuer(
        issuer,
        algorithms,
        jwks=_read_keys(jwks_file, algorithms, named=named) if jwks_file else "",
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
        found = await _discover_keys(issuer, allow_loopback=loopback)
    if published := jwks_url or found:
        await _check_published(published, algorithms, named=named, allow_loopback=loopback)
    await run_unit(unit, makes=True)
    if not client_id:
        print_warning("without --client-id, an assertion of this issuer for any client registers an agent")
    elsewhere = ", on another host" if keysets.is_elsewhere(issuer, found) else ""
    key_source = f" Its keys are at {found}{elsewhere}." if found else ""
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


async def _discover_keys(issuer: str, *, allow_loopback: bool) -> str:
    """The URL of the keys in the issuer's metadata; empty, with a warning, when the metadata cannot be read."""
    fetcher = Fetcher(allow_loopback=allow_loopback)
    try:
        return await keysets.discover(fetcher, issuer)
    except FetchFailed as failed:
        print_warning(f"the issuer's metadata cannot be read now: {failed.detail}")
        return ""
    finally:
        await fetcher.close()


def _read_keys(path: Path, algorithms: Sequence[str], *, named: bool) -> str:
    """The text of a file of keys; `ValidationFailed` when they cannot be used.

    `named` means that the operator named the algorithms: then one that no key fits is warned of.
    """
    text = path.read_text("utf-8")
    try:
        document = read_object(text.encode())
    except ValueError as fault:
        raise ValidationFailed([FieldError("/jwks", f"{path.name}: {fault}.")]) from None
    _check(document, algorithms, path.name, named=named)
    return text


async def _check_published(jwks_uri: str, algorithms: Sequence[str], *, named: bool, allow_loopback: bool) -> None:
    """Refuse keys at a URL as `_read_keys` does; warn when they cannot be read now."""
    fetcher = Fetcher(allow_loopback=allow_loopback)
    try:
        fetched = await fetcher.document(jwks_uri, limit=keysets.MAX_BYTES)
    except FetchFailed as failed:
        print_warning(f"the issuer's keys cannot be read now: {failed.detail}")
        return
    finally:
        await fetcher.close()
    _check(fetched.body, algorithms, jwks_uri, named=named)


def _check(document: dict[str, Any], algorithms: Sequence[str], place: str, *, named: bool) -> None:
    try:
        fitting = keysets.fitting_algorithms(document)
    except KeysRefused as fault:
        raise ValidationFailed([FieldError("/jwks", f"{place}: {fault}.")]) from None
    if fault := keysets.misfit(algorithms, fitting):
        raise ValidationFailed([FieldError("/algorithm", f"{place}: {fault}.")])
    if named and (unused := [each for each in algorithms if each not in fitting]):
        print_warning(
            f"no key of the issuer fits {' or '.join(unused)}: assertions signed so are refused until it has one"
        )
