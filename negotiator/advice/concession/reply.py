"""What a counter-offer says beside its figures: answers, one reason or one thing given, and thanks for what they gave.

Everything here may be said to the other side, but for `Reply.open`, which tells the user what they have to answer.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final
from zlib import crc32

from negotiator.advice.concession.aims import Aims
from negotiator.advice.concession.reading import Reading
from negotiator.advice.hearing.hear import HeardAct
from negotiator.advice.words.sentences import said
from negotiator.base.search_terms import stemmed_terms
from negotiator.numbers.read import number_runs, number_tokens
from negotiator.terms.issues import Issue, coordinate, same_value, worth_of
from negotiator.terms.plain_text import noun_phrase, sentence
from negotiator.terms.terms import Argument, Terms
from negotiator.terms.wording import Wording

MAX_QUESTIONS: Final = 3
MAX_QUOTE: Final = 140
MAX_AGAIN: Final = 2
MAX_TOLD: Final = 2
"""A fact is told so often: more would only annoy."""
OPEN_KINDS: Final = frozenset({"fact", "timing", "other"})
"""The kinds of questions that a fact answers, or only the user."""
ENOUGH_WORDS: Final = 2
"""A fact answers a question with which it has so many words in common."""
FEW_LETTERS: Final = 3
_DERIVATION: Final = re.compile(r"\b(?:how|calculat\w+|break|basis|hours|cost\w*|exactly|where)\b", re.IGNORECASE)
STEM_WORDS: Final = 4
_AMOUNT: Final = re.compile(r"[0-9](?:[.,]?[0-9]){2,}")
HALF: Final = 0.5
"""The share of a fact's words that tells it in other words."""
FEW_WORDS: Final = 4
"""A note of fewer words is no sentence."""


