"""The owner's own memories bear on what is said, and nobody else's do."""

from typing import Any

import pytest

from negotiator.compose.assistant import build_embedder
from negotiator.config.settings import Settings
from negotiator.memory.search import MemorySearch
from negotiator.memory.searchable_text import MemoryEmbedder
from negotiator.store.store import make_store
from negotiator.teleprompter.cards import recall_memories
from tests.helpers.example_session import example_session
from tests.helpers.teleprompter_client import NewTeleprompterClient, TeleprompterClient

pytestmark = pytest.mark.asyncio

BOARD = "When they say the board has to approve that, ask who prepares the paper for the board."
SAID = "the board will have to approve that"


async def remember(caller: TeleprompterClient, text: str = BOARD, **members: Any) -> dict[str, Any]:
    body = {"kind": "lesson", "text": text, **members}
    answer = await caller.send("POST", "/api/memories", body)
    assert answer.status_code == 201, answer.text
    kept: dict[str, Any] = answer.json()
    return kept


async def found(settings: Settings, owner: str, **counterparty: Any) -> list[str]:
    """The ids of the owner's memories that bear on the sentence."""
    store, embeds = make_store(settings.database_url), build_embedder(settings)
    await store.start()
    try:
        recall = MemorySearch(store, MemoryEmbedder(embeds))
        vectors = await embeds.embed([SAID])
        session = example_session(counterparty=counterparty) if counterparty else None
        memories = await recall_memories(recall, owner, vectors, session=session)
        return [one.id for one in memories]
    finally:
        await store.close()
        await embeds.close()


async def test_a_memory_is_cited_by_the_card_and_its_text_is_not_in_the_answer(caller: TeleprompterClient) -> None:
    kept = await remember(caller)
    heard = await caller.say(await caller.open(), SAID)
    assert kept["id"] in heard["cues"][0]["memory_ids"]
    assert "prepares the paper" not in str(heard)


async def test_another_user_s_memory_bears_on_nothing(
    caller: TeleprompterClient, new_caller: NewTeleprompterClient
) -> None:
    await remember(caller)
    other = await new_caller(email="bob@example.com")
    heard = await other.say(await other.open(), SAID)
    assert all(card["memory_ids"] == [] for card in [*heard["cues"], *heard["maybe"]])


async def test_an_erased_memory_is_cited_no_more(caller: TeleprompterClient) -> None:
    kept = await remember(caller)
    gone = await caller.send("DELETE", f"/api/memories/{kept['id']}")
    assert gone.status_code == 204, gone.text
    heard = await caller.say(await caller.open(), SAID)
    assert all(card["memory_ids"] == [] for card in [*heard["cues"], *heard["maybe"]])


async def test_a_memory_about_somebody_else_is_not_about_this_talk(
    caller: TeleprompterClient, settings: Settings, mint: Any
) -> None:
    kept = await remember(caller, counterparty="Acme")
    owner, _ = await mint()
    assert await found(settings, owner, name="ACME") == [kept["id"]]
    assert await found(settings, owner, name="Contoso") == []
    assert await found(settings, owner) == [kept["id"]]


async def test_what_nobody_stands_behind_is_not_cited(
    caller: TeleprompterClient, settings: Settings, mint: Any, register: Any, client: Any
) -> None:
    agent = await register()
    headers = {"Authorization": f"Bearer {agent['access_token']}"}
    body = {"kind": "lesson", "text": BOARD}
    answer = await client.post("/api/memories", json=body, headers=headers)
    if answer.status_code == 201:
        assert answer.json()["trust"] < 2
        assert await found(settings, agent["agent_id"]) == []
    else:
        assert answer.status_code == 403
