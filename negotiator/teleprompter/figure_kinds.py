"""What a figure in a talk is, told by the words around it: an offer, a limit, a quote of a rival, a question …

The words are in `figure_words.toml`, by language. A phrase at the number counts before one elsewhere in its clause, the
longest of those at the number, and of those alike the kind that stands first in `_ORDER`.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal, cast

from negotiator.number_words import NUMBER_LANGUAGES, NumberLanguage

FigureKind = Literal["offer", "limit", "reduction", "rival", "list_price", "question", "history", "other"]
"""An offer or a limit of the speaker, an amount off a price, a quote of somebody else, the price on the tag, a figure
asked about, one of the past, or one about another matter."""
FigureOwner = Literal["speaker", "listener", "third"]
"""Whose figure it is: of the person who says it, of the person spoken to, or of somebody else."""
FIGURE_LANGUAGES: Final = NUMBER_LANGUAGES
"""The languages that figures are read in, as ISO 639-1 codes."""
NUMBER: Final = "#"
"""What stands for the number in a phrase."""

_ORDER: Final = (
    *("refusal", "limit_negated", "reduction", "question", "rival"),
    *("history", "list_price", "limit", "apart", "offer", "other", "weak_offer"),
)  # fmt: skip
_NEAR: Final = {"question": 6, "rival": 6, "list_price": 3}
_NEAR_OTHERWISE: Final = 2
_NEAR_AFTER: Final = 3
"""How many words from the number a phrase is still at it: before it, and at most after it."""
_OPENING: Final = 2
_BONUS: Final = {"question": 3, "limit_negated": 2}
"""What a phrase of these kinds counts for beside its length."""
_OF_A_SENTENCE: Final = frozenset(["question", "rival", "history", "list_price", "limit"])
_MANY_WORDS: Final = 6


@dataclass(frozen=True, slots=True)
class FigureSense:
    """What a figure is and whose. `stands` tells whether it is what its owner now offers or would at worst take."""

    kind: FigureKind
    whose: FigureOwner = "speaker"
    stands: bool = False
    is_phrased: bool = True


OFFER: Final = FigureSense("offer", stands=True)


@dataclass(frozen=True, slots=True)
class LanguageWords:
    """The words of one language.

    `units` tells what a unit measures, `clock` has words of appointments, `listener` those for the person spoken to,
    and `phrases` the kinds of phrases as a tree of their words.
    """

    units: Mapping[str, str]
    clock: frozenset[str]
    listener: frozenset[str]
    phrases: Mapping[str, Any]


@cache
def language_words(language: NumberLanguage) -> LanguageWords:
    """The words of a language, read once."""
    folder = files("negotiator.teleprompter")
    known = tomllib.loads(folder.joinpath("figure_words.toml").read_text("utf-8"))
    table: dict[str, Any] = known[language]
    units = {word: unit for unit, said in table["units"].items() for word in said.split()}
    tree: dict[str, Any] = {}
    for kind, phrases in table["kinds"].items():
        for phrase in phrases:
            branch = tree
            for word in phrase.split():
                branch = branch.setdefault(word, {})
            branch[""] = min(branch.get("", kind), kind, key=_ORDER.index)
    clock, listener = (frozenset(table[name].split()) for name in ("clock", "listener"))
    return LanguageWords(units, clock, listener, tree)


@cache
def words_of_languages() -> Mapping[str, frozenset[str]]:
    """The words that occur in the phrases of one language only."""
    trees = {language: language_words(language).phrases for language in FIGURE_LANGUAGES}
    said = {language: frozenset(_words_in(tree)) for language, tree in trees.items()}
    rest = {
        language: frozenset[str]().union(*(said[other] for other in said if other != language)) for language in said
    }
    return {language: words - rest[language] for language, words in said.items()}


def _words_in(phrases: Mapping[str, Any]) -> Iterator[str]:
    for word, branch in phrases.items():
        if word not in ("", NUMBER):
            yield word
        if word:
            yield from _words_in(branch)


def sense_of(
    clause: Sequence[str], sentence: Sequence[str], *, words: LanguageWords, is_echo: bool, is_sure: bool
) -> FigureSense:
    """What the figure at `#` of a clause is; the rest of its sentence counts where the clause says nothing.

    `is_sure` tells whether it is surely an amount of money, `is_echo` whether it is repeated in surprise ("500??").
    """
    kind = _kind(clause, words)
    if not kind:
        around = _kind(sentence, words)
        kind = around if around in _OF_A_SENTENCE or (around == "apart" and not is_sure) else ""
    if kind == "refusal" or is_echo:
        return FigureSense("offer", "listener")
    if kind == "limit_negated":
        return FigureSense("limit")
    if kind == "rival":
        return FigureSense("rival", "third")
    if kind == "history":
        whose: FigureOwner = "listener" if words.listener & set(clause) else "speaker"
        return FigureSense("history", whose)
    if not kind:
        spoken_about = len(clause) > _MANY_WORDS and not is_sure
        kind = "other" if spoken_about else "offer"
        return FigureSense(kind, stands=kind == "offer", is_phrased=False)
    if kind == "apart":
        return FigureSense("other")
    if kind == "weak_offer":
        return FigureSense("offer", stands=True, is_phrased=False)
    return FigureSense(cast(FigureKind, kind), stands=kind in ("offer", "limit"))


def _kind(clause: Sequence[str], words: LanguageWords) -> str:
    """The kind of phrase that tells most about the number; empty where no phrase is found."""
    place = clause.index(NUMBER)
    best, least = "", (2, 0, len(_ORDER))
    for start in range(len(clause)):
        branch: Mapping[str, Any] | None = words.phrases
        for at in range(start, len(clause)):
            branch = branch.get(clause[at])
            if branch is None:
                break
            if kind := branch.get(""):
                if kind == "weak_offer" and start == place > _OPENING:
                    continue  # "the man said seventeen and …"
                far = _NEAR.get(kind, _NEAR_OTHERWISE)
                is_far = start - place > min(far, _NEAR_AFTER) or place - at > far
                is_far = is_far or kind == "weak_offer"
                length = 0 if is_far else at - start + _BONUS.get(kind, 0)
                rank = (int(is_far), -length, _ORDER.index(kind))
                if rank < least:
                    best, least = kind, rank
    return best
