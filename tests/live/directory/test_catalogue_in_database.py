"""The suites of the catalogue once more, with PostgreSQL as the one that searches."""

from collections.abc import Callable
from importlib import import_module
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Final

import httpx2
import pytest

from negotiator.config.settings import Settings
from tests.api.directory.conftest import agent as agent
from tests.api.directory.conftest import new_directory_agent as new_directory_agent
from tests.api.directory.conftest import store as store
from tests.conftest import Change, make_settings
from tests.helpers.directory_agents import keep

pytestmark = pytest.mark.asyncio
SUITES: Final = (
    "tests.api.directory.test_catalogue",
    "tests.api.directory.test_category_filters",
    "tests.api.directory.test_exchange",
    "tests.api.directory.test_listing",
)
for suite in SUITES:
    vars().update(
        {
            name: test
            for name, test in vars(import_module(suite)).items()
            if name.startswith("test_") and iscoroutinefunction(test)
        }
    )


@pytest.fixture
def settings(tmp_path: Path, signing_keys: Path, postgres: Callable[[], str]) -> Settings:
    return make_settings(tmp_path, signing_keys, database_url=postgres(), directory_search="database")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file to import."""
    return tmp_path / "entries.json"


async def test_health_says_that_the_database_searches_tools(client: httpx2.AsyncClient, change: Change) -> None:
    await keep(change)
    assert (await client.get("/api/v1/tools", params={"query": "notion"})).json()["total"] == 2
    checks = (await client.get("/api/health")).json()["checks"]
    assert checks["search"] == "ok: in the database"
