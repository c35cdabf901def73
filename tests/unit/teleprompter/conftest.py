"""A store, a small catalogue of cues, and an embedder that remembers what it was asked."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from negotiator.base.errors import Unavailable
from negotiator.memory.embedding.embedder import HashingEmbedder
from negotiator.store.sqlite import SqliteStore
from negotiator.teleprompter.cues.catalogue import CueCatalogue, Speaker, cue_catalogue
from negotiator.teleprompter.cues.classifier import Vectors

CHOSEN = ("price_too_high", "ask_the_boss", "final_offer", "talking_too_long")


class AskedEmbedder(HashingEmbedder):
    """The embedder that is always there, or `away` when told; `asked` are the texts."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.away = False

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if self.away:
            raise Unavailable("not now")
        self.asked += texts
        return await super().embed(texts)


@pytest.fixture(scope="session")
def small() -> CueCatalogue:
    """Four cues and some ordinary talk."""
    whole = cue_catalogue()
    neutral: dict[Speaker, tuple[str, ...]] = {speaker: texts[:60] for speaker, texts in whole.neutral.items()}
    return CueCatalogue({name: whole.cues[name] for name in CHOSEN}, neutral)


@pytest_asyncio.fixture
async def store(tmp_path: Path, migrated: Path) -> AsyncGenerator[SqliteStore]:
    """A store over a fresh, migrated database."""
    path = tmp_path / "teleprompter.db"
    path.write_bytes(migrated.read_bytes())
    opened = SqliteStore(f"sqlite+aiosqlite:///{path}")
    await opened.start()
    yield opened
    await opened.close()
