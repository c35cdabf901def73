"""The changes of a session (opened, heard, paused, ended) and the numbered events they lead to.

Each change is a plain function of one transaction; it returns the session after it and the events to publish."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import orjson

from negotiator.advice.tactics.recognition import RecognisedTactic
from negotiator.advice.tactics.tactic import NegotiationRole
from negotiator.base import values
from negotiator.base.errors import Conflict
from negotiator.negotiations.tactic_views import recognised_view
from negotiator.store.statement import Transaction
from negotiator.teleprompter import queries
from negotiator.teleprompter.cues import policy
from negotiator.teleprompter.cues.catalogue import Speaker
from negotiator.teleprompter.cues.matcher import MONOLOGUE, MONOLOGUE_SECONDS, SILENCE, CueMatch
from negotiator.teleprompter.cues.policy import Card, HeardUtterance
from negotiator.teleprompter.cues.policy import CardChange as News
from negotiator.teleprompter.figures import ComparedFigure, figure_view, remember_figures
from negotiator.teleprompter.queries import LiveSession, NumberedEvent
from negotiator.teleprompter.schemas import MAX_EVENTS, ConsentBasis, CueView, Retention

CARD_TTL_MS: Final = int(policy.POLICY.stays * 1000)


@dataclass(frozen=True, slots=True)
class PublishedEvent:
    """An event as followers receive it (`live`) and as it is stored (`kept`, without words if they may not be)."""

    live: NumberedEvent
    kept: NumberedEvent
    utterance: str | None


@dataclass(slots=True)
class EventBuilder:
    """Numbers the events of one change, after `seq`; with `silent` the stored events contain no words."""

    seq: int
    at: int
    silent: bool
    told: list[PublishedEvent] = field(default_factory=list[PublishedEvent])

    def tell(self, kind: str, body: Mapping[str, Any], *, utterance: str | None = None) -> None:
        self.seq += 1
        whole = {"type": kind, "at": values.timestamp(self.at), **body}
        live = NumberedEvent(self.seq, kind, orjson.dumps(whole))
        kept = NumberedEvent(self.seq, kind, orjson.dumps(_silenced(whole))) if self.silent else live
        self.told.append(PublishedEvent(live, kept, utterance))

    def news(self, told: Iterable[News], ids: dict[str, str]) -> None:
        """Add the events of card changes; `ids` maps card ids to public ones and receives new ones."""
        for each in told:
            for card in each.cards:
                match each.news:
                    case "shown":
                        ids[card.id] = f"cue_{self.seq + 1}"
                        self._card("cue", card, ids)
                    case "updated" if card.id in ids:
                        self._card("cue.update", card, ids)
                    case "retracted" if card.id in ids:
                        body = {"id": ids[card.id], "utterance_id": card.utterance_id}
                        self.tell("cue.retract", body, utterance=card.utterance_id)
                    case _:
                        """`maybe` cards are in the response only and have no number."""

    def _card(self, kind: str, card: Card, ids: Mapping[str, str]) -> None:
        cue = card_view(card, seq=self.seq + 1, name=ids[card.id])
        self.tell(kind, {"cue": cue}, utterance=card.utterance_id)


def card_view(card: Card, *, seq: int | None = None, name: str | None = None) -> CueView:
    """A card on the wire; a `maybe` card has neither number nor id."""
    return {
        "seq": seq,
        "id": name,
        "cue": card.cue_id,
        "kind": card.kind,
        "family": card.family,
        "title": card.title,
        "say": card.say,
        "why": card.why,
        "evidence": {"utterance_id": card.utterance_id, "quote": card.quote},
        "confidence": card.confidence,
        "source": card.source,
        "tactic_id": card.tactic_id,
        "memory_ids": list(card.memory_ids),
        "count": card.count,
        "ttl_ms": CARD_TTL_MS,
        "stage": card.stage,
    }


def _silenced(whole: Mapping[str, Any]) -> dict[str, Any]:
    quiet = dict(whole)
    if "text" in quiet:
        quiet["text"] = None
        quiet["figures"] = []
        quiet["tactics"] = [{**one, "quote": ""} for one in quiet.get("tactics", ())]
    if cue := quiet.get("cue"):
        quiet["cue"] = {**cue, "evidence": {**cue["evidence"], "quote": ""}}
    return quiet


MAX_OPEN_SESSIONS: Final = 10
"""Open sessions of one owner."""
MAX_SESSION_MS: Final = 4 * values.HOUR
IDLE_MS: Final = 15 * 60 * 1000
_REMEMBERED_IDS: Final = 64


@dataclass(frozen=True, slots=True)
class AnalysedUtterance:
    """One utterance or a part of it: redacted, with the cues it may mean."""

    heard: HeardUtterance
    matches: Sequence[CueMatch] = ()
    cards: Sequence[Card] = ()
    start_ms: int | None = None
    end_ms: int | None = None
    confidence: float | None = None
    figures: Sequence[ComparedFigure] = ()
    tactics: Sequence[RecognisedTactic] = ()


@dataclass(frozen=True, slots=True)
class TransitionResult:
    """The session after a change, the events to publish, and the response."""

    session: LiveSession
    told: Sequence[PublishedEvent] = ()
    answer: Any = None


def open_session(tx: Transaction, session: LiveSession) -> LiveSession:
    """Store a new session; 409 when the owner has too many open ones."""
    if len(queries.open_session_ids(tx, session.owner)) >= MAX_OPEN_SESSIONS:
        raise Conflict(f"{MAX_OPEN_SESSIONS} sessions are open; end one first.", error="too_many_sessions")
    queries.add(tx, session)
    return session


def hear_utterance(
    tx: Transaction,
    session: LiveSession,
    piece: AnalysedUtterance,
    *,
    note: Callable[[Transaction], str | None] = lambda _tx: None,
) -> TransitionResult:
    """Take a piece in and decide what is shown. A final counts once; what comes after it changes nothing.

    `note` enters what a final said about money or terms into the ledger; answers the row's id.
    409 `session_ended`, `session_paused`, `not_consented`, `transcript_full`.
    """
    heard = piece.heard
    check_may_hear(session, heard.speaker)
    known = queries.events_of_utterance(tx, session.id, heard.utterance_id)
    if any(event.type == "transcript.final" for event in known):
        return TransitionResult(session, answer=_again(known))
    telling = EventBuilder(session.seq, int(heard.at * 1000), session.given["keep"] == "none")
    if heard.final:
        telling.tell("transcript.final", _said(piece), utterance=heard.utterance_id)
        if (offer := note(tx)) is not None:
            body = {"offer_id": offer, "utterance_id": heard.utterance_id}
            telling.tell("offer", body, utterance=heard.utterance_id)
    remembered = remember_figures(session.screen.get("figures", ()), piece.figures)
    session, news = _step(session, piece, telling)
    session = replace(session, screen={**session.screen, "figures": remembered})
    session = save_events(tx, replace(session, state="live"), telling)
    maybe = [card_view(card) for each in news if each.news == "maybe" for card in each.cards]
    answer = _answer([told.live for told in telling.told], session.seq, maybe=maybe)
    return TransitionResult(session, telling.told, answer)


def show_silence_card(tx: Transaction, session: LiveSession, *, since: int) -> TransitionResult:
    """Show the card for their silence after a figure of the user; no change if someone spoke after `since` (ms)."""
    if session.state != "live" or session.active_at != since or not session.raises_cards:
        return TransitionResult(session)
    now = values.now()
    heard = HeardUtterance(f"lull.{session.seq}", "them", "", final=True, at=now / 1000)
    telling = EventBuilder(session.seq, now, silent=False)
    named: object = session.screen.get("figures", [])
    session, _ = _step(session, AnalysedUtterance(heard, matches=[SILENCE]), telling)
    session = replace(session, screen={**session.screen, "figures": named})
    return (
        TransitionResult(save_events(tx, session, telling), telling.told) if telling.told else TransitionResult(session)
    )


def check_may_hear(session: LiveSession, speaker: Speaker) -> None:
    """409 if this session may not hear the speaker, or not in its present state."""
    _check_open(session)
    if session.state == "paused":
        raise Conflict("The session is paused.", error="session_paused")
    _check_consent(session, [speaker])
    if session.seq >= MAX_EVENTS:
        raise Conflict(f"A session holds {MAX_EVENTS} events.", error="transcript_full")


def pause_session(tx: Transaction, session: LiveSession) -> TransitionResult:
    """Pause the session; words until `resume` are a gap in the transcript. No change if it is paused already."""
    return _switch(tx, session, "paused", "paused")


def resume_session(tx: Transaction, session: LiveSession) -> TransitionResult:
    """Resume a paused session; no change if it is not paused."""
    _check_open(session)
    if session.state != "paused":
        return TransitionResult(session)
    return _switch(tx, session, "live", "resumed")


def add_notice(tx: Transaction, session: LiveSession, code: str, detail: dict[str, Any]) -> TransitionResult:
    """Add a numbered notice for the followers: lag, a gap, another engine."""
    telling = EventBuilder(session.seq, values.now(), silent=False)
    telling.tell("notice", {"code": code, "detail": detail})
    return TransitionResult(save_events(tx, session, telling), telling.told)


def end_session(tx: Transaction, session: LiveSession, reason: str) -> TransitionResult:
    """End the session; no change if it has ended. Data that may not be kept is erased at once."""
    if session.state == "ended":
        return TransitionResult(session)
    now = values.now()
    telling = EventBuilder(session.seq, now, silent=False)
    telling.tell("ended", {"reason": reason})
    forget_at = transcript_expires_at(session.given["keep"], created_at=session.created_at, ended_at=now)
    over = replace(session, state="ended", ended_at=now, ends_at=None, forget_at=forget_at, screen={})
    return TransitionResult(save_events(tx, over, telling), telling.told)


def end_overdue(tx: Transaction, now: int, limit: int) -> int:
    """End up to `limit` sessions that are idle or have reached their maximum length; returns their number."""
    due = queries.due_sessions(tx, now, limit)
    for session in due:
        end_session(tx, session, "idle" if session.active_at + IDLE_MS <= now else "limit")
    return len(due)


def ends_at(session: LiveSession, now: int) -> int:
    """When the session ends unless something is heard before: idle, or at its maximum length."""
    return min(now + IDLE_MS, session.created_at + MAX_SESSION_MS)


def _step(
    session: LiveSession, piece: AnalysedUtterance, telling: EventBuilder
) -> tuple[LiveSession, Sequence[policy.CardChange]]:
    """Advance the screen by an utterance and add the events of its changes; no change where no cards are raised."""
    if not session.raises_cards:
        return session, ()
    before = session.screen
    ids: dict[str, str] = dict(before.get("ids", {}))
    kept, news = advance_stored_screen(before, piece, role=session.given["role"])
    telling.news(news, ids)
    remembered = dict(list(ids.items())[-_REMEMBERED_IDS:])
    return replace(session, screen={**kept, "ids": remembered}), news


def advance_stored_screen(
    before: Mapping[str, Any], piece: AnalysedUtterance, *, role: NegotiationRole | None
) -> tuple[dict[str, Any], Sequence[policy.CardChange]]:
    """The JSON of a session's screen after an utterance, and the changes of its cards; pure."""
    heard = piece.heard
    since: float | None = None
    matches = piece.matches
    if heard.speaker == "me":
        began: float = before.get("talking_since") or heard.at
        is_long = heard.at - began >= MONOLOGUE_SECONDS
        matches, since = ((MONOLOGUE, *matches), heard.at) if is_long else (matches, began)
    screen = policy.restore_screen(before)
    after, news = policy.advance_screen(screen, heard, matches, outside=piece.cards, role=role)
    return {**policy.dump_screen(after), "talking_since": since}, news


