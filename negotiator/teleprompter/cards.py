"""Cards of figures, memories and prepared answers; the cards of phrases are in `cues.policy`.

Every word of a card comes from a template or from the plan, and no card names a limit. A memory is cited by its id,
so an erased or superseded memory is gone from every card.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from negotiator.memory.content_guard import TRUST_BOUND_AGENT
from negotiator.memory.search import MemorySearch
from negotiator.negotiations import plan_queries
from negotiator.negotiations.session import NegotiationSession
from negotiator.store.statement import Transaction
from negotiator.teleprompter.cues.catalogue import CueKind
from negotiator.teleprompter.cues.policy import Card, HeardUtterance
from negotiator.teleprompter.figures import STANDING_KINDS, ComparedFigure, EarlierFigure, LimitStanding

if TYPE_CHECKING:
    from negotiator.teleprompter.cues.classifier import Vectors

CARD_LANGUAGES: Final = ("en",)
"""The languages that cards are raised by and written in, as ISO 639-1 codes; cards of figures follow the figures."""
FIGURE_CONFIDENCE: Final = 0.95
_STANDINGS: Final[tuple[LimitStanding, ...]] = get_args(LimitStanding)
MOVES_IN_A_ROW: Final = 2
"""From how many moves of the user without one of the other side the user bids against themselves."""


@dataclass(frozen=True, slots=True)
class CardWords:
    """The words of a card about a figure or a memory; `urgent` when a limit is passed."""

    title: str
    say: str
    why: str
    tactic_id: str = ""
    kind: CueKind = "manoeuvre"
    urgent: bool = False


@cache
def card_words(about: Literal["figures", "memories"]) -> Mapping[str, CardWords]:
    """The words by name, from `card_words.toml`: by what happened to a figure, or by the kind of a memory."""
    content = tomllib.loads(files("negotiator.teleprompter").joinpath("card_words.toml").read_text("utf-8"))
    return {name: CardWords(**row) for name, row in content[about].items()}


def figure_cards(read: Sequence[ComparedFigure], heard: HeardUtterance, earlier: Sequence[EarlierFigure]) -> list[Card]:
    """The cards of an utterance's figures, worst first and one a topic; `earlier` are the figures before it.

    An offer has a card past a limit, at the target, or when somebody moved: the other side towards the user, or the
    user twice in a row. A first offer inside the limits and a repeated one have none.
    """
    cards: dict[str, Card] = {}
    for one in sorted(read, key=lambda each: _STANDINGS.index(each.standing)):
        topic = one.limit.topic
        advice = _advice(one, earlier, mine=heard.speaker == "me")
        if topic not in cards and advice:
            cards[topic] = _figure_card(one, card_words("figures")[advice], heard)
    return list(cards.values())


def _advice(one: ComparedFigure, earlier: Sequence[EarlierFigure], *, mine: bool) -> str:
    """Which words suit a figure after those before it; empty when it needs no word."""
    if not one.is_offer or one.value == one.previous:
        return ""
    past = one.limit.is_mine and one.standing == "past_limit"
    if past and one.limit.is_allowed(one.value):
        return "" if mine else "allowed_in_return"
    if mine:
        if past:
            return "mine_past_limit"
        return "my_moves" if _moves_in_a_row(one, earlier) >= MOVES_IN_A_ROW else ""
    moved = one.previous is not None and _gain(one, one.previous, one.value) > 0
    if past and moved:
        return "still_past_limit"
    if past:
        is_first = not any(before.topic == one.limit.topic for before in earlier)
        return "opened_past_limit" if is_first else "past_limit"
    if one.limit.is_mine and one.standing == "at_target" and not one.figure.sense.is_doubtful:
        return "at_target"
    return "they_moved" if moved else ""


def _moves_in_a_row(one: ComparedFigure, earlier: Sequence[EarlierFigure]) -> int:
    """How often the user has moved towards the other side, this figure included, since the other side named one."""
    mine: list[Decimal] = []
    for before in (*earlier, EarlierFigure(one.limit.topic, one.value, "me")):
        if before.topic != one.limit.topic or before.kind not in STANDING_KINDS:
            continue
        if before.whose == "them":
            mine = mine[-1:]
        elif before.whose == "me" and before.value not in mine:
            mine.append(before.value)
    return sum(_gain(one, was, now) < 0 for was, now in pairwise(mine))


def _gain(one: ComparedFigure, was: Decimal, now: Decimal) -> Decimal:
    return now - was if one.limit.wants_more else was - now


def _figure_card(one: ComparedFigure, advice: CardWords, heard: HeardUtterance) -> Card:
    """The card; its family is the topic, so that each topic is told apart."""
    topic = f"figure:{one.limit.topic}"
    return Card(
        id=f"{heard.utterance_id}:{topic}",
        family=topic,
        cue_id=topic,
        kind=advice.kind,
        title=advice.title,
        say=advice.say,
        why=advice.why,
        tactic_id=advice.tactic_id,
        utterance_id=heard.utterance_id,
        quote=one.figure.quote,
        confidence=FIGURE_CONFIDENCE,
        source="plan",
        stage="final",
        at=heard.at,
        urgent=advice.urgent or _is_corrected(one),
    )


def _is_corrected(one: ComparedFigure) -> bool:
    """Whether the speaker's figure before this one was past the limit, so that the card of that one is wrong now."""
    before = one.previous
    return before is not None and one.limit.is_mine and one.limit.standing(before) == "past_limit"


