"""The tree of phrases finds what each phrase alone finds, and builds equal branches once."""

from collections.abc import Iterator, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.advice.tactics.phrases import (
    MAX_GAP_WORDS,
    PhraseTree,
    PhraseWord,
    TacticPhrase,
    build_phrase_tree,
    built_in_phrases,
    split_words,
)

SETS = {"party": ("you", "they")}
_WORD = st.sampled_from(["we", "you", "can't", "not", "can", "#", "@party"])
_ALTERNATIVES = st.lists(_WORD, min_size=1, max_size=3, unique=True).map("|".join)
_ELEMENT = st.one_of(_ALTERNATIVES, _ALTERNATIVES.map("{}?".format), st.just("..."))
_PHRASES = st.lists(
    st.tuples(_ALTERNATIVES, st.lists(_ELEMENT, max_size=4)).map(lambda made: " ".join([made[0], *made[1]])),
    min_size=1,
    max_size=5,
)
_SPOKEN = st.lists(
    st.sampled_from(["we", "you", "they", "can't", "cannot", "not", "can", "12", "yes", "."]), max_size=14
).map(" ".join)


def tree(*texts: str) -> PhraseTree:
    return build_phrase_tree(tuple(TacticPhrase("tac_x", "strong", text) for text in texts), SETS)


def found(texts: Sequence[str], words: Sequence[PhraseWord]) -> set[tuple[str, int, int]]:
    return {(cue.text, start, end) for cue, start, end in tree(*texts).find(words)}


def spans(text: str, words: Sequence[PhraseWord]) -> set[tuple[str, int, int]]:
    """Where one phrase matches, tried element by element at each word."""
    elements = text.split()

    def ends(element: int, at: int, sentence: int, gap: int) -> Iterator[int]:
        if element == len(elements):
            yield at
            return
        if elements[element] == "...":
            yield from ends(element + 1, at, sentence, MAX_GAP_WORDS)
            return
        if elements[element].endswith("?"):
            yield from ends(element + 1, at, sentence, gap)
        for choice in elements[element].removesuffix("?").split("|"):
            for skipped in range(gap + 1):
                between = words[at : at + skipped]
                if any(word.sentence != sentence for word in between):
                    break
                parts = ["can", "not"] if choice == "can't" else [choice]
                behind = words[at + skipped : at + skipped + len(parts)]
                if len(behind) == len(parts) and all(
                    part in word.keys and word.sentence == sentence for part, word in zip(parts, behind, strict=True)
                ):
                    yield from ends(element + 1, at + skipped + len(parts), sentence, 0)

    return {
        (text, start, end)
        for start, word in enumerate(words)
        for end in ends(0, start, word.sentence, 0)
        if end > start
    }


@settings(max_examples=300, deadline=None)
@given(_PHRASES, _SPOKEN)
def test_a_tree_of_phrases_finds_what_each_phrase_alone_finds(texts: list[str], spoken: str) -> None:
    words = split_words(spoken, SETS)
    expected = set[tuple[str, int, int]]().union(*(spans(text, words) for text in texts))
    assert found(texts, words) == expected


def nodes(of: PhraseTree) -> int:
    seen, left = set[int](), [of.root]
    while left:
        node = left.pop()
        if id(node) not in seen:
            seen.add(id(node))
            left += [*node.children.values(), *node.over_gap.values()]
    return len(seen)


def test_alternatives_of_a_phrase_lead_to_one_node() -> None:
    assert nodes(tree("we|you|they can|will ... pay|give|take")) == 4


def test_phrases_that_share_some_alternatives_are_told_apart() -> None:
    both = tree("we|you pay", "we|they give")
    assert nodes(both) == 6  # root, after we, you and they, and the two ends


def test_the_tree_of_the_built_in_phrases_is_small() -> None:
    assert nodes(built_in_phrases()) < 5000
