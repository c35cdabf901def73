"""What became of a card: told to those who follow, taken off the screen, and what there is to learn from it."""

from dataclasses import dataclass, replace
from typing import Any, Final

from negotiator import values
from negotiator.errors import NotFound
from negotiator.store.statement import Transaction
from negotiator.teleprompter.cues import screen
from negotiator.teleprompter.cues.matcher import pieces
from negotiator.teleprompter.sessions import moving, rows
from negotiator.teleprompter.sessions.moving import Outcome
from negotiator.teleprompter.sessions.rows import Event, Session
from negotiator.teleprompter.sessions.schemas import Action
from negotiator.teleprompter.sessions.telling import Telling

_PREFIX: Final = "cue_"


@dataclass(frozen=True, slots=True)
class Judged:
    """A card as it was shown: its event, which cue it is of, and the sentence that raised it, if it is still known."""

    id: str
    utterance_id: str
    cue: str
    sentence: str


def find(tx: Transaction, session: Session, name: str, unkept: dict[int, Event]) -> Judged:
    """The card of this id; 404. `unkept` are events whose words are in this process's memory only."""
    number = name.removeprefix(_PREFIX)
    digits = number.isascii() and number.isdigit() and len(number) < 10
    event = rows.at(tx, session.id, int(number)) if digits and name.startswith(_PREFIX) else None
    if event is None or event.type != "cue":
        raise NotFound("There is no such card in this session.")
    card = event.shown["cue"]
    quote, utterance = card["evidence"]["quote"], card["evidence"]["utterance_id"]
    said = ""
    for each in rows.about(tx, session.id, utterance):
        if each.type == "transcript.final":
            said = unkept.get(each.seq, each).shown["text"] or ""
    held = [part for part in pieces(said) if quote.lower() in part.lower()] if said else []
    return Judged(name, utterance, card["cue"], held[0] if held else said)


def judge(
    tx: Transaction, session: Session, judged: Judged, action: Action
) -> tuple[Outcome, bool]:
    """Note what became of it, once for each action in a row; whether this is news."""
    before: Any = None
    for event in rows.about(tx, session.id, judged.utterance_id):
        if event.type == "cue.feedback" and event.shown["id"] == judged.id:
            before = event.shown["action"]
    if before == action:
        return Outcome(session), False
    telling = Telling(session.seq, values.now(), silent=False)
    body = {"id": judged.id, "utterance_id": judged.utterance_id, "action": action}
    telling.tell("cue.feedback", body, utterance=judged.utterance_id)
    if action != "used":
        session = _off(session, judged.id)
    return Outcome(moving.tell(tx, session, telling), telling.told), True


def _off(session: Session, name: str) -> Session:
    """Without the card on the screen; its family keeps its pause."""
    gone = {card for card, public in session.screen.get("ids", {}).items() if public == name}
    if not gone:
        return session
    standing = screen.restore(session.screen)
    left = tuple(card for card in standing.cards if card.id not in gone)
    kept = screen.dump(replace(standing, cards=left))
    return replace(session, screen={**session.screen, **kept})
