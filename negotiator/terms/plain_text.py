"""Short pieces of English: texts of users made fit for a sentence, lists of words, whole sentences, counted nouns."""

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from importlib.resources import files
from typing import Final

from negotiator.base.values import number_text


def word_set(text: str) -> frozenset[str]:
    """The words of a text that lists them."""
    return frozenset(text.split())


_TABLE: Final = files(__package__ or __name__).joinpath("vocabulary.toml").read_text("utf-8")
VOCABULARY: Final = {name: word_set(words) for name, words in tomllib.loads(_TABLE).items()}
"""The sets of words of `vocabulary.toml`."""
_BRACKETS: Final = {"(": ")", "[": "]"}
_LOOSE_END: Final = VOCABULARY["loose_end"]
"""Words that no phrase ends with."""


def tidy(text: str) -> str:
    """A text of a user on one line: no invisible character, underscore, brace or bracket without its partner.

    Blanks are single, and the punctuation at both ends is dropped.
    """
    shown = (" " if _is_blank(mark) else mark for mark in text)
    plain = "".join(mark for mark in shown if unicodedata.category(mark)[0] != "C")
    if not _is_balanced(plain):
        plain = re.sub(r"[()\[\]]", " ", plain)
    line = " ".join(re.sub(r"\(\s*\)|\[\s*\]", " ", plain).split()).strip(" .,:;!?-–—*#|`'\"")
    whole = re.fullmatch(r"[(\[]([^()\[\]]*)[)\]]", line)
    return whole[1].strip() if whole else line


def _is_blank(mark: str) -> bool:
    return mark in "_{}<>\n\t" or unicodedata.category(mark)[0] == "Z"


def _is_balanced(text: str) -> bool:
    still_open: list[str] = []
    for mark in text:
        if mark in _BRACKETS:
            still_open.append(_BRACKETS[mark])
        elif mark in _BRACKETS.values() and (not still_open or still_open.pop() != mark):
            return False
    return not still_open


def cut_at_word(text: str, limit: int) -> str:
    """The text on one line if it fits, else as many whole words of it as fit; no loose "of" or "and" at its end.

    Where no whole word is left so, the text ends with an ellipsis.
    """
    words = text.split()
    plain = " ".join(words)
    if len(plain) <= limit:
        return plain
    kept: list[str] = []
    for word in words:
        if len(" ".join([*kept, word])) > limit:
            break
        kept.append(word)
    while kept and kept[-1].strip(",;:-–(").lower() in _LOOSE_END | {""}:
        kept.pop()
    if not kept:
        return plain[: max(0, limit - 1)].rstrip() + "…"
    cut = " ".join(kept).rstrip(",;:-–( ")
    return cut if _is_balanced(cut) else " ".join(re.sub(r"[()\[\]]", " ", cut).split())


def join_words(parts: Sequence[str]) -> str:
    """A list in a sentence: `a`, `a and b`, `a, b and c`."""
    said = [part for part in parts if part]
    if len(said) < 2:
        return "".join(said)
    return f"{', '.join(said[:-1])} and {said[-1]}"


