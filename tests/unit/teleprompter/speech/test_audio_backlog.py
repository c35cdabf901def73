"""Audio that waits is bounded, what is dropped is named, and a second hearing gets what is still there."""

import asyncio

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.teleprompter.speech.events import (
    MAX_WAITING_EVENTS,
    AudioGap,
    RecognitionLag,
    RecognitionProblem,
    Transcription,
)
from negotiator.teleprompter.speech.recognition_channel import (
    MAX_HELD_MS,
    MAX_UNHEARD_MS,
    AudioBacklog,
    RecognitionChannel,
)
from negotiator.teleprompter.speech.recognizer import RecognizerBusy


def sound(position: int, samples: int) -> bytes:
    """Samples that say where they are."""
    return (np.arange(position, position + samples) % 32_768).astype("<u2").tobytes()


def seconds(count: float) -> bytes:
    return bytes(int(count * 32_000))


@given(
    st.lists(st.tuples(st.sampled_from(["put", "take", "heard", "rewind", "settle"]), st.integers(0, 40)), max_size=60),
    st.integers(0, 8),
)
def test_never_more_is_held_than_may_be_and_all_of_it_is_in_its_place(
    steps: list[tuple[str, int]], elsewhere: int
) -> None:
    backlog = AudioBacklog()
    backlog.elsewhere = elsewhere * 16_000
    received = taken = 0
    for step, amount in steps:
        match step:
            case "put":
                samples = amount * 2_000
                before = taken
                if dropped := backlog.put(sound(received, samples)):
                    assert dropped[0] == before
                    taken = dropped[1]
                received += samples
            case "take":
                at, pcm = backlog.take(amount * 1_000)
                assert at == taken
                assert pcm == sound(at, len(pcm) // 2)
                taken += len(pcm) // 2
            case "heard":
                backlog.heard(taken - amount * 500)
            case "settle":
                backlog.settled(taken - amount * 500)
            case _:
                before, taken = taken, backlog.rewind()
                assert taken <= before
        assert backlog.received == received
        assert backlog.untaken <= MAX_UNHEARD_MS * 16
        assert backlog.held_ms + elsewhere * 1_000 <= MAX_HELD_MS + 1


def test_what_is_heard_again_begins_at_most_five_seconds_back() -> None:
    backlog = AudioBacklog()
    backlog.put(seconds(8))
    backlog.take(8 * 16_000)
    backlog.heard(8 * 16_000)
    assert backlog.rewind() == 3 * 16_000
    backlog.take(5 * 16_000)
    backlog.heard(8 * 16_000)
    backlog.settled(6 * 16_000)
    assert backlog.rewind() == 6 * 16_000


@pytest.mark.asyncio
async def test_falling_behind_is_said_and_so_is_catching_up() -> None:
    channel = RecognitionChannel()
    for _ in range(9):
        channel.put(seconds(0.5))
    assert not channel.interim
    channel.backlog.take(9 * 8_000)
    channel.heard(9 * 8_000)
    assert channel.interim
    channel.put(seconds(8))
    channel.put(seconds(0.5))
    channel.end()
    told = [event async for event in channel.telling.events()]
    assert told == [RecognitionLag(8_000), AudioGap(4_500, 5_000, "overrun")]


@pytest.mark.asyncio
async def test_lag_is_told_once_for_each_second() -> None:
    channel = RecognitionChannel()
    told: list[object] = []

    async def read() -> None:
        told.extend([event async for event in channel.telling.events()])

    reading = asyncio.create_task(read())
    for _ in range(12):
        channel.put(seconds(0.5))
        await asyncio.sleep(0)
    channel.backlog.take(6 * 16_000)
    channel.heard(6 * 16_000)
    channel.end()
    await reading
    assert told == [RecognitionLag(4_500), RecognitionLag(5_500), RecognitionLag(0)]


@pytest.mark.asyncio
async def test_no_more_is_taken_than_can_wait() -> None:
    channel = RecognitionChannel()
    with pytest.raises(RecognizerBusy):
        channel.put(seconds(8.1))
    with pytest.raises(ValueError, match="even"):
        channel.put(b"\x00")
    for _ in range(MAX_WAITING_EVENTS):
        channel.telling.final(channel.telling.began(0), Transcription(""), 0)
    with pytest.raises(RecognizerBusy, match="nobody reads"):
        channel.put(seconds(0.1))
    channel.drop()
    with pytest.raises(RecognizerBusy, match="over"):
        channel.put(seconds(0.1))


@pytest.mark.asyncio
async def test_what_cannot_be_heard_again_is_a_gap() -> None:
    channel = RecognitionChannel()
    notice = RecognitionProblem("engine_restarted", "again")
    channel.telling.began(500)
    channel.put(seconds(7))
    channel.backlog.take(7 * 16_000)
    channel.heard(7 * 16_000)
    channel.settled(1_000)
    channel.again(notice)
    events = channel.telling.events()
    told = [await anext(events) for _ in range(3)]
    assert told == [RecognitionLag(0), notice, AudioGap(1_000, 2_000, "restart")]
