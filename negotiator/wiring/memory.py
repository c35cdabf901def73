"""What an owner's memories are kept, found and compared by; part of the assistant's wing."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from negotiator.memory.carrying.bringing import Bringing
from negotiator.memory.carrying.routes import Carrying
from negotiator.memory.embedding.choose import choose
from negotiator.memory.embedding.embedder import Embedder
from negotiator.memory.memories.routes import Memories
from negotiator.memory.recall.recall import Recall
from negotiator.memory.recall.shelves import Shelves
from negotiator.memory.references import References
from negotiator.memory.wins import rows as wins
from negotiator.negotiations import sessions
from negotiator.negotiations.suggestions import own
from negotiator.settings import Settings
from negotiator.wiring.ground import Ground


@dataclass(frozen=True, slots=True)
class Remembering:
    """The slices, and the recall that plans, suggestions and cues ask."""

    memories: Memories
    carrying: Carrying
    recall: Recall
    embedder: Embedder

    def check(self) -> str:
        """Whether the embedder is the one expected, and which it is."""
        named, lesser = self.embedder.model, self.embedder.lesser
        return f"lesser: {named}, as {lesser}" if lesser else f"ok: {named}"

    async def close(self) -> None:
        """Let go of the embedder."""
        await self.embedder.close()


def models_folder(chosen: Settings) -> Path:
    """Where what was built and learned is kept."""
    return chosen.models_dir or chosen.data_dir / "models"


def embedder(chosen: Settings) -> Embedder:
    """The embedder that the settings and what is installed lead to."""
    return choose(
        chosen.embedding_url,
        key=chosen.embedding_key,
        model=chosen.embedding_model,
        models=models_folder(chosen),
    )


REFERENCES: Final = References(sessions.require, own.require)


def remembering(ground: Ground) -> Remembering:
    """Make the slices."""
    embeds = embedder(ground.settings)
    recall = Recall(Shelves(ground.store, embeds.model), embeds)
    memories = Memories(ground.store, ground.cursors, embeds, recall, REFERENCES)
    bringing = Bringing(ground.store, embeds, REFERENCES)
    carrying = Carrying(ground.store, bringing, more=(wins.everything,))
    return Remembering(memories, carrying, recall, embeds)
