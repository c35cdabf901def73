"""Case templates: what is usual in a kind of negotiation, as content that a plan prints and says.

A template holds the interests and objective standards of a case (Fisher and Ury 1981), the objections to expect with
their answers, calibrated questions, labels and a summary of the other side's view (Voss 2016), and what to ask for at
the end. The text is in `case_templates/*.toml`; a word in braces stands for what `CaseWords` holds.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Final, Literal, cast

from pydantic import AfterValidator, BeforeValidator, ConfigDict
from pydantic.dataclasses import dataclass

from negotiator.advice.words.sentences import table
from negotiator.terms.issues import Issue
from negotiator.terms.plain_text import capitalise, noun_phrase, single_marks
from negotiator.terms.terms import BUYING_ROLES, SELLING_ROLES, Terms
from negotiator.terms.voice import Voice, other_side_is_company, voice_of
from negotiator.terms.wording import Wording

CaseSide = Literal["pays", "is_paid", "either"]
Party = Literal["person", "company"]

CASE_ORDER: Final[tuple[str, ...]] = tuple(table("cases")["order"])
"""The templates by name; of two that fit equally well the first is chosen."""
ROLE_SCORE: Final = 5
KIND_SCORE: Final = 2
CATEGORY_SCORE: Final = 3
TITLE_SCORE: Final = 2
LABEL_SCORE: Final = 1

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
_LAST_WORD: Final = re.compile(r"([^\W_]+)\s+$")
_MARKS: Final = (".", ",", ";", ":", "?", "!")
_SENTENCE_END: Final = re.compile(r"[.?!]\s+$")
_SENTENCE_START: Final = re.compile(r"([.?!]\s+)(\w)")
_PHRASES: Final = frozenset({"what", "text"})
"""Members that stand inside a sentence; all others are sentences."""
_KNOWN_MEMBERS: Final = ConfigDict(extra="forbid")


def _folded(text: str) -> str:
    """Lower-case words, without plural endings, between blanks."""
    words = re.findall(r"[^\W_]+", text.casefold())
    return " ".join(
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word for word in words
    )


Words = tuple[Annotated[str, AfterValidator(_folded)], ...]
"""Words that are looked for, folded."""


@dataclass(frozen=True, slots=True, config=_KNOWN_MEMBERS)
class CaseWords:
    """What the words in braces stand for.

    `them` is the name of the other side; `main_issue` is said as it stands in a sentence. A line that needs a
    `standard` is left out without one.
    """

    voice: Voice
    them: str
    main_issue: str
    standard: str | None = None

    def values(self) -> dict[str, str | None]:
        """The text for each word in braces; None where there is none."""
        voice = self.voice
        return {
            "we": voice.i,
            "we_are": f"{voice.i} {voice.am}",
            "us": voice.me,
            "our": voice.my,
            "them": self.them,
            "main_issue": self.main_issue,
            "standard": self.standard,
        }


@dataclass(frozen=True, slots=True, config=_KNOWN_MEMBERS)
class CaseLine:
    """A line that is left out where an issue's label has a word of `unless_issue`."""

    text: str
    unless_issue: Words = ()


def _as_line(value: object) -> object:
    return {"text": value} if isinstance(value, str) else value


Lines = tuple[Annotated[CaseLine, BeforeValidator(_as_line)], ...]
"""Lines; in a file a text alone will do."""


@dataclass(frozen=True, slots=True, config=_KNOWN_MEMBERS)
class CaseStandard:
    """An objective standard: what counts as evidence here, and how to get it."""

    what: str
    how: str


@dataclass(frozen=True, slots=True, config=_KNOWN_MEMBERS)
class CaseQuestion:
    """A question for the other side and what its answer reveals."""

    ask: str
    reveals: str


@dataclass(frozen=True, slots=True, config=_KNOWN_MEMBERS)
class CaseObjection:
    """What the other side is likely to say, the answer, and what to do when the answer does not help."""

    they: str
    answer: str
    fallback: str


