"""Holds a draft that somebody wrote to the other side against the advised move: what it says wrong, and what it lacks.

The draft is read as the other side would read it. No import of a database or web server.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Final, Literal

from negotiator.advice.concession.reply import AskedOfUs, plain_line, share_words
from negotiator.advice.hearing.figures import Message, MessageFigure, Told, issue_group, read_message
from negotiator.advice.hearing.hear import LIKELY, Heard, HeardFigure, hear
from negotiator.advice.leverage.concessions import LedgerOffer, completed_offers
from negotiator.advice.words.sentences import table
from negotiator.base.search_terms import stemmed_terms
from negotiator.terms.issues import Issue, Package, Scalar, coordinate, same_value
from negotiator.terms.limits import private_figures
from negotiator.terms.plain_text import split_sentences, word_set
from negotiator.terms.terms import Terms
from negotiator.terms.wording import Wording

ProblemKind = Literal["other_figure", "missing_figure", "tells_private", "unanswered", "said_before", "slot", "accepts"]
UNSAFE: Final = frozenset({"other_figure", "tells_private", "slot"})
"""What no wording of a model may have."""
OPEN: Final = ("fact", "timing", "other")
LEAST_WORDS: Final = 5
"""A shorter sentence may be said twice."""
LEAST_STEMS: Final = 2
"""So many words of a private text in one sentence tell it."""
MOST_GAPS: Final = 40
PUBLIC_BASELINES: Final = frozenset({"list_price", "first_quote", "previous_price", "market"})
"""The kinds of baselines that the other side knows as well."""
"""Differences are counted between so many packages."""
NEAR: Final = 40
"""Characters between a figure and the words that call it a limit."""
_ASKING: Final = word_set("how much many get any not let just also i'd ll m s t")
_SLOT: Final = re.compile(r"\[[^\[\]\n]{1,80}\](?!\()|\{[^{}\n]{1,80}\}")
_WORDS: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_END: Final = re.compile(r"[.!?]\s|\n")
_SIGNS: Final = {name: re.compile(rule, re.IGNORECASE) for name, rule in table("reply_check").items()}


@dataclass(frozen=True, slots=True)
class Problem:
    """Something to mend: the words of the draft, or of the question that it leaves open, and what to write instead."""

    kind: ProblemKind
    quote: str
    mend: str


@dataclass(frozen=True)
class HeldMove:
    """The move that a draft is held against.

    `package` is what to offer or accept, None where the talk ends; `beside` are packages that may stand in its place.
    `sayable` are texts whose figures may be said, and `questions` are theirs in the message that the draft answers.
    """

    terms: Terms
    offers: Sequence[LedgerOffer]
    action: Literal["accept", "counter", "walk_away"]
    package: Package | None
    beside: Sequence[Package] = ()
    sayable: Sequence[str] = ()
    questions: Sequence[AskedOfUs] = ()
    utterance: str = ""

    @cached_property
    def words(self) -> Wording:
        return Wording(self.terms)

    @cached_property
    def facts(self) -> list[str]:
        """What the user lets be told."""
        return [one.fact for one in self.terms.arguments if one.shareable]

    @cached_property
    def own(self) -> list[Package]:
        """The user's packages so far, oldest first."""
        return [row.package for row in completed_offers(self.offers) if row.by == "me"]

    @cached_property
    def advised(self) -> list[Package]:
        """The packages that may be offered now."""
        return [*([] if self.package is None else [self.package]), *self.beside]

    @cached_property
    def known(self) -> list[Package]:
        """All packages that both sides know or may know now, those of now first."""
        return [*self.advised, *(row.package for row in reversed(self.offers))]

    @cached_property
    def private(self) -> dict[str, set[Decimal]]:
        return private_figures(self.terms)

    @cached_property
    def move_numbers(self) -> set[Decimal]:
        """The numbers of the advised package and of the words that the engine has for the move."""
        deals = (self.words.deal(one) for one in self.advised)
        return {at for text in (*self.sayable, *deals) for at in numbers(text)}

    @cached_property
    def fact_numbers(self) -> set[Decimal]:
        """The numbers of the user's own arguments, which are no offers."""
        return {at for text in self.facts for at in numbers(text)}

    @cached_property
    def said_numbers(self) -> set[Decimal]:
        """The numbers of what may be said, of what both sides said before, and of a price that both know."""
        said = {at for text in (*self.facts, self.utterance, *self._before) for at in numbers(text)}
        one = self.terms.baseline
        is_public = one is not None and one.value is not None and one.kind in PUBLIC_BASELINES
        return self.move_numbers | said | ({one.value} if is_public and one and one.value else set[Decimal]())

    @property
    def _before(self) -> list[str]:
        return [row.words for row in self.offers[-MOST_GAPS:] if row.words]

    @cached_property
    def open_numbers(self) -> set[Decimal]:
        """Amounts that may be named: known values, their differences, totals, and numbers that may be said."""
        known = {at for one in self.known for issue in self.terms.issues if (at := _at(issue, one)) is not None}
        totals = {one.amount for package in self.known if (one := self.words.total(package)) is not None}
        price = self.terms.price
        prices = {_at(price, one) for one in self.known[:MOST_GAPS] if price is not None} - {None}
        gaps = {abs(one - other) for one in prices for other in prices if one is not None and other is not None}
        return self.said_numbers | known | totals | gaps

    @cached_property
    def public_stems(self) -> set[str]:
        """The stems of what both sides talk about."""
        labels = (self.words.label(one) for one in self.terms.issues)
        known = (self.utterance, self.terms.title, self.words.them, *labels, *self.facts)
        return {stem for text in known for stem in _stems(text)}

    def phrase(self, name: str) -> str:
        """The package's value of an issue in words; empty where it has none."""
        issue = self.terms.issue(name)
        if issue is None or self.package is None or name not in self.package:
            return ""
        return self.words.price(issue, self.package[name])


