"""The seam between text and vectors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    Vectors = NDArray[float32]


class Embedder(Protocol):
    """Turns texts into unit vectors; the work is done off the event loop.

    `model` names the model and its form and stands beside every vector kept; `lesser` says that a better one was
    expected here and why it is not.
    """

    @property
    def model(self) -> str:
        """The model and its form."""
        ...

    @property
    def lesser(self) -> str:
        """Why a better one is not used; empty for the one expected."""
        ...

    async def embed(self, texts: Sequence[str]) -> "Vectors":
        """One row for each text: float32 [texts, dimensions], each of length one; 503 when it cannot be done now."""
        ...

    async def close(self) -> None:
        """Let go of threads and connections."""
        ...
