"""Recognises the moves of the other side in what they say.

Phrases and, where sentence vectors are given, a classifier decide together. The text is untrusted: it is truncated,
normalised and compared with fixed phrases and sentences. It cannot change a rule or a threshold.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from math import exp
from typing import TYPE_CHECKING, Final, cast

from negotiator.advice.tactics.phrases import (
    PhraseWord,
    TacticPhrase,
    built_in_phrases,
    clean_text,
    ordinary_phrases,
    split_words,
)
from negotiator.advice.tactics.tactic import FAMILIES

if TYPE_CHECKING:
    from negotiator.advice.tactics.sentence_classifier import TacticClassifier, Vectors

ORDINARY: Final = ""
"""The label of talk that is no tactic."""
MAX_QUOTE_CHARACTERS = 160
MIN_CONFIDENCE = 0.6
PIECE_WORDS: Final = 40
MAX_PIECES: Final = 12
ORDINARY_SHARE: Final = 0.5
"""Share of the score of ordinary talk that a tactic's score loses."""
PHRASE_BONUS: Final = 0.3
DENIED_LOSS: Final = 0.2
LEAD: Final = 0.05
"""A tactic that lies further behind the surest one of the same piece is not named."""
SLOPE: Final = 15.0
MIDPOINT: Final = 0.23
REPORTING: Final = frozenset(
    f"tac_{name}"
    for name in (
        *("good_cop_bad_cop", "divide_and_conquer", "phantom_anchor", "higher_authority"),
        *("phantom_bidder", "competitive_bid", "last_minute_demand", "guilt_trip"),
    )
)
"""Tactics that consist in telling of somebody else."""
_SENTENCE_ENDS: Final = re.compile(r"(?<=[.!?;])\s+|\n+")
_WEIGHT = {"strong": 0.8, "weak": 0.4}
_CEILING = 0.97
_REACH = 5
_NEGATORS = frozenset({"not", "never", "without", "nobody", "neither"})
_ASKS = frozenset({"why", "if", "unless"})
_TURNS_TO_QUESTION = frozenset({"we", "you", "i", "it", "they", "that", "only", "just"})


@dataclass(frozen=True, slots=True)
class RecognisedTactic:
    """A recognised move: the tactic, the quoted words, the confidence (0 to 1) and the phrases that matched."""

    tactic_id: str
    quote: str
    confidence: float
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _PhraseHit:
    cue: TacticPhrase
    start: int
    end: int
    halved: bool = False


@dataclass(frozen=True, slots=True)
class _FoundPhrases:
    """The moves by phrases, also the unsure ones, and the tactics whose phrases are negated."""

    moves: Mapping[str, RecognisedTactic]
    denied: frozenset[str]


def recognise_tactics(
    utterance: str, vectors: "Vectors | None" = None, classifier: "TacticClassifier | None" = None
) -> tuple[RecognisedTactic, ...]:
    """The moves in one utterance of the other side, highest confidence first.

    Only the first 4,000 characters are read. `vectors` are those of `recognition_pieces(utterance)`, and `classifier`
    weighs them; without both, phrases alone decide. A single weak phrase is not enough then, two are. A phrase that is
    negated in its own clause does not count ("we are not saying this is our final offer"); one in a sentence that tells
    of somebody else or accepts counts half.
    """
    text = clean_text(utterance)
    found = _find_phrases(text)
    if vectors is None or classifier is None:
        kept = [move for move in found.moves.values() if move.confidence >= MIN_CONFIDENCE]
    else:
        pieces = recognition_pieces(utterance)
        if len(pieces) != len(vectors):
            raise ValueError("one vector for each piece of the utterance")
        kept = _weigh(pieces, classifier.scores(pieces, vectors), found)
    return tuple(sorted(kept, key=lambda move: (-move.confidence, move.tactic_id)))


def recognition_pieces(utterance: str) -> tuple[str, ...]:
    """What is embedded of an utterance: sentences that follow one another, together up to `PIECE_WORDS` words each.

    A longer sentence is cut. There is at least one piece, and at most `MAX_PIECES`.
    """
    pieces: list[list[str]] = [[]]
    for sentence in _SENTENCE_ENDS.split(clean_text(utterance)):
        words = sentence.split()
        if len(pieces[-1]) + len(words) > PIECE_WORDS:
            pieces.append([])
        for at in range(0, len(words), PIECE_WORDS):
            if at:
                pieces.append([])
            pieces[-1] += words[at : at + PIECE_WORDS]
    return tuple(" ".join(words) for words in pieces if words)[:MAX_PIECES] or ("",)


