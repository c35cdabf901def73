"""What feedback taught is kept alike on both engines."""

import pytest

from negotiator.compose import ownership
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.teleprompter import queries
from negotiator.teleprompter.cues.catalogue import NEUTRAL
from negotiator.teleprompter.queries import MAX_EXAMPLES, ExampleLabel, ExamplesVersion, LabelledVector

VECTOR = bytes(range(256)) * 6
LESSON = ExampleLabel(NEUTRAL, "price_too_high", 0.5)


def teach(tx: Transaction, owner: str, count: int) -> None:
    """Let an owner say so many times that a card was dismissed."""
    for _ in range(count):
        queries.add_example(tx, owner, LESSON, vector=VECTOR, model="m")


async def kept(store: Store, owner: str, model: str = "m") -> tuple[ExamplesVersion, list[LabelledVector]]:
    return await store.scan(lambda tx: queries.examples_of(tx, owner, model))


@pytest.mark.asyncio
async def test_examples_are_kept_moved_and_erased(store: Store) -> None:
    assert await kept(store, "agt_a") == ((0, "", ""), [])
    await store.write(lambda tx: teach(tx, "agt_a", MAX_EXAMPLES + 2))
    await store.write(lambda tx: teach(tx, "usr_b", 3))
    version, rows = await kept(store, "agt_a")
    assert (version[0], rows) == (MAX_EXAMPLES, [LabelledVector(LESSON, VECTOR)] * MAX_EXAMPLES)
    assert (await kept(store, "agt_a", "another"))[1] == []
    await store.write(lambda tx: ownership.claim(tx, "agt_a", "usr_b"))
    after, rows = await kept(store, "usr_b")
    assert (after[0], len(rows)) == (MAX_EXAMPLES, MAX_EXAMPLES)
    assert after[1] > version[1]
    assert (await kept(store, "agt_a"))[0] == (0, "", "")
    await store.write(lambda tx: ownership.erase(tx, "usr_b"))
    assert (await kept(store, "usr_b"))[0] == (0, "", "")
