"""Cards of figures, memories and prepared answers; the cards of phrases are in `cues.policy`.

Every word of a card comes from a template or from the plan, and no card names a limit. A memory is cited by its id,
so an erased or superseded memory is gone from every card.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from negotiator.memory.content_guard import TRUST_BOUND_AGENT
from negotiator.memory.search import MemorySearch
from negotiator.negotiations import plan_queries
from negotiator.negotiations.session import NegotiationSession
from negotiator.store.statement import Transaction
from negotiator.teleprompter.cues.policy import Card, HeardUtterance
from negotiator.teleprompter.figures import FIGURE_ADVICE, OWN_FIGURE_ADVICE, ComparedFigure

if TYPE_CHECKING:
    from negotiator.teleprompter.cues.classifier import Vectors

CARD_LANGUAGES: Final = ("en",)
"""The languages that cards are raised by and written in, as ISO 639-1 codes; cards of figures follow the figures."""
FIGURE_CONFIDENCE: Final = 0.95


def figure_card(held: ComparedFigure, heard: HeardUtterance) -> Card:
    """What to say to this figure; its family is the topic, so that each topic is told apart."""
    advice = FIGURE_ADVICE[held.standing]
    return Card(
        id=f"{heard.utterance_id}:figure:{held.limit.topic}",
        family=f"figure:{held.limit.topic}",
        cue_id=f"figure:{held.limit.topic}",
        kind="manoeuvre",
        title=advice.title,
        say=advice.say,
        why=advice.why,
        tactic_id=advice.tactic_id,
        utterance_id=heard.utterance_id,
        quote=held.figure.quote,
        confidence=FIGURE_CONFIDENCE,
        source="plan",
        stage="final",
        at=heard.at,
    )


def own_figure_card(held: ComparedFigure, heard: HeardUtterance) -> Card | None:
    """The card of a figure that I named myself: only one past my own limit is worth it."""
    if held.standing != "past_limit":
        return None
    card = figure_card(held, heard)
    return replace(
        card,
        kind="coaching",
        title=OWN_FIGURE_ADVICE.title,
        say=OWN_FIGURE_ADVICE.say,
        why=OWN_FIGURE_ADVICE.why,
        tactic_id=OWN_FIGURE_ADVICE.tactic_id,
    )


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
    "A note of yours bears on this",
    "Give me a moment to check that. What makes it important to you?",
    "You wrote something down about this; read it before you answer.",
)
_OF_KIND: Final = {
    "counterparty": _Words(
        "You know something about them here",
        "Help me understand that point. What is behind it for you?",
        "Your own note about them bears on this; read it before you answer.",
    ),
    "lesson": _Words(
        "You have learned from a moment like this",
        "Before I answer: what would you need to see from us?",
        "A lesson of yours is about such a moment; read it before you answer.",
    ),
    "win": _Words(
        "You have closed a deal at this point before",
        "What would have to be in it for you to agree today?",
        "A deal of yours went through here; look at what made it work.",
    ),
}


async def recall_memories(
    recall: MemorySearch,
    owner: str,
    vectors: "Vectors",
    *,
    session: NegotiationSession | None,
    lesser: bool = False,
) -> tuple[RecalledMemory, ...]:
    """The owner's memories that bear on a sentence, given by its vectors; closest first, three at most.

    Active ones that a person or a person's agent stands behind. A memory about somebody else than the other side of the
    bound negotiation bears on nothing here.
    """
    more = LESSER_MODEL_MARGIN if lesser else 0.0
    names = _names(session)
    found: list[RecalledMemory] = []
    for facts, cosine in await recall.near(
        owner, list(vectors), least=MIN_CLOSENESS_COUNTERPARTY + more
    ):
        about = str(facts["counterparty"] or "").casefold()
        if facts["trust"] < TRUST_BOUND_AGENT or (about and names and about not in names):
            continue
        if cosine >= MIN_CLOSENESS + more or about in names:
            found.append(
                RecalledMemory(facts["id"], facts["kind"], facts["text"], round(cosine, 3))
            )
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
