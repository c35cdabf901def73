"""The application on each engine in turn, with a fixed clock, and an agent that its user has claimed."""

from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from negotiator.base.scopes import ASSISTANT
from negotiator.config.settings import Settings
from tests.conftest import Clock, Mint, bearer, make_settings
from tests.helpers.negotiation_client import (
    PRICE,
    TERM,
    NegotiationClient,
    NewNegotiationClient,
    negotiation_client,
    new_negotiation_client,
)

__all__ = ["negotiation_client", "new_negotiation_client"]

ISSUES: list[dict[str, Any]] = [
    {**PRICE, "weight": 3, "their_weight": 1},
    {**TERM, "weight": 1, "their_weight": 3},
    {"name": "units", "type": "integer", "range": {"min": 10, "max": 50}, "direction": "higher"},
]
PACKAGE: dict[str, Any] = {"price": "900", "term": "1 year", "units": 40}


@pytest.fixture
def settings(clock: Clock, database_url: str, tmp_path: Path, signing_keys: Path) -> Settings:
    """Settings over a fresh database of the engine whose turn it is."""
    del clock  # before anything is stamped
    return make_settings(tmp_path, signing_keys, database_url=database_url)


@pytest_asyncio.fixture
async def user(new_negotiation_client: NewNegotiationClient, mint: Mint) -> NegotiationClient:
    """An agent that its user has claimed, with every scope."""
    return await claimed(await new_negotiation_client(), mint)


async def claimed(agent: NegotiationClient, mint: Mint) -> NegotiationClient:
    """The same agent under its user's name."""
    _, code = await mint(scopes=list(ASSISTANT))
    answer = await agent.post("/agent/claim", {"claim_token": code})
    assert answer.status_code == 200, answer.text
    return NegotiationClient(agent.client, bearer(answer.json()))


async def pages(negotiation_client: NegotiationClient, path: str, **asked: Any) -> list[dict[str, Any]]:
    """Every item of a list, two to a page."""
    items: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        answer = await negotiation_client.client.get(
            f"/api{path}", params={**asked, "limit": 2, **cursor}, headers=negotiation_client.headers
        )
        assert answer.status_code == 200, answer.text
        page = answer.json()
        assert len(page["items"]) <= 2
        items += page["items"]
        if page["next_cursor"] is None:
            return items
        cursor = {"cursor": page["next_cursor"]}
