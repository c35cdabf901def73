"""Cards of figures, memories and prepared answers; the cards of phrases are in `cues.policy`.

Every word of a card comes from a template or from the plan, and no card names a limit. A memory is cited by its id,
so an erased or superseded memory is gone from every card.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, get_args

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
class FigureAdvice:
    """The words of a card about a figure; `urgent` when a limit is passed."""

    title: str
    say: str
    why: str
    tactic_id: str
    kind: CueKind = "manoeuvre"
    urgent: bool = False


OPENED_PAST_LIMIT: Final = FigureAdvice(
    "They open past your limit",
    "How do you get to that figure?",
    "Ask what it is based on before you answer. Then name your own figure with its reason.",
    "tac_re_anchor",
    urgent=True,
)
PAST_LIMIT: Final = FigureAdvice(
    "That figure is past your limit",
    "I can't do that. What else could change to make it work?",
    "Do not go beyond your limit. Change another term, or leave.",
    "tac_re_anchor",
    urgent=True,
)
STILL_PAST_LIMIT: Final = FigureAdvice(
    "They have moved, still past your limit",
    "Thank you, we are closer. What else can you do to get there?",
    "Let them take the next step too; your figure stays where it is.",
    "tac_hold_position",
    urgent=True,
)
ALLOWED_IN_RETURN: Final = FigureAdvice(
    "You go there only for something in return",
    "I could look at that. What can you do for me in return?",
    "You allowed this in exchange for what you named. Ask for it before you agree.",
    "tac_conditional_concession",
    urgent=True,
)
AT_TARGET: Final = FigureAdvice(
    "That figure meets your target",
    "Good. Shall we write that down, with the rest of what we said?",
    "You have what you wanted. Secure it now, with the other terms.",
    "tac_written_recap",
)
THEY_MOVED: Final = FigureAdvice(
    "They have moved towards you",
    "Thank you. What would you need from me to go a little further?",
    "Answer a move with a smaller one, and only for something in return.",
    "tac_conditional_concession",
)
MY_MOVES: Final = FigureAdvice(
    "You have moved twice, they have not",
    "I have moved. What can you do on your side?",
    "If you move again without an answer, you bid against yourself.",
    "tac_hold_position",
    kind="coaching",
)
MINE_PAST_LIMIT: Final = FigureAdvice(
    "You named a figure past your limit",
    "Let me correct that figure before we go on. May I check it first?",
    "Take it back now, or it counts as your offer.",
    "tac_re_anchor",
    kind="coaching",
    urgent=True,
)
FIGURE_ADVICE: Final = (
    *(OPENED_PAST_LIMIT, PAST_LIMIT, STILL_PAST_LIMIT, ALLOWED_IN_RETURN, AT_TARGET, THEY_MOVED),
    *(MY_MOVES, MINE_PAST_LIMIT),
)


def figure_cards(read: Sequence[ComparedFigure], heard: HeardUtterance, earlier: Sequence[EarlierFigure]) -> list[Card]:
    """The cards of an utterance's figures, worst first and one a topic; `earlier` are the figures before it.

    An offer has a card past a limit, at the target, or when somebody moved: the other side towards the user, or the
    user twice in a row. A first offer inside the limits and a repeated one have none.
    """
    cards: dict[str, Card] = {}
    for one in sorted(read, key=lambda each: _STANDINGS.index(each.standing)):
        topic = one.limit.topic
        advice = _advice(one, earlier, mine=heard.speaker == "me")
        if topic not in cards and advice is not None:
            cards[topic] = _figure_card(one, advice, heard)
    return list(cards.values())


def _advice(one: ComparedFigure, earlier: Sequence[EarlierFigure], *, mine: bool) -> FigureAdvice | None:
    """What to say to a figure after those before it; None when it needs no word."""
    if not one.is_offer or one.value == one.previous:
        return None
    past = one.limit.is_mine and one.standing == "past_limit"
    if past and one.limit.is_allowed(one.value):
        return None if mine else ALLOWED_IN_RETURN
    if mine:
        if past:
            return MINE_PAST_LIMIT
        return MY_MOVES if _moves_in_a_row(one, earlier) >= MOVES_IN_A_ROW else None
    moved = one.previous is not None and _gain(one, one.previous, one.value) > 0
    if past and moved:
        return STILL_PAST_LIMIT
    if past:
        is_first = not any(before.topic == one.limit.topic for before in earlier)
        return OPENED_PAST_LIMIT if is_first else PAST_LIMIT
    if one.limit.is_mine and one.standing == "at_target" and not one.figure.sense.is_conditional:
        return AT_TARGET
    return THEY_MOVED if moved else None


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
    """How much better `now` is for the user than `was`."""
    return now - was if one.limit.wants_more else was - now


def _figure_card(one: ComparedFigure, advice: FigureAdvice, heard: HeardUtterance) -> Card:
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


@dataclass(frozen=True, slots=True)
class _Words:
    title: str
    say: str
    why: str


_OTHERWISE: Final = _Words(
    "You have a note about this",
    "Give me a moment to check that. What makes it important to you?",
    "You wrote this down earlier. Read it before you answer.",
)
_OF_KIND: Final = {
    "counterparty": _Words(
        "You know something about them",
        "Help me understand that point. What is behind it for you?",
        "Your own note about them fits here. Read it before you answer.",
    ),
    "lesson": _Words(
        "You learned something from a moment like this",
        "Before I answer: what would you need to see from us?",
        "One of your lessons is about such a moment. Read it before you answer.",
    ),
    "win": _Words(
        "You have closed a deal at such a point before",
        "What would have to be in it for you to agree today?",
        "Look at what made that deal work.",
    ),
}


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
    words = _OF_KIND.get(first.kind, _OTHERWISE)
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
    """The card of a cue with the words that the plan prepared for it."""
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
