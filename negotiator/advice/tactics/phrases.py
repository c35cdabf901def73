"""Phrases that reveal a tactic: a small pattern language on words, matched with a tree.

A phrase is a sequence of elements: a word, `a|b` for alternatives, a trailing `?` for an optional word, `...` for up to
four words in between, `#` for a number, `%` for a percentage, and `@set` for any word of a named set. Contractions are
expanded in phrases and in texts. Only the tokeniser uses a regular expression, and the number of matching steps is
limited, so no input takes long.
"""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal, NamedTuple, cast, get_args

from negotiator.advice.tactics.tactic import FAMILIES
from negotiator.numbers.read import COUNT_WORDS

PhraseStrength = Literal["strong", "weak", "unless"]

MAX_TEXT_CHARACTERS = 4000
MAX_WORDS = 1000
MAX_MATCH_STEPS = 4000
MAX_GAP_WORDS = 4

_TOKEN = re.compile(
    r"(?P<word>[^\W\d_]+(?:'[^\W\d_]+)?)|(?P<num>\d+(?:[.,]\d+)*[km]?\b\s?%?)|(?P<stop>[.!?;\n])|(?P<comma>[,:\u2013\u2014])"
)
_WHOLE = {
    "cannot": ("can", "not"),
    "can't": ("can", "not"),
    "won't": ("will", "not"),
    "shan't": ("shall", "not"),
    "i'm": ("i", "am"),
    **{f"{word}nt": (word, "not") for word in ("do", "does", "did", "is", "could", "would", "should")},
    "cant": ("can", "not"),
    "wont": ("will", "not"),
    "im": ("i", "am"),
    "ill": ("i", "will"),
    "ive": ("i", "have"),
    "thats": ("that", "is"),
    "let's": ("let", "us"),
    "gonna": ("going", "to"),
    "gotta": ("got", "to"),
    "wanna": ("want", "to"),
    "percent": ("%",),
}
_ENDINGS = {"n't": "not", "'re": "are", "'ll": "will", "'ve": "have", "'d": "would"}
_Elements = tuple[list[tuple[str, ...]], ...]
"""The elements of a phrase: for each the words of its alternatives, none where it may be missing."""
_GAP: Final = [("...",)]
_IS = frozenset(["that", "it", "he", "she", "there", "here", "what", "who", "where", "how", "this", "everything"])


@dataclass(frozen=True, slots=True)
class PhraseWord:
    """One normalised word: the tree keys that match it, its position in the text, its sentence and its clause."""

    keys: tuple[str, ...]
    start: int
    end: int
    sentence: int
    clause: int


@dataclass(frozen=True, slots=True)
class TacticPhrase:
    """One phrase of one tactic; an `unless` phrase suppresses the tactic in its sentence."""

    tactic_id: str
    strength: PhraseStrength
    text: str


@dataclass(frozen=True, slots=True)
class _PhraseNode:
    """What may follow the words so far: at once, after a gap, and the phrases that end here."""

    children: Mapping[str, "_PhraseNode"]
    over_gap: Mapping[str, "_PhraseNode"]
    ends: tuple[TacticPhrase, ...]


@dataclass(frozen=True, slots=True)
class PhraseTree:
    """All phrases as one tree over words, with the named word sets. Equal branches are one object."""

    cues: tuple[TacticPhrase, ...]
    sets: dict[str, tuple[str, ...]]
    root: _PhraseNode

    def find(self, words: Sequence[PhraseWord]) -> Iterator[tuple[TacticPhrase, int, int]]:
        """Every phrase found, with the index of its first word and the index after its last.

        A match never crosses a sentence. The search stops after `MAX_MATCH_STEPS` steps; 4,000 characters of ordinary
        speech need about a third of them.
        """
        left = MAX_MATCH_STEPS
        for at, word in enumerate(words):
            open_ends = [(child, at + 1) for key in word.keys if (child := self.root.children.get(key))]
            while open_ends and left:
                left -= 1
                node, i = open_ends.pop()
                for cue in node.ends:
                    yield cue, at, i
                _step(node, i, words, sentence=word.sentence, push=open_ends.append)


