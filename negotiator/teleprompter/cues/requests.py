"""Whether the user makes a request or an offer, which a "no" or an "okay" of the other side then answers."""

from collections.abc import Sequence
from functools import cache
from typing import Final

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

_GIVES: Final = (
    "do|take|accept|consider|give|go|come|drop|knock|throw|include|meet|match|pay|donate|contribute|chip|help|manage|"
    "lower|raise|reduce|offer|add|sell|let|move|sponsor|support|join|sign|agree|spare|stretch|settle|extend|waive|chuck|start|stay|keep|leave|"
    "bring|get|change|deliver|hold"
)
_PATTERNS: Final = (
    f"would|could|can|will|might|are|do you|u ... {_GIVES}",
    f"would|could|can|shall|should|will we|i ... {_GIVES}|say|call|split|fix|make|put",
    "would|could|can ... # ... be|work|do|help|suit",
    f"you {_GIVES} ... in|off|for|on|to",
    "even # ... help|helps|do",
    "are|would|be you ... willing|able|open|up|prepared|interested",
    "how|what about #",
    "how|what about we|a|if",
    "what|suppose if ... #|i|we|you",
    "would|does|could|can|will|is that|this|it|# ... work|suit|ok|okay|fine|possible|fair|acceptable",
    "deal|agreed|done",
    "i|we accept|agree",
    "any chance|room|way|possibility|flexibility",
    "is there ... room|chance|flexibility",
    f"i|we can|could|will|would|might ... {_GIVES} ... #",
    f"i|we|you can|could|will|would ... have|get|leave|stretch|start|be|{_GIVES} ... for|at|to|in|with|of|off|down #",
    "i|we am|are|was|were|would|will ... at|thinking|looking|hoping|say #",
    "i|we am|are|was|were thinking|looking|hoping ... #",
    "let|call|make|say us|it|that|say ... #",
    "meet|split ... middle|halfway|difference|at|#",
    "you can have",
    "my|our|best|final offer|price|rate|budget ... #",
    "# ... and it|its|that|thats|we|you ... yours|deal|done",
    "reason|why i|we ... calling|writing|here|asking",
    "i|we would|could like|ask|propose|suggest|love ... you|#",
    "if|until you|we ... # ... i|we will|can|could|would",
    "asking|wondering ... you|if|#",
)


@cache
def _tree() -> PhraseTree:
    patterns = tuple(TacticPhrase("request", "strong", text) for text in _PATTERNS)
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
