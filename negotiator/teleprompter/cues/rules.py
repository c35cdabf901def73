"""Fixed patterns of words, found in a growing sentence in a few hundredths of a millisecond.

The language is that of `negotiations.tactics.cues`: a tree over words, so no text can make matching explode.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from negotiator.negotiations.tactics.phrases import (
    PhraseTree,
    build_phrase_tree,
    built_in_phrases,
    clean_text,
    split_words,
)
from negotiator.negotiations.tactics.phrases import TacticPhrase as Pattern
from negotiator.negotiations.tactics.recognition import is_negated
from negotiator.teleprompter.cues.catalogue import Cue, Speaker

QUOTE_LIMIT: Final = 160


@dataclass(frozen=True, slots=True)
class RuleHit:
    """A cue found by its pattern, in these words; `negated` when the speaker takes them back."""

    cue_id: str
    quote: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class PhraseRules:
    """The patterns of one speaker's cues."""

    book: PhraseTree

    def find(self, text: str) -> tuple[RuleHit, ...]:
        """Each cue found once, in the order heard. Only the first 4,000 characters are read.

        A pattern with an `unless` in its sentence is not found; one negated in its own clause is marked, unless the
        cue is also said plainly elsewhere.
        """
        cleaned = clean_text(text)
        words = split_words(cleaned, self.book.sets)
        found: list[tuple[bool, int, int, str]] = []
        silenced: set[tuple[str, int]] = set()
        for pattern, start, end in self.book.find(words):
            if pattern.strength == "unless":
                silenced.add((pattern.tactic_id, words[start].sentence))
            else:
                found.append((is_negated(words, start), start, -end, pattern.tactic_id))
        hits: dict[str, RuleHit] = {}
        for taken_back, start, end, cue_id in sorted(found):
            if (cue_id, words[start].sentence) not in silenced:
                quote = " ".join(cleaned[words[start].start : words[-end - 1].end].split())
                hits.setdefault(cue_id, RuleHit(cue_id, quote[:QUOTE_LIMIT], taken_back))
        return tuple(hits.values())


def build_rules(cues: Sequence[Cue], speaker: Speaker) -> PhraseRules:
    """The rules for what this speaker says; a malformed pattern is a ValueError."""
    mine = [cue for cue in cues if cue.speaker == speaker]
    patterns = [Pattern(cue.id, "strong", text) for cue in mine for text in cue.rules]
    patterns += [Pattern(cue.id, "unless", text) for cue in mine for text in cue.unless]
    return PhraseRules(_book(tuple(patterns)))


@lru_cache(maxsize=4)
def _book(patterns: tuple[Pattern, ...]) -> PhraseTree:
    """The tree of these patterns over the shelf's word sets; made once for the shipped ones, it is never changed."""
    return build_phrase_tree(patterns, built_in_phrases().sets)