def _check_open(session: LiveSession) -> None:
    if session.state == "ended":
        raise Conflict("The session has ended.", error="session_ended")


def _switch(tx: Transaction, session: LiveSession, state: str, code: str) -> TransitionResult:
    _check_open(session)
    if session.state == state:
        return TransitionResult(session)
    return add_notice(tx, replace(session, state=state), code, {})


def save_events(tx: Transaction, session: LiveSession, telling: EventBuilder) -> LiveSession:
    for told in telling.told:
        queries.add_event(tx, session.id, told.kept, utterance=told.utterance)
    now = values.now()
    ends = None if session.state == "ended" else ends_at(session, now)
    return queries.save(tx, replace(session, seq=telling.seq, active_at=now, ends_at=ends))


def _said(piece: AnalysedUtterance) -> dict[str, Any]:
    return {
        "utterance_id": piece.heard.utterance_id,
        "speaker": piece.heard.speaker,
        "text": piece.heard.text,
        "start_ms": piece.start_ms,
        "end_ms": piece.end_ms,
        "confidence": piece.confidence,
        "figures": [figure_view(one) for one in piece.figures],
        "tactics": [recognised_view(one) for one in piece.tactics],
    }


def _again(known: Sequence[queries.NumberedEvent]) -> dict[str, Any]:
    """The response to a repeated final, from its stored events."""
    number = next(event.seq for event in known if event.type == "transcript.final")
    return _answer(known, number, maybe=[])


