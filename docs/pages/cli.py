"""Every command with its arguments and options, read from the command tree."""

from collections.abc import Iterable
from typing import Any

from typer.core import TyperArgument, TyperGroup, TyperOption

from docs.pages.markdown import code, grid
from negotiator.cli.main import COMMANDS, load
from negotiator.http.operation import ServiceDescription


def page(_service: ServiceDescription) -> Iterable[str]:
    """Commands in the order of the help."""
    yield "# Commands\n"
    yield "A command prints one clear line and exits 0, or 1 on refusal, 2 on misuse. It works while the server runs.\n"
    for name in COMMANDS:
        yield from _commands(load(name), f"negotiator {name}")


def _commands(found: Any, name: str) -> Iterable[str]:
    if isinstance(found, TyperGroup):
        for child_name, child in found.commands.items():
            yield from _commands(child, f"{name} {child_name}")
        return
    arguments = [
        (parameter.metavar or (parameter.name or "").upper())
        for parameter in found.params
        if isinstance(parameter, TyperArgument)
    ]
    yield f"## `{' '.join([name, *arguments])}`\n"
    yield f"{(found.help or '').strip()}\n"
    options = [parameter for parameter in found.params if isinstance(parameter, TyperOption)]
    rows = (
        (code(" ".join([option.opts[0], *_value(option)])), option.help or "", _default(option)) for option in options
    )
    yield from grid(("Option", "Meaning", "Default"), rows)


def _value(option: TyperOption) -> list[str]:
    return [] if option.is_flag else [option.opts[0].rpartition("-")[2].upper()]


def _default(option: TyperOption) -> str:
    if option.required:
        return "needed"
    given = option.default
    return "–" if option.is_flag or given in (None, "", (), []) else code(str(given))