@dataclass(frozen=True, slots=True)
class _Said:
    """A figure of the draft: as it is written and as it is heard."""

    figure: MessageFigure
    heard: HeardFigure

    @property
    def readings(self) -> set[Decimal]:
        found = self.heard.value
        at = None if found is None or isinstance(found, bool | str) else Decimal(str(found))
        return {*self.figure.readings, *([] if at is None else [at])}

    def is_of(self, issue: Issue) -> bool:
        """Whether it is, or looks like, a value of this issue."""
        if self.heard.issue is not None:
            return self.heard.issue == issue.name
        group = issue_group(issue)
        return self.is_money if group == "money" else group in (self.figure.unit, self.figure.measure)

    @property
    def is_money(self) -> bool:
        return self.figure.measure == "money" or (self.figure.scaled and not self.figure.unit)


@dataclass(frozen=True)
class _Draft:
    text: str
    message: Message
    heard: Heard

    @cached_property
    def figures(self) -> list[_Said]:
        return [_Said(*pair) for pair in zip(self.message.figures, self.heard.figures, strict=True)]

    @cached_property
    def sentences(self) -> list[str]:
        return [one for line in self.text.splitlines() for one in split_sentences(line)]


def check_reply(text: str, held: HeldMove) -> tuple[list[Problem], list[dict[str, Scalar]]]:
    """What to mend in a draft, each thing once, and the packages that it offers."""
    told = _told(held)
    text = text.replace("’", "'")
    draft = _Draft(text, read_message(text, told), hear(text, told))
    found = [
        *_other_figures(draft, held),
        *_missing_figures(draft, held),
        *_private_figures(draft, held),
        *_private_texts(draft, held),
        *_unanswered(draft, held),
        *_said_before(draft, held),
        *(_problem("slot", one.group()) for one in _SLOT.finditer(text)),
        *_accepts(draft, held),
    ]
    offers = [one.package for one in draft.heard.offers if one.chance >= LIKELY]
    return list(dict.fromkeys(found)), offers


def numbers(text: str) -> set[Decimal]:
    """Every value that a number of a text may have."""
    return {at for one in read_message(text, Told(())).figures for at in one.readings}


def _told(held: HeldMove) -> Told:
    """What the other side knows when it reads the draft: its offers are `mine`, and each direction is the opposite."""
    issues = tuple(
        replace(one, direction="lower" if one.direction == "higher" else "higher") for one in held.terms.issues
    )
    theirs = tuple(row.package for row in completed_offers(held.offers) if row.by == "them")
    return Told(issues, theirs, tuple(held.own), held.terms.currency)