def _answer(events: Sequence[queries.NumberedEvent], seq: int, *, maybe: list[Any]) -> dict[str, Any]:
    views = [event.shown for event in events]
    number = next((view["seq"] for view in views if view["type"] == "transcript.final"), seq)
    return {
        "seq": number,
        "cues": [view["cue"] for view in views if view["type"] in {"cue", "cue.update"}],
        "maybe": maybe,
        "retracted": [view["id"] for view in views if view["type"] == "cue.retract"],
        "figures": [one for view in views for one in view.get("figures", ())],
        "tactics": [one for view in views for one in view.get("tactics", ())],
        "offer_id": next((view["offer_id"] for view in views if view["type"] == "offer"), None),
    }


Transition = Callable[[Transaction, LiveSession], TransitionResult]


def check_may_send_audio(session: LiveSession, channels: Iterable[Speaker]) -> None:
    """409 unless audio of these speakers may be sent: `session_ended`, `text_session`, `not_consented`."""
    _check_open(session)
    if session.given["source"] != "audio":
        raise Conflict("The session was opened for text, not for sound.", error="text_session")
    _check_consent(session, channels)


def take_over_audio(
    tx: Transaction, session: LiveSession, *, producer: str, channels: Iterable[Speaker]
) -> TransitionResult:
    """Make this connection the only one that may send audio."""
    check_may_send_audio(session, channels)
    return TransitionResult(queries.save(tx, replace(session, producer=producer)))


