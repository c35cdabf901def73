"""The package that a text offers: figures, and the terms and options that are named beside them.

What is not clearly offered is left out, since a value that was never meant costs a rehearsal more than one that was
missed. Figures are read in each language of `figure_kinds`; other terms are named in English.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from negotiator.base.search_terms import STOP_WORDS
from negotiator.numbers.read import MAX_SPOKEN_CHARACTERS, Token, number_runs, number_tokens
from negotiator.teleprompter.cues.catalogue import Speaker
from negotiator.teleprompter.detected_offers import offered_figures
from negotiator.teleprompter.figures import ComparedFigure, EarlierFigure, read_figures
from negotiator.teleprompter.spoken_figures import find_figures
from negotiator.terms.issues import Issue, Package, Scalar, check_value, coordinate, value_at_coordinate
from negotiator.terms.terms import Terms


def read_offer(
    terms: Terms, text: str, *, earlier: Sequence[tuple[Speaker, Package]] = (), speaker: Speaker = "me"
) -> Package:
    """The values that the speaker clearly offers in a text, in the units of the issues; empty where none is clear.

    `earlier` are the packages of both sides so far, oldest first: they tell what "take 200 off" is taken from, and
    which figures only repeat the other side's. A figure of the other side is offered when words take it ("make it
    12,900 then").
    """
    text = text[:MAX_SPOKEN_CHARACTERS].replace("’", "'")
    named = [
        EarlierFigure(topic, value, side)
        for side, package in earlier
        for topic, said in package.items()
        if (value := coordinate("number", said)) is not None
    ]
    read = read_figures(find_figures(text), terms, speaker, named)
    package: dict[str, Scalar] = {}
    for found in _SENTENCE.finditer(text):
        sentence = found.group()
        own = [one for one in read if found.start() <= one.figure.at < found.end()]
        values = named_values(terms, sentence)
        own = [
            _as_meant(one, sentence, speaker)
            for one in own
            if not _is_cut(one, text) and not _is_reported(one, sentence[: one.figure.at - found.start()])
        ]
        own = [one for one in own if not _is_fact(one, sentence, found.start())]
        if values and (_is_list(sentence) or (_is_proposal(sentence) and "?" not in sentence)):
            own = [_as_listed(one, speaker) for one in own]
        offered = offered_figures(terms, own, speaker=speaker)
        package |= {name: value for name, (value, _) in offered.items()}
        if offered or _is_proposal(sentence):
            package |= values
    return package


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SENTENCE: Final = re.compile(r"(?:[^.!?;\n]|[.!?;](?!\s|$))+[.!?;]*")
_AGREES: Final = _set("fine ok okay deal agreed agree accept works done take yes")
_PROPOSES: Final = re.compile(
    r"\b(?:i|we)(?:'d| would| could| can|'ll| will| offer| propose| suggest| accept| take| agree)\b"
    r"|\blet's\b|\b(?:would|could) you (?:accept|take|agree|do|sign)\b|\bcould we (?:say|agree|do)\b|\bhow about\b",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"[,;:]\s|\s(?:and|but|while|though|because|since|so)\s")
_HOW_THINGS_ARE: Final = re.compile(
    r"(?<!if )\b(?:i|we|you|they)(?:'ve| have|'re| are|'m| am)?(?: been)? "
    r"(?:(?:now|today|currently|already|still|only) )?(?:pay|paying|paid|spend|spent|opened|started|charged)\b"
    r"|\b(?:currently|right now|at the moment|last (?:year|month|time)|until now|so far|used to|old price"
    r"|increase|quote[sd]?|budget|planned|switching)\b"
    r"|\b(?:offers?|proposals?) (?:from|by)\b|\b(?:have|got) (?:an?|another|a better) (?:offer|proposal)\b"
    r"|\bwhy (?:should|would|do|is|are)\b|\b(?:was|were) (?:the|at|our|planned)\b",
    re.IGNORECASE,
)
"""Words of a clause that says how things are or were, such as what is paid today."""
_OPEN_QUESTION: Final = re.compile(
    r"\b(?:what (?!about|if|do you say|would you say)|which|why|how (?:much|far|low|high|soon))\b[^?]*\?", re.IGNORECASE
)
"""A question that no figure in it answers: "what would you need to get to 50?"."""
_MODAL: Final = re.compile(r"\b(?:could|would|can|will|let's)\b|'(?:d|ll)\b", re.IGNORECASE)
_WONDERS: Final = re.compile(
    r"\b(?:know|ask|understand|hear|see|tell|explain|wonder|think about|talk about|remember|check)\b", re.IGNORECASE
)
_REFUSES: Final = re.compile(
    r"\b(?:too|a lot|steep|expensive|more than|impossible|out of|a stretch|unacceptable"
    r"|(?:above|over|beyond|outside) (?:my|our|what))\b",
    re.IGNORECASE,
)
_OPENINGS: Final = _set("then so and well alright at for")
_TELLS: Final = _set("is are was were be been would than has had did does")
_ASKS: Final = re.compile(
    r"\W*(?:(?:and|but|so|ok|okay)\W+)?(?!what about|what if|how about|would|could|can|shall)"
    r"(?:what|why|who|when|where|how|did|do|does|is|are|was|were)\b.*\?\W*$",
    re.IGNORECASE | re.DOTALL,
)
_GROUPED: Final = re.compile(r"\d{1,3},\d{3}(?!\d)")
_GROUP: Final = 1000
_NO: Final = re.compile(r"^\W*no\b[,.]?", re.IGNORECASE)
_YOU_SAID: Final = re.compile(
    r"\byou(?:'ve| have|'d| had)? (?:told|said|say|mentioned|asked|wanted|quoted|wrote|named|promised)\b", re.IGNORECASE
)
_OWN: Final = re.compile(r"\b(?:i|we|i'\w+|we'\w+|my|our|let's|how about|what about|to)\b", re.IGNORECASE)
_OTHERS: Final = re.compile(
    r"\b(?:others?|they|he|she|people|everyone|everybody|someone|somebody|colleagues?|neighbours?|neighbors?|friends?"
    r"|team|compan(?:y|ies)|market|competitors?)\b",
    re.IGNORECASE,
)
_NEGATION: Final = re.compile(r"\b(?:not|never|no|nor|cannot|neither)\b|n't\b", re.IGNORECASE)


def _as_meant(one: ComparedFigure, sentence: str, speaker: Speaker) -> ComparedFigure:
    """The figure as no offer where its sentence refuses it, and as one where it takes a figure of the other side."""
    sense = one.figure.sense
    if one.is_offer and not sense.is_phrased and _ASKS.match(sentence):
        return replace(one, is_offer=False)
    if one.is_offer and _REFUSES.search(sentence) and not (sense.is_phrased and one.kind == "offer"):
        return replace(one, is_offer=False)
    is_repeated = not one.is_offer and one.whose != speaker and one.kind in ("offer", "limit")
    if not is_repeated or sense.whose != "speaker" or not sense.stands:
        return one
    agrees = bool(_AGREES & set(_content_words(sentence)))
    is_plain = "?" not in sentence and not _NEGATION.search(sentence) and not _REFUSES.search(sentence)
    is_taken = (sense.is_phrased or agrees) and is_plain
    return replace(one, whose=speaker, is_offer=True) if is_taken else one


def _is_cut(one: ComparedFigure, text: str) -> bool:
    """Whether "69,120" was read as 69.12 because that is a plausible price."""
    return bool(_GROUPED.match(text, one.figure.at)) and one.value < _GROUP


def _is_reported(one: ComparedFigure, before: str) -> bool:
    """Whether the words before a figure refuse it, or report what somebody else said or pays."""
    said = _YOU_SAID.search(before)
    if said is not None and not _OWN.search(before, said.end()):
        return True
    is_others = bool(_NEGATION.search(_NO.sub("", before)) or _OTHERS.search(before))
    return is_others and not one.figure.sense.is_phrased


def _is_fact(one: ComparedFigure, sentence: str, start: int) -> bool:
    """Whether a figure stands in a clause that says how things are, such as what is paid today."""
    at = one.figure.at - start
    begins = max((mark.end() for mark in _CLAUSE.finditer(sentence) if mark.end() <= at), default=0)
    clause = _CLAUSE.split(sentence[begins:])[0]
    if _OPEN_QUESTION.search(sentence):
        return True
    return _HOW_THINGS_ARE.search(clause) is not None and not _MODAL.search(clause)


def _is_list(sentence: str) -> bool:
    """Whether a sentence is a list of terms that begins with a figure: "62 per seat with a two year term"."""
    words = [word for word in _content_words(sentence) if word not in _AGREES]
    tokens = number_tokens(sentence, "en")
    runs = number_runs(tokens)
    opening = [token.text for token in tokens[: runs[0].first]] if runs else ["?"]
    opens = all(word in _AGREES or not word.isalpha() or word in _OPENINGS for word in opening)
    is_plain = "?" not in sentence and not _NEGATION.search(sentence) and not _REFUSES.search(sentence)
    return opens and is_plain and not _TELLS & set(words)


def _as_listed(one: ComparedFigure, speaker: Speaker) -> ComparedFigure:
    """A figure of a list of terms as an offer."""
    is_open = one.whose == speaker and one.kind in ("other", "history")
    return replace(one, kind="offer", is_offer=True) if is_open else one


def _is_proposal(sentence: str) -> bool:
    """Whether a sentence without a figure of money proposes something."""
    return bool(_PROPOSES.search(sentence) and not _NEGATION.search(sentence) and not _WONDERS.search(sentence))


_UNITS: Final = ("day", "week", "month", "year")
_FACTORS: Final = {("month", "year"): Decimal(12), ("day", "week"): Decimal(7)}
"""How many units of an issue (first) one unit that was said (second) has."""
_TOPICS: Final = tuple(
    frozenset(line.split())
    for line in (
        "contract commitment commit term lease tenancy renewal stay sign signed signing extend",
        "handover pickup pick collect collection delivery deliver",
        "warranty guarantee",
        "remote home wfh",
        "vacation holiday leave",
        "payment paid payable billed billing invoice invoiced",
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


def named_values(terms: Terms, sentence: str) -> dict[str, Scalar]:
    """The counts, options and yes-or-no terms that a proposing sentence names."""
    named: dict[str, Scalar] = {}
    for clause in _clauses(sentence):
        if clause.is_told:
            continue
        is_negated = bool(_NEGATION.search(" ".join(clause.words)))
        found = {} if is_negated else {**_counts(terms, clause), **_options(terms, clause)}
        for issue in terms.issues:
            value = _yes_or_no(issue, clause) if issue.type == "boolean" else found.get(issue.name)
            if value is not None and not check_value(issue, value, "/package"):
                named[issue.name] = value
    return named


def _names(issue: Issue) -> frozenset[str]:
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


def _counts(terms: Terms, clause: _Clause) -> dict[str, Scalar]:
    """Numbers of what an issue counts, each for the issue whose name is nearest."""
    rivals: dict[int, list[tuple[int, Issue, Decimal]]] = {}
    for issue in terms.issues:
        if issue.type not in ("integer", "number"):
            continue
        names, unit = _names(issue), _unit(issue)
        for place, number in clause.numbers.items():
            after = place + 1
            while after < len(clause.words) and after < place + 3 and clause.words[after] in names:
                after += 1
            said = clause.words[after] if after < len(clause.words) else ""
            factor = _factor(unit, said)
            last = after if factor is not None else place
            gap = clause.distance(place, last, names)
            if gap is None and factor is not None and _may_be_length(terms, issue, clause, place):
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


def _may_be_length(terms: Terms, issue: Issue, clause: _Clause, place: int) -> bool:
    """Whether "for 36 months", or "36 months" alone, is about this issue: the length of a contract, or no other."""
    is_alone = len(clause.words) - place == 2 and place == 0
    alike = [one for one in terms.issues if one.type == "integer" and _unit(one) == _unit(issue)]
    is_for = clause.words[place - 1 : place] == ["for"] and bool(_TOPICS[0] & _names(issue))
    return is_for or (is_alone and len(alike) == 1)


def _factor(unit: str, said: str) -> Decimal | None:
    """How many units of an issue one unit that was said has; None where it is no such unit."""
    if not unit or said not in _UNITS:
        return None
    if unit == said:
        return Decimal(1)
    return _FACTORS.get((unit, said))


def _options(terms: Terms, clause: _Clause) -> dict[str, Scalar]:
    """Options that are named in their own words; one of everyday words only beside a word for its issue."""
    found: dict[str, Scalar] = {}
    for issue in terms.issues:
        if issue.type != "enum":
            continue
        names = _names(issue)
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
