"""Utterances are cut where the voice is, whatever the pieces, and never longer than they may be."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.teleprompter.speech.endpointer import (
    FRAME_MS,
    FRAME_SAMPLES,
    EndpointEvent,
    EnergyDetector,
    UtteranceAudio,
    UtteranceEnd,
    UtteranceStart,
)
from tests.helpers.speech_frames import VOICE, cutter, frames


def marks(cuts: Sequence[EndpointEvent]) -> list[UtteranceStart | UtteranceEnd]:
    return [cut for cut in cuts if not isinstance(cut, UtteranceAudio)]


def test_an_utterance_begins_a_little_before_the_voice_and_ends_after_the_pause() -> None:
    cuts = cutter().hear(0, frames("." * 20 + "v" * 10 + "." * 20))
    assert marks(cuts) == [UtteranceStart(12 * FRAME_MS), UtteranceEnd(30 * FRAME_MS + 64, voiced_ms=30 * FRAME_MS)]
    sound = b"".join(cut.pcm for cut in cuts if isinstance(cut, UtteranceAudio))
    assert sound == frames("." * 8 + "v" * 10 + "." * 5)


def test_a_click_is_no_utterance() -> None:
    assert cutter().hear(0, frames("....v....v....")) == []


def test_a_short_pause_is_part_of_the_utterance() -> None:
    cuts = cutter().hear(0, frames("vvvv....vvvv" + "." * 10))
    assert [type(mark) for mark in marks(cuts)] == [UtteranceStart, UtteranceEnd]


def test_who_never_stops_is_cut_and_goes_on_without_a_hole() -> None:
    cuts = cutter(longest_ms=640).hear(0, frames("v" * 60))
    ends = [mark for mark in marks(cuts) if isinstance(mark, UtteranceEnd)]
    assert ends
    sound = b"".join(cut.pcm for cut in cuts if isinstance(cut, UtteranceAudio))
    assert sound == frames("v" * 60)


def test_a_long_utterance_ends_at_a_breath() -> None:
    long = "v" * 75 + "." * 7 + "v" * 5
    assert len(marks(cutter(hangover_ms=500).hear(0, frames(long)))) == 3
    short = "v" * 20 + "." * 7 + "v" * 5
    assert len(marks(cutter(hangover_ms=500).hear(0, frames(short)))) == 1


def test_a_hole_in_the_audio_ends_the_utterance_before_it() -> None:
    ears = cutter()
    ears.hear(0, frames("vvvvvv"))
    cuts = ears.hear(16_000, frames("vv"))
    assert marks(cuts) == [UtteranceEnd(6 * FRAME_MS, voiced_ms=6 * FRAME_MS), UtteranceStart(1000)]


def test_the_end_of_the_audio_ends_the_utterance() -> None:
    ears = cutter()
    ears.hear(0, frames("vvvv") + VOICE[:100])
    (end,) = marks(ears.finish())
    assert end == UtteranceEnd((4 * FRAME_SAMPLES + 50) // 16, voiced_ms=5 * FRAME_MS)
    assert ears.finish() == []


@given(st.text("v.", max_size=120), st.lists(st.integers(1, 2000), max_size=60))
def test_pieces_of_any_size_are_cut_alike(pattern: str, sizes: list[int]) -> None:
    pcm = frames(pattern)
    whole, parts = cutter(), cutter()
    expected = [*whole.hear(0, pcm), *whole.finish()]
    got: list[EndpointEvent] = []
    at = 0
    for size in [*sizes, len(pcm)]:
        piece = pcm[at : at + size * 2]
        got += parts.hear(at // 2, piece)
        at += len(piece)
    assert [*got, *parts.finish()] == expected


@given(st.text("v.", max_size=300))
def test_utterances_follow_one_another_and_are_never_too_long(pattern: str) -> None:
    ears = cutter(longest_ms=960)
    found = marks([*ears.hear(0, frames(pattern)), *ears.finish()])
    assert [type(mark) for mark in found] == [UtteranceStart, UtteranceEnd] * (len(found) // 2)
    assert all(one.at_ms <= other.at_ms for one, other in pairwise(found))
    for begin, end in zip(found[::2], found[1::2], strict=True):
        assert end.at_ms - begin.at_ms <= 960 + FRAME_MS


@pytest.mark.parametrize("floor", [0, 30])
def test_loudness_alone_tells_a_voice_from_quiet(floor: int) -> None:
    chance = np.random.default_rng(7)
    ears = EnergyDetector()

    def voice(level: int) -> float:
        noise = chance.normal(0, 1, FRAME_SAMPLES)
        return ears.voice((noise * level).astype("<i2").tobytes())

    assert max(voice(floor) for _ in range(40)) < 0.35
    assert min(voice(3000) for _ in range(10)) > 0.9
    assert voice(floor) < 0.35