@dataclass(frozen=True, slots=True, config=_KNOWN_MEMBERS)
class CaseReaction:
    """What to do and what to say when they call it final, go silent or name a deadline."""

    do: str
    say: str


@dataclass(frozen=True, slots=True, config=_KNOWN_MEMBERS)
class CaseContent:
    """The text of a case. `audit` names what they may think of the user, `recap` is their view in the user's words.

    `closing_asks` cost the other side little and are said to them as well, `gives` cost the user little; both are
    phrases, not sentences. `arguments` are facts that often speak for the user, as they would type them.
    """

    their_interests: tuple[str, ...]
    our_interests: tuple[str, ...]
    arguments: tuple[str, ...]
    standards: tuple[CaseStandard, ...]
    questions: tuple[CaseQuestion, ...]
    objections: tuple[CaseObjection, ...]
    labels: tuple[str, ...]
    audit: str
    recap: str
    opening: str
    closing_asks: Lines
    gives: Lines
    final: CaseReaction
    silence: CaseReaction
    deadline: CaseReaction
    leave: str


@dataclass(frozen=True, slots=True, config=_KNOWN_MEMBERS)
class CaseTemplate:
    """A template and when it fits: the side it is written for, and the roles, kinds and words that choose it.

    `user` and `them` say for whom of both sides it is written: a person, a company, or None for either. A word of
    `also`, in a label only if `also_in_labels`, has to occur besides one of `words` unless the kind is one of `kinds`.
    """

    name: str
    side: CaseSide
    content: CaseContent
    generic: bool = False
    roles: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    words: Words = ()
    also: Words = ()
    also_in_labels: bool = True
    user: Party | None = None
    them: Party | None = None


@cache
def case_templates() -> Mapping[str, CaseTemplate]:
    """The templates by name, in order. Raises ValueError for a template that lacks a member or has an unknown one."""
    folder = files(__package__ or __name__).joinpath("case_templates")
    return {name: parse_template(name, folder.joinpath(f"{name}.toml").read_text("utf-8")) for name in CASE_ORDER}


def parse_template(name: str, page: str) -> CaseTemplate:
    """A template from TOML. Raises ValueError for a member that is missing or unknown."""
    raw = tomllib.loads(page)
    chosen_by = {one.name: raw.pop(one.name) for one in fields(CaseTemplate) if one.name in raw}
    try:
        return CaseTemplate(name=name, content=cast("CaseContent", raw), **chosen_by)
    except ValueError as error:
        raise ValueError(f"case template {name}: {error}") from error


def choose_template(terms: Terms) -> CaseTemplate:
    """The template that fits both sides, role, kind, category, title and labels best; a generic one when none does."""
    side = paying_side(terms)
    user: Party = "person" if voice_of(terms).is_private else "company"
    them: Party = "company" if other_side_is_company(terms) else "person"
    best, most = None, 0
    for template in case_templates().values():
        fits = template.side in {side, "either"} and template.user in {user, None} and template.them in {them, None}
        score = _score(template, terms) if fits else 0
        if score > most:
            best, most = template, score
    return best or case_templates()[{"pays": "generic_buyer", "is_paid": "generic_seller", "either": "generic"}[side]]


def paying_side(terms: Terms) -> CaseSide:
    """Whether the user pays or is paid: by the role, else by the direction of the price."""
    if terms.role in BUYING_ROLES:
        return "pays"
    if terms.role in SELLING_ROLES:
        return "is_paid"
    if terms.price is None:
        return "either"
    return "pays" if terms.price.direction == "lower" else "is_paid"


