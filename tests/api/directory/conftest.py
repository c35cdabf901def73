"""A migrated store of its own, and records to put in it."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest_asyncio

from negotiator.directory.record.tool import Evidence, Record
from negotiator.settings import Settings
from negotiator.store.store import Store, make_store


@pytest_asyncio.fixture
async def store(chosen: Settings) -> AsyncGenerator[Store]:
    """The store of a fresh database, with no application beside it."""
    made = make_store(chosen.database_url)
    await made.start()
    yield made
    await made.close()


def record(name: str = "Notion", **members: Any) -> Record:
    """A record by its name; everything else may be named, or is plain."""
    plain: dict[str, Any] = {
        "name": name,
        "summary": f"{name} does its work",
        "kind": "app",
        "category": "productivity",
        "homepage_url": f"https://{name.lower().replace(' ', '-')}.example/",
        "evidence": (Evidence(source="the tests", method="content"),),
    }
    return Record.model_validate({**plain, **members})
