"""Other words for the same thing: groups of phrases that stand for each other, and wider ones that go one way only."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from negotiator.directory.search.text.words import stem, words

Phrase = tuple[str, ...]
LONGEST_PHRASE: Final = 4
_SAME: Final = 0.8
_WIDER: Final = 0.45
"""What another phrase for the same thing, and a wider one, count against the one that was asked for."""


class Synonyms:
    """Phrases by their stems, each with the phrases that may stand for it and what those count."""

    def __init__(
        self,
        groups: Iterable[Sequence[str]] = (),
        wider: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._others: dict[Phrase, dict[Phrase, float]] = {}
        for group in groups:
            phrases = list(dict.fromkeys(map(stems, group)))
            for phrase in phrases:
                self._learn(phrase, phrases, _SAME)
        for text, others in (wider or {}).items():
            self._learn(stems(text), list(map(stems, others)), _WIDER)

    def others(self, phrase: Phrase) -> list[tuple[float, Phrase]]:
        """The other phrases for this one, with their weights; none when nothing is known of it."""
        return [(weight, other) for other, weight in self._others.get(phrase, {}).items()]

    def _learn(self, phrase: Phrase, others: Sequence[Phrase], weight: float) -> None:
        if phrase and len(phrase) <= LONGEST_PHRASE:
            known = self._others.setdefault(phrase, {})
            for other in others:
                if other and other != phrase:
                    known[other] = max(weight, known.get(other, 0))


def stems(text: str) -> Phrase:
    """A phrase as the stems of its words."""
    return tuple(map(stem, words(text)))


def load(path: Path) -> Synonyms:
    """The synonyms of a TOML file: `groups` of every theme, and the table `widen`."""
    themes: dict[str, Any] = tomllib.loads(path.read_text())
    wider = themes.pop("widen", {})
    return Synonyms((group for theme in themes.values() for group in theme["groups"]), wider)
