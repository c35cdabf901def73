"""Erased is erased: no byte of a memory is left in any file of the database, in no answer and in no vector."""

from pathlib import Path

import pytest

from negotiator import values
from negotiator.compose.ownership import sweep
from negotiator.http import idempotency
from negotiator.memory import memories_queries
from negotiator.memory.embedding.embedder import HashingEmbedder
from negotiator.settings import Settings
from negotiator.store.statement import Transaction
from negotiator.store.store import make_store
from tests.conftest import Change, Register
from tests.helpers.memory_client import MemoryClient, NewMemoryClient

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


async def told(notebook: MemoryClient) -> str:
    """A memory with every trace a memory can leave: a key's answer, versions, a search, an import."""
    answer = await notebook.call("POST", "", {"text": SECRET}, idempotency_key="once")
    memory: str = answer.json()["id"]
    await notebook.call("PATCH", f"/{memory}", {"tags": ["Vandelay"], "counterparty": "Vandelay"})
    await notebook.call("PATCH", f"/{memory}", {"text": "Nothing of interest."})
    await notebook.call("POST", "", {"text": SECRET}, idempotency_key="twice")
    await notebook.found("what is the walk-away of Vandelay")
    return memory


@pytest.mark.asyncio
async def test_erasing_all_leaves_no_byte(notebook: MemoryClient, settings: Settings) -> None:
    await told(notebook)
    assert len(await left(settings)) >= 4, "before, it is there"
    assert (await notebook.erased()).status_code == 200
    assert await left(settings) == []


@pytest.mark.asyncio
async def test_forgetting_memories_one_by_one_leaves_no_byte(
    notebook: MemoryClient, settings: Settings
) -> None:
    await told(notebook)
    for view in await notebook.listed():
        assert (await notebook.call("DELETE", f"/{view['id']}")).status_code == 204
    assert await left(settings) == []


@pytest.mark.asyncio
async def test_what_was_imported_is_erased_like_anything_else(
    notebook: MemoryClient, settings: Settings
) -> None:
    await notebook.call("POST", "/import", {"lines": [{"text": SECRET}]})
    await notebook.erased()
    assert await left(settings) == []


@pytest.mark.asyncio
async def test_what_an_agent_wrote_before_it_was_claimed_is_erased_with_its_user_s(
    new_notebook: NewMemoryClient, settings: Settings
) -> None:
    notebook = await new_notebook()
    await told(notebook)
    await notebook.erased()
    again = await notebook.call("POST", "", {"text": "Anew."}, idempotency_key="once")
    assert again.status_code == 201
    assert await left(settings) == []


@pytest.mark.asyncio
async def test_the_sweep_of_an_unclaimed_agent_leaves_no_byte(
    notebook: MemoryClient, change: Change, register: Register, settings: Settings
) -> None:
    agent: str = (await register())["client_id"]
    memory = await told(notebook)

    def give(tx: Transaction) -> None:
        for view in memories_queries.list_all(tx, notebook.owner):
            memories_queries.change_owner(tx, notebook.owner, view["id"], agent)
        idempotency.erase(tx, notebook.owner)

    await change(give)
    assert (await notebook.call("GET", f"/{memory}")).status_code == 404
    assert await change(lambda tx: sweep(tx, values.now() + 400 * DAYS))
    store = make_store(settings.database_url)
    await store.start()
    await store.scrub()
    assert await left(settings) == []
    await store.close()