@dataclass(frozen=True, slots=True)
class AskedOfUs:
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
    `wants_derivation`: they ask how a figure is calculated, and no fact of the user's has a figure. `unanswered` are
    the kinds of questions for which the terms have no answer, such as who decides.
    """

    questions: tuple[AskedOfUs, ...] = ()
    points: tuple[tuple[str, bool], ...] = ()
    complaint: str = ""
    point: str = ""
    is_give: bool = False
    held_out: str = ""
    wants_derivation: bool = False
    unanswered: frozenset[str] = frozenset()

    @property
    def can_give(self) -> bool:
        """Whether something is left that can be given."""
        return any(is_give for _, is_give in self.points)

    @property
    def open(self) -> tuple[AskedOfUs, ...]:
        """The questions without an answer."""
        return tuple(
            one
            for one in self.questions
            if not one.fact
            and (
                one.of in OPEN_KINDS
                or one.of in self.unanswered
                or (one.of == "reason" and (not self.point or self.wants_derivation))
            )
        )


def picker(reading: Reading, terms: Terms) -> Callable[..., str]:
    """Chooses one of several wordings: another one in each talk and turn, and none that was said in this talk.

    Where all were said, one of them again if it is `needed`, else nothing. A wording is known by its first words.
    """
    turn = crc32(terms.title.encode()) + len(reading.own)
    spoken = " ".join(reading.said).lower()

    def pick(options: Sequence[str], *, needed: bool = True) -> str:
        start = turn % len(options)
        turned = [*options[start:], *options[:start]]
        fresh = [one for one in turned if " ".join(one.lower().split()[:STEM_WORDS]) not in spoken]
        return (fresh or (turned if needed else [""]))[0]

    return pick


def reply_to(aims: Aims, reading: Reading, words: Wording) -> Reply:
    """The reply to what they said last."""
    heard, terms = reading.heard, aims.terms
    told = [one for one in terms.arguments if one.shareable]
    spoken = " ".join(reading.said).lower()
    unsaid = [one for one in told if not _was_said(one.fact, reading.said)]
    complaint, offered = heard.act("complain"), {one.quote for one in heard.offers}
    asked_of_us = [act for act in heard.acts if act.name == "ask" and not (act.of == "other" and act.quote in offered)]
    if complaint is not None and complaint.of == "no answer" and not asked_of_us:
        asked_of_us = [replace(complaint, of="other")]
    labels = {issue.name: _words_of(issue) for issue in terms.issues}
    questions = tuple(_question(act, unsaid, labels) for act in asked_of_us)[:MAX_QUESTIONS]
    wants_reason = any(one.of == "reason" for one in questions) or complaint is not None
    held_out = heard.act("if")
    last = reading.their_last or {}
    issues = {aim.issue.name: aim.issue for aim in aims.issues}
    if held_out is not None and any(
        one.quote == held_out.quote
        and all(
            name in last and same_value(issues[name].type, last[name], value) for name, value in one.package.items()
        )
        for one in heard.offers
    ):
        held_out = None  # the trade is their offer itself
    answered = {one.fact for one in questions}
    points = [one for one in _points(aims, reading, words, told) if one[0] not in answered]
    asked = " ".join(act.quote for act in heard.acts if act.name in ("if", "ask", "offer"))
    taken_up = [one for one in points if one[1] and _overlap(one[0], asked) >= ENOUGH_WORDS]
    fitting = taken_up or [one for one in points if not (wants_reason and one[1])] or points
    point, is_give = fitting[0] if fitting else ("", False)
    derives = any(one.of == "reason" and _DERIVATION.search(one.quote) for one in questions)
    known = [one.fact.rstrip(".") for one in told if one.kind == "reason"]
    counted = [one for one in known if _AMOUNT.search(one)]
    facts = [as_sentence(one) for one in counted if derives and spoken.count(one.lower()) < MAX_TOLD][:MAX_AGAIN]
    if facts:
        point = plain_line("move.derivation", facts=facts, pick=picker(reading, terms), voice=words.voice)
    elif known and not spoken and wants_reason and (is_give or not point):
        point = as_sentence(known[0])
    is_give = is_give and point == fitting[0][0]
    return Reply(
        questions,
        (*fitting, *(one for one in points if one not in fitting)),
        "" if complaint is None else complaint.of or "other",
        point,
        is_give,
        "" if held_out is None or taken_up else _end_of(held_out.quote),
        derives and not facts,
        frozenset(_unanswered(aims, reading, words)),
    )


def main_point(terms: Terms) -> Issue | None:
    """The issue that weighs most for the user; None where several or all weigh the same."""
    issues = sorted(terms.issues, key=lambda one: -one.weight)
    return issues[0] if len(issues) > 1 and issues[0].weight > issues[1].weight else None


def alternative_line(aims: Aims, reading: Reading, words: Wording) -> str:
    """The answer to what else the user has, which tells no more than that there is something; once in a talk."""
    details = aims.terms.batna_details
    known = aims.terms.batna is not None or bool(details is not None and details.description)
    line = plain_line("move.another_way", voice=words.voice, known=known)
    return "" if any(line in one for one in reading.said) else line


def _unanswered(aims: Aims, reading: Reading, words: Wording) -> Iterator[str]:
    main = main_point(aims.terms)
    if main is None or any(f" is {noun_phrase(words.label(main))}" in one for one in reading.said):
        yield "priority"
    if not aims.terms.authority.approver:
        yield "decider"
    if not alternative_line(aims, reading, words):
        yield "alternative"


def _question(act: HeardAct, unsaid: Sequence[Argument], labels: Mapping[str, str]) -> AskedOfUs:
    """The question with the fact that answers it: one that shares its words, else the only one on its issue."""
    of = "other" if act.of == "priority" and _AMOUNT.search(act.quote) else act.of or "other"
    if of not in OPEN_KINDS:
        return AskedOfUs(of, _end_of(act.quote))
    shared = {one.fact: _overlap(one.fact, act.quote) for one in unsaid}
    best = max(unsaid, key=lambda one: shared[one.fact], default=None)
    alone = sum(found > 0 for found in shared.values()) == 1
    if best is None or shared[best.fact] < (1 if alone and of == "fact" else ENOUGH_WORDS):
        named = [one for one in unsaid if share_words(labels.get(one.issue or "", ""), act.quote)]
        best = named[0] if len(named) == 1 else None
    return AskedOfUs(of, _end_of(act.quote), as_sentence(best.fact) if best is not None else "")


def _end_of(quote: str) -> str:
    """The end of a long sentence: a question stands there."""
    plain = " ".join(quote.split())
    return plain if len(plain) <= MAX_QUOTE else f"… {plain[-MAX_QUOTE:].partition(' ')[2]}"


def share_words(one: str, other: str) -> bool:
    """Whether two texts have a word of some length in common."""
    return _overlap(one, other) > 0


def _overlap(one: str, other: str) -> int:
    """How many words of some length two texts have in common."""
    return len(_long_words(one) & set(stemmed_terms(other)))


def _long_words(text: str) -> set[str]:
    return {word for word in stemmed_terms(text) if len(word) > FEW_LETTERS}


def _words_of(issue: Issue) -> str:
    return f"{issue.name} {issue.label}".replace("_", " ")


def _was_said(fact: str, said: Sequence[str]) -> bool:
    """Whether one of the user's messages has a fact as it stands, half of its words, or its amount with one of them."""
    words, plain, amounts = _long_words(fact), fact.rstrip(".").lower(), set(_AMOUNT.findall(fact))
    return any(
        plain in one.lower()
        or (len(words) >= FEW_WORDS and len(words & set(stemmed_terms(one))) >= HALF * len(words))
        or (bool(amounts & set(_AMOUNT.findall(one))) and share_words(fact, one))
        for one in said
    )


