"""The suites of memories once more, with PostgreSQL as the one that searches."""

from collections.abc import Callable
from pathlib import Path

import pytest

from negotiator.settings import Settings
from tests.api.memory.conftest import use_hashing_embedder as use_hashing_embedder
from tests.api.memory.test_memories import *  # noqa: F403
from tests.api.memory.test_memory_transfer import *  # noqa: F403
from tests.api.memory.test_memory_trust import *  # noqa: F403
from tests.attack.memory.test_owner_isolation import *  # noqa: F403
from tests.conftest import make_settings
from tests.helpers.memory_client import hashing_embedder as hashing_embedder
from tests.helpers.memory_client import memory_client as memory_client
from tests.helpers.memory_client import new_memory_client as new_memory_client


@pytest.fixture
def settings(tmp_path: Path, signing_keys: Path, postgres: Callable[[], str]) -> Settings:
    return make_settings(tmp_path, signing_keys, token_ttl=86_400, database_url=postgres())
