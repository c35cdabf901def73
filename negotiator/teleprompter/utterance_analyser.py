"""Analyses an utterance before the transaction that records it: redaction, cues, figures, memories, answers."""

import asyncio
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from negotiator.advice.hearing.hear import load_models
from negotiator.advice.tactics.recognition import RecognisedTactic
from negotiator.advice.tactics.tactic import NegotiationRole
from negotiator.base.bounded_cache import BoundedCache
from negotiator.base.errors import Unavailable
from negotiator.memory.embedding.embedder import Embedder
from negotiator.memory.search import MemorySearch
from negotiator.negotiations.session import NegotiationSession
from negotiator.negotiations.tactic_recogniser import TacticRecogniser
from negotiator.runtime import thread_pools
from negotiator.runtime.thread_pools import BuiltOnce
from negotiator.teleprompter.cards import (
    PreparedAnswer,
    RecalledMemory,
    figure_cards,
    memory_card,
    plan_card,
    prepared_answers,
    recall_memories,
)
from negotiator.teleprompter.cues.catalogue import Speaker, cue_catalogue
from negotiator.teleprompter.cues.matcher import CueMatch, Matcher, makes_request, text_pieces
from negotiator.teleprompter.cues.policy import (
    Card,
    HeardUtterance,
    Screen,
    card_from_match,
    is_shown,
    matches_in_context,
)
from negotiator.teleprompter.figures import ComparedFigure, EarlierFigure
from negotiator.teleprompter.redaction import redact
from negotiator.teleprompter.spoken_figures import SpokenFigure, find_figures
from negotiator.teleprompter.user_classifiers import UserClassifiers

if TYPE_CHECKING:
    from negotiator.teleprompter.classifier_training import UserClassifier
    from negotiator.teleprompter.cues.classifier import Vectors

CLASSIFIER_WAIT_SECONDS: Final = 10.0
"""Seconds that an utterance waits for a classifier in training; after that only phrases are matched."""
MIN_ANSWER_CONFIDENCE: Final = 0.15
"""Minimum confidence for assigning a prepared objection to a cue."""
_OBJECTIONS: Final = 256


@dataclass(frozen=True, slots=True)
class UtteranceAnalysis:
    """The result of the analysis. `text` is redacted.

    `matches` are the cues that suit the user's role, most certain first. `tactics` of the other side, `figures` and
    `memories` exist for finals only. `earlier` are the figures named before, in the ledger or the talk. `asks` tells
    whether the user makes a request or an offer. `answers` are the answers that the plan prepared, by cue. The text of
    a memory is data for callers that may read memories, and is in no card.
    """

    text: str
    matches: tuple[CueMatch, ...] = ()
    tactics: tuple[RecognisedTactic, ...] = ()
    figures: tuple[SpokenFigure, ...] = ()
    earlier: tuple[EarlierFigure, ...] = ()
    asks: bool = False
    memories: tuple[RecalledMemory, ...] = ()
    answers: Mapping[str, PreparedAnswer] = field(default_factory=dict[str, PreparedAnswer])