def _problem(kind: ProblemKind, quote: str, block: str = "", **facts: object) -> Problem:
    return Problem(kind, quote, plain_line(f"reply_check.{block or kind}", quote=quote, **facts))


def _at(issue: Issue, package: Package) -> Decimal | None:
    return coordinate(issue.type, package.get(issue.name))


def _stems(text: str) -> set[str]:
    return {stem for stem in stemmed_terms(text) if len(stem) > 2} - _ASKING


# Figures


def _other_figures(draft: _Draft, held: HeldMove) -> Iterator[Problem]:
    ends = held.action == "walk_away"
    wrong = {
        (issue.name, str(one.package[issue.name])): one.quote
        for one in draft.heard.offers
        if one.chance >= LIKELY
        for issue in held.terms.issues
        if issue.name in one.package and not _may_offer(draft, held, issue, one.package[issue.name])
    }
    for said in draft.figures:
        heard = said.heard
        if heard.issue is not None and wrong.pop((heard.issue, str(heard.value)), None) is not None:
            if not set(said.figure.readings) & (held.move_numbers | held.fact_numbers):
                yield _problem("other_figure", heard.quote, offer=held.phrase(heard.issue), ends=ends)
        elif _is_unknown_money(said, held) and not _is_private(said, held):
            yield _problem("other_figure", heard.quote, offer="", ends=False)
    for (name, _), quote in wrong.items():
        yield _problem("other_figure", quote, offer=held.phrase(name), ends=ends)


def _may_offer(draft: _Draft, held: HeldMove, issue: Issue, value: Scalar) -> bool:
    """Whether an advised package has this value, or leaves the issue open, or its own value is there in its words."""
    wanted = [one[issue.name] for one in held.advised if issue.name in one]
    if any(same_value(issue.type, one, value) for one in wanted) or (not wanted and held.package is not None):
        return True
    in_words = issue.type in ("enum", "boolean", "date")
    return in_words and any(held.words.phrase(issue, one).lower() in draft.text.lower() for one in wanted)


def _is_unknown_money(said: _Said, held: HeldMove) -> bool:
    issue = held.terms.issue(said.heard.issue or "")
    is_price = issue is not None and issue.type == "money" and said.heard.kind != "count"
    if not said.is_money and not is_price:
        return False
    return not said.readings & held.open_numbers


def _missing_figures(draft: _Draft, held: HeldMove) -> Iterator[Problem]:
    agrees = held.action == "accept" and draft.heard.act("yes") is not None
    if held.package is None or agrees:
        return
    price, changed = held.terms.price, _changed(held)
    missing = [one for one in changed if not _is_named(draft, held, one, held.package[one.name])]
    if price is not None and price.name in held.package:
        is_needed = price in changed or len(missing) == len(changed)
        missing = [price] if is_needed and not _is_named(draft, held, price, held.package[price.name]) else []
    for issue in missing:
        yield _problem("missing_figure", "", offer=held.phrase(issue.name))


def _changed(held: HeldMove) -> list[Issue]:
    """The issues on which the package differs from the user's last one."""
    now, before = held.package or {}, [*held.own[-1:], dict[str, Scalar]()][0]
    named = [one for one in held.terms.issues if one.name in now]
    return [i for i in named if i.name not in before or not same_value(i.type, before[i.name], now[i.name])]


def _is_named(draft: _Draft, held: HeldMove, issue: Issue, value: Scalar) -> bool:
    at = coordinate(issue.type, value)
    if issue.type != "date" and at is not None:
        return any(said.readings & {at, -at} for said in draft.figures)
    if any(same_value(issue.type, one.package.get(issue.name, ""), value) for one in draft.heard.offers):
        return True
    is_label = issue.type == "boolean" or value == "none"
    wanted = set(stemmed_terms(held.words.label(issue) if is_label else held.words.value(issue, value)))
    found = wanted & set(stemmed_terms(draft.text))
    if issue.type == "date":
        wanted = {stem for stem in wanted if stem.isalpha()}
    return bool(found) if is_label else wanted <= found or str(value) in draft.text


# What is private


