"""What an utterance may mean: patterns and the head asked together, surest first."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from negotiator.negotiations.tactics.phrases import clean_text
from negotiator.teleprompter.cues.catalogue import NEUTRAL, SPEAKERS, CueCatalogue, Speaker
from negotiator.teleprompter.cues.rules import QUOTE_LIMIT, PhraseRules, RuleHit, build_rules

if TYPE_CHECKING:
    from negotiator.teleprompter.cues.classifier import CueClassifier, Numbers, Vectors

MatchSource = Literal["rule", "model", "memory", "plan"]

RULE_CONFIDENCE: Final = 0.5
RULE_FLOOR: Final = 0.5
RULE_BONUS: Final = 0.3
NEUTRAL_SHARE: Final = 0.5
PIECE_WORDS: Final = 24
PIECES: Final = 6
SILENCE_SECONDS: Final = 4.0
MONOLOGUE_SECONDS: Final = 75.0
_STOPS: Final = re.compile(r"[.!?;\n]+")


@dataclass(frozen=True, slots=True)
class CueMatch:
    """A cue that may be meant: how sure (0..1), by what, in which words."""

    cue_id: str
    confidence: float
    source: MatchSource
    quote: str


@dataclass(frozen=True, slots=True)
class Matcher:
    """The shipped rules of both speakers; the heads are handed in, since each user may have an own one."""

    catalogue: CueCatalogue
    rules: Mapping[Speaker, PhraseRules]

    def match_rules(self, text: str, speaker: Speaker) -> tuple[CueMatch, ...]:
        """What the patterns find, in the order heard; fast enough for every partial."""
        return tuple(
            CueMatch(hit.cue_id, RULE_CONFIDENCE, "rule", hit.quote)
            for hit in self.rules[speaker].find(text)
            if not hit.negated
        )

    def match(
        self, text: str, speaker: Speaker, *, head: "CueClassifier", vectors: "Vectors"
    ) -> tuple[CueMatch, ...]:
        """Every cue with some confidence, surest first; `vectors` are those of `pieces(text)`."""
        parts = text_pieces(text)
        if len(parts) != len(vectors):
            raise ValueError("one vector for each piece of the text")
        found = {hit.cue_id: hit for hit in self.rules[speaker].find(text)}
        best: dict[str, CueMatch] = {}
        for part, scores in zip(parts, head.scores(vectors), strict=True):
            for match in _weighed(part, scores, head=head, found=found):
                if (known := best.get(match.cue_id)) is None or known.confidence < match.confidence:
                    best[match.cue_id] = match
        return tuple(sorted(best.values(), key=lambda one: (-one.confidence, one.cue_id)))


def _weighed(
    part: str, scores: "Numbers", *, head: "CueClassifier", found: Mapping[str, RuleHit]
) -> Sequence[CueMatch]:
    neutral = max(float(scores[head.labels.index(NEUTRAL)]), 0.0) * NEUTRAL_SHARE
    matches: list[CueMatch] = []
    for label, score in zip(head.labels, scores.tolist(), strict=True):
        sure = score - neutral
        hit = found.get(label)
        if hit is not None and hit.negated:
            sure -= RULE_BONUS
        elif hit is not None:
            sure = max(sure + RULE_BONUS, RULE_FLOOR - neutral)
            matches.append(CueMatch(label, _bounded(sure), "rule", hit.quote))
            continue
        if label != NEUTRAL and sure > 0:
            matches.append(CueMatch(label, _bounded(sure), "model", part[:QUOTE_LIMIT]))
    return matches


def _bounded(sure: float) -> float:
    return round(min(max(sure, 0.0), 0.99), 3)


def text_pieces(text: str) -> tuple[str, ...]:
    """What is embedded: the sentences, and overlapping windows of the long ones; the last six, at least one.

    A recogniser writes no full stops, and one objection in forty words of talk is lost in their mean.
    """
    found: list[str] = []
    for sentence in _STOPS.split(clean_text(text)):
        words = sentence.split()
        steps = range(0, max(len(words) - PIECE_WORDS // 2, 1), PIECE_WORDS // 2)
        found += [" ".join(words[at : at + PIECE_WORDS]) for at in steps if words]
    return tuple(found[-PIECES:]) or ("",)


def silence_matches(seconds: float, *, after_my_figure: bool) -> tuple[CueMatch, ...]:
    """A silence of theirs as something heard: after a figure of mine it wants to be filled."""
    said_nothing = after_my_figure and seconds >= SILENCE_SECONDS
    return (CueMatch("silence", RULE_CONFIDENCE, "rule", ""),) if said_nothing else ()


def monologue_matches(seconds: float) -> tuple[CueMatch, ...]:
    """How long I have been talking without a word of theirs, as something heard."""
    is_long = seconds >= MONOLOGUE_SECONDS
    return (CueMatch("talking_too_long", RULE_CONFIDENCE, "rule", ""),) if is_long else ()


def build_matcher(catalogue: CueCatalogue) -> Matcher:
    """The matcher for this catalogue; a malformed rule is a ValueError."""
    cues = tuple(catalogue.cues.values())
    return Matcher(catalogue, {speaker: build_rules(cues, speaker) for speaker in SPEAKERS})
