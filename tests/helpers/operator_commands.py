"""The operator, who runs commands while the application runs."""

import asyncio
from collections.abc import AsyncGenerator
from functools import partial
from pathlib import Path

import httpx2
import pytest_asyncio

from negotiator.config.settings import Settings
from tests.helpers.command_line import CommandLine, CommandResult

ISSUER = "https://idp.corp.example"


class Operator:
    """An operator at the machine on which the server runs."""

    def __init__(self, machine: CommandLine) -> None:
        self._machine = machine

    async def __call__(self, *words: str, given: str | None = None) -> CommandResult:
        return await asyncio.to_thread(self._machine.run, *words, given=given)

    async def spawn(self, *words: str, folder: Path) -> CommandResult:
        """A command in a process of its own."""
        return await asyncio.to_thread(partial(self._machine.spawn, *words, folder=folder))

    async def json(self, *words: str, given: str | None = None) -> CommandResult:
        """A command for a machine to read; it succeeds."""
        said = await self(*words, "--json", given=given)
        assert said.exit_code == 0, said
        assert said.err == ""
        return said

    async def refused(self, *words: str, given: str | None = None) -> str:
        """The one line with which a command refuses, exit 1."""
        said = await self(*words, given=given)
        assert said.exit_code == 1, said
        assert said.out == ""
        line = said.err.strip()
        assert "\n" not in line
        assert line.startswith("negotiator: ")
        return line


@pytest_asyncio.fixture
async def operator(client: httpx2.AsyncClient, settings: Settings) -> AsyncGenerator[Operator]:
    """The operator, while the application runs."""
    del client
    own = settings.model_copy(update={"keys_dir": settings.data_dir / "keys"})
    yield Operator(CommandLine.of(own))
