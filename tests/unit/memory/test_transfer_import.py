"""An import lets others pass: between two lines, and beside other imports of its owner."""

import asyncio
from typing import Any, cast

import pytest

from negotiator.memory.memories_lifecycle import MemoryWriter
from negotiator.memory.memories_queries import StoredEmbedding
from negotiator.memory.transfer_routes import IMPORT_BATCH, TransferRoutes

pytestmark = pytest.mark.asyncio


class Embedders:
    """An embedder and a store, which count the batches under way at once."""

    def __init__(self) -> None:
        self.running = self.most = 0

    async def embed(self, texts: list[Any]) -> list[StoredEmbedding]:
        self.running += 1
        self.most = max(self.most, self.running)
        for _ in range(3):
            await asyncio.sleep(0)
        return [StoredEmbedding("", b"")] * len(texts)

    async def write(self, _unit: Any) -> list[Any]:
        self.running -= 1
        return []


async def most_at_once(*owners: str) -> int:
    """How many batches are under way at once while each of the owners imports."""
    both = Embedders()
    importer = TransferRoutes(cast("Any", both), cast("Any", both), cast("Any", None))
    lines = [{"text": f"Fact {number}."} for number in range(3 * IMPORT_BATCH)]
    writers = [MemoryWriter(owner, "import", None, bound=True) for owner in owners]
    await asyncio.gather(*(importer.import_lines(writer, lines) for writer in writers))
    assert not importer.turns
    return both.most


async def test_an_owner_has_one_batch_under_way_however_many_imports() -> None:
    assert await most_at_once("usr_a", "usr_a", "usr_a") == 1
    assert await most_at_once("usr_a", "usr_b") == 2


async def test_others_have_a_turn_between_any_two_lines_and_a_line_tells_three_errors() -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    importer = TransferRoutes(cast("Any", None), cast("Any", None), cast("Any", None))
    counting = asyncio.create_task(count())
    lines = [{"text": "x", "tags": [1] * 20}] * 200
    outcomes = await importer.import_lines(MemoryWriter("usr_a", "import", None, bound=True), lines)
    counting.cancel()
    assert turns >= len(lines)
    assert [len(outcome["errors"]) for outcome in outcomes] == [3] * len(lines)
