"""An engine that hears utterances whole hears an open one ahead of its end, and its final is ready at once."""

from dataclasses import dataclass, field

from negotiator.teleprompter.speech.endpointer import FRAME_MS, FRAME_SAMPLES
from negotiator.teleprompter.speech.events import Transcription
from negotiator.teleprompter.speech.worker_process import ChannelListener, Report
from tests.helpers.speech_frames import cutter, frames


@dataclass(slots=True)
class Counting:
    """A decoder whose text is the number of frames that it got."""

    frames: int = 0
    heard: list[int] = field(default_factory=list[int])

    def begin(self) -> None:
        self.frames = 0

    def feed(self, pcm: bytes) -> None:
        self.frames += len(pcm) // (2 * FRAME_SAMPLES)

    def partial(self) -> Transcription:
        self.heard.append(self.frames)
        return Transcription(f"{self.frames} frames")

    def end(self) -> Transcription:
        return self.partial()


class Call:
    """A channel that is fed letters, as in `frames`."""

    def __init__(self, *, whole: bool = True) -> None:
        self.decoder = Counting()
        self.reports: list[Report] = []
        self.at = 0
        self.listener = ChannelListener(cutter(hangover_ms=500), self.decoder, self.reports.append, whole=whole)

    def say(self, pattern: str, *, interim: bool = True) -> None:
        pcm = frames(pattern)
        self.listener.hear(self.at, pcm, interim=interim)
        self.at += len(pcm) // 2

    def waits(self) -> tuple[bool, bool]:
        """Whether it should be heard ahead for a pause, and because its speaker goes on."""
        return bool(self.listener.waits_ms(paused=True)), bool(self.listener.waits_ms(paused=False))

    @property
    def told(self) -> list[str]:
        return [str(report[0]) for report in self.reports]


def test_nothing_is_heard_ahead_before_a_pause_or_a_second() -> None:
    call = Call()
    assert call.waits() == (False, False)
    call.say("v" * 10)
    assert call.waits() == (False, False)
    call.say("." * 6)
    assert call.waits() == (True, False)
    call.say("v" * (1000 // FRAME_MS))
    assert call.waits() == (False, True)


def test_what_was_heard_at_the_pause_is_the_final() -> None:
    call = Call()
    call.say("v" * 10 + "." * 6)
    call.listener.hear_ahead()
    assert call.told == ["start", "partial"]
    assert call.waits() == (False, False), "once for each pause"
    call.say("." * 12)
    assert call.told == ["start", "partial", "final"]
    assert call.reports[-1][2] == "16 frames"
    assert call.decoder.heard == [16]


def test_a_voice_that_goes_on_is_heard_again_at_the_end() -> None:
    call = Call()
    call.say("v" * 10 + "." * 6)
    call.listener.hear_ahead()
    call.say("v" * 3 + "." * 16)
    assert call.reports[-1][2] == "35 frames"
    assert call.decoder.heard == [16, 35]


def test_what_was_heard_before_the_voice_faded_is_no_final() -> None:
    call = Call()
    call.say("v" * 40)
    call.listener.hear_ahead()
    call.say("." * 16)
    assert call.reports[-1][2] == "56 frames"


def test_an_utterance_begins_without_what_was_heard_of_the_one_before() -> None:
    call = Call()
    call.say("v" * 10 + "." * 6)
    call.listener.hear_ahead()
    call.say("." * 16 + "v" * 2 + "." * 16)
    assert [report[2] for report in call.reports if report[0] == "final"] == ["16 frames", "24 frames"]


def test_who_wants_no_partials_is_not_heard_ahead() -> None:
    call = Call()
    call.say("v" * 40 + "." * 6, interim=False)
    assert call.waits() == (False, False)


def test_an_engine_that_hears_along_has_partials_unless_it_is_late() -> None:
    call, late, whole = Call(whole=False), Call(whole=False), Call()
    for letters in ("." * 12, *"vvvvvvvvv", "." * 18, "v" * 3):
        call.say(letters)
        late.say(letters, interim=False)
        whole.say(letters)
    for one in (call, late, whole):
        one.listener.finish()
    assert [kind for kind in call.told if kind != "partial"] == ["start", "final"] * 2
    partials = [report[2] for report in call.reports if report[0] == "partial"]
    assert len(partials) > 4
    assert len(set(partials)) == len(partials)
    assert late.told == whole.told == ["start", "final"] * 2
