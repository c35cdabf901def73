"""What a figure in a talk is, told by the words around it: an offer, a limit, a quote of a rival, a question …

The words are in `figure_words.toml`, by language. A phrase at the number counts before one elsewhere in its clause, the
longest of those at the number, and of those alike the kind that stands first in `_ORDER`.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal, cast

from negotiator.numbers.words import NUMBER_LANGUAGES, NumberLanguage

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


@dataclass(frozen=True, slots=True)
class FigureSense:
    """What a figure is and whose. `stands` tells whether it is what its owner now offers or would at worst take.

    `is_conditional` tells whether its sentence sets a condition.
    """

    kind: FigureKind
    whose: FigureOwner = "speaker"
    stands: bool = False
    is_phrased: bool = True
    is_conditional: bool = False


OFFER: Final = FigureSense("offer", stands=True)


@dataclass(frozen=True, slots=True)
class LanguageWords:
    """The words of one language.

    `units` tells what a unit measures, `clock` has words of appointments, `listener` those for the person spoken to,
    and `phrases` the kinds of phrases as a tree of their words. `plain` are the words that may stand before, and right
    after, a price that no phrase is about, `verbs` those that make a statement of it. `doubts` are patterns that make a
    figure no offer, in a clause (`clause`), a sentence (`sentence`), a question (`question`), or beside a figure that
    no phrase is about (`told`). `allowed` are taken out before, and `condition` are the words that open a condition.
    """

    units: Mapping[str, str]
    clock: frozenset[str]
    listener: frozenset[str]
    phrases: Mapping[str, Any]
    plain: frozenset[str]
    verbs: frozenset[str]
    doubts: Mapping[str, re.Pattern[str]]


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
    clock, listener, plain, verbs = (frozenset(table[name].split()) for name in ("clock", "listener", "plain", "verbs"))
    doubts = {name: re.compile(rf"(?<!\S)(?:{'|'.join(rows)})(?!\S)") for name, rows in table["doubts"].items()}
    return LanguageWords(units, clock, listener, tree, plain, verbs, doubts)


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
    clause: Sequence[str],
    sentence: Sequence[str],
    *,
    words: LanguageWords,
    is_echo: bool,
    is_sure: bool,
    is_money: bool,
    is_question: bool,
) -> FigureSense:
    """What the figure at `#` of a clause is; the rest of its sentence counts where the clause says nothing.

    `is_sure` tells whether it is surely an amount of money, `is_echo` whether it is repeated in surprise ("500??"),
    `is_money` whether nothing makes it a percentage or days, `is_question` whether its sentence ends as a question.
    A price stands only where words put it on the table or it stands alone, never in a refusal, a comparison, a wish,
    or a question or condition that proposes nothing.
    """
    sense = _phrased_sense(clause, sentence, words, is_echo=is_echo, is_sure=is_sure, is_money=is_money)
    if sense.kind not in ("offer", "limit", "reduction") or not sense.stands:
        return sense
    said, whole = (words.doubts["allowed"].sub("", " ".join(one)) for one in (clause, sentence))
    is_doubted = words.doubts["clause"].search(said) or words.doubts["sentence"].search(whole)
    is_doubted = is_doubted or (not sense.is_phrased and words.doubts["told"].search(whole))
    if is_doubted or (is_question and words.doubts["question"].search(whole)):
        return FigureSense("other")
    return replace(sense, is_conditional=words.doubts["condition"].search(whole) is not None)


def _phrased_sense(
    clause: Sequence[str],
    sentence: Sequence[str],
    words: LanguageWords,
    *,
    is_echo: bool,
    is_sure: bool,
    is_money: bool,
) -> FigureSense:
    """What the phrases around a figure make of it."""
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
        place = clause.index(NUMBER)
        is_alone = not is_money or (
            words.plain.issuperset(clause[: place + 2]) and words.verbs.isdisjoint(clause[place:])
        )
        return FigureSense("offer" if is_alone else "other", stands=is_alone, is_phrased=False)
    if kind == "apart":
        return FigureSense("other")
    if kind == "weak_offer":
        return FigureSense("offer", stands=True, is_phrased=False)
    return FigureSense(cast(FigureKind, kind), stands=kind in ("offer", "limit", "reduction"))


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