def sentence(text: str) -> str:
    """The text as a sentence: single blanks, a capital at the start and one mark at the end; empty stays empty."""
    plain = " ".join(text.split())
    plain = re.sub(r"\s+([,.;:!?])", r"\1", plain)
    if not plain:
        return ""
    ended = plain if plain.rstrip("\"'”’)]")[-1:] in tuple(".?!…") else f"{plain.rstrip(',;:')}."
    return capitalise(ended)


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, each with its mark."""
    return [part for part in re.split(r"(?<=[.?!…])\s+", text.strip()) if part]


def capitalise(text: str) -> str:
    """The text with a capital at its start, unless the first word is written like `eBay`."""
    start = next((at for at, mark in enumerate(text) if mark.isalnum()), None)
    if start is None:
        return text
    first = re.match(r"\w*", text[start:])
    if first is None or any(mark.isupper() for mark in first.group()):
        return text
    return text[:start] + text[start].upper() + text[start + 1 :]


# Nouns

COUNT_NOUNS: Final = VOCABULARY["count_nouns"]
"""What prices are per and numbers count, in the singular."""
_IRREGULAR: Final = {"person": "people", "foot": "feet", "man-day": "man-days"}
_SINGULARS: Final = {many: one for one, many in _IRREGULAR.items()}
_LONG_FORMS: Final = {
    "d": "days", "wk": "weeks", "wks": "weeks", "mo": "months", "mos": "months", "mth": "months",
    "mths": "months", "yr": "years", "yrs": "years", "hr": "hours", "hrs": "hours", "h": "hours",
    "min": "minutes", "mins": "minutes", "pcs": "pieces", "pc": "pieces", "percent": "%", "pct": "%",
}  # fmt: skip
_NO_PLURAL: Final = word_set("series bps lbs plus gross basis gas vs")


def singular(word: str) -> str:
    """The singular of a noun: `licences` gives `licence`; a word that is no plural stays."""
    low = word.lower()
    if low in _SINGULARS:
        return _SINGULARS[low]
    if low in _NO_PLURAL or len(low) < 4 or low.endswith(("ss", "us", "is")):
        return word
    if low.endswith("ies") and len(low) > 4:
        return word[:-3] + "y"
    if low.endswith(("xes", "ches", "shes", "sses")):
        return word[:-2]
    return word[:-1] if low.endswith("s") else word


def plural(word: str) -> str:
    """The plural of a noun that `COUNT_NOUNS` has; any other word stays."""
    low = word.lower()
    if low in _IRREGULAR:
        return _IRREGULAR[low]
    if low not in COUNT_NOUNS:
        return word
    if low.endswith("y") and low[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if low.endswith(("x", "ch", "sh", "s")) else "s")


def unit_for(value: Decimal, unit: str) -> str:
    """A unit as it follows a number: `day` after 1, `days` after 30, `days per week` likewise."""
    head, mark, rest = _head(_LONG_FORMS.get(unit.lower(), unit))
    words = head.split(" ")
    words[-1] = singular(words[-1]) if abs(value) == 1 else plural(words[-1])
    return " ".join(words) + mark + rest


def _head(unit: str) -> tuple[str, str, str]:
    """The unit up to the word that its number is of, and the rest: `days`, ` per `, `week`."""
    found = re.search(r"\s*(?:/|\b(?:per|of|a|an|in|for)\b)\s*", unit)
    if found is None or found.start() == 0:
        return unit, "", ""
    return unit[: found.start()], found.group(), unit[found.end() :]


def counted(value: Decimal, unit: str) -> str:
    """A number with its unit: `1 day`, `12,500 units`, `5%`; without a unit the number alone."""
    shown = unit_for(value, unit)
    return f"{number_text(value)}{'' if shown.startswith('%') else ' '}{shown}".rstrip()


_TAKES_ARTICLE: Final = VOCABULARY["takes_article"]
_VOWEL_SOUND: Final = re.compile(r"(?!uni|us[aeu]|eu|one)[aeiou]|hour|honest|[AEFHILMNORSX][A-Z0-9]")


def with_article(noun: str) -> str:
    """A noun phrase with "a" or "an" where its last word is known to take one."""
    if noun.split(" ")[-1].lower() not in _TAKES_ARTICLE or noun.startswith(("a ", "an ", "the ", "no ")):
        return noun
    return f"{'an' if _VOWEL_SOUND.match(noun) else 'a'} {noun}"


_DETERMINERS: Final = VOCABULARY["determiners"]
_REPEATED_MARK: Final = re.compile(r"[.,;:!?][ .,;:!?]*(?=[.,;:!?])")
_BLANK_BEFORE_MARK: Final = re.compile(r" (?=[.,;:!?])")


def noun_phrase(label: str) -> str:
    """A label as a noun in a sentence: `price per seat` becomes `the price per seat`."""
    bare = single_marks(label)
    if not any(map(str.isalnum, bare)):
        return "this point"
    return bare if bare.split(" ")[0].lower() in _DETERMINERS else f"the {bare}"


def single_marks(text: str) -> str:
    """The text with single blanks, and with the last of several marks in a row."""
    plain = _REPEATED_MARK.sub("", " ".join(text.split()))
    return _BLANK_BEFORE_MARK.sub("", plain)