def _step(
    node: _PhraseNode,
    i: int,
    words: Sequence[PhraseWord],
    *,
    sentence: int,
    push: Callable[[tuple[_PhraseNode, int]], None],
) -> None:
    """Push the nodes that are reachable from word `i`: by the word itself or over a gap."""
    last = min(i + MAX_GAP_WORDS + 1, len(words)) if node.over_gap else min(i + 1, len(words))
    for j in range(i, last):
        if words[j].sentence != sentence:
            return
        for key in words[j].keys:
            if (child := node.over_gap.get(key)) is not None:
                push((child, j + 1))
            if j == i and (child := node.children.get(key)) is not None:
                push((child, j + 1))


def clean_text(text: str) -> str:
    """At most `MAX_TEXT_CHARACTERS` characters in Unicode form NFKC, without invisible characters."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text[:MAX_TEXT_CHARACTERS]
    folded = ""
    for at in range(0, MAX_TEXT_CHARACTERS, 500):
        if len(folded) < MAX_TEXT_CHARACTERS:  # one character can unfold into eighteen
            folded += unicodedata.normalize("NFKC", text[at : min(at + 500, MAX_TEXT_CHARACTERS)])
    folded = folded[:MAX_TEXT_CHARACTERS].replace("\u2019", "'").replace("\u2018", "'")
    return "".join(
        char for char in folded if char == "\n" or unicodedata.category(char) not in {"Cf", "Cc", "Cs", "Co", "Cn"}
    )


def split_words(text: str, sets: dict[str, tuple[str, ...]]) -> list[PhraseWord]:
    """The first `MAX_WORDS` words of cleaned text, contractions expanded, with their positions.

    English has about 750 words in 4,000 characters.
    """
    classes = _classes(tuple(sets.items()))
    words: list[PhraseWord] = []
    sentence = clause = 0
    for token in _TOKEN.finditer(text):
        if len(words) >= MAX_WORDS:
            break
        if token.lastgroup == "stop":
            sentence, clause = sentence + 1, clause + 1
        elif token.lastgroup == "comma":
            clause += 1
        else:
            for part in _parts(token):
                if part in {"but", "because", "so"}:
                    clause += 1
                keys = (part, *classes.get(part, ()))
                words.append(PhraseWord(keys, token.start(), token.end(), sentence, clause))
    return words


def _parts(token: re.Match[str]) -> tuple[str, ...]:
    raw = token.group().casefold()
    if token.lastgroup == "num":
        return ("%",) if raw.endswith("%") else ("#",)
    if raw in _WHOLE:
        return _WHOLE[raw]
    if "'" not in raw:
        return (raw,)
    for ending, meaning in _ENDINGS.items():
        if raw.endswith(ending) and len(raw) > len(ending):
            return (raw.removesuffix(ending), meaning)
    stem, _, _ = raw.partition("'")
    return (stem, "is") if raw.endswith("'s") and stem in _IS else (stem,)


@cache
def _classes(sets: tuple[tuple[str, tuple[str, ...]], ...]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {word: ["#"] for word in COUNT_WORDS}
    for name, members in sets:
        for member in members:
            found.setdefault(member, []).append(f"@{name}")
    return {word: tuple(keys) for word, keys in found.items()}


@cache
def built_in_phrases() -> PhraseTree:
    """The built-in phrases, read once. Raises ValueError for a malformed phrase or an unknown word set."""
    sets = {name: tuple(cast("list[str]", members)) for name, members in _read_phrases("words").items()}
    cues = [
        TacticPhrase(tactic_id, cast("PhraseStrength", strength), text)
        for family in FAMILIES
        for tactic_id, rows in _read_phrases(family).items()
        for strength, texts in cast("dict[str, list[str]]", rows).items()
        if strength != "they"
        for text in texts
    ]
    return build_phrase_tree(tuple(cues), sets)


@cache
def ordinary_phrases() -> PhraseTree:
    """The phrases of sentences that tell of somebody else's move or accept, read once."""
    cues = [
        TacticPhrase(kind, "strong", text)
        for kind, texts in _read_phrases("ordinary").items()
        for text in cast("list[str]", texts)
    ]
    return build_phrase_tree(tuple(cues), built_in_phrases().sets)


@cache
def built_in_descriptions() -> Mapping[str, str]:
    """What the other side is doing, by tactic id, as it follows "they seem to be": `setting a deadline`."""
    return {tactic_id: str(rows["they"]) for family in FAMILIES for tactic_id, rows in _read_phrases(family).items()}


