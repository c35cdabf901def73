"""While the sentence model loads, nothing waits for it; afterwards everything is found by meaning too."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import httpx2
import pytest
from sqlalchemy import text

from negotiator.compose import assistant as wiring
from negotiator.config.settings import Settings
from negotiator.memory import searchable_text
from negotiator.store.statement import Query, Statement
from tests.contract.requirements import covers
from tests.helpers.answer_checks import refused
from tests.helpers.loading_embedder import LoadingEmbedder
from tests.helpers.memory_client import MemoryClient
from tests.helpers.opened_store import opened_store

pytestmark = pytest.mark.asyncio

FORM = "hashed-ngrams-v1/text-head-1"
_MODELS: Final = Query(text("select model from memories"), lambda row: str(row[0]))
_OLDER: Final = (
    Statement(text("update memories set model = 'hashed-ngrams-v1', stamp = stamp + 100")),
    Statement(text("update memory_owners set stamp = stamp + 100")),
)


@pytest.fixture
def hashing_embedder(monkeypatch: pytest.MonkeyPatch) -> LoadingEmbedder:
    """The embedder of this module's application."""
    embedder = LoadingEmbedder()

    def choose(_url: str, **_rest: Any) -> LoadingEmbedder:
        return embedder

    monkeypatch.setattr(wiring, "choose_embedder", choose)
    monkeypatch.setattr(searchable_text, "READY_SECONDS", 0.02)
    return embedder


async def until(holds: Callable[[], bool]) -> None:
    """Wait until it holds, ten seconds at most."""
    for _ in range(1000):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come")


async def all_are_of_this_form(settings: Settings, number: int) -> None:
    """Wait until so many vectors are stored, all of `FORM`; ten seconds at most."""
    async with opened_store(settings.database_url) as store:
        for _ in range(1000):
            if await store.read(lambda tx: tx.all(_MODELS)) == [FORM] * number:
                return
            await asyncio.sleep(0.01)
    raise AssertionError("the vectors are not made")


@covers("7.2:loading")
async def test_a_search_answers_by_words_and_says_so_until_the_model_is_loaded(
    memory_client: MemoryClient, hashing_embedder: LoadingEmbedder, settings: Settings, client: httpx2.AsyncClient
) -> None:
    assert (await client.get("/api/health")).json()["checks"]["embedding"].startswith("idle: ")
    await memory_client.said("Globex pays after ninety days.")
    await memory_client.said("Initech wants to be called in the morning.")
    assert (await client.get("/api/health")).json()["checks"]["embedding"].startswith("loading: ")
    body = {"query": "Globex payments"}
    early = (await memory_client.call("POST", "/search", body)).json()
    assert early["mode"] == "keyword"
    assert "words" in early["notice"]
    assert [hit["memory"]["text"] for hit in early["items"]] == ["Globex pays after ninety days."]
    by_meaning = await memory_client.call("POST", "/search", {**body, "mode": "semantic"})
    refused(by_meaning, 503, "temporarily_unavailable")

    hashing_embedder.loaded.set()
    await until(lambda: hashing_embedder.state == "ready")
    late = (await memory_client.call("POST", "/search", body)).json()
    assert (late["mode"], late["notice"]) == ("hybrid", None)
    assert (await client.get("/api/health")).json()["checks"]["embedding"].startswith("ok: ")
    await all_are_of_this_form(settings, 2)
    assert len(await memory_client.hits("Globex payments", mode="semantic")) == 2


@covers("7.2:failing-model")
async def test_while_the_model_fails_memories_are_stored_and_found_by_words_and_later_by_meaning(
    memory_client: MemoryClient, hashing_embedder: LoadingEmbedder, settings: Settings, client: httpx2.AsyncClient
) -> None:
    hashing_embedder.loaded.set()
    await memory_client.said("Initech wants to be called in the morning.")
    hashing_embedder.is_away = True
    await memory_client.said("Globex pays after ninety days.")
    found = (await memory_client.call("POST", "/search", {"query": "Globex payments"})).json()
    assert (found["mode"], len(found["items"])) == ("keyword", 1)
    assert "cannot be used now" in found["notice"]
    by_meaning = await memory_client.call("POST", "/search", {"query": "Globex payments", "mode": "semantic"})
    refused(by_meaning, 503, "temporarily_unavailable")
    health = (await client.get("/api/health")).json()["checks"]["embedding"]
    assert health.startswith("failing: ")

    hashing_embedder.is_away = False
    assert len(await memory_client.hits("Initech", mode="semantic")) > 0
    await all_are_of_this_form(settings, 2)
    health = (await client.get("/api/health")).json()["checks"]["embedding"]
    assert health.startswith("ok: ")


async def test_vectors_of_an_older_form_are_compared_and_made_anew_in_the_background(
    memory_client: MemoryClient, hashing_embedder: LoadingEmbedder, settings: Settings
) -> None:
    hashing_embedder.loaded.set()
    for number in range(40):
        await memory_client.said(f"Globex pays after {number + 20} days.", counterparty="Globex")
    async with opened_store(settings.database_url) as store:
        await store.write(lambda tx: [tx.run(each) for each in _OLDER])
    hits = await memory_client.hits("Globex pays after 33 days", mode="semantic", limit=1)
    assert hits[0]["memory"]["text"] == "Globex pays after 33 days."
    await all_are_of_this_form(settings, 40)
    hits = await memory_client.hits("Globex pays after 33 days", limit=1)
    assert hits[0]["memory"]["text"] == "Globex pays after 33 days."


async def test_another_counterparty_or_other_tags_make_another_vector(
    memory_client: MemoryClient, hashing_embedder: LoadingEmbedder
) -> None:
    hashing_embedder.loaded.set()
    made = await memory_client.said("They pay after ninety days.", counterparty="Globex")

    async def closeness() -> float:
        [hit] = await memory_client.hits("Initech", mode="semantic", explain=True)
        similarity: float = hit["why"]["similarity"]
        return similarity

    before = await closeness()
    await memory_client.call("PATCH", f"/{made['id']}", {"counterparty": "Initech"})
    assert await closeness() > before + 0.2
