"""Terms that a sentence names in words: counts with their unit, options, and what is included or left out."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from negotiator.base.search_terms import STOP_WORDS
from negotiator.numbers.read import Token, number_runs, number_tokens
from negotiator.terms.issues import Issue, Scalar, check_value, coordinate, value_at_coordinate


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEGATION: Final = re.compile(r"\b(?:not|never|no|nor|cannot|neither)\b|n't\b", re.IGNORECASE)
_UNITS: Final = ("day", "week", "month", "year")
_FACTORS: Final = {("month", "year"): Decimal(12), ("day", "week"): Decimal(7)}
"""How many units of an issue (first) one unit that was said (second) has."""
_TOPICS: Final = tuple(
    frozenset(line.split())
    for line in (
        "contract commitment commit term lease tenancy renewal stay sign signed signing extend",
        "handover pickup pick collect collection delivery deliver transport haul haulage freight shipping",
        "warranty guarantee",
        "remote home wfh",
        "vacation holiday leave",
        "payment paid payable billed billing invoice invoiced instalment",
        "notice",
        "revision change round",
    )
)
"""Words that say what a number or an option is about, beside those of the issue itself."""
_SAYS_LITTLE: Final = STOP_WORDS | _set(
    """included include including allowed provided free possible per time total number day week month year daily
    weekly monthly quarterly yearly annual annually this next end base minimum maximum yes no none standard basic
    full"""
)
_REASONS: Final = _set("because although though since unless while whereas")
_STATES: Final = _set("currently current already had was were been present used last")
_ARTICLES: Final = _set("the a an set of your my those these all full both")
_WITH: Final = _set("with including include incl plus and add adding get need want")
_WITHOUT: Final = _set("without no minus excluding")
_IS: Final = _set("is are was were look need have has cost")
_INCLUDED: Final = _set("included include thrown too")
_REACH: Final = 5
"""How many words lie at most between a number or an option and the word that says what it is about."""
_NUMBER: Final = "#"


@dataclass(frozen=True, slots=True)
class _Clause:
    """A part of a sentence: its words in the singular, with "#" for a number, and the numbers by their place."""

    words: Sequence[str]
    numbers: Mapping[int, Decimal]

    @property
    def is_told(self) -> bool:
        """Whether it gives a reason, or tells what was or is, instead of proposing."""
        return bool(_REASONS & set(self.words[:1]) or _STATES & set(self.words))

    def places_of(self, phrase: Sequence[str]) -> list[int]:
        """Where the words of a phrase stand in a row."""
        size = len(phrase)
        return [
            at for at in range(len(self.words) - size + 1) if size and list(self.words[at : at + size]) == list(phrase)
        ]

    def distance(self, first: int, last: int, names: frozenset[str]) -> int | None:
        """The words between a span and the nearest of these names; None where none is near or a number is between."""
        near = [at for at, word in enumerate(self.words) if word in names and not first <= at <= last]
        inside = any(word in names for word in self.words[first : last + 1])
        gaps = [range(at + 1, first) if at < first else range(last + 1, at) for at in near]
        free = [len(gap) for gap in gaps if not any(place in self.numbers for place in gap)]
        least = min([0] if inside else free, default=_REACH)
        return least if least < _REACH else None


_SINGULAR: Final = _set("plus this whereas always perhaps")


def _singular(word: str) -> str:
    plain = word.removesuffix("'s").removesuffix("'").replace("tire", "tyre")
    is_plural = plain not in _SINGULAR and len(plain) > 3 and plain.endswith("s") and not plain.endswith("ss")
    return plain[:-1] if is_plural else plain


def _content_words(text: str) -> list[str]:
    return [_singular(word) for word in re.findall(r"[^\W_]+(?:'[^\W\d_]+)?", text.lower())]


def _clauses(sentence: str) -> Iterator[_Clause]:
    tokens = number_tokens(sentence, "en")
    runs = {run.first: run for run in number_runs(tokens)}
    words: list[str] = []
    numbers: dict[int, Decimal] = {}
    at = 0
    while at < len(tokens):
        token = tokens[at]
        run = runs.get(at)
        if token.kind == "stop" or token.text in _REASONS or token.text == "but":
            yield _Clause(words, numbers)
            words, numbers = [], {}
        if run is not None or token.text == "one":
            numbers[len(words)] = run.value if run is not None else Decimal(1)
            words.append(_NUMBER)
        elif token.text in ("a", "an") and _is_amount(tokens[at + 1 : at + 3]):
            numbers[len(words)] = Decimal(1)
            words.append(_NUMBER)
        elif token.kind != "stop":
            words.append(_singular(token.text))
        at = run.last if run is not None else at + 1
    yield _Clause(words, numbers)


def _is_amount(after: Sequence[Token]) -> bool:
    """ "a year of warranty"."""
    said = [_singular(token.text) for token in after]
    return len(said) > 1 and said[0] in _UNITS and said[1] == "of"


def named_values(issues: Sequence[Issue], sentence: str) -> dict[str, Scalar]:
    """The counts, options and yes-or-no terms that a proposing sentence names."""
    named: dict[str, Scalar] = {}
    for clause in _clauses(sentence):
        if clause.is_told:
            continue
        is_negated = bool(_NEGATION.search(" ".join(clause.words)))
        found = {} if is_negated else {**_counts(issues, clause), **_options(issues, clause)}
        for issue in issues:
            value = _yes_or_no(issue, clause) if issue.type == "boolean" else found.get(issue.name)
            if value is not None and not check_value(issue, value, "/package"):
                named[issue.name] = value
    return named


def topic_words(issue: Issue) -> frozenset[str]:
    """The words that say that something is about this issue."""
    said = re.split(r"\b(?:per|a|each)\b", issue.label.lower())[0]
    own = frozenset(_content_words(f"{issue.name.replace('_', ' ')} {said}")) - _SAYS_LITTLE
    if "payment" in own:
        own -= {"term"}
    return own.union(*(topic for topic in _TOPICS if topic & own))


def _unit(issue: Issue) -> str:
    """The unit of time that an issue is counted in; empty where it counts something else."""
    said = re.split(r"\b(?:per|a|each)\b", issue.label.lower())[0]
    words = _content_words(f"{issue.unit or ''} {said} {issue.name.replace('_', ' ')}")
    return next((word for word in words if word in _UNITS), "")


def _counts(issues: Sequence[Issue], clause: _Clause) -> dict[str, Scalar]:
    """Numbers of what an issue counts, each for the issue whose name is nearest."""
    rivals: dict[int, list[tuple[int, Issue, Decimal]]] = {}
    for issue in issues:
        if issue.type not in ("integer", "number"):
            continue
        names, unit = topic_words(issue), _unit(issue)
        for place, number in clause.numbers.items():
            after = place + 1
            while after < len(clause.words) and after < place + 3 and clause.words[after] in names:
                after += 1
            said = clause.words[after] if after < len(clause.words) else ""
            factor = _factor(unit, said)
            last = after if factor is not None else place
            gap = clause.distance(place, last, names)
            if gap is None and factor is not None and _may_be_length(issues, issue, clause, place):
                gap = _REACH
            counts = factor is not None if unit else after > place + 1 or said in names
            if counts and gap is not None:
                value = number * (factor or 1)
                rivals.setdefault(place, []).append((gap, issue, value))
    found: dict[str, tuple[int, Scalar]] = {}
    for claims in rivals.values():
        gap, issue, value = min(claims, key=lambda claim: claim[0])
        is_shared = sum(claim[0] == gap for claim in claims) > 1
        known = found.get(issue.name)
        if is_shared or (known is not None and known[0] <= gap):
            continue
        at = coordinate(issue.type, value)
        if at is not None:
            found[issue.name] = (gap, value_at_coordinate(issue.type, at))
    return {name: value for name, (_, value) in found.items()}


def _may_be_length(issues: Sequence[Issue], issue: Issue, clause: _Clause, place: int) -> bool:
    """Whether "for 36 months", or "36 months" alone, is about this issue: the length of a contract, or no other."""
    is_alone = len(clause.words) - place == 2 and place == 0
    alike = [one for one in issues if one.type == "integer" and _unit(one) == _unit(issue)]
    is_for = clause.words[place - 1 : place] == ["for"] and bool(_TOPICS[0] & topic_words(issue))
    return is_for or (is_alone and len(alike) == 1)


def _factor(unit: str, said: str) -> Decimal | None:
    """How many units of an issue one unit that was said has; None where it is no such unit."""
    if not unit or said not in _UNITS:
        return None
    if unit == said:
        return Decimal(1)
    return _FACTORS.get((unit, said))


def _options(issues: Sequence[Issue], clause: _Clause) -> dict[str, Scalar]:
    """Options that are named in their own words; one of everyday words only beside a word for its issue."""
    found: dict[str, Scalar] = {}
    for issue in issues:
        if issue.type != "enum":
            continue
        names = topic_words(issue)
        said: dict[tuple[str, ...], Scalar] = {}
        for option in issue.options:
            phrase = _content_words(str(option.value))
            own = [word for word in phrase if word not in _SAYS_LITTLE]
            for place in clause.places_of(phrase):
                is_near = clause.distance(place, place + len(phrase) - 1, names) is not None
                is_paid = clause.words[place - 1 : place] == ["pay"] and "payment" in names
                if is_near or is_paid or (own and len(phrase) > 1):
                    said[tuple(phrase)] = option.value
        longest = max(said, key=len, default=())
        if longest and all(" ".join(one) in " ".join(longest) for one in said):
            found[issue.name] = said[longest]
    return found


def _yes_or_no(issue: Issue, clause: _Clause) -> bool | None:
    """True for "with winter tyres", False for "without winter tyres", None where neither is said."""
    label = [word for word in _content_words(issue.label) if word not in _SAYS_LITTLE]
    name = [word for word in _content_words(issue.name.replace("_", " ")) if word not in _SAYS_LITTLE]
    for phrase in (label, name):
        for place in clause.places_of(phrase):
            before = [word for word in clause.words[:place] if word not in _ARTICLES]
            after = clause.words[place + len(phrase) : place + len(phrase) + 4]
            if before[-1:] and before[-1] in _WITHOUT:
                return False
            if _NEGATION.search(" ".join(clause.words)):
                return None
            is_included = bool(_INCLUDED & set(after))
            is_described = bool(after) and after[0] in _IS and not is_included
            is_thrown_in = before[-2:] in (["throw", "in"], ["threw", "in"])
            is_asked = before[-1:] == ["have"] and bool({"can", "could"} & set(before[-3:]))
            is_with = is_asked or (bool(before) and before[-1] in _WITH)
            if not is_described and (is_with or is_thrown_in or is_included):
                return True
    return None
