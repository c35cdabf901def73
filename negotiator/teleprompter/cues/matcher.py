"""Finds the cues that an utterance may mean, by phrases and by a classifier over sentence vectors; surest first.

The phrases are in the pattern language of `advice.tactics.phrases`: a tree over words, in linear time.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, Literal

from negotiator.advice.tactics.phrases import (
    PhraseTree,
    PhraseWord,
    TacticPhrase,
    build_phrase_tree,
    built_in_phrases,
    clean_text,
    split_words,
)
from negotiator.advice.tactics.recognition import is_negated
from negotiator.teleprompter.cues.catalogue import NEUTRAL, SPEAKERS, Cue, CueCatalogue, Speaker

if TYPE_CHECKING:
    from negotiator.teleprompter.cues.classifier import CueClassifier, Numbers, Vectors


QUOTE_LIMIT: Final = 160
_INTERJECTIONS: Final = frozenset(
    """oh ah ooh uh um erm er hm hmm mm mmm well so ha haha lol ok okay right yeah yes sorry honey
    mate""".split()  # noqa: SIM905 (a list of them would take a line each)
)


@dataclass(frozen=True, slots=True)
class RuleHit:
    """A cue found by a phrase; `negated` when the phrase is negated in its clause.

    `reply` when it is one only as the answer to a request or an offer, such as a bare "no".
    """

    cue_id: str
    quote: str
    negated: bool = False
    reply: bool = False


def find_rules(text: str, book: PhraseTree) -> tuple[RuleHit, ...]:
    """Each cue found once, in the order heard. Only the first 4,000 characters are read.

    A cue with an `unless` in its sentence or negated in its own clause is marked as negated, unless it is also
    said plainly elsewhere. A `reply` counts at the beginning of a sentence only.
    """
    cleaned = clean_text(text)
    words = split_words(cleaned, book.sets)
    found: list[tuple[bool, bool, int, int, str]] = []
    silenced: set[tuple[str, int]] = set()
    for pattern, start, end in book.find(words):
        reply = pattern.strength == "weak"
        if pattern.strength == "unless":
            silenced.add((pattern.tactic_id, words[start].sentence))
        elif not reply:
            found.append((is_negated(words, start), False, start, -end, pattern.tactic_id))
        elif begins_sentence(words, start):
            found.append((False, True, start, -end, pattern.tactic_id))
    hits: dict[str, RuleHit] = {}
    for taken_back, reply, start, end, cue_id in sorted(found):
        if (cue_id, words[start].sentence) not in silenced:
            quote = " ".join(cleaned[words[start].start : words[-end - 1].end].split())
            hits.setdefault(cue_id, RuleHit(cue_id, quote[:QUOTE_LIMIT], taken_back, reply))
    for cue_id, _ in sorted(silenced):
        hits.setdefault(cue_id, RuleHit(cue_id, "", negated=True))
    return tuple(hits.values())


def begins_sentence(words: Sequence[PhraseWord], start: int) -> bool:
    """Whether only interjections precede a word in its sentence."""
    before = (word for word in words[:start] if word.sentence == words[start].sentence)
    return all(word.keys[0] in _INTERJECTIONS for word in before)


def build_rules(cues: Sequence[Cue], speaker: Speaker) -> PhraseTree:
    """The rules for what this speaker says; a malformed pattern is a ValueError."""
    mine = [cue for cue in cues if cue.speaker == speaker]
    patterns = [TacticPhrase(cue.id, "strong", text) for cue in mine for text in cue.rules]
    patterns += [TacticPhrase(cue.id, "weak", text) for cue in mine for text in cue.replies]
    patterns += [TacticPhrase(cue.id, "unless", text) for cue in mine for text in cue.unless]
    return _book(tuple(patterns))


@lru_cache(maxsize=4)
def _book(patterns: tuple[TacticPhrase, ...]) -> PhraseTree:
    """The tree of these patterns over the word sets of the tactic phrases; cached, never changed."""
    return build_phrase_tree(patterns, built_in_phrases().sets)


MatchSource = Literal["rule", "model", "memory", "plan"]

RULE_CONFIDENCE: Final = 0.5
RULE_FLOOR: Final = 0.5
RULE_BONUS: Final = 0.3
NEUTRAL_SHARE: Final = 0.4
PIECE_WORDS: Final = 24
PIECES: Final = 6
SILENCE_SECONDS: Final = 4.0
MONOLOGUE_SECONDS: Final = 75.0
_STOPS: Final = re.compile(r"[.!?;\n]+")


@dataclass(frozen=True, slots=True)
class CueMatch:
    """A cue that may be meant: confidence (0..1), what found it, and the words.

    `reply` when the words mean the cue only in answer to a request or an offer.
    """

    cue_id: str
    confidence: float
    source: MatchSource
    quote: str
    reply: bool = False


@dataclass(frozen=True, slots=True)
class Matcher:
    """Matches phrases of both speakers; the classifier is an argument, since a user may have their own."""

    catalogue: CueCatalogue
    rules: Mapping[Speaker, PhraseTree]

    def match_rules(self, text: str, speaker: Speaker) -> tuple[CueMatch, ...]:
        """The cues found by phrases alone, in the order heard; fast enough for every partial utterance."""
        return tuple(
            CueMatch(hit.cue_id, RULE_CONFIDENCE, "rule", hit.quote, hit.reply)
            for hit in find_rules(text, self.rules[speaker])
            if not hit.negated
        )

    def match(self, text: str, speaker: Speaker, *, head: "CueClassifier", vectors: "Vectors") -> tuple[CueMatch, ...]:
        """Every cue with some confidence, surest first; `vectors` are those of `pieces(text)`."""
        parts = text_pieces(text)
        if len(parts) != len(vectors):
            raise ValueError("one vector for each piece of the text")
        found = {hit.cue_id: hit for hit in find_rules(text, self.rules[speaker])}
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
            matches.append(CueMatch(label, _bounded(sure), "rule", hit.quote, hit.reply))
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


SILENCE: Final = CueMatch("silence", RULE_CONFIDENCE, "rule", "")
"""The match of a silence of the other side, `SILENCE_SECONDS` long, after a figure of the user."""
MONOLOGUE: Final = CueMatch("talking_too_long", RULE_CONFIDENCE, "rule", "")
"""The match of the user talking for `MONOLOGUE_SECONDS` without a word of the other side."""


def build_matcher(catalogue: CueCatalogue) -> Matcher:
    """The matcher for this catalogue; a malformed rule is a ValueError."""
    cues = tuple(catalogue.cues.values())
    return Matcher(catalogue, {speaker: build_rules(cues, speaker) for speaker in SPEAKERS})


@cache
def _tree() -> PhraseTree:
    content = tomllib.loads(files(__package__ or __name__).joinpath("request_phrases.toml").read_text("utf-8"))
    gives = "|".join(content["gives"].split())
    patterns = tuple(TacticPhrase("request", "strong", text.replace("{gives}", gives)) for text in content["patterns"])
    return build_phrase_tree(patterns, built_in_phrases().sets)


def makes_request(text: str) -> bool:
    """Whether a text asks for a concession, a gift or an agreement, or offers one; a question that begins with a
    figure does."""
    tree = _tree()
    cleaned = clean_text(text)
    words = split_words(cleaned, tree.sets)
    if next(tree.find(words), None) is not None:
        return True
    return any(
        "#" in word.keys and begins_sentence(words, at) and _is_question(cleaned, words, word.sentence)
        for at, word in enumerate(words)
    )


def _is_question(text: str, words: Sequence[PhraseWord], sentence: int) -> bool:
    end = max(word.end for word in words if word.sentence == sentence)
    return text[end:].lstrip().startswith("?")
