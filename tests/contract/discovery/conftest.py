"""One application for all generated requests of a process."""

import asyncio
import shutil
from collections.abc import Callable, Generator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from negotiator.compose import assistant as wiring
from negotiator.compose.application import build_application
from negotiator.memory.embedding.embedder import HashingEmbedder
from negotiator.store.statement import Transaction
from negotiator.store.store import make_store
from tests.conftest import connect, make_settings, running
from tests.helpers.request_runner import RequestRunner


@pytest.fixture(scope="session")
def request_runner(
    tmp_path_factory: pytest.TempPathFactory, migrated: Path, signing_keys: Path
) -> Generator[RequestRunner]:
    """The application, and the database beside it for what only an operator can do."""
    folder = tmp_path_factory.mktemp("schemas")
    shutil.copy(migrated, folder / "negotiator.db")
    settings = make_settings(folder, signing_keys)
    store = make_store(settings.database_url)

    async def change(unit: Callable[[Transaction], Any]) -> Any:
        return await store.write(unit)

    with asyncio.Runner() as runner:
        held = AsyncExitStack()
        with pytest.MonkeyPatch.context() as patch:
            # A generator likes a thousand lines of memories; by which model they are embedded is no part of a schema.
            patch.setattr(wiring, "choose_embedder", _quick)
            application = runner.run(held.enter_async_context(running(settings)))
            delegations = build_application(settings).delegations
        client = runner.run(held.enter_async_context(connect(application)))
        runner.run(store.start())
        yield RequestRunner(runner, client, change, delegations, application=application)
        runner.run(store.close())
        runner.run(held.aclose())


def _quick(_url: str, **_rest: Any) -> HashingEmbedder:
    return HashingEmbedder("tests are in a hurry")
