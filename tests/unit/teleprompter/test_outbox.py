"""The outbox: bounded, volatile messages first to go, nothing that must arrive lost or out of order."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.teleprompter.websocket_context import Outbox, OutboxStalled

_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(1, 40)),
        st.tuples(st.just("offer"), st.integers(1, 40)),
        st.tuples(st.just("take"), st.just(0)),
    ),
    max_size=60,
)


@given(_STEPS)
def test_what_must_arrive_arrives_in_order_within_the_bounds(steps: list[tuple[str, int]]) -> None:
    async def run() -> None:
        outbox = Outbox(messages=5, size=100, patience=0)
        put: list[bytes] = []
        taken: list[bytes] = []
        for number, (step, size) in enumerate(steps):
            text = b"%03d" % number
            match step:
                case "put":
                    message = b"!" + text.ljust(size, b".")
                    try:
                        await outbox.put(message)
                    except OutboxStalled:
                        continue
                    put.append(message)
                case "offer":
                    outbox.offer(b"?" + text.ljust(size, b"."), f"name{number % 3}")
                case _ if len(outbox):
                    taken.append(await outbox.take())
                case _:
                    continue
            assert len(outbox) <= 5
            assert outbox.held <= 100 or len(outbox) == 1
        while len(outbox):
            taken.append(outbox.pop())
        assert [each for each in taken if each.startswith(b"!")] == put
        assert outbox.held == 0

    asyncio.run(run())


@pytest.mark.asyncio
async def test_only_the_newest_volatile_message_of_a_name_waits() -> None:
    outbox = Outbox()
    for number in range(5):
        assert outbox.offer(b"%d" % number, "partial:u1")
    assert (len(outbox), await outbox.take()) == (1, b"4")


@pytest.mark.asyncio
async def test_who_waits_for_room_gets_it_when_something_is_read() -> None:
    outbox = Outbox(messages=1)
    await outbox.put(b"1")
    waiting = asyncio.create_task(outbox.put(b"2"))
    await asyncio.sleep(0)
    assert not waiting.done()
    assert await outbox.take() == b"1"
    await waiting
    assert await outbox.take() == b"2"
