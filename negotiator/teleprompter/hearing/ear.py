"""One utterance heard: redacted, matched, its figures read, memories recalled. Everything asked, nothing written."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from negotiator import telemetry
from negotiator.errors import Unavailable
from negotiator.memory.embedding.embedder import Embedder
from negotiator.memory.recall.recall import Recall
from negotiator.negotiations.session import Session
from negotiator.negotiations.tactics.tactic import Role
from negotiator.teleprompter.cues.cue import Catalogue, Speaker
from negotiator.teleprompter.cues.matcher import Match, Matcher, pieces
from negotiator.teleprompter.cues.policy import Card, Heard, Patience, card_of
from negotiator.teleprompter.figures.cards import figure_card, own_figure_card
from negotiator.teleprompter.figures.figure import Figure, figures
from negotiator.teleprompter.hearing.cards import (
    Prepared,
    Recalled,
    memory_card,
    plan_card,
    prepared,
    recalled,
)
from negotiator.teleprompter.hearing.limits import held_of, limits_of
from negotiator.teleprompter.privacy.redaction import redact
from negotiator.teleprompter.taught.examples import Action, Lesson, lesson_of
from negotiator.teleprompter.taught.heads import Heads

if TYPE_CHECKING:
    from negotiator.teleprompter.cues.head import Vectors
    from negotiator.teleprompter.taught.learned import Taught

PATIENCE: Final = 10.0
"""Seconds an utterance waits for heads that are still being learned; then its patterns are heard alone."""
SURE: Final = 0.15
"""From which confidence a prepared objection is taken for a cue."""
_OBJECTIONS: Final = 256
log = telemetry.logger(__name__)


@dataclass(frozen=True, slots=True)
class Ahead:
    """What was found out before a transaction. `text` is redacted, `marks` are the kinds of what was taken out.

    `matches` suit the listener's role, surest first; `figures` and `memories` are of finals only; `answers` are what
    the plan prepared, by cue. The text of a memory is data for whoever may read memories, and in no card.
    """

    text: str
    matches: tuple[Match, ...] = ()
    marks: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    memories: tuple[Recalled, ...] = ()
    answers: Mapping[str, Prepared] = field(default_factory=dict[str, Prepared])


class Ear:
    """Hears utterances of every owner."""

    def __init__(
        self,
        matcher: Matcher,
        heads: Heads,
        embedder: Embedder,
        recall: Recall,
        *,
        patience: float | None = PATIENCE,
    ) -> None:
        self.heads = heads
        self._matcher = matcher
        self._embedder = embedder
        self._recall = recall
        self._patience = patience
        self._objections: OrderedDict[bytes, str] = OrderedDict()
        self._warming: asyncio.Task[None] | None = None

    @property
    def catalogue(self) -> Catalogue:
        """The cues it listens for."""
        return self._matcher.catalogue

    async def listen(
        self,
        owner: str,
        text: str,
        speaker: Speaker,
        *,
        final: bool,
        role: Role | None,
        session: Session | None = None,
        plan: Mapping[str, Any] | None = None,
        remembers: bool = True,
    ) -> Ahead:
        """Everything that has to be asked about an utterance or a part of one; never refuses.

        `plan` is the document of the bound negotiation's plan; `remembers` whether the owner's memories may be asked.
        An embedder that is away leaves the patterns and the figures.
        """
        plain = redact(text)
        taught = await self.heads.of(owner, speaker, patience=self._patience)
        vectors = await self._vectors(plain.text) if taught is not None else None
        found = self._matches(plain.text, speaker, taught, vectors)
        suited = tuple(one for one in found if self.catalogue.cues[one.cue_id].suits(role))
        ahead = Ahead(plain.text, suited, plain.marks)
        if not final:
            return ahead
        memories: tuple[Recalled, ...] = ()
        if remembers and speaker == "them" and vectors is not None:
            lesser = bool(self._embedder.lesser)
            memories = await recalled(self._recall, owner, vectors, session=session, lesser=lesser)
        answers = await self._answers(prepared(plan)) if suited else {}
        return replace(ahead, figures=figures(plain.text), memories=memories, answers=answers)

    def lesson(self, action: Action, cue: str) -> Lesson | None:
        """What feedback on a card teaches; nothing, where its cue is a figure, a memory or no more."""
        return lesson_of(action, cue) if cue in self.catalogue.cues else None

    def prepare(self) -> None:
        """Get ready beside whatever is done now, so that the first word of a call need not wait."""
        if self._warming is None:
            self._warming = asyncio.create_task(self._warm())

    async def close(self) -> None:
        """Give up getting ready."""
        if self._warming is not None and not self._warming.done():
            self._warming.cancel()
            await asyncio.wait([self._warming])
        await self.heads.close()

    async def _warm(self) -> None:
        await self.heads.of("", "them")
        await self._vectors("hello")

    def _matches(
        self, text: str, speaker: Speaker, taught: "Taught | None", vectors: "Vectors | None"
    ) -> tuple[Match, ...]:
        if taught is None or vectors is None:
            return self._matcher.by_rule(text, speaker)
        found = self._matcher.match(text, speaker, head=taught.head, vectors=vectors)
        return taught.tempered(found, vectors)

    async def _vectors(self, text: str) -> "Vectors | None":
        try:
            return await self._embedder.embed(pieces(text))
        except Unavailable as away:
            log.warning("cues are heard by their patterns alone", detail=away.detail)
            return None

    async def _answers(self, answers: Iterable[Prepared]) -> dict[str, Prepared]:
        """Prepared answers by the cue that their objection is an example of."""
        found: dict[str, Prepared] = {}
        for answer in answers:
            if cue := await self._cue_of(answer.objection):
                found.setdefault(cue, answer)
        return found

    async def _cue_of(self, objection: str) -> str:
        """The cue that the shipped head takes an objection for; remembered by its digest, since many plans say it."""
        key = hashlib.sha256(objection.encode()).digest()
        if key in self._objections:
            self._objections.move_to_end(key)
            return self._objections[key]
        shipped = await self.heads.of("", "them", patience=0.0)
        vectors = await self._vectors(objection) if shipped is not None else None
        found = self._matches(objection, "them", shipped, vectors)
        cue = next((one.cue_id for one in found[:1] if one.confidence >= SURE), "")
        if vectors is not None:
            self._objections[key] = cue
            if len(self._objections) > _OBJECTIONS:
                self._objections.popitem(last=False)
        return cue


def held_cards(
    ahead: Ahead, session: Session | None, heard: Heard, *, catalogue: Catalogue
) -> tuple[Card, ...]:
    """The cards that a final makes beyond its phrases, for `policy.step`'s `outside`; pure.

    First what is past or within a limit of the bound negotiation, worst first. Then the surest phrase, if the plan has
    words for it or a memory bears on it; without a phrase that would be shown, the memory's own card.
    """
    if not heard.final:
        return ()
    cards: list[Card] = []
    if session is not None:
        for held in held_of(ahead.figures, limits_of(session)):
            of_mine = heard.speaker == "me"
            card = own_figure_card(held, heard) if of_mine else figure_card(held, heard)
            if card is not None and card.id not in {one.id for one in cards}:
                cards.append(card)
    best = next((one for one in ahead.matches if one.confidence >= Patience().shown), None)
    answer = ahead.answers.get(best.cue_id) if best is not None else None
    if best is not None and (ahead.memories or answer is not None):
        card = card_of(best, catalogue.cues[best.cue_id], heard)
        card = replace(card, memory_ids=tuple(one.id for one in ahead.memories))
        cards.append(card if answer is None else plan_card(card, answer))
    elif ahead.memories:
        cards.append(memory_card(ahead.memories, heard))
    return tuple(cards)