def record_audio_position(tx: Transaction, session: LiveSession, *, until_ms: int) -> TransitionResult:
    """Store how much audio was received, so that another connection can go on from there."""
    if session.state == "ended" or session.heard_ms >= until_ms:
        return TransitionResult(session)
    return TransitionResult(queries.save(tx, replace(session, heard_ms=until_ms)))


def add_recognizer_notice(
    tx: Transaction, session: LiveSession, *, code: str, detail: dict[str, Any]
) -> TransitionResult:
    """Add a numbered notice of the recogniser; no change in a session that is full or has ended."""
    if session.state == "ended" or session.seq >= MAX_EVENTS:
        return TransitionResult(session)
    return add_notice(tx, session, code, detail)


def add_mark(tx: Transaction, session: LiveSession, *, ref: str) -> TransitionResult:
    """Add a mark with the client's reference; 409 `session_ended`, `transcript_full`."""
    _check_open(session)
    if session.seq >= MAX_EVENTS:
        raise Conflict(f"A session holds {MAX_EVENTS} events.", error="transcript_full")
    return add_notice(tx, session, "mark", {"ref": ref})


def _check_consent(session: LiveSession, speakers: Iterable[Speaker]) -> None:
    if not all(may_hear(session.given["consent"]["basis"], each) for each in speakers):
        raise Conflict("The consent covers your own side only; they may not be heard.", error="not_consented")


def may_hear(basis: ConsentBasis, speaker: Speaker) -> bool:
    """Whether this side's words may be taken at all: of my own side only, theirs are not."""
    return speaker == "me" or basis != "own_side_only"


def transcript_expires_at(keep: Retention, *, created_at: int, ended_at: int | None) -> int | None:
    """When a transcript is to be gone, in milliseconds; None for never, or while the session still runs.

    A day after the end of the session, thirty days after it, at its end, or when its owner says so. An end before the
    beginning counts as the beginning.
    """
    if keep == "until_deleted" or ended_at is None:
        return None
    after: dict[Retention, int] = {"none": 0, "session": values.DAY, "30_days": 30 * values.DAY}
    return max(created_at, ended_at) + after[keep]
