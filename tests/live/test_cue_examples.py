"""What feedback taught is kept alike on both engines."""

import pytest

from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.teleprompter.cues.cue import NEUTRAL
from negotiator.teleprompter.taught import examples
from negotiator.teleprompter.taught.examples import MOST, Example, Lesson, Version

VECTOR = bytes(range(256)) * 6
LESSON = Lesson(NEUTRAL, "price_too_high", 0.5)


def teach(tx: Transaction, owner: str, count: int) -> None:
    """Let an owner say so many times that a card was dismissed."""
    for _ in range(count):
        examples.teach(tx, owner, LESSON, vector=VECTOR, model="m")


async def kept(store: Store, owner: str, model: str = "m") -> tuple[Version, list[Example]]:
    """An owner's examples."""
    return await store.scan(lambda tx: examples.every(tx, owner, model))


@pytest.mark.asyncio
async def test_examples_are_kept_moved_and_erased(store: Store) -> None:
    assert await kept(store, "agt_a") == ((0, "", ""), [])
    await store.write(lambda tx: teach(tx, "agt_a", MOST + 2))
    await store.write(lambda tx: teach(tx, "usr_b", 3))
    version, rows = await kept(store, "agt_a")
    assert (version[0], rows) == (MOST, [Example(LESSON, VECTOR)] * MOST)
    assert (await kept(store, "agt_a", "another"))[1] == []
    await store.write(lambda tx: examples.move(tx, "agt_a", "usr_b"))
    after, rows = await kept(store, "usr_b")
    assert (after[0], len(rows)) == (MOST, MOST)
    assert after[1] > version[1]
    assert (await kept(store, "agt_a"))[0] == (0, "", "")
    await store.write(lambda tx: examples.erase(tx, "usr_b"))
    assert (await kept(store, "usr_b"))[0] == (0, "", "")