class UtteranceAnalyser:
    """Analyses the utterances of all users."""

    def __init__(
        self,
        matcher: BuiltOnce[Matcher],
        heads: UserClassifiers,
        embedder: Embedder,
        recall: MemorySearch,
        tactics: TacticRecogniser,
        *,
        patience: float | None = CLASSIFIER_WAIT_SECONDS,
    ) -> None:
        self.heads = heads
        self._matcher = matcher
        self._embedder = embedder
        self._recall = recall
        self._tactics = tactics
        self._patience = patience
        self._objections = BoundedCache[bytes, str](_OBJECTIONS)
        self._warming: asyncio.Task[None] | None = None

    async def listen(
        self,
        owner: str,
        text: str,
        speaker: Speaker,
        *,
        final: bool,
        role: NegotiationRole | None,
        session: NegotiationSession | None = None,
        plan: Mapping[str, Any] | None = None,
        remembers: bool = True,
        raises_cards: bool = True,
    ) -> UtteranceAnalysis:
        """Analyse an utterance or a part of one; raises no refusal.

        `plan` is the document of the bound negotiation's plan; `remembers` says whether the user's memories may be
        searched. Without the embedder only phrases and figures are found, and without `raises_cards` neither cues nor
        memories.
        """
        plain = redact(text)
        if raises_cards:
            await self._matcher.get()
            taught = await self.heads.of(owner, speaker, patience=self._patience)
            vectors = await self._vectors(plain) if taught is not None else None
            found = self._matches(plain, speaker, taught, vectors)
        else:
            vectors, found = None, ()
        suited = tuple(one for one in found if cue_catalogue().cues[one.cue_id].suits(role))
        ahead = UtteranceAnalysis(plain, suited)
        if not final:
            return ahead
        memories: tuple[RecalledMemory, ...] = ()
        if remembers and speaker == "them" and vectors is not None:
            memories = await self._memories(owner, vectors, session)
        answers = await self._answers(prepared_answers(plan)) if suited else {}
        heard = await self._tactics.recognise(plain) if speaker == "them" else None
        figures = find_figures(plain)
        names_money = any(one.measure == "money" and one.sure for one in figures)
        return replace(
            ahead,
            tactics=heard.moves if heard is not None else (),
            figures=figures,
            asks=speaker == "me" and (names_money or makes_request(plain)),
            memories=memories,
            answers=answers,
        )

    def prepare(self) -> None:
        """Load phrases, classifier and embedder in the background, so that the first utterance need not wait."""
        if self._warming is None:
            self._warming = asyncio.create_task(self._warm())

    async def close(self) -> None:
        if self._warming is not None and not self._warming.done():
            self._warming.cancel()
            await asyncio.wait([self._warming])
        await self.heads.close()

    async def _warm(self) -> None:
        await self._matcher.get()
        await self.heads.of("", "them")
        await self._vectors("hello")
        await self._tactics.prepare()
        await thread_pools.LIVE.run(load_models)

    def _matches(
        self, text: str, speaker: Speaker, taught: "UserClassifier | None", vectors: "Vectors | None"
    ) -> tuple[CueMatch, ...]:
        if taught is None or vectors is None:
            return self._matcher.now().match_rules(text, speaker)
        found = self._matcher.now().match(text, speaker, head=taught.head, vectors=vectors)
        return taught.with_refusals(found, vectors)

    async def _vectors(self, text: str) -> "Vectors | None":
        try:
            return await self._embedder.embed(text_pieces(text))
        except Unavailable:  # the embedder logs it
            return None

    async def _memories(
        self, owner: str, vectors: "Vectors", session: NegotiationSession | None
    ) -> tuple[RecalledMemory, ...]:
        lesser = bool(self._embedder.lesser)
        try:
            return await recall_memories(self._recall, owner, vectors, session=session, lesser=lesser)
        except Unavailable:  # the threads or the database log it
            return ()

    async def _answers(self, answers: Iterable[PreparedAnswer]) -> dict[str, PreparedAnswer]:
        """The prepared answers, by the cue of the objection that each answers."""
        found: dict[str, PreparedAnswer] = {}
        for answer in answers:
            if cue := await self._cue_of(answer.objection):
                found.setdefault(cue, answer)
        return found

    async def _cue_of(self, objection: str) -> str:
        """The cue that the shipped classifier finds in an objection; cached, since plans repeat objections."""
        key = hashlib.sha256(objection.encode()).digest()
        if (known := self._objections.get(key)) is not None:
            return known
        shipped = await self.heads.of("", "them", patience=0.0)
        vectors = await self._vectors(objection) if shipped is not None else None
        found = self._matches(objection, "them", shipped, vectors)
        cue = next((one.cue_id for one in found[:1] if one.confidence >= MIN_ANSWER_CONFIDENCE), "")
        if vectors is not None:
            self._objections.put(key, cue, 1)
        return cue


def cards_beyond_phrases(
    ahead: UtteranceAnalysis,
    read: Sequence[ComparedFigure],
    heard: HeardUtterance,
    *,
    screen: Screen,
    role: NegotiationRole | None = None,
) -> tuple[Card, ...]:
    """The cards for the argument `outside` of `policy.advance_screen`; pure.

    First come the figures that were read past a limit, at the target or moved, worst first. Then comes the most certain
    phrase, if the plan has an answer for it or a memory bears on it; if no phrase would be shown, the memory's own card
    comes instead.
    """
    if not heard.final:
        return ()
    cards = figure_cards(read, heard, ahead.earlier)
    likely = matches_in_context(ahead.matches, screen, heard)
    best = next((one for one in likely if is_shown(one)), None)
    answer = ahead.answers.get(best.cue_id) if best is not None else None
    if best is not None and (ahead.memories or answer is not None):
        card = card_from_match(best, cue_catalogue().cues[best.cue_id], heard, role=role)
        card = replace(card, memory_ids=tuple(one.id for one in ahead.memories))
        cards.append(card if answer is None else plan_card(card, answer))
    elif ahead.memories:
        cards.append(memory_card(ahead.memories, heard))
    return tuple(cards)
