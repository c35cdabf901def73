"""What a counter-offer says beside its figures: answers, one reason or one thing given, and thanks for what they gave.

Everything here may be said to the other side, but for `Reply.open`, which tells the user what they have to answer.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import zip_longest
from typing import Final

from negotiator.advice.concession.aims import Aims
from negotiator.advice.concession.reading import Reading
from negotiator.advice.hearing.hear import HeardAct
from negotiator.advice.words.sentences import said
from negotiator.base.search_terms import stemmed_terms
from negotiator.terms.issues import Issue, Package, coordinate, worth_of
from negotiator.terms.plain_text import cut_at_word, sentence
from negotiator.terms.terms import Argument
from negotiator.terms.wording import Wording

MAX_QUESTIONS: Final = 3
MAX_QUOTE: Final = 140
MAX_AGAIN: Final = 2
CLOSE_GAP: Final = Decimal("0.35")
"""From this share of the first distance on, how close both sides are is a reason to go on."""
ANSWERED_BY_THE_OFFER: Final = frozenset({"proposal", "agreement"})
PARRIED: Final = frozenset({"budget", "alternative"})
_SENTENCE: Final = re.compile(
    r"\b(?:i|we|you|it|is|are|was|were|has|have|had|can|could|will|would|does|do|costs?|pays?|\w{2,}ed)\b", re.I
)


@dataclass(frozen=True, slots=True)
class Question:
    """Something that they ask: what for, in their words, and the fact of the user's that answers it, if one does."""

    of: str
    quote: str
    fact: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """The parts of a reply, each once in a talk.

    `points` are the reasons and, marked so, the things that can be given, which were not said yet, the best first.
    `point` is the reason or the thing given that was not said yet; `is_give` tells which, and it is empty where nothing
    is left. `open` are the questions that only the user can answer, and `held_out` is a condition that they set.
    """

    questions: tuple[Question, ...] = ()
    points: tuple[tuple[str, bool], ...] = ()
    complaint: str = ""
    point: str = ""
    is_give: bool = False
    held_out: str = ""

    @property
    def open(self) -> tuple[Question, ...]:
        """The questions without an answer."""
        return tuple(one for one in self.questions if not one.fact and one.of in ("fact", "timing", "other"))


def reply_to(aims: Aims, reading: Reading, words: Wording) -> Reply:
    """The reply to what they said last."""
    heard, terms = reading.heard, aims.terms
    told = [one for one in terms.arguments if one.shareable]
    questions = tuple(_question(act, told) for act in heard.acts if act.name == "ask")[:MAX_QUESTIONS]
    complaint = heard.act("complain")
    wants_reason = any(one.of == "reason" for one in questions) or complaint is not None
    held_out = heard.act("if")
    answered = {one.fact for one in questions}
    points = [one for one in _points(aims, reading, words, told) if one[0] not in answered]
    taken_up = [one for one in points if held_out is not None and one[1] and share_words(one[0], held_out.quote)]
    fitting = taken_up or [one for one in points if not (wants_reason and one[1])] or points
    point, is_give = fitting[0] if fitting else ("", False)
    if wants_reason and (is_give or not point):
        known = [one.fact.rstrip(".") for one in told if one.kind == "reason"]
        again = plain_line("move.again", facts=known[:MAX_AGAIN]) if known else ""
        point, is_give = (
            (again, False) if again and again.lower() not in " ".join(reading.said).lower() else (point, is_give)
        )
    return Reply(
        questions,
        (*fitting, *(one for one in points if one not in fitting)),
        "" if complaint is None else complaint.of or "other",
        point,
        is_give,
        "" if held_out is None or taken_up else cut_at_word(held_out.quote, MAX_QUOTE),
    )


def _question(act: HeardAct, told: Sequence[Argument]) -> Question:
    of = act.of or "other"
    answers = [one for one in told if share_words(one.fact, act.quote)] if of in ("fact", "timing", "other") else []
    return Question(of, cut_at_word(act.quote, MAX_QUOTE), as_sentence(answers[0].fact) if answers else "")


def share_words(one: str, other: str) -> bool:
    """Whether two texts have a word of some length in common."""
    words = {word for word in stemmed_terms(one) if len(word) > 3}
    return bool(words & set(stemmed_terms(other)))


def _points(aims: Aims, reading: Reading, words: Wording, told: Sequence[Argument]) -> Iterator[tuple[str, bool]]:
    """What was not said yet, in order: reasons, every third time something given, and what the talk itself shows."""
    reasons = [as_sentence(one.fact) for one in told if one.kind == "reason"]
    gives = [as_sentence(one.fact) for one in told if one.kind == "give"]
    ordered = list(_interleaved(reasons, gives))
    spoken = " ".join(reading.said).lower()
    if spoken:
        yield from (one for one in ordered if one[0].rstrip(".").lower() not in spoken)
    else:
        yield from ordered[len(reading.own) :]
    yield from ((one, False) for one in _of_the_talk(aims, reading, words) if one.rstrip(".").lower() not in spoken)


def _interleaved(reasons: Sequence[str], gives: Sequence[str]) -> Iterator[tuple[str, bool]]:
    pairs = zip_longest(*[iter(reasons)] * 2)
    for two, give in zip_longest(pairs, gives):
        yield from ((one, False) for one in two or () if one is not None)
        if give is not None:
            yield give, True


def as_sentence(fact: str) -> str:
    """A fact as the user typed it, as a sentence."""
    plain = " ".join(fact.split()).rstrip(".;,")
    return plain_line("move.fact", fact=plain) if not _SENTENCE.search(plain) else sentence(plain)


def plain_line(template: str, **facts: object) -> str:
    """The one sentence of a block."""
    return " ".join(said(template, **facts))


def _of_the_talk(aims: Aims, reading: Reading, words: Wording) -> list[str]:
    """Reasons that others can check and that the talk itself gives: who came further, and how close both are."""
    price, baseline = aims.price, aims.terms.baseline
    market = baseline.value if baseline is not None and baseline.kind == "market" else None
    if price is not None and market is not None:
        here, known = (worth_of(price, one) for one in (aims.opening[price.name], market))
        market = market if here is not None and known is not None and known >= here else None
    mine, theirs = (_prices(price, side) for side in (reading.own, reading.theirs))
    moved = [abs(values[-1] - values[0]) if values else Decimal(0) for values in (mine, theirs)]
    first, now = (abs(mine[at] - theirs[at]) if mine and theirs else Decimal(0) for at in (0, -1))
    return said(
        "move.of_the_talk",
        words=words,
        voice=words.voice,
        price=price,
        alone=len(aims.issues) == 1,
        is_benchmark=any(ground.source.startswith("benchmark:") for ground in aims.grounds),
        market=market,
        moved=moved,
        gap=now if 0 < now <= CLOSE_GAP * first else None,
    )


def _prices(price: Issue | None, packages: Sequence[Package]) -> list[Decimal]:
    values = (coordinate(price.type, package.get(price.name)) for package in packages if price is not None)
    return [at for at in values if at is not None]
