"""What a model may touch: sentences with their numbers hidden. What it may not: anything else.

Every sentence leaves with its numbers replaced by placeholders, so a model never learns one, and comes back checked:
the same fields and placeholders, no number of its own in any spelling, no private word, no address, no markup, not
far longer, and still about the same thing. One fault anywhere and the engine's own words stand, all of them.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from negotiator.negotiations.advisor.numbers import flat, numbers_in

Texts = Mapping[str, str]

MOST_TEXTS: Final = 60
SLACK: Final = 160
"""Characters a wording may be longer than twice the engine's."""
KEPT_SHARE: Final = 0.2
"""The share of the engine's longer words that must come back: less is another subject."""

_HIDDEN = re.compile(r"\{\{n\d{1,3}\}\}")
_BRACES = re.compile(r"[{}]")
_ADDRESS = re.compile(
    r"://|www\.|@|(?<![\w-])[\w-]+\.(?:com|net|org|io|dev|app|ai|co|info|biz|ru|cn|xyz|me|ly|example)\b",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[<>`\\]|\]\(|\*\*|^#|\n")
_PRIVATE = re.compile(
    r"\b(?:batna|walk[\s-]?away (?:price|point|value|is|at)|reservation|bottom line|utilit(?:y|ies)|weights?|floors?|"
    r"(?:my|our) (?:limit|maximum|minimum|alternative|budget)|least (?:we|i) (?:would|can)|most (?:we|i) (?:would|can)|"
    r"system prompt|instructions?)\b",
    re.IGNORECASE,
)
_PROMISES = re.compile(
    r"\b(?:(?:we|i|we'll|i'll) (?:hereby )?(?:accept|agree)|it'?s a deal|you have a deal|guarantee[sd]?)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{4,}")


@dataclass(frozen=True, slots=True)
class Masked:
    """Sentences as they leave the house, and what their placeholders stand for, field by field."""

    texts: dict[str, str]
    hidden: dict[str, dict[str, str]]


class BadWording(Exception):
    """An answer that may not be used; the reason is for the log."""


def mask(texts: Texts) -> Masked:
    """Sentences with every number behind a placeholder; one that holds braces already is not sent."""
    shown: dict[str, str] = {}
    hidden: dict[str, dict[str, str]] = {}
    for name, text in list(texts.items())[:MOST_TEXTS]:
        if _BRACES.search(text):
            continue
        plain, out, behind, at = flat(text), "", dict[str, str](), 0
        for number in numbers_in(plain):
            if number.in_words or number.start < at:
                continue
            key = f"{{{{n{len(behind)}}}}}"
            out += plain[at : number.start] + key
            behind[key] = plain[number.start : number.end]
            at = number.end
        shown[name], hidden[name] = out + plain[at:], behind
    return Masked(shown, hidden)


def unmask(
    sent: Masked, answer: object, *, secrets: Collection[Decimal] = frozenset()
) -> dict[str, str]:
    """The answer's sentences with their numbers back in place; `BadWording` for the first fault of any.

    `secrets` are numbers that must not be in any sentence that did not have them before.
    """
    if not isinstance(answer, dict):
        raise BadWording("the answer is no object")
    given: dict[Any, Any] = answer  # pyright: ignore[reportUnknownVariableType]
    if given.keys() != sent.texts.keys():
        raise BadWording("the answer has other fields")
    worded: dict[str, str] = {}
    for name, original in sent.texts.items():
        text: Any = given[name]
        if not isinstance(text, str):
            raise BadWording(f"{name} is no text")
        clean = _checked(name, text, original)
        for key, number in sent.hidden[name].items():
            clean = clean.replace(key, number)
        known = {r for n in sent.hidden[name].values() for s in numbers_in(n) for r in s.readings}
        if any(n.readings & set(secrets) - known for n in numbers_in(clean)):
            raise BadWording(f"{name} gives a private number away")
        worded[name] = clean
    return worded


def _checked(name: str, text: str, original: str) -> str:
    if len(text) > 2 * len(original) + SLACK:
        raise BadWording(f"{name} is too long")
    clean = " ".join(flat(text).split(" ")).strip()
    if not clean:
        raise BadWording(f"{name} is empty")
    if Counter(_HIDDEN.findall(clean)) != Counter(_HIDDEN.findall(original)):
        raise BadWording(f"{name} has other numbers")
    bare, before = _HIDDEN.sub(" ", clean), _HIDDEN.sub(" ", original)
    if _BRACES.search(bare) or _numbers(bare) - _numbers(before):
        raise BadWording(f"{name} has a number of its own")
    if any(char.isnumeric() for char in bare if char not in before):
        raise BadWording(f"{name} has a number of its own")
    for rule, what in (
        (_ADDRESS, "an address"),
        (_MARKUP, "markup"),
        (_PRIVATE, "a private word"),
        (_PROMISES, "a promise"),
    ):
        if _said(rule, bare) - _said(rule, before):
            raise BadWording(f"{name} has {what}")
    if _kept(bare, before) < KEPT_SHARE:
        raise BadWording(f"{name} is about something else")
    return clean


def _numbers(text: str) -> set[Decimal]:
    """Values said in a text; `one` is a pronoun too often to count."""
    return {
        value for n in numbers_in(text) for value in n.readings if not (n.in_words and value == 1)
    }


def _said(rule: re.Pattern[str], text: str) -> set[str]:
    return {match.group().lower() for match in rule.finditer(text)}


def _kept(text: str, original: str) -> float:
    wanted = {word.lower()[:5] for word in _WORD.findall(original)}
    found = {word.lower()[:5] for word in _WORD.findall(text)}
    return len(wanted & found) / len(wanted) if wanted else 1.0
