"""The hashing embedder as a model that has to be loaded, and that may fail."""

import asyncio
from collections.abc import Sequence
from typing import Any

from negotiator.base.errors import Unavailable
from negotiator.memory.embedding.embedder import EmbedderState, HashingEmbedder


class LoadingEmbedder(HashingEmbedder):
    """Loads when `loaded` is set; cannot load while `is_broken`, nor embed while `is_away`."""

    def __init__(self, state: EmbedderState = "idle") -> None:
        super().__init__()
        self.state: EmbedderState = state
        self.loaded = asyncio.Event()
        self.is_broken = self.is_away = False

    async def prepare(self) -> None:
        if self.is_broken:
            raise Unavailable("No model.", detail="broken")
        self.state = "loading"
        await self.loaded.wait()
        self.state = "ready"

    async def embed(self, texts: Sequence[str]) -> Any:
        if self.is_away:
            raise Unavailable("The sentence model cannot be used now.")
        assert self.state == "ready"
        return await super().embed(texts)