def _points(aims: Aims, reading: Reading, words: Wording, told: Sequence[Argument]) -> Iterator[tuple[str, bool]]:
    """What was not said yet, in order: reasons, every third time something given, and what the talk itself shows."""
    reasons = [as_sentence(one.fact) for one in told if one.kind == "reason" and _speaks_for(aims, reading, one)]
    # What the values of these issues give is in the offer.
    traded = {aim.issue.name: _words_of(aim.issue) for aim in aims.issues if aim.issue is not aims.price}
    gives = [
        as_sentence(one.fact)
        for one in told
        if one.kind == "give"
        and one.issue not in traded
        and not any(share_words(one.fact, text) for text in traded.values())
    ]
    ordered = list(_interleaved(reasons, gives))
    spoken = " ".join(reading.said).lower()
    if spoken:
        yield from (one for one in ordered if not _was_said(one[0], reading.said))
    else:
        yield from ordered[len(reading.own) :]
    yield from ((one, False) for one in _of_the_talk(aims, reading, words) if one.rstrip(".").lower() not in spoken)


def _speaks_for(aims: Aims, reading: Reading, one: Argument) -> bool:
    """Whether the prices that a fact names are no worse for the user than what they offer themselves."""
    price, last = aims.price, reading.own[-1] if reading.own else aims.opening
    at = None if price is None else coordinate(price.type, last.get(price.name))
    if price is None or at is None or price.range is None:
        return True
    reach = price.range.max - price.range.min
    named = [run.value for run in number_runs(number_tokens(one.fact))]
    prices = [value for value in named if price.range.min - reach / 4 <= value <= price.range.max + reach / 4]
    return not prices or any((value <= at) if price.direction == "lower" else (value >= at) for value in prices)


def _interleaved(reasons: Sequence[str], gives: Sequence[str]) -> Iterator[tuple[str, bool]]:
    pairs = zip_longest(*[iter(reasons)] * 2)
    for two, give in zip_longest(pairs, gives):
        yield from ((one, False) for one in two or () if one is not None)
        if give is not None:
            yield give, True


def as_sentence(fact: str) -> str:
    """A fact as the user typed it, as a sentence."""
    plain = " ".join(fact.split()).rstrip(".;,")
    return plain_line("move.fact", fact=plain) if len(plain.split()) < FEW_WORDS else sentence(plain)


def plain_line(template: str, **facts: object) -> str:
    """The one sentence of a block."""
    return " ".join(said(template, **facts))


def _of_the_talk(aims: Aims, reading: Reading, words: Wording) -> list[str]:
    """Reasons that others can check and the market, and comparable deals."""
    price, baseline = aims.price, aims.terms.baseline
    market = baseline.value if baseline is not None and baseline.kind == "market" else None
    if price is not None and market is not None:
        here, known = (worth_of(price, one) for one in (aims.opening[price.name], market))
        market = market if here is not None and known is not None and known >= here else None
    return said(
        "move.of_the_talk",
        words=words,
        voice=words.voice,
        price=price,
        is_benchmark=any(ground.source.startswith("benchmark:") for ground in aims.grounds),
        market=market,
    )
