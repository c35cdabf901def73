"""Filters by the parts of a category."""

import httpx2
import pytest

from tests.conftest import Change
from tests.helpers.answer_checks import refused
from tests.helpers.directory_agents import keep, names

pytestmark = pytest.mark.asyncio


async def test_a_subcategory_is_a_filter_and_a_facet(client: httpx2.AsyncClient, change: Change) -> None:
    await keep(change)
    parts = ["vector-databases", "relational"]
    assert await names(client, subcategory=parts, sort="name") == ["Pinecone", "Qdrant"]
    assert await names(client, subcategory=parts, category="audio-video") == []
    counted = await client.get("/api/v1/tools", params={"facets": "subcategory", "limit": 1})
    assert counted.json()["facets"] == {"subcategory": [{"value": "vector-databases", "count": 2}]}


async def test_a_subcategory_that_does_not_exist_is_refused_by_name(client: httpx2.AsyncClient) -> None:
    refused(await client.get("/api/v1/tools?subcategory=other"), 422, "validation_failed")
