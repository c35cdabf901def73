"""What hearing one utterance costs: `python -m tests.bench.utterance`.

A buyer's talk with limits, an owner without memories, SQLite; the embedder that is installed. The lessons are learned
first if this machine has not learned them yet. With kept vectors, a text's sentence vector is computed once. The server
gives numpy one thread, so set OPENBLAS_NUM_THREADS=1.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from negotiator.memory.embedding.embedder import Embedder
from negotiator.memory.embedding.minilm_embedder import choose_embedder
from negotiator.memory.search import MemorySearch
from negotiator.memory.searchable_text import MemoryEmbedder
from negotiator.negotiations.tactic_recogniser import TacticRecogniser
from negotiator.runtime.thread_pools import BuiltOnce
from negotiator.store.migrate import migrate
from negotiator.store.store import Store, make_store
from negotiator.teleprompter.cues.catalogue import cue_catalogue
from negotiator.teleprompter.cues.matcher import build_matcher
from negotiator.teleprompter.cues.policy import HeardUtterance, Screen
from negotiator.teleprompter.figures import read_figures
from negotiator.teleprompter.queries import label_from_feedback
from negotiator.teleprompter.user_classifiers import UserClassifiers
from negotiator.teleprompter.utterance_analyser import UtteranceAnalyser, cards_beyond_phrases
from tests.conftest import MODELS
from tests.helpers.example_session import example_session

OBJECTION: Final = "we could do fifty two thousand, but that is really too expensive for our team"
SMALL_TALK: Final = "good morning everybody thanks for joining"
TIMES: Final = 300


class KnownVectors:
    """An embedder that computes the vectors of a text once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[tuple[str, ...], Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    async def embed(self, texts: Sequence[str]) -> Any:
        """One row for each text."""
        key = tuple(texts)
        if key not in self._known:
            self._known[key] = await self._embedder.embed(texts)
        return self._known[key]


async def heard(ear: UtteranceAnalyser, said: str, *, final: bool) -> str:
    """Milliseconds of CPU, and of the clock at the median and the 95th percentile."""
    session, waits = example_session(), list[float]()
    began = time.process_time()
    for _ in range(TIMES):
        start = time.perf_counter()
        ahead = await ear.listen("usr", said, "them", final=final, role="buyer", session=session)
        what = HeardUtterance("u", "them", ahead.text, final, 0.0)
        read = read_figures(ahead.figures, session.terms, "them")
        cards_beyond_phrases(ahead, read, what, screen=Screen())
        waits.append(1000 * (time.perf_counter() - start))
    cpu = 1000 * (time.process_time() - began) / TIMES
    waits.sort()
    middle, late = waits[TIMES // 2], waits[TIMES * 95 // 100]
    return f"{cpu:.2f} ms CPU, p50 {middle:.2f} ms, p95 {late:.2f} ms"


async def measured(store: Store) -> None:
    """Print every figure."""
    embedder, matcher = (
        choose_embedder("", key="", model="", models=MODELS),
        BuiltOnce(lambda: build_matcher(cue_catalogue())),
    )
    recall = MemorySearch(store, MemoryEmbedder(embedder))
    out = sys.stdout.write
    for name in ("learned, or read", "read"):
        start, began = time.process_time(), time.perf_counter()
        heads = UserClassifiers(store, embedder, catalogue=BuiltOnce(cue_catalogue), folder=MODELS)
        await heads.of("usr", "them")
        took = time.process_time() - start, time.perf_counter() - began
        out(f"lessons {name}: {took[0]:.2f} s CPU, {took[1]:.2f} s\n")
    for name, vectors in (("", embedder), (", vectors kept", KnownVectors(embedder))):
        # What is missing of an embedder is that of the wrapped one.
        used: Any = vectors
        tactics = TacticRecogniser(used, MODELS, patience=None)
        await tactics.prepare()
        ear = UtteranceAnalyser(matcher, heads, used, recall, tactics, patience=None)
        await ear.heads.of("", "them")
        out(f"final, an objection with a figure{name}: {await heard(ear, OBJECTION, final=True)}\n")
        out(f"partial of it{name}: {await heard(ear, OBJECTION, final=False)}\n")
        out(f"final, small talk{name}: {await heard(ear, SMALL_TALK, final=True)}\n")
    vector = await heads.vector(OBJECTION)
    lesson = label_from_feedback("wrong", "price_too_high")
    await store.write(lambda tx: heads.teach(tx, "usr", lesson, vector=vector))
    start, began = time.process_time(), time.perf_counter()
    await heads.of("usr", "them")
    took = time.process_time() - start, time.perf_counter() - began
    out(f"the head after feedback: {took[0]:.2f} s CPU, {took[1]:.2f} s\n")
    await embedder.close()


async def main() -> None:
    """Over an empty database."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite+aiosqlite:///{Path(folder, 'ear.db')}"
        await migrate(url)
        store = make_store(url)
        await store.start()
        await measured(store)
        await store.close()


if __name__ == "__main__":
    asyncio.run(main())
