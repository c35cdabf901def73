"""Other words for the same thing: groups of phrases, any of which stands for all."""

import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from negotiator.directory.search.text.words import stem, words

Phrase = tuple[str, ...]
LONGEST_PHRASE: Final = 4


class Synonyms:
    """Groups of phrases by their stems, in the order they were given."""

    def __init__(self, groups: Iterable[Sequence[str]] = ()) -> None:
        self._others: dict[Phrase, list[Phrase]] = {}
        for group in groups:
            phrases = list(dict.fromkeys(stems(text) for text in group))
            for phrase in phrases:
                if phrase and len(phrase) <= LONGEST_PHRASE:
                    known = self._others.setdefault(phrase, [])
                    known.extend(each for each in phrases if each not in (phrase, *known))

    def others(self, phrase: Phrase) -> list[Phrase]:
        """The other phrases for this one; none when it is in no group."""
        return self._others.get(phrase, [])


def stems(text: str) -> Phrase:
    """A phrase as the stems of its words."""
    return tuple(map(stem, words(text)))


def load(path: Path) -> Synonyms:
    """The groups of a TOML file: every array of strings in it is one; none when there is no such file."""
    if not path.exists():
        return Synonyms()
    return Synonyms(_groups(tomllib.loads(path.read_text())))


def _groups(value: object) -> Iterable[Sequence[str]]:
    if isinstance(value, dict):
        for each in value.values():  # pyright: ignore[reportUnknownVariableType]
            yield from _groups(each)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, list):
        texts = [each for each in value if isinstance(each, str)]  # pyright: ignore[reportUnknownVariableType]
        if texts:
            yield texts
        for each in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _groups(each) if not isinstance(each, str) else ()  # pyright: ignore[reportUnknownArgumentType]
