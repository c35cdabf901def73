"""A teleprompter session on the wire (docs/contract 8.1)."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

from negotiator.advice.tactics.tactic import NegotiationRole
from negotiator.base import values
from negotiator.base.schema import Strict, example_schema
from negotiator.base.values import LongText, Moment, Origin, QueryNumber, QueryWhole, ShortText, Truth, Whole
from negotiator.http.cursors import Cursor
from negotiator.negotiations.schemas_tactics import RecognisedTacticView
from negotiator.teleprompter.cues.catalogue import Speaker
from negotiator.teleprompter.figures import FigureView

ConsentBasis = Literal["all_parties", "one_party", "own_side_only", "test"]
Retention = Literal["none", "session", "30_days", "until_deleted"]
SpokenLanguage = Literal["en", "de", "es", "fr", "it", "nl", "pt"]
SessionState = Literal["ready", "live", "paused", "ended"]
FeedbackAction = Literal["used", "dismissed", "wrong"]
UtteranceText = Annotated[str, StringConstraints(min_length=1, max_length=2000, strip_whitespace=True)]
UtteranceId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._:-]{1,64}$")]
MAX_EVENTS = 20_000


class ConsentBody(Strict):
    """Why the people on the call may be listened to. The user who opens the session is responsible for it."""

    basis: ConsentBasis = Field(description="`own_side_only` hears nobody but `me`; `test` is for no real call.")
    confirmed_by: LongText = Field(description="Who made sure of it, as a name or an id.")
    at: Moment | None = Field(None, description="When; now if absent.")
    jurisdiction: ShortText | None = Field(None, description="Whose law was looked at, as in US-CA.")


class OpenSession(Strict):
    """A call that is about to be listened to."""

    model_config = ConfigDict(
        json_schema_extra=example_schema(
            {"source": "text", "role": "buyer", "consent": {"basis": "all_parties", "confirmed_by": "Ada Lovelace"}}
        )
    )

    source: Literal["audio", "text"] = Field("text", description="What will be sent.")
    language: SpokenLanguage = Field(
        "en",
        description="What is spoken. The session's `languages` say for which ones cards, figures and redaction work.",
    )
    negotiation_id: ShortText | None = Field(
        None, description="The negotiation whose limits spoken figures are checked against."
    )
    role: NegotiationRole | None = Field(None, description="Your side; the negotiation's own if absent.")
    consent: ConsentBody = Field(description="Why the call may be listened to; ask the user.")
    keep: Retention = Field(
        "session",
        description="How long what was said is kept: not at all, a day or 30 days past the end, or until deleted.",
    )
    practice: Truth = Field(
        False, description="A rehearsal: nobody else is on the call, and no figure becomes an offer."
    )
    cues: Truth = Field(True, description="Whether cards are raised; without them the rest goes on.")


class SessionId(Strict):
    """One session of yours."""

    id: ShortText = Field(description="The session, live_….")


class ListSessions(Strict):
    """Your sessions, newest first."""

    state: SessionState | None = Field(None, description="Only those in this state.")
    limit: QueryWhole = Field(20, ge=1, le=100, description="How many at most.")
    cursor: Cursor = None


class OpenStream(SessionId):
    """A WebSocket of one of your sessions."""

    after: QueryWhole | None = Field(
        None,
        ge=0,
        le=values.NEWEST,
        description="Follow from this number on at once; if absent, `start` says from where.",
    )


class UtteranceBody(Strict):
    """What is said of an utterance."""

    utterance_id: UtteranceId = Field(description="Your id for it; partial texts and the final one share it.")
    speaker: Speaker = Field("them", description="Who speaks.")
    text: UtteranceText = Field(description="What was heard so far; it replaces what was sent before.")
    final: Truth = Field(True, description="Whether it will not change any more.")
    start_ms: Whole | None = Field(None, ge=0, le=2**40, description="When it began, on your clock.")
    end_ms: Whole | None = Field(None, ge=0, le=2**40, description="When it ended, on your clock.")


class Utterance(UtteranceBody, SessionId):
    """One utterance, whole or still growing."""

    model_config = ConfigDict(
        json_schema_extra=example_schema(
            {"utterance_id": "u1", "speaker": "them", "text": "That is way over our budget."}
        )
    )


class FollowSession(SessionId):
    """The numbered events after a number, as JSON or as an event stream."""

    after: QueryWhole = Field(0, ge=0, le=values.NEWEST, description="The last number you have.")
    wait: QueryNumber = Field(0, ge=0, le=25, description="Seconds to wait for the first event; ignored by a stream.")
    limit: QueryWhole = Field(200, ge=1, le=1000, description="How many at most.")


class Feedback(SessionId):
    """What became of a card."""

    model_config = ConfigDict(json_schema_extra=example_schema({"action": "used"}))

    cue: ShortText = Field(description="The card, from `cues`.")
    action: FeedbackAction = Field(description="`wrong`: it does not belong to what was said.")


class JudgedView(TypedDict):
    """What became of a card, and whether the owner's cues learn from it."""

    id: str
    action: FeedbackAction
    taught: bool


