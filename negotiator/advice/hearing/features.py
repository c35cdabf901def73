"""What the models look at: the words around a figure and how it lies to both sides' offers, and a sentence's words."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from negotiator.advice.hearing.figures import IssueFit, Message, MessageFigure
from negotiator.terms.plain_text import word_set

_NEAR: Final = 6
_SENTENCE_WORDS: Final = 25
_CLAUSE_MARKS: Final = word_set(
    ", ; : ( and but so then or if because when which that und aber oder wenn et mais si pero y o"
)


def figure_features(message: Message, figure: MessageFigure, fit: IssueFit | None, about: float) -> Iterator[str]:
    """The features of a figure; `fit` is the issue that it most likely is a value of, with that chance."""
    place = message.figures.index(figure)
    first, last = sentence_of(message, figure)
    marked = _marked(message, figure)
    left = [marked[at] for at in range(figure.first - 1, max(first, figure.first - 14) - 1, -1)]
    right = [marked[at] for at in range(figure.last, min(last, figure.last + 14))]
    yield from _position_words(left, right)
    yield from _bags(left, right)
    yield from _surroundings(message, first, last, figure)
    yield from _relations(message, figure, fit, about, left, right)
    yield f"place={min(place, 3)}|{min(len(message.figures), 5)}"


def _marked(message: Message, figure: MessageFigure) -> list[str]:
    """The words, other figures as `#` with their unit or measure, and `~` out of the way."""
    marked = list(message.words)
    for one in message.figures:
        if one is not figure:
            marked[one.first] = f"#{one.measure or one.unit}"
    return marked


def _position_words(left: Sequence[str], right: Sequence[str]) -> Iterator[str]:
    before = [*left[:_NEAR], *["^"] * (_NEAR - len(left[:_NEAR]))]
    after = [*right[:_NEAR], *["$"] * (_NEAR - len(right[:_NEAR]))]
    for at in range(_NEAR):
        yield f"L{at}={before[at]}"
        yield f"R{at}={after[at]}"
    for at in range(3):
        yield f"LL{at}={before[at + 1]} {before[at]}"
        yield f"RR{at}={after[at]} {after[at + 1]}"
    yield f"LLL={before[2]} {before[1]} {before[0]}"
    yield f"LLLL={before[3]} {before[2]} {before[1]} {before[0]}"
    yield f"RRR={after[0]} {after[1]} {after[2]}"
    yield f"LR={before[0]}_{after[0]}"
    yield f"LLR={before[1]} {before[0]}_{after[0]}"
    yield f"LRR={before[0]}_{after[0]} {after[1]}"


def _bags(left: Sequence[str], right: Sequence[str]) -> Iterator[str]:
    for side, words in (("l", left), ("r", right)):
        clause = True
        for at, word in enumerate(words):
            yield f"{side}={word}"
            if clause:
                yield f"c{side}={word}"
            if at + 1 < len(words):
                pair = (words[at + 1], word) if side == "l" else (word, words[at + 1])
                yield f"{side}2={pair[0]} {pair[1]}"
            clause = clause and word not in _CLAUSE_MARKS
    opening = next((word for word in left if word in _CLAUSE_MARKS), "^")
    yield f"opens={opening}"


def _surroundings(message: Message, first: int, last: int, figure: MessageFigure) -> Iterator[str]:
    words = message.words
    said = [word for word in words[first:last] if word != "~"]
    yield f"end={said[-1] if said else ''}"
    for at, word in enumerate(said[:4]):
        yield f"s{at}={word}"
    yield f"s01={' '.join(said[:2])}"
    yield f"s012={' '.join(said[:3])}"
    if "if" in said:
        yield f"if={'before' if 'if' in words[first : figure.first] else 'after'}"
    others = [begin_end for begin_end in message.sentences if begin_end[0] != first]
    before = [one for one in others if one[1] <= first][-1:]
    after = [one for one in others if one[0] >= last][:1]
    for name, spans in (("p", before), ("f", after)):
        if not spans:
            yield f"{name}=none"
        for begin, end in spans:
            for word in words[begin:end][:14]:
                yield f"{name}={word}"
            yield f"{name}end={words[end - 1]}"


def _relations(
    message: Message,
    figure: MessageFigure,
    fit: IssueFit | None,
    about: float,
    left: Sequence[str],
    right: Sequence[str],
) -> Iterator[str]:
    relation = fit.relation if fit is not None else "none"
    kind = fit.issue.type if fit is not None else "none"
    chance = f"{round(about * 4)}"
    near = [*left[:1], "^"][0], [*right[:1], "$"][0]
    yield f"rel={relation}"
    yield f"relk={relation}|{kind}|{chance}"
    yield f"about={chance}"
    yield f"relm={relation}|{figure.measure}|{figure.unit}|{chance}"
    yield f"relL={relation}|{chance}|{near[0]}"
    yield f"relR={relation}|{chance}|{near[1]}"
    yield f"relLL={relation}|{' '.join(left[1::-1])}"
    yield f"relL3={relation}|{' '.join(left[2::-1])}"
    yield f"unit={figure.unit}|{figure.measure}"
    yield f"chan={message.told.channel}|{relation}"
    for word in set(left[:8]):
        yield f"relw={relation}|{word}"
    for word in set(right[:6]):
        yield f"relv={relation}|{word}"
    yield f"relend={relation}|{message.words[sentence_of(message, figure)[1] - 1]}"
    if figure.readings:
        digits = len(str(int(figure.readings[0])))
        yield f"digits={digits}|{kind}"
        yield f"whole={figure.readings[0] == int(figure.readings[0])}"
        yield f"year={1950 <= figure.readings[0] <= 2040 and not figure.measure}"


def neighbour_features(
    message: Message, at: int, fits: Sequence[IssueFit | None], shares: Sequence[Mapping[str, float]]
) -> Iterator[str]:
    """The features of a figure that the first reading of all figures gives; `at` is its place among them."""
    kinds = [max(one, key=one.__getitem__) for one in shares]
    issues = [None if fit is None else fit.issue.name for fit in fits]
    sentence = [sentence_of(message, one) for one in message.figures]
    fit = fits[at]
    own, relation = kinds[at], "" if fit is None else fit.relation
    yield f"own={own}|{round(shares[at][own] * 5)}"
    yield f"own={own}"
    yield f"offered={round(shares[at]['offer'] * 8)}"
    for name, other in (("before", at - 1), ("after", at + 1)):
        if not 0 <= other < len(kinds):
            yield f"{name}=none"
            continue
        there = f"{kinds[other]}|{sentence[other] == sentence[at]}"
        near = f"{there}|{issues[other] == issues[at]}"
        yield f"{name}={there}"
        yield f"{name}={near}"
        yield f"{name} own={near}|{own}"
        yield f"{name} relation={near}|{relation}"
        first, last = sorted((at, other))
        if sentence[first] == sentence[last]:
            gap = message.words[message.figures[first].last : message.figures[last].first]
            yield f"{name} gap={kinds[other]}|{' '.join(gap[:3] if name == 'after' else gap[-3:])}"
    others = [one for one in range(len(kinds)) if one != at]
    beside = any(kinds[one] in ("offer", "cut") for one in others if sentence[one] == sentence[at])
    again = any(kinds[one] == "offer" for one in others if issues[one] == issues[at])
    yield f"beside={beside}|{own}"
    yield f"again={again}|{own}"


def sentence_of(message: Message, figure: MessageFigure) -> tuple[int, int]:
    """The first and one past the last token of the sentence that has a figure."""
    whole = (0, len(message.tokens))
    return next((one for one in message.sentences if one[0] <= figure.first < one[1]), whole)


def sentence_features(message: Message, first: int, last: int, tags: Mapping[int, str]) -> Iterator[str]:
    """The features of a sentence; `tags` has the kind of the figure that begins at a token."""
    words = [tags.get(at, word) for at, word in enumerate(message.words[first:last], first) if word != "~"]
    said = ["^", *words[: 2 * _SENTENCE_WORDS], "$"]
    for size in (1, 2, 3):
        for at in range(len(said) - size + 1):
            yield " ".join(said[at : at + size])
    for word in {word for word in words if len(word) > 4}:
        yield f"stem={word[:5]}"
    for at, word in enumerate(words[:3]):
        yield f"w{at}={word}"
    at, count = message.sentences.index((first, last)), len(message.sentences)
    yield f"at={'only' if count == 1 else 'first' if at == 0 else 'last' if at + 1 == count else 'mid'}"
    yield f"long={min(len(words) // 4, 6)}"
    yield f"ends={words[-1] if words else ''}|{words[0] if words else ''}"
    for name, place in (("p", at - 1), ("n", at + 1)):
        if 0 <= place < len(message.sentences):
            begin, end = message.sentences[place]
            near = [tags.get(k, word) for k, word in enumerate(message.words[begin:end], begin) if word != "~"]
            for word in near[:16]:
                yield f"{name}={word}"
            for pair in pairwise(near[:14]):
                yield f"{name}2={' '.join(pair)}"
