"""What asks for other words of generated sentences, and the advisor that changes none."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Protocol

WordedBy = Literal["engine", "advisor"]


@dataclass(frozen=True, slots=True)
class WordingCase:
    """What both sides know of a negotiation; its texts contain no numbers, except those of offers that were made.

    `role` is the user's, `other_side` the name or role of the other one. `issues` are labels. `offers` are pairs of the
    side (`me` or `them`) and its values in words by label, oldest first.
    """

    title: str
    role: str
    other_side: str
    kind: str
    category: str
    issues: tuple[str, ...] = ()
    offers: tuple[tuple[str, Mapping[str, str]], ...] = ()


@dataclass(frozen=True, slots=True)
class WordingRequest:
    """Sentences to reword, by field, with their context.

    `case` and `utterance` contain words of the other side: untrusted data that is sent as a quotation. `secrets` are
    numbers that are never sent; an answer that contains one of them is rejected. `seconds` is the longest wait, if it
    is shorter than the advisor's own.
    """

    texts: Mapping[str, str]
    purpose: str
    utterance: str | None = None
    secrets: Collection[Decimal] = frozenset()
    case: WordingCase | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class WordingResult:
    """The sentences to use, by field, and whether the engine or the advisor worded them."""

    texts: Mapping[str, str]
    by: WordedBy


class Advisor(Protocol):
    """Rewords sentences. It never raises: on any failure the sentences are returned unchanged."""

    @property
    def is_on(self) -> bool:
        """Whether there is a model, so that a request is worth making."""
        ...

    async def word(self, request: WordingRequest) -> WordingResult:
        """The same fields, reworded or unchanged."""
        ...

    def check(self) -> str:
        """The health check: `ok`, `failing` with the reason, `off` without a model."""
        ...

    async def probe(self) -> None:
        """Ask whether the model's server is there, if no recent call has shown it."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


@dataclass(frozen=True, slots=True)
class EngineWording:
    """The default advisor, which returns the sentences unchanged."""

    is_on: bool = False

    async def word(self, request: WordingRequest) -> WordingResult:
        return WordingResult(request.texts, "engine")

    def check(self) -> str:
        return "off"

    async def probe(self) -> None:
        pass

    async def close(self) -> None:
        pass
