"""The command tree. The modules of a command are imported when it runs: all of them would take a second."""

import os
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, cast

import typer
from typer.core import TyperCommand, TyperGroup

from negotiator.cli import uncollected
from negotiator.config.settings_files import CONFIG_VARIABLE


class CommandPlace(NamedTuple):
    """Where a command or a topic is: a module of this package and a name in it. `summary` is its line in the help."""

    module: str
    name: str
    summary: str


COMMANDS: Final = {
    "serve": CommandPlace("serve", "serve", "Serve the API and the pages."),
    "doctor": CommandPlace(
        "doctor", "doctor", "Check settings, folders, keys, database, address, proxy, clocks, mail and models."
    ),
    "demo": CommandPlace("installation", "demo", "Tell one negotiation on a real server."),
    "users": CommandPlace("users", "users_app", "User accounts."),
    "issuers": CommandPlace("issuers", "issuers_app", "Trusted identity providers."),
    "agents": CommandPlace("users", "agents_app", "Agents of both services."),
    "delegations": CommandPlace(
        "delegations_and_clients", "delegations_app", "Codes by which users let agents work for them."
    ),
    "clients": CommandPlace("delegations_and_clients", "clients_app", "OAuth clients."),
    "directory": CommandPlace("directory", "directory_app", "The AI tools directory."),
    "memory": CommandPlace("memory", "memory_app", "Memories of users and agents."),
    "keys": CommandPlace("installation", "keys_app", "Signing keys."),
    "audit": CommandPlace("installation", "audit_trail", "List the newest identity events."),
    "backup": CommandPlace(
        "backups", "backup", "Write database, signing keys, pepper and unsent mails into one encrypted file."
    ),
    "verify": CommandPlace("backups", "verify", "Read a whole backup and check it."),
    "restore": CommandPlace("backups", "restore", "Put a backup in the place of the data, while no server runs."),
    "migrate": CommandPlace("installation", "migrate_database", "Migrate the database to the newest schema."),
    "openapi": CommandPlace("installation", "print_openapi", "Print the OpenAPI description of this configuration."),
}
"""Every command and topic of `negotiator`, in the order of the help."""


class CommandTree(TyperGroup):
    """The group of `COMMANDS`: help and completion know their names and summaries, `load` imports one of them."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> TyperCommand | None:
        place = COMMANDS.get(cmd_name)
        return place and TyperCommand(cmd_name, help=place.summary)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, found, rest = super().resolve_command(ctx, args)
        return name, found and load(args[0]), rest


def load(name: str) -> TyperCommand | TyperGroup:
    """The command or topic of `COMMANDS`, imported."""
    place = COMMANDS[name]
    with uncollected():
        found = getattr(import_module(f"negotiator.cli.{place.module}"), place.name)
    holder = typer.Typer(add_completion=False)
    if isinstance(found, typer.Typer):
        holder.add_typer(found, name=name, help=place.summary)
        group = cast("TyperGroup", typer.main.get_command(holder))
        return cast("TyperGroup", group.commands[name])
    holder.command(name)(found)
    return cast("TyperCommand", typer.main.get_command(holder))


app = typer.Typer(cls=CommandTree, no_args_is_help=True, invoke_without_command=True, pretty_exceptions_enable=False)


@app.callback()
def choose_settings(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The one settings file to read, in place of .env and negotiator.toml; as NEGOTIATOR_CONFIG.",
        ),
    ] = None,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="With --version: also where code, settings and data are.")
    ] = False,
) -> None:
    """Negotiator: a negotiation assistant server for AI agents."""
    if config is not None:
        os.environ[CONFIG_VARIABLE] = str(config.resolve())
    if version:
        from negotiator.cli.output import (
            exit_on_refusal,  # imported here, because it loads the database
            print_version,
        )

        with exit_on_refusal():
            print_version(verbose=verbose)
    elif context.invoked_subcommand is None:
        raise typer.BadParameter("name a command; negotiator --help lists them")
