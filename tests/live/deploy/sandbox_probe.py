"""Embeds a sentence and opens a channel of speech, as the service of the installed wheel does."""

import asyncio
import sys

from negotiator.config.settings import load
from negotiator.memory.embedding.minilm_embedder import choose_embedder
from negotiator.teleprompter.speech.recognizer_factory import make_recognizer


async def main() -> None:
    """Print what worked; raises what did not."""
    settings = load()
    embedder = choose_embedder("", key="", model="", models=settings.models_folder)
    await embedder.build()
    await embedder.prepare()
    vectors = await embedder.embed(["The price is too high."])
    sys.stdout.write(f"embedded: {vectors.shape[1]} numbers\n")
    recognizer = make_recognizer(settings)
    channel = await recognizer.open("en")
    await channel.push(bytes(32_000))
    sys.stdout.write(f"speech by {recognizer.caps.id}\n")
    await recognizer.close()


if __name__ == "__main__":
    asyncio.run(main())