def _read_phrases(name: str) -> dict[str, Any]:
    folder = files(__package__ or __name__).joinpath("recognition_phrases")
    return tomllib.loads(folder.joinpath(f"{name}.toml").read_text("utf-8"))


def build_phrase_tree(cues: tuple[TacticPhrase, ...], sets: dict[str, tuple[str, ...]]) -> PhraseTree:
    """The tree of these phrases, in the language described above; ValueError for a malformed one."""
    elements: list[_Elements] = []
    for cue in cues:
        if cue.strength not in get_args(PhraseStrength):
            raise ValueError(f"{cue.tactic_id}: unknown strength {cue.strength}")
        found = tuple(_choices(element, cue, sets) for element in cue.text.split())
        if all(() in choices or choices == _GAP for choices in found):
            raise ValueError(f"cue of {cue.tactic_id} matches nothing at all: {cue.text!r}")
        elements.append(found)
    return PhraseTree(cues, sets, _TreeBuilder(cues, elements).root())


class _Place(NamedTuple):
    """How far a path through the tree has come in one phrase."""

    phrase: int
    element: int
    """The next one."""
    rest: tuple[str, ...] = ()
    """The words of the element before it that are still to come."""


class _TreeBuilder:
    """Builds each node of a tree once for all the paths that lead to the same places of phrases.

    The alternatives of an element lead to one node unless other phrases tell them apart, so that the tree is not
    multiplied by each `a|b|c`. This is the subset construction of an automaton.
    """

    def __init__(self, cues: Sequence[TacticPhrase], elements: Sequence[_Elements]) -> None:
        self._cues = cues
        self._elements = elements
        self._nodes: dict[tuple[_Place, ...], _PhraseNode] = {}

    def root(self) -> _PhraseNode:
        return self._node(tuple(_Place(number, 0) for number in range(len(self._cues))))

    def _node(self, places: tuple[_Place, ...]) -> _PhraseNode:
        """The node of these places, which are sorted."""
        if (known := self._nodes.get(places)) is not None:
            return known
        next_words: dict[str, set[_Place]] = {}
        over_gap: dict[str, set[_Place]] = {}
        ends: dict[TacticPhrase, None] = {}
        for place in places:
            for is_over_gap, word, behind in self._steps(place):
                (over_gap if is_over_gap else next_words).setdefault(word, set()).add(behind)
            if self._may_end(place):
                ends[self._cues[place.phrase]] = None
        node = self._nodes[places] = _PhraseNode(
            {word: self._node(tuple(sorted(found))) for word, found in next_words.items()},
            {word: self._node(tuple(sorted(found))) for word, found in over_gap.items()},
            tuple(ends),
        )
        return node

    def _steps(self, place: _Place) -> Iterator[tuple[bool, str, _Place]]:
        """The words that may follow: whether over a gap, the word, and the place behind it."""
        number, at, rest = place
        if rest:
            yield False, rest[0], _Place(number, at, rest[1:])
            return
        is_over_gap = False
        for choices in self._elements[number][at:]:
            at += 1
            for steps in choices:
                if steps and choices != _GAP:
                    yield is_over_gap, steps[0], _Place(number, at, steps[1:])
            is_over_gap = is_over_gap or choices == _GAP
            if choices != _GAP and () not in choices:
                return

    def _may_end(self, place: _Place) -> bool:
        """Whether only optional words and gaps are left."""
        left = self._elements[place.phrase][place.element :]
        return not place.rest and all(() in choices or choices == _GAP for choices in left)


def _choices(element: str, cue: TacticPhrase, sets: dict[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    if element in {"...", "#", "%"}:
        return [(element,)]
    may_miss = element.endswith("?")
    choices: list[tuple[str, ...]] = [()] if may_miss else []
    for word in element.removesuffix("?").split("|"):
        if word.startswith("@") or word in {"#", "%"}:
            if word.startswith("@") and word[1:] not in sets:
                raise ValueError(f"{cue.tactic_id}: no word set {word}")
            choices.append((word,))
        else:
            token = _TOKEN.fullmatch(word)
            if token is None or token.lastgroup != "word":
                raise ValueError(f"{cue.tactic_id}: not a word: {word!r}")
            choices.append(_parts(token))
    return choices
