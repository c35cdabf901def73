"""`negotiator delegations` and `negotiator clients`: delegation codes and OAuth clients."""

from pathlib import Path
from typing import Annotated, Any

import typer

from negotiator.agents import delegation
from negotiator.base import scopes as scope_catalogue
from negotiator.base.errors import FieldError, NotFound, ValidationFailed
from negotiator.base.strict_json import read_object
from negotiator.base.values import timestamp
from negotiator.cli.database import load_settings, open_store, run_unit
from negotiator.cli.output import JsonOption, async_command, print_result, print_table
from negotiator.store.statement import Transaction
from negotiator.tokens import client_authentication
from negotiator.tokens import clients as oauth_clients
from negotiator.tokens.clients import NewClient
from negotiator.trust.keysets import KeysRefused
from negotiator.users import user_queries

delegations_app = typer.Typer(no_args_is_help=True)
clients_app = typer.Typer(no_args_is_help=True)


@delegations_app.command("create")
@async_command
async def create_delegation(
    user: Annotated[str, typer.Option(help="The user's e-mail address.")],
    scope: Annotated[list[str] | None, typer.Option(help="Scope to grant; may repeat. Default: all eight.")] = None,
    label: Annotated[str, typer.Option(help="What the code is for.")] = "",
    ttl: Annotated[int, typer.Option(help="Seconds until the code expires.")] = 600,
    as_json: JsonOption = False,
) -> None:
    """Create a delegation code and print it once."""
    # The whole service: other commands need not load it.
    from negotiator.compose.application import build_application
    from negotiator.compose.shared_secrets import claim_secrets

    email, settings = user_queries.normalise_email(user), load_settings()
    async with open_store(settings) as store:
        await claim_secrets(store, settings)
    delegations = build_application(settings).delegations

    def unit(tx: Transaction) -> delegation.NewDelegation:
        found = user_queries.by_email(tx, email)
        if found is None or found.disabled_at is not None:
            raise NotFound(f"There is no open account {email}.")
        return delegations.mint(
            tx, found.id, scope or scope_catalogue.ASSISTANT, label=label, ttl=ttl, actor="operator"
        )

    minted = await run_unit(unit, settings)
    result = {"id": minted.id, "code": minted.code, "scopes": minted.scopes, "expires_at": timestamp(minted.expires_at)}
    print_result(result, minted.code, as_json=as_json)


@delegations_app.command("list")
@async_command
async def list_delegations(as_json: JsonOption = False) -> None:
    """List the newest codes with their state, the agent that used one, and until when its rights last. The codes are
    not shown.
    """

    def unit(tx: Transaction) -> list[dict[str, Any]]:
        codes = delegation.list_delegations(tx)
        until = delegation.works_until(tx, codes)
        return [delegation.summary(each, until.get(each.id)) for each in codes]

    print_table(await run_unit(unit), "No codes.", as_json=as_json)


@delegations_app.command("revoke")
@async_command
async def revoke_delegation(
    delegation_id: Annotated[str, typer.Argument(metavar="ID")], as_json: JsonOption = False
) -> None:
    """Revoke a code, and everything that an agent obtained by it."""
    await run_unit(lambda tx: delegation.revoke(tx, delegation_id, actor="operator"))
    print_result({"id": delegation_id, "revoked": True}, f"{delegation_id} is revoked.", as_json=as_json)


@clients_app.command("add")
@async_command
async def add_client(
    name: Annotated[str, typer.Argument(help="The client's name.")],
    grant: Annotated[
        list[str] | None,
        typer.Option(
            help="Grant type; may repeat. Default: those of the code flow with a redirect URI, else the others."
        ),
    ] = None,
    scope: Annotated[
        list[str] | None, typer.Option(help="Scope it may get; may repeat. Default: the usual ones.")
    ] = None,
    redirect_uri: Annotated[list[str] | None, typer.Option(help="Exact redirect URI; may repeat.")] = None,
    auth_method: Annotated[
        str | None, typer.Option(help="How it authenticates. Default: by its keys, else by a secret.")
    ] = None,
    jwks: Annotated[Path | None, typer.Option(help="File with its public keys, a JWK Set.", exists=True)] = None,
    as_json: JsonOption = False,
) -> None:
    """Add an OAuth client; its secret, if it has one, is printed once."""
    new = NewClient(
        name,
        tuple(grant or (oauth_clients.CODE_FLOW_GRANTS if redirect_uri else oauth_clients.USERLESS_GRANTS)),
        tuple(scope or scope_catalogue.default_scopes(load_settings().services)),
        tuple(redirect_uri or ()),
        auth_method or (oauth_clients.PRIVATE_KEY_JWT if jwks else oauth_clients.SECRET_METHODS[0]),
        jwks=_keys(jwks) if jwks else None,
    )
    client_id, secret = await run_unit(lambda tx: oauth_clients.add(tx, new), makes=True)
    result = {"client_id": client_id, **({"client_secret": secret} if secret else {})}
    line = "\n".join(f"{name:13} {value}" for name, value in result.items())
    print_result(result, line, as_json=as_json)


def _keys(path: Path) -> str:
    try:
        return client_authentication.read_client_keys(read_object(path.read_bytes()))
    except (KeysRefused, ValueError) as unusable:
        raise ValidationFailed([FieldError("/jwks", f"The file is not a JWK Set: {unusable}.")]) from None


@clients_app.command("allow")
@async_command
async def allow_client(
    address: Annotated[str, typer.Argument(help="The address of the client's metadata document, its client id.")],
    scope: Annotated[list[str], typer.Option(help="Scope it may have for itself; may repeat.")],
    as_json: JsonOption = False,
) -> None:
    """Let a client that is known by its document work for itself (client_credentials); its document needs keys.

    It also lets a client that was removed come again.
    """
    await run_unit(lambda tx: oauth_clients.allow(tx, address, tuple(scope)), makes=True)
    print_result({"client_id": address, "scopes": scope}, f"{address} may have {' '.join(scope)}.", as_json=as_json)


@clients_app.command("list")
@async_command
async def list_clients(as_json: JsonOption = False) -> None:
    """List every client."""
    print_table(map(oauth_clients.summary, await run_unit(oauth_clients.list_clients)), "No clients.", as_json=as_json)


@clients_app.command("secret")
@async_command
async def change_client_secret(
    client_id: Annotated[str, typer.Argument(metavar="ID")], as_json: JsonOption = False
) -> None:
    """Give a client a new secret, printed once; the old one stops at once."""
    secret = await run_unit(lambda tx: oauth_clients.change_secret(tx, client_id))
    print_result({"client_id": client_id, "client_secret": secret}, secret, as_json=as_json)


@clients_app.command("remove")
@async_command
async def remove_client(client_id: Annotated[str, typer.Argument(metavar="ID")], as_json: JsonOption = False) -> None:
    """Remove a client; its tokens end at once."""
    await run_unit(lambda tx: oauth_clients.remove(tx, client_id))
    print_result({"client_id": client_id, "removed": True}, f"{client_id} is removed.", as_json=as_json)