def fill_case(content: CaseContent, words: CaseWords, issues: Iterable[Issue] = ()) -> CaseContent:
    """The content with its words filled in, without the lines that lack one or do not suit the issues.

    A text that is no line of a list is empty where it lacks a word.
    """
    labels = [_folded(f"{issue.name} {issue.label}") for issue in issues]

    def texts(part: Any) -> dict[str, str | None]:
        names = (one.name for one in fields(part))
        return {name: _filled(getattr(part, name), words, starts=name not in _PHRASES) for name in names}

    def line(one: Any) -> Any:
        """A line of a list with its words filled in; None where it lacks one."""
        if isinstance(one, str):
            return _filled(one, words, starts=True)
        if isinstance(one, CaseLine):
            is_named = any(_has(label, word) for label in labels for word in one.unless_issue)
            text = None if is_named else _filled(one.text, words, starts=False)
            return text and CaseLine(text)
        parts = texts(one)
        return None if None in parts.values() else replace(one, **parts)

    def filled(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(found for one in cast("tuple[Any, ...]", value) if (found := line(one)))
        if isinstance(value, CaseReaction):
            return CaseReaction(**{name: text or "" for name, text in texts(value).items()})
        return line(value) or ""

    return replace(content, **{one.name: filled(getattr(content, one.name)) for one in fields(content)})


def case_words(wording: Wording, *, standard: str | None = None) -> CaseWords:
    """The words of a negotiation."""
    main = noun_phrase(wording.label(main_issue(wording.terms)))
    them = single_marks(wording.them)
    return CaseWords(wording.voice, them, main, standard)


def main_issue(terms: Terms) -> Issue:
    """The issue that a talk is mostly about: the price, else the one that weighs most."""
    return terms.price or max(terms.issues, key=lambda issue: issue.weight)


def _score(template: CaseTemplate, terms: Terms) -> int:
    """How well a template fits; 0 when it does not."""
    if template.generic:
        return 0
    measured = terms.baseline.kind.removesuffix("_price") if terms.baseline else ""
    subject = _folded(f"{terms.category} {terms.kind} . {measured}".replace("other", " "))
    labels = _folded(" . ".join(f"{issue.name} . {issue.label}" for issue in terms.issues))
    places = ((subject, CATEGORY_SCORE), (_folded(terms.title), TITLE_SCORE), (labels, LABEL_SCORE))
    hits = sum(points for text, points in places for word in template.words if _has(text, word))
    kind = terms.kind in template.kinds
    if template.also:
        where = places if template.also_in_labels else places[:2]
        if not kind and not any(_has(text, word) for text, _ in where for word in template.also):
            return 0
        kind = kind and hits > 0
    return hits + ROLE_SCORE * (terms.role in template.roles) + KIND_SCORE * kind


def _has(text: str, words: str) -> bool:
    return f" {words} " in f" {text} "


def _filled(text: str, words: CaseWords, *, starts: bool) -> str | None:
    """A text with its words filled in, with a capital where a sentence `starts`; None when a word is missing."""
    values = words.values()
    said, end = "", 0
    for found in (*_PLACEHOLDER.finditer(text), None):
        literal = text[end : found.start() if found else len(text)]
        literal = _SENTENCE_START.sub(lambda m: m[1] + m[2].upper(), literal)
        opens = starts and (not said or _SENTENCE_END.search(said) is not None)
        said = _joined(said, capitalise(literal) if opens else literal)
        if found is None:
            break
        value = values[found[1]]
        if value is None:
            return None
        opens = starts and (not said or _SENTENCE_END.search(said) is not None)
        said = _joined(said, capitalise(value) if opens else value)
        end = found.end()
    return " ".join(said.split())


def _joined(text: str, part: str) -> str:
    """Both texts as one: a word or a mark that ends the first and begins the second is written once."""
    last = _LAST_WORD.search(text)
    if last and re.match(rf"{re.escape(last[1])}\b", part, re.IGNORECASE):
        text = text[: last.start()]
    if text[-1:] in _MARKS and part[:1] in _MARKS:
        text = text[:-1]
    return text + part