def _find_phrases(text: str) -> _FoundPhrases:
    book = built_in_phrases()
    words = split_words(text, book.sets)
    hits: dict[tuple[str, int], dict[str, _PhraseHit]] = {}
    silenced: set[tuple[str, int]] = set()
    denied: set[str] = set()
    for cue, start, end in book.find(words):
        place = (cue.tactic_id, words[start].sentence)
        if cue.strength == "unless":
            silenced.add(place)
        elif is_negated(words, start):
            denied.add(cue.tactic_id)
        elif cue.text not in (seen := hits.setdefault(place, {})):
            seen[cue.text] = _PhraseHit(cue, start, end)
    told = {words[start].sentence for _, start, _ in ordinary_phrases().find(words)} if hits else ()
    kept: dict[str, dict[str, _PhraseHit]] = {}
    for (tactic_id, sentence), found in hits.items():
        if (tactic_id, sentence) not in silenced:
            halved = sentence in told and tactic_id not in REPORTING
            marked = {name: replace(hit, halved=halved) for name, hit in found.items()}
            kept[tactic_id] = marked | kept.get(tactic_id, {})
    moves = {one: _heard(one, list(hits.values()), words, text=text) for one, hits in kept.items()}
    return _FoundPhrases(moves, frozenset(denied - moves.keys()))


def _weigh(
    pieces: Sequence[str], scores: Sequence[Mapping[str, float]], found: _FoundPhrases
) -> list[RecognisedTactic]:
    """The moves whose score by meaning and phrases makes them likely; a phrase of the move is its quote.

    A piece has the surest move, and others that come close to it.
    """
    best: dict[str, RecognisedTactic] = {}
    for piece, by_label in zip(pieces, scores, strict=True):
        weighed = _weighed(by_label, found)
        least = max(weighed.values(), default=0.0) - LEAD
        for tactic_id, score in weighed.items():
            sure = round(min(_chance(score), _CEILING), 3)
            known = best.get(tactic_id)
            if score < least or sure < MIN_CONFIDENCE or (known and known.confidence >= sure):
                continue
            phrase = found.moves.get(tactic_id)
            best[tactic_id] = (
                RecognisedTactic(tactic_id, piece[:MAX_QUOTE_CHARACTERS], sure)
                if phrase is None
                else replace(phrase, confidence=sure)
            )
    return list(best.values())


def _weighed(by_label: Mapping[str, float], found: _FoundPhrases) -> dict[str, float]:
    """The scores of the tactics after ordinary talk and phrases."""
    ordinary = ORDINARY_SHARE * max(by_label[ORDINARY], 0.0)
    weighed: dict[str, float] = {}
    for tactic_id, score in by_label.items():
        if tactic_id in found.moves:
            score += PHRASE_BONUS * found.moves[tactic_id].confidence
        elif tactic_id in found.denied:
            score -= DENIED_LOSS
        if tactic_id != ORDINARY:
            weighed[tactic_id] = score - ordinary
    return weighed


def _chance(score: float) -> float:
    """The chance that a move of this score is rightly named, fitted to sentences that were no examples."""
    return 1.0 / (1.0 + exp(-SLOPE * (score - MIDPOINT)))


def _heard(tactic_id: str, hits: Sequence[_PhraseHit], words: Sequence[PhraseWord], *, text: str) -> RecognisedTactic:
    doubt = 1.0
    for hit in hits:
        doubt *= 1.0 - _WEIGHT[hit.cue.strength] * (0.5 if hit.halved else 1.0)
    best = min(hits, key=lambda hit: (hit.cue.strength != "strong", hit.start, -hit.end))
    quote = text[words[best.start].start : words[best.end - 1].end]
    return RecognisedTactic(
        tactic_id=tactic_id,
        quote=" ".join(quote.split())[:MAX_QUOTE_CHARACTERS],
        confidence=round(min(1.0 - doubt, _CEILING), 3),
        evidence=tuple(sorted(hit.cue.text for hit in hits)),
    )


def is_negated(words: Sequence[PhraseWord], start: int) -> bool:
    """Whether a negator shortly before the phrase, in the same clause, negates it.

    "Why not" and "can't we" ask, "if you don't" threatens, "not only" adds: none of them negates. A plain "no" counts
    only right before the phrase, because it also starts answers.
    """
    for i in range(start - 1, max(start - 1 - _REACH, -1), -1):
        if words[i].clause != words[start].clause:
            return False
        word = words[i].keys[0]
        if word == "no" and start - i <= 2:
            return True
        if word in _NEGATORS:
            before = {words[j].keys[0] for j in range(max(i - 3, 0), i)}
            return not (before & _ASKS or words[i + 1].keys[0] in _TURNS_TO_QUESTION)
    return False


@cache
def built_in_examples() -> tuple[tuple[str, str], ...]:
    """Pairs of a sentence and its tactic id or `ORDINARY`, read once."""
    meant = [
        (text, tactic_id)
        for family in FAMILIES
        for tactic_id, texts in _read_examples(family).items()
        for text in texts
    ]
    ordinary = [text for texts in _read_examples("ordinary").values() for text in texts]
    return (*meant, *((text, ORDINARY) for text in ordinary))


def _read_examples(name: str) -> Mapping[str, list[str]]:
    folder = files(__package__ or __name__).joinpath("recognition_examples")
    return cast("Mapping[str, list[str]]", tomllib.loads(folder.joinpath(f"{name}.toml").read_text("utf-8")))
