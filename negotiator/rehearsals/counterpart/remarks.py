"""What the user's words do in a talk besides naming figures: give a reason, ask, press, offend.

The phrases are in `remark_phrases.toml`, in the language of `advice.tactics.phrases`: a tree over words, with a
limited number of steps, so that no text takes long.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal, TypeAlias, cast, get_args

from negotiator.advice.tactics.phrases import (
    PhraseStrength,
    PhraseTree,
    PhraseWord,
    TacticPhrase,
    build_phrase_tree,
    clean_text,
    split_words,
)
from negotiator.advice.tactics.recognition import is_negated

Remark: TypeAlias = Literal[
    "reason",
    "alternative",
    "question_interest",
    "question_limit",
    "question_why",
    "ultimatum",
    "names_tactic",
    "rude",
    "courtesy",
]
REMARKS: tuple[Remark, ...] = get_args(Remark)

DENIABLE: Final[frozenset[str]] = frozenset({"alternative", "ultimatum", "names_tactic", "rude"})
"""Remarks that "not" takes back: "this is not an ultimatum"; a question with "not" is still a question."""
LONG_LIST: Final = 5
"""From this many words on, the alternatives of a phrase become a set."""
QUESTION_MARK: Final = " questionmark?"
"""How a phrase names the mark at the end of a question."""
STATEMENT: Final = "statement"
"""A plain statement of fact. One that is nothing else, and long enough, is given as a reason."""
STATEMENT_WORDS: Final = 5
_STRENGTHS: Final[tuple[tuple[PhraseStrength, str], ...]] = (("strong", "phrases"), ("unless", "unless"))
_APOSTROPHES: Final = str.maketrans(dict.fromkeys("`\u00b4\u2018\u2019\u02bc\u2032\uff07", "'"))
_ELISION: Final = re.compile(r"\b(l|d|j|qu|c|n|m|s|t)'(?=[^\W\d_]{2})", re.IGNORECASE)
"""The article or pronoun that French joins to the next word."""
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def remarks_in(text: str) -> frozenset[Remark]:
    """What is said in a text, beside its figures; nothing for an empty one. The first 4,000 characters are read.

    A sentence of five words or more that tells a fact, and neither proposes nor asks anything, is heard as a reason.
    """
    tree, _ = _phrases()
    words = _words(text)
    found: set[tuple[str, int]] = set()
    silenced: set[tuple[str, int]] = set()
    for phrase, start, _ in tree.find(words):
        place = (phrase.tactic_id, words[start].sentence)
        if phrase.strength == "unless":
            silenced.add(place)
        elif phrase.tactic_id not in DENIABLE or not is_negated(words, start):
            found.add(place)
    lengths = Counter(word.sentence for word in words)
    heard = {(remark, at) for remark, at in found - silenced if remark != STATEMENT}
    taken = {at for _, at in heard}
    stated = {
        at
        for remark, at in found - silenced
        if remark == STATEMENT and at not in taken and lengths[at] >= STATEMENT_WORDS
    }
    remarks = {remark for remark, _ in heard} | ({"reason"} if stated else set[str]())
    return frozenset(cast("Remark", remark) for remark in remarks)


def _words(text: str) -> list[PhraseWord]:
    """The words of a text, spelt as the phrases spell them."""
    tree, spellings = _phrases()
    plain = _ELISION.sub(r"\1 ", clean_text(text.translate(_APOSTROPHES)))
    spelt = _WORD.sub(lambda word: spellings.get(word[0].casefold(), word[0]), plain)
    return split_words(spelt.replace("?", QUESTION_MARK), tree.sets)


@cache
def _phrases() -> tuple[PhraseTree, Mapping[str, str]]:
    """The phrases of each remark, and the spellings of words that are often misspelt or lack an apostrophe."""
    file = files(__package__ or __name__).joinpath("remark_phrases.toml")
    content: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
    sets = {name: tuple(cast("list[str]", members)) for name, members in content["words"].items()}
    phrases = tuple(
        TacticPhrase(remark, strength, _with_sets(text, sets))
        for remark in (*REMARKS, STATEMENT)
        for strength, member in _STRENGTHS
        for text in cast("list[str]", content[remark].get(member, []))
    )
    return build_phrase_tree(phrases, sets), content["spellings"]


def _with_sets(text: str, sets: dict[str, tuple[str, ...]]) -> str:
    """A phrase in which long lists of plain words are sets; `sets` takes those up. It keeps the tree small."""
    elements = text.split()
    for at, element in enumerate(elements):
        members = element.removesuffix("?").split("|")
        if len(members) >= LONG_LIST and all(member.isalpha() for member in members):
            name = "_".join(members)
            sets[name] = tuple(members)
            elements[at] = f"@{name}{'?' * element.endswith('?')}"
    return " ".join(elements)
