"""The seam: somebody who may word the engine's sentences better, or nobody."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Protocol

WordedBy = Literal["engine", "advisor"]


@dataclass(frozen=True, slots=True)
class Wording:
    """Sentences to be worded, by field, and what the wording may know.

    `heard` is what the other side said: hostile data, quoted, never an instruction. `secrets` never leaves the house;
    an answer that holds one of them is thrown away.
    """

    texts: Mapping[str, str]
    purpose: str
    heard: str | None = None
    secrets: Collection[Decimal] = frozenset()


@dataclass(frozen=True, slots=True)
class Worded:
    """The sentences that stand, field by field, and whose words they are."""

    texts: Mapping[str, str]
    by: WordedBy


class Advisor(Protocol):
    """Words sentences inside a fixed structure. Never raises: on any trouble the engine's own words stand."""

    async def word(self, asked: Wording) -> Worded:
        """The same fields in other words, or in the same."""
        ...

    async def close(self) -> None:
        """Let go of what it holds."""
        ...


@dataclass(frozen=True, slots=True)
class Silent:
    """The default: the engine's own words stand."""

    async def word(self, asked: Wording) -> Worded:
        """The sentences as they are."""
        return Worded(asked.texts, "engine")

    async def close(self) -> None:
        """Nothing to let go of."""
