"""What a sentence costs to embed, in time and in memory: `python -m tests.bench.embedding`."""

import asyncio
import resource
import statistics
import tempfile
import time
from pathlib import Path

from negotiator.memory.embedding.minilm_embedder import choose_embedder
from tests.quality.memory.corpus import memories


async def main() -> None:
    """Print one line."""
    before = time.process_time()
    embedder = choose_embedder("", key="", model="", models=Path(tempfile.gettempdir(), "negotiator-models"))
    await embedder.embed(["warm"])
    loaded = time.process_time() - before
    spent: list[float] = []
    for one in memories()[:300]:
        start = time.process_time()
        await embedder.embed([one.text])
        spent.append((time.process_time() - start) * 1000)
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    half, most = statistics.median(spent), statistics.quantiles(spent, n=100)[98]
    print(
        f"{embedder.model}: {half:.2f} ms CPU a sentence (p99 {most:.2f}), first use {loaded:.2f} s CPU,"
        f" process {held:.0f} MB at most"
    )
    await embedder.close()


if __name__ == "__main__":
    asyncio.run(main())