class ConsentView(TypedDict):
    """The consent as it was given."""

    basis: ConsentBasis
    confirmed_by: str
    at: str
    jurisdiction: str | None


class LimitsView(TypedDict):
    """What a session can take; seconds, bytes, characters, counts."""

    frame_bytes: int
    utterance_characters: int
    session_seconds: int
    idle_seconds: int
    viewers: int
    events: int


class EngineView(TypedDict):
    """Who hears: `none` for text. `processor` is the third party that gets the sound, null if it stays here.

    `languages` are those that it hears; empty when nothing is heard, or when that depends on a model of the operator's.
    """

    id: str
    interim: bool
    languages: list[str]
    processor: str | None
    quality_note: str


class LanguagesView(TypedDict):
    """The languages in which cards are raised, figures read, and spoken numbers redacted.

    Written cards, accounts, addresses and keys are redacted in every language.
    """

    cards: list[str]
    figures: list[str]
    redaction: list[str]


class SessionView(TypedDict):
    """A session as its owner sees it. `language` is what is spoken, `languages` what is understood of it."""

    id: str
    state: SessionState
    source: Literal["audio", "text"]
    language: str
    negotiation_id: str | None
    role: str | None
    consent: ConsentView
    keep: Retention
    origin: Origin
    last_seq: int
    created_at: str
    ended_at: str | None
    ends_at: str | None
    forget_at: str | None
    stream_url: str
    events_url: str
    notice_text: str
    limits: LimitsView
    engine: EngineView
    languages: LanguagesView
    practice: bool
    cues: bool


class SessionList(TypedDict):
    """A page of sessions. `engine` hears a session of the source `audio`; its id is `text` where none is there."""

    items: list[SessionView]
    next_cursor: str | None
    engine: EngineView


class EvidenceView(TypedDict):
    """The words that raised a card."""

    utterance_id: str
    quote: str


class CueView(TypedDict):
    """A card: what to say and why. `maybe` cards have no number and no id, since they are not shown."""

    seq: int | None
    id: str | None
    cue: str
    kind: str
    family: str
    title: str
    say: str
    why: str
    evidence: EvidenceView
    confidence: float
    source: Literal["rule", "model", "memory", "plan"]
    tactic_id: str
    memory_ids: list[str]
    count: int
    ttl_ms: int
    stage: Literal["early", "final"]


class HeardView(TypedDict):
    """What an utterance led to: cards now shown, the best of the rest, the figures it names of the bound negotiation,
    the tactics of the other side in it, and the offer noted in the ledger."""

    seq: int
    cues: list[CueView]
    maybe: list[CueView]
    retracted: list[str]
    figures: list[FigureView]
    tactics: list[RecognisedTacticView]
    offer_id: str | None


class CallEventView(TypedDict):
    """A numbered event: `type` says which of the other members it has."""

    seq: int
    type: Literal[
        "transcript.final", "offer", "cue", "cue.update", "cue.retract", "cue.feedback", "notice", "error", "ended"
    ]
    at: str
    utterance_id: NotRequired[str]
    speaker: NotRequired[str]
    text: NotRequired[str | None]
    start_ms: NotRequired[int | None]
    end_ms: NotRequired[int | None]
    confidence: NotRequired[float | None]
    figures: NotRequired[list[FigureView]]
    tactics: NotRequired[list[RecognisedTacticView]]
    cue: NotRequired[CueView]
    id: NotRequired[str]
    action: NotRequired[FeedbackAction]
    offer_id: NotRequired[str]
    code: NotRequired[str]
    detail: NotRequired[dict[str, Any]]
    reason: NotRequired[str]


class EventPage(TypedDict):
    """Events in their order. `more` says that there are more already."""

    items: list[CallEventView]
    last_seq: int
    state: SessionState
    more: bool


class TranscriptLine(TypedDict):
    """One utterance of the transcript, or a gap (`speaker` is then null)."""

    seq: int
    at: str
    speaker: str | None
    text: str | None
    start_ms: int | None
    end_ms: int | None


class TranscriptView(TypedDict):
    """What was said, as far as it is kept."""

    id: str
    keep: Retention
    lines: list[TranscriptLine]
