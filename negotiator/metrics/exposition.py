"""Prometheus text (exposition format 0.0.4) of a snapshot."""

import os
from collections.abc import Iterable, Iterator
from itertools import accumulate, groupby
from pathlib import Path
from typing import Final

from negotiator.metrics.lanes import Worker
from negotiator.metrics.meters import Labels, Series, Snapshot

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_ISSUED: Final = "negotiator_tokens_issued_total"


def exposition(snapshot: Snapshot, issuing: Iterable[str]) -> str:
    """The text; what never happened is left out. Each success of the `issuing` operations made one credential."""
    lines = [
        *_families(snapshot),
        *_issued(snapshot, frozenset(issuing)),
        *_workers(snapshot.workers),
    ]
    return "".join(f"{line}\n" for line in lines)


def _families(snapshot: Snapshot) -> Iterator[str]:
    named = sorted(snapshot.series, key=lambda series: series.name)
    for name, family in groupby(named, lambda series: series.name):
        members = list(family)
        kind = "histogram" if members[0].bounds else "counter"
        yield from _head(name, members[0].meaning, kind)
        for series in members:
            cells = snapshot.cells[series.place : series.place + series.width]
            yield from _histogram(series, cells) if series.bounds else _counter(series, cells)


def _counter(series: Series, cells: Iterable[int]) -> Iterator[str]:
    (value,) = cells
    # A series without labels is there from the start, so that a rate over it exists.
    if value or not series.labels:
        yield f"{series.name}{_shown(series.labels)} {value}"


def _histogram(series: Series, cells: Iterable[int]) -> Iterator[str]:
    *counts, total = cells
    if not any(counts) and series.labels:
        return
    bounds = [*(f"{bound:g}" for bound in series.bounds), "+Inf"]
    summed = list(accumulate(counts))
    for bound, count in zip(bounds, summed, strict=True):
        yield f"{series.name}_bucket{_shown((*series.labels, ('le', bound)))} {count}"
    labels = _shown(series.labels)
    yield f"{series.name}_sum{labels} {total / series.per_unit:.9g}"
    yield f"{series.name}_count{labels} {summed[-1]}"


def _issued(snapshot: Snapshot, issuing: frozenset[str]) -> Iterator[str]:
    yield from _head(_ISSUED, "Tokens and keys handed out", "counter")
    counts: dict[str, int] = {}
    for series in snapshot.series:
        labels = dict(series.labels)
        operation = labels.get("operation", "")
        if operation in issuing and labels.get("status", "").startswith("2"):
            counts[operation] = counts.get(operation, 0) + snapshot.cells[series.place]
    for operation, count in sorted(counts.items()):
        yield f"{_ISSUED}{_shown((('operation', operation),))} {count}"


def _workers(workers: Iterable[Worker]) -> Iterator[str]:
    alive = list(workers)
    yield from _head("negotiator_workers", "Workers that are alive", "gauge")
    yield f"negotiator_workers {len(alive)}"
    yield from _head("process_start_time_seconds", "When a worker began", "gauge")
    for worker in alive:
        yield f"process_start_time_seconds{_lane(worker)} {worker.started}"
    memory = [(worker, used) for worker in alive if (used := _resident(worker.pid)) is not None]
    if memory:
        yield from _head("process_resident_memory_bytes", "Memory of a worker", "gauge")
    for worker, used in memory:
        yield f"process_resident_memory_bytes{_lane(worker)} {used}"


def _resident(pid: int) -> int | None:
    """The resident memory of a process, where the system tells."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return None


def _lane(worker: Worker) -> str:
    return _shown((("worker", str(worker.lane)),))


def _head(name: str, meaning: str, kind: str) -> Iterator[str]:
    yield f"# HELP {name} {meaning}."
    yield f"# TYPE {name} {kind}"


def _shown(labels: Labels) -> str:
    if not labels:
        return ""
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{pairs}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
