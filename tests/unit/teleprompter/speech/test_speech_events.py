"""Whatever an engine reports, the events keep their promises."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.teleprompter.speech.events import (
    FinalTranscript,
    PartialTranscript,
    RecognitionEvent,
    RecognitionLag,
    Transcription,
    UtteranceEventQueue,
)
from negotiator.teleprompter.speech.recognizer import (
    FrameKind,
    PipeFrame,
    PipeFrameReader,
    encode_frame,
    without_inventions,
)
from negotiator.teleprompter.speech.worker import HARD_TO_HEAR, ConfidenceMonitor
from tests.helpers.synthetic_speech import check_event_order


async def told(telling: UtteranceEventQueue) -> list[RecognitionEvent]:
    return [event async for event in telling.events()]


STEPS = st.lists(st.tuples(st.sampled_from(["began", "partial", "final", "resume"]), st.integers(0, 5)), max_size=40)


@pytest.mark.asyncio
@given(STEPS)
async def test_every_utterance_is_opened_once_and_closed_once(steps: list[tuple[str, int]]) -> None:
    telling, names, now = UtteranceEventQueue(), ["u0"], 0
    for step, which in steps:
        now += 100
        name = names[-1 - which % len(names)]
        match step:
            case "began":
                names.append(telling.began(now))
            case "partial":
                telling.partial(name, f"at {now}", now)
            case "final":
                telling.final(name, Transcription("said"), now)
            case _:
                telling.resume()
    telling.end()
    telling.say(RecognitionLag(1))
    check_event_order(await told(telling), now)


@pytest.mark.asyncio
async def test_of_unread_partials_only_the_newest_waits() -> None:
    telling = UtteranceEventQueue()
    name = telling.began(0)
    for count in range(5):
        telling.partial(name, "word " * (count + 1), count * 100)
    telling.end()
    kinds = [type(event) for event in await told(telling)]
    assert kinds == [PartialTranscript, FinalTranscript]


@pytest.mark.asyncio
async def test_what_was_never_heard_to_its_end_closes_with_what_was_heard() -> None:
    telling = UtteranceEventQueue()
    telling.partial(telling.began(100), "we need a", 900)
    telling.end()
    assert (await told(telling))[-1] == FinalTranscript("u1", "we need a", 100, 900)


@pytest.mark.asyncio
async def test_after_a_restart_the_open_utterance_is_the_same_one() -> None:
    telling = UtteranceEventQueue()
    name = telling.began(100)
    telling.resume()
    assert telling.began(140) == name
    assert telling.began(900) != name


@given(
    st.lists(
        st.builds(
            PipeFrame,
            st.sampled_from(FrameKind),
            st.integers(0, 2**32 - 1),
            st.integers(0, 2**64 - 1),
            st.binary(max_size=50),
        ),
        max_size=10,
    ),
    st.integers(1, 40),
)
def test_frames_survive_any_cutting(sent: list[PipeFrame], size: int) -> None:
    data = b"".join(encode_frame(one.kind, one.stream, position=one.position, payload=one.payload) for one in sent)
    frames = PipeFrameReader()
    got = [one for at in range(0, len(data), size) for one in frames.feed(data[at : at + size])]
    assert got == sent


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("[BLANK_AUDIO]", ""),
        (" (upbeat music) ", ""),
        ("Thanks for watching!", ""),
        ("...", ""),
        ("Ten percent (laughs) is too much.", "Ten percent is too much."),
        ("Thank you for your offer.", "Thank you for your offer."),
    ],
)
def test_inventions_are_no_speech(written: str, meant: str) -> None:
    assert without_inventions(written) == meant


def test_doubt_is_told_once_and_again_only_after_it_was_better() -> None:
    doubt = ConfidenceMonitor(0.35)
    assert [doubt.heard(0.2) for _ in range(4)] == [None] * 4
    assert doubt.heard(0.1) is HARD_TO_HEAR
    assert [doubt.heard(0.1) for _ in range(4)] == [None] * 4
    assert [doubt.heard(0.8) for _ in range(4)] == [None] * 4
    assert [doubt.heard(0.1) for _ in range(3)].count(HARD_TO_HEAR) == 1
    assert [ConfidenceMonitor(None).heard(0.1), doubt.heard(None)] == [None, None]
