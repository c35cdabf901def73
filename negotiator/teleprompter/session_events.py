"""From what the policy decided to numbered events and to the cards on the wire. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from negotiator import values
from negotiator.teleprompter.cues.policy import Card, PolicySettings
from negotiator.teleprompter.cues.policy import CardChange as News
from negotiator.teleprompter.schemas import CueView
from negotiator.teleprompter.session_queries import NumberedEvent

CARD_TTL_MS: Final = int(PolicySettings().stays * 1000)


@dataclass(frozen=True, slots=True)
class PublishedEvent:
    """An event twice: as those who follow see it, and as it is kept; they differ where nothing said may be kept."""

    live: NumberedEvent
    kept: NumberedEvent
    utterance: str | None


@dataclass(slots=True)
class EventBuilder:
    """Numbers the events of one moment, from `seq` on; `silent` keeps what was said out of what is kept."""

    seq: int
    at: int
    silent: bool
    told: list[PublishedEvent] = field(default_factory=list[PublishedEvent])

    def tell(self, kind: str, body: Mapping[str, Any], *, utterance: str | None = None) -> None:
        """The next event."""
        self.seq += 1
        whole = {"type": kind, "at": values.timestamp(self.at), **body}
        live = NumberedEvent(self.seq, kind, orjson.dumps(whole))
        kept = (
            NumberedEvent(self.seq, kind, orjson.dumps(_silenced(whole))) if self.silent else live
        )
        self.told.append(PublishedEvent(live, kept, utterance))

    def news(self, told: Iterable[News], ids: dict[str, str]) -> None:
        """The events of the policy's news; `ids` are the public ids of the cards, and learn those of new ones."""
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
                        """The quiet list is answered, never numbered."""

    def _card(self, kind: str, card: Card, ids: Mapping[str, str]) -> None:
        cue = card_view(card, seq=self.seq + 1, name=ids[card.id])
        self.tell(kind, {"cue": cue}, utterance=card.utterance_id)


def card_view(card: Card, *, seq: int | None = None, name: str | None = None) -> CueView:
    """A card on the wire; one of the quiet list has neither number nor id."""
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
    """The event without the words that were said."""
    quiet = dict(whole)
    if "text" in quiet:
        quiet["text"] = None
    if cue := quiet.get("cue"):
        quiet["cue"] = {**cue, "evidence": {**cue["evidence"], "quote": ""}}
    return quiet
