"""CPU, build time and memory of the directory's index alone: `python -m tests.bench.directory_index [SIZE ...]`.

The queries are those of `tests.bench.directory`, each asked once for a first page of twenty by relevance.
"""

import gc
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, quantiles
from typing import Final

import orjson

from negotiator.base import values
from negotiator.directory.catalogue_index import SYNONYMS_FILE
from negotiator.directory.search import terms
from negotiator.directory.search.index import SearchIndex
from negotiator.directory.search.request import IndexEntry, SearchRequest
from negotiator.directory.search.search import search_page
from negotiator.directory.tool_record import ToolView
from tests.bench.directory import queries, records

AT: Final = 1_800_000_000_000
ASKED: Final = 1_000
CHUNK: Final = 5_000


def entries(count: int) -> Iterator[IndexEntry]:
    """The tools of the bench as the catalogue stores them."""
    moment = values.timestamp(AT)
    for record in records(count):
        times = {"status_changed_at": moment, "created_at": moment, "updated_at": moment}
        key = values.new_id("tool")
        view = ToolView.model_construct(**{**dict(record), "id": key, "slug": record.slug, "revision": 1, **times})
        yield IndexEntry(key, orjson.loads(view.document()), 0, AT, AT)


def resident_mb() -> float:
    """The memory that this process takes now, in MB."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20


def measure(size: int) -> str:
    """One line of the table for a catalogue of this size."""
    found = list(entries(size))
    before, started = resident_mb(), time.process_time()
    index = SearchIndex(terms.load_synonyms(SYNONYMS_FILE))
    for start in range(0, size, CHUNK):
        index.put(found[start : start + CHUNK])
    built, memory = time.process_time() - started, resident_mb() - before
    times: list[float] = []
    for text in queries(size)[:ASKED]:
        started = time.process_time()
        search_page(index, SearchRequest(query=text, sort="relevance", now=AT))
        times.append(1000 * (time.process_time() - started))
    cuts = quantiles(times, n=100)
    return f"| {size} | {mean(times):.2f} | {cuts[49]:.2f} | {cuts[98]:.2f} | {built:.1f} | {memory:.0f} |"


if __name__ == "__main__":
    print("| tools | mean ms | p50 | p99 | build, s of CPU | memory, MB more |")
    print("|---:|---:|---:|---:|---:|---:|")
    for wanted in map(int, sys.argv[1:] or ["578"]):
        print(measure(wanted), flush=True)
