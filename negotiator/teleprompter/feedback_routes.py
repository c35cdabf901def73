"""`POST …/cues/{cue}/feedback`: records what became of a card and trains the owner's classifier with it."""

from dataclasses import dataclass, replace
from typing import Any, Final

from negotiator.base import values
from negotiator.base.errors import NotFound
from negotiator.base.scopes import TELEPROMPTER_STREAM
from negotiator.http.operation import Call, Operation, ToolOffer
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.teleprompter import session_queries, session_transitions
from negotiator.teleprompter.cues import policy
from negotiator.teleprompter.cues.catalogue import cue_catalogue
from negotiator.teleprompter.cues.matcher import text_pieces
from negotiator.teleprompter.example_queries import label_from_feedback
from negotiator.teleprompter.schemas import Feedback, FeedbackAction, JudgedView
from negotiator.teleprompter.session_queries import LiveSession, NumberedEvent
from negotiator.teleprompter.session_transitions import EventBuilder, TransitionResult
from negotiator.teleprompter.user_classifiers import UserClassifiers
from negotiator.teleprompter.utterances import UtteranceService

_PREFIX: Final = "cue_"


@dataclass(frozen=True, slots=True)
class JudgedCard:
    """A card that was shown, its cue, and the sentence that raised it (empty when it is no longer known)."""

    id: str
    utterance_id: str
    cue: str
    sentence: str


def find_card(tx: Transaction, session: LiveSession, name: str, unkept: dict[int, NumberedEvent]) -> JudgedCard:
    """The card of this id; 404. `unkept` are events whose words are in this process's memory only."""
    number = name.removeprefix(_PREFIX)
    digits = number.isascii() and number.isdigit() and len(number) < 10
    event = session_queries.event_at(tx, session.id, int(number)) if digits and name.startswith(_PREFIX) else None
    if event is None or event.type != "cue":
        raise NotFound("There is no such card in this session.")
    card = event.shown["cue"]
    quote, utterance = card["evidence"]["quote"], card["evidence"]["utterance_id"]
    said = ""
    for each in session_queries.events_of_utterance(tx, session.id, utterance):
        if each.type == "transcript.final":
            said = unkept.get(each.seq, each).shown["text"] or ""
    held = [part for part in text_pieces(said) if quote.lower() in part.lower()] if said else []
    return JudgedCard(name, utterance, card["cue"], held[0] if held else said)


def record_feedback(
    tx: Transaction, session: LiveSession, judged: JudgedCard, action: FeedbackAction
) -> tuple[TransitionResult, bool]:
    """Record feedback; returns the result and False when the last feedback on the card was the same."""
    before: Any = None
    for event in session_queries.events_of_utterance(tx, session.id, judged.utterance_id):
        if event.type == "cue.feedback" and event.shown["id"] == judged.id:
            before = event.shown["action"]
    if before == action:
        return TransitionResult(session), False
    telling = EventBuilder(session.seq, values.now(), silent=False)
    body = {"id": judged.id, "utterance_id": judged.utterance_id, "action": action}
    telling.tell("cue.feedback", body, utterance=judged.utterance_id)
    if action != "used":
        session = _off(session, judged.id)
    return TransitionResult(session_transitions.save_events(tx, session, telling), telling.told), True


def _off(session: LiveSession, name: str) -> LiveSession:
    """The session without the card on its screen; its family stays paused."""
    gone = {card for card, public in session.screen.get("ids", {}).items() if public == name}
    if not gone:
        return session
    standing = policy.restore_screen(session.screen)
    left = tuple(card for card in standing.cards if card.id not in gone)
    kept = policy.dump_screen(replace(standing, cards=left))
    return replace(session, screen={**session.screen, **kept})


@dataclass(frozen=True, slots=True)
class FeedbackRoutes:
    """Records feedback on cards."""

    store: Store
    listening: UtteranceService
    heads: UserClassifiers

    def operations(self) -> list[Operation]:
        return [
            Operation(
                name="judge_cue",
                method="POST",
                path="/api/teleprompter/sessions/{id}/cues/{cue}/feedback",
                summary="Say what became of a card: your own later cards learn from it",
                run=self.judge,
                input=Feedback,
                output=JudgedView,
                scopes=frozenset({TELEPROMPTER_STREAM}),
                refusals=(400, 404, 422, 503),
                tool=ToolOffer("Judge a card", hint="Use it when the user took or refused a card."),
                tag="teleprompter",
            )
        ]

    async def judge(self, call: Call[Feedback]) -> JudgedView:
        """Note what became of a card and let its owner's head learn from it, once for each action in a row.

        A card of a figure, of a memory or of practice teaches nothing, nor does one whose words are not there any more.
        """
        asked, owner, log = call.input, call.caller.principal, self.listening.log

        def find(tx: Transaction) -> tuple[JudgedCard, bool]:
            session = session_queries.find(tx, owner, asked.id)
            card = find_card(tx, session, asked.cue, log.unkept(asked.id))
            return card, session.is_practice

        judged, is_practice = await self.store.read(find)
        is_example = judged.cue in cue_catalogue().cues and judged.sentence != ""
        teaches = is_example and not is_practice
        vector = await self.heads.vector(judged.sentence) if teaches else None

        def change(tx: Transaction, session: session_queries.LiveSession) -> TransitionResult:
            outcome, is_news = record_feedback(tx, session, judged, asked.action)
            if is_news and vector is not None:
                self.heads.teach(tx, owner, label_from_feedback(asked.action, judged.cue), vector=vector)
            return outcome

        await self.listening.change(call.caller, asked.id, change)
        return {"id": judged.id, "action": asked.action, "taught": vector is not None}