def _is_private(said: _Said, held: HeldMove) -> bool:
    """Whether it is a private value that nobody named and no advised package has."""
    return any(
        said.is_of(issue)
        and said.readings & held.private.get(issue.name, set())
        and not said.readings & ({_at(issue, one) for one in held.known} | held.said_numbers)
        for issue in held.terms.issues
    )


def _private_figures(draft: _Draft, held: HeldMove) -> Iterator[Problem]:
    for said in draft.figures:
        if _is_private(said, held):
            yield _problem("tells_private", said.heard.quote, "private_figure")
    for match in _SIGNS["limit"].finditer(draft.text):
        for said in draft.figures:
            start, end = sorted((match.span(), (said.figure.start, said.figure.end)))
            between = draft.text[start[1] : end[0]]
            is_value = said.is_money or said.heard.issue is not None
            if is_value and len(between) <= NEAR and not _END.search(between):
                yield _problem("tells_private", draft.text[start[0] : max(start[1], end[1])], "limit_words")


def _private_texts(draft: _Draft, held: HeldMove) -> Iterator[Problem]:
    details = held.terms.batna_details
    private = [("alternative", details.description or "")] if details is not None else []
    private += [("argument", one.fact) for one in held.terms.arguments if not one.shareable]
    for block, text in private:
        stems = _stems(text) - held.public_stems
        figures = set[Decimal]() if block == "alternative" else numbers(text) - held.open_numbers
        for one in draft.sentences:
            if len(stems & _stems(one)) >= LEAST_STEMS or figures & numbers(one):
                yield _problem("tells_private", one, block)


# What it leaves open, and what it says again


def _unanswered(draft: _Draft, held: HeldMove) -> Iterator[Problem]:
    reasons = [one.fact for one in held.terms.arguments if one.shareable and one.kind == "reason"]
    counts = (one for one in draft.figures if one.heard.issue is None or one.heard.kind == "count")
    has_figure, stems = any(not one.is_money for one in counts), set(stemmed_terms(draft.text))
    for one in held.questions:
        if one.fact:
            is_answered = share_words(one.fact, draft.text)
        elif one.of == "reason":
            is_answered = bool(_SIGNS["reason"].search(draft.text)) or any(share_words(i, draft.text) for i in reasons)
        else:
            asks_when = one.of == "timing" or _SIGNS["asks_when"].search(one.quote)
            signs = ["yes_or_no", "deferred", *(["moment"] if asks_when else [])]
            is_answered = one.of not in OPEN or has_figure or any(_SIGNS[sign].search(draft.text) for sign in signs)
            is_answered = is_answered or bool((set(stemmed_terms(one.quote)) - _ASKING) & stems)
        if not is_answered:
            yield _problem("unanswered", one.quote, question=one, fact=next(iter(reasons), ""))


def _said_before(draft: _Draft, held: HeldMove) -> Iterator[Problem]:
    before = [f" {' '.join(_plain(row.words))} " for row in held.offers if row.by == "me" and row.words]
    for one in draft.sentences:
        words = _plain(one)
        if len(words) >= LEAST_WORDS and any(f" {' '.join(words)} " in text for text in before):
            yield _problem("said_before", one)


def _plain(text: str) -> list[str]:
    return _WORDS.findall(text.lower().replace("’", "'"))


def _accepts(draft: _Draft, held: HeldMove) -> Iterator[Problem]:
    if held.action == "accept":
        return
    price = held.terms.price
    offer = held.phrase(price.name) if price is not None else held.words.deal(held.package or {}, with_total=False)
    wanted = {_at(price, one) for one in held.advised[:1] if price is not None}
    for act in draft.heard.acts:
        answers = any(share_words(f"{one.quote} {one.fact}", act.quote) for one in held.questions)
        thanks = _SIGNS["thanks"].search(act.quote)
        if act.name == "yes" and act.chance >= LIKELY and not (answers or thanks or numbers(act.quote) & wanted):
            yield _problem("accepts", act.quote, offer=offer, ends=held.action == "walk_away")
    theirs = {_at(price, row.package) for row in held.offers if price is not None and row.by == "them"} - wanted
    for one in draft.sentences:
        takes = _SIGNS["takes"].search(one) and not _SIGNS["holds_back"].search(one)
        if takes and numbers(one) & theirs and not numbers(one) & wanted:
            yield _problem("accepts", one, offer=offer, ends=held.action == "walk_away")
