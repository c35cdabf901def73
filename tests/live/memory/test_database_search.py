"""The suites of memories once more, with PostgreSQL as the one that searches."""

from collections.abc import Callable
from importlib import import_module
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Final

import httpx2
import pytest

from negotiator.config.settings import Settings
from tests.conftest import make_settings
from tests.helpers.memory_client import MemoryClient
from tests.helpers.memory_client import hashing_embedder as hashing_embedder
from tests.helpers.memory_client import memory_client as memory_client
from tests.helpers.memory_client import new_memory_client as new_memory_client

SUITES: Final = (
    "tests.api.memory.test_memories",
    "tests.api.memory.test_memory_transfer",
    "tests.api.memory.test_memory_trust",
    "tests.attack.memory.test_owner_isolation",
)
for suite in SUITES:
    vars().update(
        {
            name: test
            for name, test in vars(import_module(suite)).items()
            if name.startswith("test_") and iscoroutinefunction(test)
        }
    )


@pytest.fixture(autouse=True)
def use_hashing_embedder(hashing_embedder: None) -> None:
    """Every test here."""
    del hashing_embedder


@pytest.fixture
def settings(tmp_path: Path, signing_keys: Path, postgres: Callable[[], str]) -> Settings:
    return make_settings(tmp_path, signing_keys, token_ttl=86_400, database_url=postgres(), memory_search="database")


@pytest.mark.asyncio
async def test_health_says_that_the_database_searches(client: httpx2.AsyncClient, memory_client: MemoryClient) -> None:
    assert await memory_client.found("anything") == []
    checks = (await client.get("/api/health")).json()["checks"]
    assert checks["memory_search"] == "ok: in the database"
