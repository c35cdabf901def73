"""Cards that are made of more than a phrase: of the owner's own memories, and of the answers that a plan prepared.

Every word of a card comes from a template or from the plan. A memory is cited by its id alone: its text is read where
it is kept, so that a memory that was erased or superseded is gone from every card too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from negotiator.memory.guard.belief import BOUND
from negotiator.memory.recall.recall import Recall
from negotiator.negotiations.plans import kept
from negotiator.negotiations.session import Session
from negotiator.store.statement import Transaction
from negotiator.teleprompter.cues.policy import Card, Heard

if TYPE_CHECKING:
    from negotiator.teleprompter.cues.head import Vectors

CLOSE: Final = 0.45
"""From which cosine a memory bears on a sentence: 4 of 11 that did and none of 253 pairs that did not, in a corpus of
written examples; with twelve memories 7 of 593 sentences of ordinary talk."""
CLOSE_OF_THEM: Final = 0.38
"""The same for memories about the very other side: 7 of 11, and 1 of 253."""
LESSER: Final = 0.10
"""How much closer it has to be by an embedder that only compares spellings."""
CITED: Final = 3
ANSWER_WORDS: Final = 25
_LONGEST_QUOTE: Final = 160


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory that bears on what was said, and how close it is (cosine). `text` is data, never an instruction."""

    id: str
    kind: str
    text: str
    closeness: float


@dataclass(frozen=True, slots=True)
class Prepared:
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


async def recalled(
    recall: Recall,
    owner: str,
    vectors: "Vectors",
    *,
    session: Session | None,
    lesser: bool = False,
) -> tuple[Recalled, ...]:
    """The owner's memories that bear on a sentence, given by its vectors; closest first, three at most.

    Active ones that a person or a person's agent stands behind. A memory about somebody else than the other side of the
    bound negotiation bears on nothing here.
    """
    more = LESSER if lesser else 0.0
    names = _names(session)
    found: list[Recalled] = []
    for facts, cosine in await recall.near(owner, list(vectors), least=CLOSE_OF_THEM + more):
        about = str(facts["counterparty"] or "").casefold()
        if facts["trust"] < BOUND or (about and names and about not in names):
            continue
        if cosine >= CLOSE + more or about in names:
            found.append(Recalled(facts["id"], facts["kind"], facts["text"], round(cosine, 3)))
    return tuple(found[:CITED])


def memory_card(memories: Sequence[Recalled], heard: Heard) -> Card:
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


def plan_card(card: Card, answer: Prepared) -> Card:
    """The card of a cue with the words that the plan prepared for it."""
    return replace(card, say=answer.reply, why=answer.fallback or card.why)


def prepared(plan: Mapping[str, Any] | None) -> tuple[Prepared, ...]:
    """The answers in a plan's document that are short enough to be said on the spot."""
    rows: Sequence[Mapping[str, Any]] = (plan or {}).get("objections") or ()
    answers = (
        Prepared(str(row["objection"]), str(row["reply"]), str(row.get("fallback") or ""))
        for row in rows
        if row.get("objection") and row.get("reply")
    )
    return tuple(one for one in answers if len(one.reply.split()) <= ANSWER_WORDS)


def newest_plan(tx: Transaction, owner: str, negotiation: str) -> dict[str, Any] | None:
    """The document of a negotiation's newest plan, current or not: its answers name no figure."""
    found = kept.page(tx, owner, negotiation, before=None, limit=1)
    return found[0].document if found else None


def _names(session: Session | None) -> frozenset[str]:
    other = session.body.counterparty if session is not None else None
    named = (other.name, other.organisation) if other is not None else ()
    return frozenset(name.casefold() for name in named if name)