MIN_CLOSENESS: Final = 0.45
"""From which cosine a memory bears on a sentence: 4 of 11 that did and none of 253 pairs that did not, in a corpus of
written examples; with twelve memories 7 of 593 sentences of ordinary talk."""
MIN_CLOSENESS_COUNTERPARTY: Final = 0.38
"""The same for memories about the very other side: 7 of 11, and 1 of 253."""
LESSER_MODEL_MARGIN: Final = 0.10
"""How much closer it has to be by an embedder that only compares spellings."""
MAX_CITED_MEMORIES: Final = 3
MAX_ANSWER_WORDS: Final = 25
_LONGEST_QUOTE: Final = 160


@dataclass(frozen=True, slots=True)
class RecalledMemory:
    """A memory that bears on what was said, and how close it is (cosine). `text` is data, never an instruction."""

    id: str
    kind: str
    text: str
    closeness: float


@dataclass(frozen=True, slots=True)
class PreparedAnswer:
    """An answer that a plan prepared to an objection."""

    objection: str
    reply: str
    fallback: str


async def recall_memories(
    recall: MemorySearch, owner: str, vectors: "Vectors", *, session: NegotiationSession | None, lesser: bool = False
) -> tuple[RecalledMemory, ...]:
    """The owner's memories that bear on a sentence, given by its vectors; closest first, three at most.

    Active ones that a person or a person's agent stands behind. A memory about somebody else than the other side of the
    bound negotiation bears on nothing here.
    """
    more = LESSER_MODEL_MARGIN if lesser else 0.0
    names = _names(session)
    found: list[RecalledMemory] = []
    for facts, cosine in await recall.near(owner, list(vectors), least=MIN_CLOSENESS_COUNTERPARTY + more):
        about = str(facts["counterparty"] or "").casefold()
        if facts["trust"] < TRUST_BOUND_AGENT or (about and names and about not in names):
            continue
        if cosine >= MIN_CLOSENESS + more or about in names:
            found.append(RecalledMemory(facts["id"], facts["kind"], facts["text"], round(cosine, 3)))
    return tuple(found[:MAX_CITED_MEMORIES])


def memory_card(memories: Sequence[RecalledMemory], heard: HeardUtterance) -> Card:
    """The card of memories that bear on what was said, closest first; it names them and repeats none of their words."""
    first = memories[0]
    words = card_words("memories").get(first.kind) or card_words("memories")["other"]
    return Card(
        id=f"{heard.utterance_id}:memory",
        family="memory",
        cue_id=f"memory:{first.id}",
        kind="memory",
        title=words.title,
        say=words.say,
        why=words.why,
        tactic_id="",
        utterance_id=heard.utterance_id,
        quote=heard.text[:_LONGEST_QUOTE],
        confidence=min(first.closeness, 0.99),
        source="memory",
        stage="final",
        at=heard.at,
        memory_ids=tuple(memory.id for memory in memories),
    )


def plan_card(card: Card, answer: PreparedAnswer) -> Card:
    return replace(card, say=answer.reply, why=answer.fallback or card.why)


def prepared_answers(plan: Mapping[str, Any] | None) -> tuple[PreparedAnswer, ...]:
    """The answers in a plan's document that are short enough to be said on the spot."""
    rows: Sequence[Mapping[str, Any]] = (plan or {}).get("objections") or ()
    answers = (
        PreparedAnswer(str(row["objection"]), str(row["reply"]), str(row.get("fallback") or ""))
        for row in rows
        if row.get("objection") and row.get("reply")
    )
    return tuple(one for one in answers if len(one.reply.split()) <= MAX_ANSWER_WORDS)


def newest_plan(tx: Transaction, owner: str, negotiation: str) -> dict[str, Any] | None:
    """The document of a negotiation's newest plan, current or not: its answers name no figure."""
    found = plan_queries.page(tx, owner, negotiation, before=None, limit=1)
    return found[0].document if found else None


def _names(session: NegotiationSession | None) -> frozenset[str]:
    other = session.terms.other_party if session is not None else None
    named = (other.name, other.organisation) if other is not None else ()
    return frozenset(name.casefold() for name in named if name)
