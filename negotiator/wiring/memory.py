"""What an owner's memories are kept, found and compared by; part of the assistant's wing."""

from dataclasses import dataclass

from negotiator.memory.embedding.choose import choose
from negotiator.memory.embedding.embedder import Embedder
from negotiator.memory.memories.routes import Memories
from negotiator.memory.recall.recall import Recall
from negotiator.memory.recall.shelves import Shelves
from negotiator.wiring.ground import Ground
from negotiator.wiring.wing import Wing, offered


@dataclass(frozen=True, slots=True)
class Remembering:
    """The wing, and the recall that plans, suggestions and cues ask."""

    wing: Wing
    recall: Recall
    embedder: Embedder


def remembering(ground: Ground) -> Remembering:
    """Make the wing."""
    chosen, store = ground.settings, ground.store
    embedder = choose(
        chosen.embedding_url,
        key=chosen.embedding_key,
        model=chosen.embedding_model,
        models=chosen.models_dir or chosen.data_dir / "models",
    )
    recall = Recall(Shelves(store), embedder)
    memories = Memories(store, ground.cursors, embedder, recall)
    wing = Wing(operations=offered([memories]), closes=(embedder.close,))
    return Remembering(wing, recall, embedder)
