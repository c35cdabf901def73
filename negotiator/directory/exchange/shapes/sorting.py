"""Which category an entry is most likely of that came without one: by the words it shares with the taxonomy."""

from functools import cache
from typing import Final

from negotiator.directory.record.taxonomy import TAXONOMY
from negotiator.words import terms

_SAYS_NOTHING: Final = (
    "mcp server servers tool tools api apis model context protocol search data agent agents"
)
_FALLBACK: Final = "agents-orchestration"


def category_of(text: str) -> str:
    """The category whose names share most words with the text; of none, the one where servers for agents belong."""
    said = set(terms(text)).difference(terms(_SAYS_NOTHING))
    scores = {slug: len(said & words) for slug, words in _vocabulary().items()}
    best = max(scores, key=lambda slug: scores[slug])
    return best if scores[best] else _FALLBACK


@cache
def _vocabulary() -> dict[str, set[str]]:
    return {
        slug: set(
            terms(
                " ".join(
                    (
                        *(category.name, *category.subcategories.values()),
                        *(drawer for drawers in category.crosswalk.values() for drawer in drawers),
                    )
                )
            )
        ).difference(terms(_SAYS_NOTHING))
        for slug, category in TAXONOMY.items()
    }
