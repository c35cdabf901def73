"""Fixed patterns of words, found in a growing sentence in a few hundredths of a millisecond.

The language is that of `negotiations.tactics.cues`: a tree over words, so no text can make matching explode.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from negotiator.negotiations.tactics.cues import (
    Cue as Pattern,
)
from negotiator.negotiations.tactics.cues import (
    CueBook,
    build_book,
    clean,
    cue_book,
    split_words,
)
from negotiator.negotiations.tactics.recognise import negated
from negotiator.teleprompter.cues.cue import Cue, Speaker

QUOTE_LIMIT: Final = 160


@dataclass(frozen=True, slots=True)
class RuleHit:
    """A cue found by its pattern, in these words; `negated` when the speaker takes them back."""

    cue_id: str
    quote: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Rules:
    """The patterns of one speaker's cues."""

    book: CueBook

    def find(self, text: str) -> tuple[RuleHit, ...]:
        """Each cue found once, in the order heard. Only the first 4,000 characters are read.

        A pattern with an `unless` in its sentence is not found; one negated in its own clause is marked, unless the
        cue is also said plainly elsewhere.
        """
        cleaned = clean(text)
        words = split_words(cleaned, self.book.sets)
        found: list[tuple[bool, int, int, str]] = []
        silenced: set[tuple[str, int]] = set()
        for pattern, start, end in self.book.find(words):
            if pattern.strength == "unless":
                silenced.add((pattern.tactic_id, words[start].sentence))
            else:
                found.append((negated(words, start), start, -end, pattern.tactic_id))
        hits: dict[str, RuleHit] = {}
        for taken_back, start, end, cue_id in sorted(found):
            if (cue_id, words[start].sentence) not in silenced:
                quote = " ".join(cleaned[words[start].start : words[-end - 1].end].split())
                hits.setdefault(cue_id, RuleHit(cue_id, quote[:QUOTE_LIMIT], taken_back))
        return tuple(hits.values())


def rules_of(cues: Sequence[Cue], speaker: Speaker) -> Rules:
    """The rules for what this speaker says; a malformed pattern is a ValueError."""
    mine = [cue for cue in cues if cue.speaker == speaker]
    patterns = [Pattern(cue.id, "strong", text) for cue in mine for text in cue.rules]
    patterns += [Pattern(cue.id, "unless", text) for cue in mine for text in cue.unless]
    return Rules(_book(tuple(patterns)))


@lru_cache(maxsize=4)
def _book(patterns: tuple[Pattern, ...]) -> CueBook:
    """The tree of these patterns over the shelf's word sets; made once for the shipped ones, it is never changed."""
    return build_book(patterns, cue_book().sets)
