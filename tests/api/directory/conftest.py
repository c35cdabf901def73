"""A migrated store of its own, records to put in it, and agents at work."""

from collections.abc import AsyncGenerator
from functools import partial

import httpx2
import pytest
import pytest_asyncio

from negotiator.config.settings import Settings
from negotiator.store.store import Store, make_store
from tests.conftest import Change
from tests.helpers.directory_agents import DirectoryAgent, JoinDirectory, join_directory


@pytest_asyncio.fixture
async def store(settings: Settings) -> AsyncGenerator[Store]:
    """The store of a fresh database, with no application beside it."""
    made = make_store(settings.database_url)
    await made.start()
    yield made
    await made.close()


@pytest.fixture
def new_directory_agent(client: httpx2.AsyncClient, change: Change) -> JoinDirectory:
    """Makes agents that know nothing of each other."""
    return partial(join_directory, client, change)


@pytest_asyncio.fixture
async def agent(new_directory_agent: JoinDirectory) -> DirectoryAgent:
    """One unproven agent."""
    return await new_directory_agent()
