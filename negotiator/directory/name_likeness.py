"""Similarity of names that a reader or a model could confuse (UTS 39 §4 confusables, trigrams as in pg_trgm)."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from negotiator.base.search_terms import bare_text

LIKENESS_THRESHOLD: Final = 0.8
_NEAR_PROTECTED: Final = 0.5
_GENERIC_WORDS: Final = frozenset({"mcp", "server", "official", "ai"})
_LOOKALIKES: Final = str.maketrans(
    {
        letter: latin
        for pairs in (
            "аa вb гr еe зe ѕs іi їi јj кk мm нh оo пn рp сc тt уy хx ьb ԁd ԛq ԝw һh ҽe ӏl",  # Cyrillic
            "αa βb γy δd εe ηn ιi κk νv οo ρp σo τt υu χx ωw",  # Greek
            "զq հh ոn ցg օo սu",  # Armenian
            "ɑa ɡg ıi ȷj łl øo đd ħh ŧt ɩi ʋv ƅb ɪi",  # Latin
        )
        for letter, latin in map(tuple, pairs.split())
    }
)
_DIGITS: Final = str.maketrans("0135478|", "oiesatbi")
_PARTS: Final = (("rn", "m"), ("vv", "w"), ("cl", "d"), ("ii", "u"))
_WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class NameLikeness:
    """A tool with a similar name; `share` is the trigram similarity 0 to 1, `protected` a protected name."""

    tool: str
    share: float
    protected: bool


def without_confusables(text: str) -> str:
    """The text in lower case without accents, look-alikes as Latin letters."""
    return bare_text(text).translate(_LOOKALIKES)


def folded_name(name: str) -> str:
    """The name without spelling tricks and generic words such as "mcp" and "server"."""
    words = _WORDS.findall(without_confusables(name))
    significant = [word for word in words if word not in _GENERIC_WORDS] or words
    text = "".join(word.translate(_DIGITS) for word in significant).replace("l", "i")
    for pair, letter in _PARTS:
        text = text.replace(pair.replace("l", "i"), letter)
    return text


def is_disguised(name: str, other: str) -> bool:
    """Whether a name reads like the other only because of look-alike letters or digits, such as `S1ack` and `Slack`."""
    return folded_name(name) == folded_name(other) and _letters(name) != _letters(other)


def _letters(name: str) -> str:
    """The letters and digits of a name in lower case, without generic words."""
    words = _WORDS.findall(unicodedata.normalize("NFC", name).casefold())
    return "".join([word for word in words if word not in _GENERIC_WORDS] or words)


def trigrams(fold: str) -> frozenset[str]:
    """The trigrams of a folded name, its ends padded."""
    padded = f"  {fold} "
    return frozenset(padded[at : at + 3] for at in range(len(padded) - 2))


class TrigramIndex:
    """The names of tools, indexed by their trigrams."""

    def __init__(self) -> None:
        self._folds: dict[str, tuple[str, bool]] = {}
        self._by_trigram: defaultdict[str, set[str]] = defaultdict(set)

    def put(self, tool: str, name: str, *, protected: bool) -> None:
        """Add or replace a tool's name."""
        self.drop(tool)
        fold = folded_name(name)
        self._folds[tool] = (fold, protected)
        for trigram in trigrams(fold):
            self._by_trigram[trigram].add(tool)

    def drop(self, tool: str) -> None:
        fold, _ = self._folds.pop(tool, ("", False))
        for trigram in trigrams(fold) if fold else ():
            self._by_trigram[trigram].discard(tool)

    def like(self, name: str, *, besides: Iterable[str] = ()) -> list[NameLikeness]:
        """Tools with similar names, most similar first.

        At least `LIKENESS_THRESHOLD` similar; a protected name counts from half similar or one edit apart.
        """
        fold = folded_name(name)
        mine, ignored = trigrams(fold), set(besides)
        shared = Counter(tool for each in mine for tool in self._by_trigram.get(each, ()))
        found: list[NameLikeness] = []
        for tool, common in shared.items():
            other, protected = self._folds[tool]
            share = common / (len(mine) + len(trigrams(other)) - common)
            near = protected and (share >= _NEAR_PROTECTED or _one_apart(fold, other))
            if tool not in ignored and (share >= LIKENESS_THRESHOLD or near):
                found.append(NameLikeness(tool, share, protected))
        return sorted(found, key=lambda each: (-each.share, each.tool))


def _one_apart(left: str, right: str) -> bool:
    """Whether one insertion, deletion, replacement or swap separates the texts; below five letters only equal ones."""
    if min(len(left), len(right)) < 5 or abs(len(left) - len(right)) > 1 or left == right:
        return left == right
    start = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    a, b = left[start:], right[start:]
    return a[1:] == b or a == b[1:] or a[1:] == b[1:] or (a[2:] == b[2:] and a[1::-1] == b[:2])
