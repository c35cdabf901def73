"""Erased is erased: no byte of a memory is left in any file of the database, in no answer and in no vector."""

import asyncio
from pathlib import Path

import pytest

from negotiator.base import values
from negotiator.config.settings import Settings
from negotiator.http import idempotency
from negotiator.memory import memories_queries
from negotiator.memory.embedding.embedder import HashingEmbedder
from negotiator.store.statement import Transaction
from negotiator.store.store import make_store
from tests.conftest import Change, Register
from tests.helpers.memory_client import MemoryClient, NewMemoryClient
from tests.helpers.sweep import sweep

pytestmark = pytest.mark.asyncio

SECRET = "The walk-away of Vandelay Industries is 417,350 EUR, said Kramer."
WORDS = (b"Vandelay", b"417,350", b"Kramer", b"vandelay")
DAYS = 86_400_000


async def left(settings: Settings) -> list[bytes]:
    """Which of the secret's words and its vector are still in a file of the data folder."""
    [vector] = await HashingEmbedder().embed([SECRET])
    files = [path for path in Path(settings.data_dir).rglob("*") if path.is_file()]
    held = b"".join(path.read_bytes() for path in files)
    assert any(path.name.endswith("-wal") for path in files)
    return [word for word in (*WORDS, vector.tobytes()) if word in held]


async def is_all_gone(settings: Settings) -> bool:
    """Whether nothing is left, once no reader holds the log any more: the store tries again each second."""
    async with asyncio.timeout(60):
        while await left(settings):
            await asyncio.sleep(0.1)
    return True


async def told(memory_client: MemoryClient) -> str:
    """A memory with every trace a memory can leave: a key's answer, versions, a search, an import."""
    answer = await memory_client.call("POST", "", {"text": SECRET}, idempotency_key="once")
    memory: str = answer.json()["id"]
    await memory_client.call("PATCH", f"/{memory}", {"tags": ["Vandelay"], "counterparty": "Vandelay"})
    await memory_client.call("PATCH", f"/{memory}", {"text": "Nothing of interest."})
    await memory_client.call("POST", "", {"text": SECRET}, idempotency_key="twice")
    await memory_client.found("what is the walk-away of Vandelay")
    return memory


async def test_erasing_all_leaves_no_byte(memory_client: MemoryClient, settings: Settings) -> None:
    await told(memory_client)
    assert len(await left(settings)) >= 4, "before, it is there"
    assert (await memory_client.erased()).status_code == 200
    assert await is_all_gone(settings)


async def test_forgetting_memories_one_by_one_leaves_no_byte(memory_client: MemoryClient, settings: Settings) -> None:
    await told(memory_client)
    for view in await memory_client.listed():
        assert (await memory_client.call("DELETE", f"/{view['id']}")).status_code == 204
    assert await is_all_gone(settings)


async def test_what_was_imported_is_erased_like_anything_else(memory_client: MemoryClient, settings: Settings) -> None:
    await memory_client.call("POST", "/import", {"lines": [{"text": SECRET}]})
    await memory_client.erased()
    assert await is_all_gone(settings)


async def test_what_an_agent_wrote_before_it_was_claimed_is_erased_with_its_user_s(
    new_memory_client: NewMemoryClient, settings: Settings
) -> None:
    memory_client = await new_memory_client()
    await told(memory_client)
    await memory_client.erased()
    again = await memory_client.call("POST", "", {"text": "Anew."}, idempotency_key="once")
    assert again.status_code == 201
    assert await is_all_gone(settings)


async def test_the_sweep_of_an_unclaimed_agent_leaves_no_byte(
    memory_client: MemoryClient, change: Change, register: Register, settings: Settings
) -> None:
    agent: str = (await register())["client_id"]
    memory = await told(memory_client)

    def give(tx: Transaction) -> None:
        for view in memories_queries.list_all(tx, memory_client.owner):
            memories_queries.change_owner(tx, memory_client.owner, view["id"], agent)
        idempotency.erase_mentions(tx, memory_client.owner, b"")

    await change(give)
    assert (await memory_client.call("GET", f"/{memory}")).status_code == 404
    assert await change(lambda tx: sweep(tx, values.now() + 400 * DAYS))
    store = make_store(settings.database_url)
    await store.start()
    await store.scrub()
    assert await is_all_gone(settings)
    await store.close()
