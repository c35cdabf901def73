"""A store, a small catalogue, and heads over it."""

from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from negotiator.memory.embedding.embedder import Embedder
from negotiator.memory.embedding.hashed import Hashed
from negotiator.store.sqlite import SqliteStore
from negotiator.teleprompter.cues.catalogue import cue_catalogue
from negotiator.teleprompter.cues.cue import Catalogue, Speaker
from negotiator.teleprompter.cues.head import Vectors
from negotiator.teleprompter.taught.heads import Heads

CHOSEN = ("price_too_high", "ask_the_boss", "final_offer", "talking_too_long")


class Counting(Hashed):
    """The embedder that is always there, counting what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """As it is."""
        self.asked += len(texts)
        return await super().embed(texts)


@pytest.fixture(scope="session")
def small() -> Catalogue:
    """Four cues and some ordinary talk."""
    whole = cue_catalogue()
    neutral: dict[Speaker, tuple[str, ...]] = {
        speaker: texts[:60] for speaker, texts in whole.neutral.items()
    }
    return Catalogue({name: whole.cues[name] for name in CHOSEN}, neutral)


@pytest_asyncio.fixture
async def store(tmp_path: Path, migrated: Path) -> AsyncGenerator[SqliteStore]:
    """A store over a fresh, migrated database."""
    path = tmp_path / "taught.db"
    path.write_bytes(migrated.read_bytes())
    opened = SqliteStore(f"sqlite+aiosqlite:///{path}")
    await opened.start()
    yield opened
    await opened.close()


NewHeads = Callable[..., Heads]


@pytest.fixture
def new_heads(store: SqliteStore, small: Catalogue, tmp_path: Path) -> NewHeads:
    """Makes heads as a process of its own would have them."""

    def make(embedder: Embedder | None = None, **options: int) -> Heads:
        asked = embedder or Counting()
        return Heads(store, asked, catalogue=small, folder=tmp_path / "lessons", **options)

    return make
