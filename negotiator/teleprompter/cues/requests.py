"""Whether the user makes a request or an offer, which a "no" or an "okay" of the other side then answers."""

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from negotiator.advice.tactics.phrases import (
    PhraseTree,
    PhraseWord,
    TacticPhrase,
    build_phrase_tree,
    built_in_phrases,
    clean_text,
    split_words,
)
from negotiator.teleprompter.cues.matcher import begins_sentence


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
