"""The suites of memories once more, with PostgreSQL as the one that searches."""

from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from negotiator.settings import Settings
from tests.api.memory.conftest import use_hashing_embedder as use_hashing_embedder
from tests.api.memory.test_memories import *  # noqa: F403
from tests.api.memory.test_memory_transfer import *  # noqa: F403
from tests.api.memory.test_memory_trust import *  # noqa: F403
from tests.attack.memory import test_owner_isolation as isolation
from tests.conftest import make_settings
from tests.helpers.memory_client import MemoryClient
from tests.helpers.memory_client import hashing_embedder as hashing_embedder
from tests.helpers.memory_client import memory_client as memory_client
from tests.helpers.memory_client import new_memory_client as new_memory_client

test_no_id_of_hers_opens_anything_for_him = isolation.test_no_id_of_hers_opens_anything_for_him
test_no_search_of_his_finds_what_is_hers = isolation.test_no_search_of_his_finds_what_is_hers
test_lists_and_cursors_are_each_one_s_own = (
    isolation.test_lists_cursors_exports_and_imports_are_each_one_s_own
)


@pytest.fixture
def settings(tmp_path: Path, signing_keys: Path, postgres: Callable[[], str]) -> Settings:
    return make_settings(tmp_path, signing_keys, token_ttl=86_400, database_url=postgres())


@pytest.mark.asyncio
async def test_health_says_that_the_database_searches(
    client: httpx2.AsyncClient, memory_client: MemoryClient
) -> None:
    assert await memory_client.found("anything") == []
    checks = (await client.get("/api/health")).json()["checks"]
    assert checks["memory_search"] == "ok: in the database"
