"""Pace, audio clocks, levels, and the words between processes."""

import asyncio
import errno
import math
import socket
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.teleprompter.audio_pipeline import AudioClock, TokenBucket, level_db
from negotiator.teleprompter.bus import MAX_BUS_MESSAGE_BYTES, Bus, DatagramBus


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(1, 2000)), min_size=1, max_size=60))
def test_no_more_comes_through_than_rate_and_burst_allow(pieces: list[tuple[float, float]]) -> None:
    pace, now, through = TokenBucket(1500, 10_000, 0.0), 0.0, 0.0
    for wait, amount in pieces:
        now += wait
        if pace.take(amount, now):
            through += amount
        assert through <= 10_000 + 1500 * now + 1e-6


@given(st.lists(st.floats(0.02, 1), min_size=1, max_size=60))
def test_who_sends_as_fast_as_people_speak_is_never_held(pieces: list[float]) -> None:
    pace, now = TokenBucket(1500, 10_000, 0.0), 0.0
    for seconds in pieces:
        now += seconds
        assert pace.take(seconds * 1000, now)


def test_a_clock_goes_on_where_somebody_saw_it_last() -> None:
    clocks = AudioClock()
    assert clocks.resume("s", "them", 0) == 0
    assert clocks.resume("s", "them", 700) == 700, "another process saw it"
    clocks.note("s", "them", 900)
    clocks.note("s", "me", 500)
    assert clocks.resume("s", "them", 700) == 900
    assert clocks.resume("s", "me", 700) == 500
    assert clocks.resume("s", "them", 2000) == 2000, "it went on elsewhere"


def test_the_level_is_in_decibels_below_full_scale() -> None:
    tone = (np.sin(np.arange(1600) * 2 * math.pi * 440 / 16_000) * 32767).astype("<i2").tobytes()
    assert -3.2 < level_db(tone) < -2.8
    assert level_db(bytes(320)) == -96.0


def heard(bus: Bus, line: bytes, session: str) -> tuple[bool, list[bytes]]:
    """Whether the bus takes the line for its own, and what its followers of the session get."""

    async def hear() -> tuple[bool, list[bytes]]:
        with bus.following(session) as subscription:
            return bus.hear(line), await subscription.listen(0)

    return asyncio.run(hear())


@given(st.from_regex(r"live_[a-z0-9]{26}", fullmatch=True), st.binary(min_size=1, max_size=200))
def test_words_are_read_by_the_others_and_not_by_oneself(session: str, message: bytes) -> None:
    one, other = Bus(), Bus()
    line = one.line(session, message)
    assert heard(other, line, session) == (False, [message])
    assert heard(one, line, session) == (True, [])


@given(st.binary(max_size=64))
def test_any_datagram_is_a_word_or_nothing(line: bytes) -> None:
    assert heard(Bus(), line, "live_1") == (False, [])


def test_a_long_message_goes_as_a_wake_up() -> None:
    one, other = Bus(), Bus()
    line = one.line("live_1", b"x" * MAX_BUS_MESSAGE_BYTES)
    assert line == one.line("live_1")
    assert heard(other, line, "live_1") == (False, [])


@pytest.mark.asyncio
async def test_a_disk_that_takes_no_changes_stops_neither_a_message_nor_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bus, other = DatagramBus(tmp_path), DatagramBus(tmp_path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as dead:
        dead.bind(str(tmp_path / "0-dead"))
    with other.following("live_1") as subscription, bus.following():
        monkeypatch.setattr(Path, "unlink", Mock(side_effect=OSError(errno.EROFS, "Read-only file system")))
        bus.tell("live_1", b"heard")
        assert await subscription.listen(10) == [b"heard"]
    await bus.close()
    await other.close()
