"""Recognises the moves of the other side in what they say.

The text is untrusted: it is truncated, normalised and compared with fixed phrases. It cannot change a rule, a threshold
or the result of another tactic.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from negotiator.negotiations.tactics.phrases import (
    PhraseWord,
    TacticPhrase,
    built_in_phrases,
    clean_text,
    split_words,
)

MAX_QUOTE_CHARACTERS = 160
MIN_CONFIDENCE = 0.6
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


def recognise_tactics(utterance: str) -> tuple[RecognisedTactic, ...]:
    """The moves in one utterance of the other side, highest confidence first.

    Only the first 4,000 characters are read. A single weak phrase is not enough, two are. A phrase that is negated in
    its own clause does not count ("we are not saying this is our final offer").
    """
    text = clean_text(utterance)
    book = built_in_phrases()
    words = split_words(text, book.sets)
    hits: dict[tuple[str, int], dict[str, _PhraseHit]] = {}
    silenced: set[tuple[str, int]] = set()
    for cue, start, end in book.find(words):
        place = (cue.tactic_id, words[start].sentence)
        if cue.strength == "unless":
            silenced.add(place)
        elif cue.text not in (seen := hits.setdefault(place, {})) and not is_negated(words, start):
            seen[cue.text] = _PhraseHit(cue, start, end)
    kept_hits: dict[str, dict[str, _PhraseHit]] = {}
    for place, found in hits.items():
        if place not in silenced:
            kept_hits[place[0]] = found | kept_hits.get(place[0], {})
    heard = (
        _heard(one, list(found.values()), words, text=text) for one, found in kept_hits.items()
    )
    kept = [move for move in heard if move is not None and move.confidence >= MIN_CONFIDENCE]
    return tuple(sorted(kept, key=lambda move: (-move.confidence, move.tactic_id)))


def _heard(
    tactic_id: str, hits: Sequence[_PhraseHit], words: Sequence[PhraseWord], *, text: str
) -> RecognisedTactic | None:
    if not hits:
        return None
    doubt = 1.0
    for hit in hits:
        doubt *= 1.0 - _WEIGHT[hit.cue.strength]
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
