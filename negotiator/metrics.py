"""A worker's cells in a file of its own, and the sum over everybody's.

A worker holds an exclusive lock on its file for as long as it lives, so the kernel says who is alive. When it is gone
the next worker goes on counting in the same file: nothing is lost and files do not pile up. Only its owner writes a
file, so no lock is taken to count.

What is counted, by name: counters, histograms, the traffic of requests. Counting is one addition to a cell.

Prometheus text (exposition format 0.0.4) of a snapshot.
"""

import contextlib
import fcntl
import hashlib
import itertools
import mmap
import os
import time
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from pathlib import Path
from typing import Final

CELL_BYTES: Final = 8
_OWN: Final = 2


@dataclass(frozen=True, slots=True)
class MetricsWorker:
    """A worker that is alive: the number of its lane, its process, when it began (seconds since the epoch)."""

    lane: int
    pid: int
    started: int


class WorkerMetricFiles:
    """The files of one layout in one folder; `size` cells each, after two that say whose they are."""

    def __init__(self, folder: Path, layout: str, size: int) -> None:
        self._folder = folder
        self._layout = layout
        self._bytes = (_OWN + size) * CELL_BYTES
        self._file: int | None = None
        self._map: mmap.mmap | None = None

    def open(self, started: int) -> "memoryview[int]":
        """Take the first free file; its cells, as the worker before left them."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._forget_other_layouts()
        self._file = self._take()
        os.ftruncate(self._file, self._bytes)
        self._map = mmap.mmap(self._file, self._bytes)
        cells = memoryview(self._map).cast("Q")
        cells[0], cells[1] = os.getpid(), started
        return cells[_OWN:]

    def close(self, cells: "memoryview[int]") -> None:
        """Leave the file to the next worker."""
        cells.release()
        if self._map is not None:
            # A view that is still held elsewhere keeps the map; the lock goes all the same.
            with contextlib.suppress(BufferError):
                self._map.close()
        if self._file is not None:
            os.close(self._file)
        self._file = self._map = None

    def total(self) -> "tuple[array[int], list[MetricsWorker]]":
        """Every worker's cells added up, the dead ones' too, and who is alive."""
        total = array("Q", bytes(self._bytes - _OWN * CELL_BYTES))
        alive: list[MetricsWorker] = []
        for lane, path in self._files():
            with path.open("rb") as file:
                content = file.read(self._bytes)
                if len(content) < self._bytes:
                    continue
                cells = array("Q", content)
                if _is_held(file.fileno()):
                    alive.append(MetricsWorker(lane, cells[0], cells[1]))
            for place, value in enumerate(cells[_OWN:]):
                if value:
                    total[place] += value
        return total, alive

    def _files(self) -> Iterator[tuple[int, Path]]:
        for lane in itertools.count():
            path = self._path(lane)
            if not path.exists():
                return
            yield lane, path

    def _path(self, lane: int) -> Path:
        return self._folder / f"{self._layout}-{lane}"

    def _take(self) -> int:
        for lane in itertools.count():
            path = self._path(lane)
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            if _hold(file) and _is_same(path, file):
                return file
            os.close(file)
        raise AssertionError("counting ended")

    def _forget_other_layouts(self) -> None:
        """Another version's numbers mean something else; its files go once nobody writes them."""
        for path in self._folder.iterdir():
            if path.name.rpartition("-")[0] == self._layout:
                continue
            with contextlib.suppress(OSError):
                file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
                if _hold(file):
                    path.unlink()
                os.close(file)


def _hold(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_held(file: int) -> bool:
    """Whether some other opening of this file has it locked."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False


def _is_same(path: Path, file: int) -> bool:
    """Whether the path still leads to the open file."""
    try:
        return path.stat().st_ino == os.fstat(file).st_ino
    except FileNotFoundError:
        return False


STATUSES: Final = (
    *(101, 200, 201, 202, 204, 206, 301, 302, 303, 304, 307),
    *(400, 401, 403, 404, 405, 406, 409, 410, 412, 413, 415, 422, 426, 428, 429),
    *(500, 503),
)
REQUEST_SECONDS_BUCKETS: Final = (
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    10.0,
)
COMMIT_UNITS_BUCKETS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)
PAGE_OPERATION: Final = "page"
_OUTCOMES: Final = (*map(str, STATUSES), "other")
_AT: Final = {status: at for at, status in enumerate(STATUSES)}
_TICKS: Final = 1_000_000_000

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class MetricSeries:
    """Where one series stands among the cells: a counter has one cell.

    A histogram of n bounds has n + 2: how often each bound was the first not exceeded, how often none was, the sum.
    A sum is kept in whole ticks; `per_unit` of them make one of the unit that is shown.
    A row of counters is one until somebody looks: it has a cell for each of the `values` of `differs_in`.
    """

    name: str
    meaning: str
    labels: Labels
    place: int
    bounds: tuple[float, ...] = ()
    per_unit: int = 1
    differs_in: str = ""
    values: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """How many cells it has."""
        return len(self.bounds) + 2 if self.bounds else len(self.values) or 1

    def expand_family(self) -> "Iterator[MetricSeries]":
        """The counters of a row; anything else is itself."""
        if not self.values:
            yield self
        alone = replace(self, differs_in="", values=())
        for at, value in enumerate(self.values):
            labels = (*self.labels, (self.differs_in, value))
            yield replace(alone, labels=labels, place=self.place + at)


@dataclass(frozen=True, slots=True)
class MetricsSnapshot:
    """All numbers at one moment, over all workers."""

    series: Sequence[MetricSeries]
    cells: Sequence[int]
    workers: Sequence[MetricsWorker]


class Counter:
    """A number that only grows."""

    __slots__ = ("_meters", "_place")

    def __init__(self, meters: "MetricRegistry", place: int) -> None:
        self._meters = meters
        self._place = place

    def add(self, amount: int = 1) -> None:
        """Count."""
        self._meters.cells[self._place] += amount


class CounterFamily:
    """Counters that differ in one label, told apart by the place of its value."""

    __slots__ = ("_meters", "_place")

    def __init__(self, meters: "MetricRegistry", place: int) -> None:
        self._meters = meters
        self._place = place

    def add(self, at: int) -> None:
        """Count one of the value that stands there."""
        self._meters.cells[self._place + at] += 1


class Histogram:
    """How large something was, by bounds."""

    __slots__ = ("_bounds", "_meters", "_place", "_sum")

    def __init__(self, meters: "MetricRegistry", place: int, bounds: Sequence[float]) -> None:
        self._meters = meters
        self._bounds = bounds
        self._place = place
        self._sum = place + len(bounds) + 1

    def observe(self, ticks: int) -> None:
        """Count one of this size."""
        cells = self._meters.cells
        cells[self._place + bisect_left(self._bounds, ticks)] += 1
        cells[self._sum] += ticks


class MetricRegistry:
    """Every number of this worker. They are named first, then `open` lays them out in the worker's file.

    Until then, and in commands that never open it, counting goes to memory and is forgotten.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._series: list[MetricSeries] = []
        self._size = 0
        self._lanes: WorkerMetricFiles | None = None
        self.cells: memoryview[int] | array[int] = array("Q")

    def counter(self, name: str, meaning: str, **labels: str) -> Counter:
        """A counter; its name ends in `_total`."""
        return Counter(
            self, self._add(MetricSeries(name, meaning, tuple(labels.items()), self._size))
        )

    def row(
        self, name: str, meaning: str, label: str, *, values: tuple[str, ...], **labels: str
    ) -> CounterFamily:
        """A counter for each value of a label; naming thousands costs no more than naming one."""
        named = MetricSeries(name, meaning, tuple(labels.items()), self._size)
        return CounterFamily(self, self._add(replace(named, differs_in=label, values=values)))

    def histogram(
        self, name: str, meaning: str, bounds: Sequence[float], *, per_unit: int = 1, **labels: str
    ) -> Histogram:
        """A histogram whose bounds are in its unit and whose observations come in `per_unit` ticks of it."""
        shown = tuple(labels.items())
        place = self._add(MetricSeries(name, meaning, shown, self._size, tuple(bounds), per_unit))
        return Histogram(self, place, [round(bound * per_unit) for bound in bounds])

    def open(self) -> None:
        """Take a file and count there from now on."""
        named = repr([(each.name, each.labels, each.bounds, each.values) for each in self._series])
        layout = hashlib.sha256(named.encode()).hexdigest()[:16]
        self._lanes = WorkerMetricFiles(self._folder, layout, self._size)
        kept, self.cells = self.cells, self._lanes.open(int(time.time()))
        for place, value in enumerate(kept):
            self.cells[place] += value

    def close(self) -> None:
        """Leave the file to the next worker; what is still counted is forgotten."""
        if self._lanes is not None and isinstance(self.cells, memoryview):
            cells, self.cells = self.cells, array("Q", bytes(8 * self._size))
            self._lanes.close(cells)
            self._lanes = None

    def snapshot(self) -> MetricsSnapshot:
        """All numbers now."""
        series = [one for named in self._series for one in named.expand_family()]
        if self._lanes is None:
            return MetricsSnapshot(series, self.cells, ())
        cells, workers = self._lanes.total()
        return MetricsSnapshot(series, cells, workers)

    def _add(self, series: MetricSeries) -> int:
        if self._lanes is not None or isinstance(self.cells, memoryview):
            raise AssertionError("what is counted is named before the file is laid out")
        self._series.append(series)
        self._size += series.width
        self.cells.extend([0] * series.width)
        return series.place


class RequestMetrics:
    """Requests by operation and status, and how long each took to begin its answer."""

    def __init__(self, meters: MetricRegistry, operations: Iterable[str]) -> None:
        self._counts: dict[str, CounterFamily] = {}
        self._times: dict[str, Histogram] = {}
        for operation in (*operations, PAGE_OPERATION):
            self._counts[operation] = meters.row(
                "negotiator_requests_total",
                "Requests answered",
                "status",
                values=_OUTCOMES,
                operation=operation,
            )
            self._times[operation] = meters.histogram(
                "negotiator_request_seconds",
                "Time from a request to the head of its answer",
                REQUEST_SECONDS_BUCKETS,
                per_unit=_TICKS,
                operation=operation,
            )

    def observe(self, operation: str, status: int, nanoseconds: int) -> None:
        """Count one answer; what is no operation we know is a page."""
        if operation not in self._times:
            operation = PAGE_OPERATION
        self._counts[operation].add(_AT.get(status, len(STATUSES)))
        self._times[operation].observe(nanoseconds)


PROMETHEUS_MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_ISSUED: Final = "negotiator_tokens_issued_total"


def prometheus_text(snapshot: MetricsSnapshot, issuing: Iterable[str]) -> str:
    """The text; what never happened is left out. Each success of the `issuing` operations made one credential."""
    lines = [
        *_families(snapshot),
        *_issued(snapshot, frozenset(issuing)),
        *_workers(snapshot.workers),
    ]
    return "".join(f"{line}\n" for line in lines)


def _families(snapshot: MetricsSnapshot) -> Iterator[str]:
    named = sorted(snapshot.series, key=lambda series: series.name)
    for name, family in groupby(named, lambda series: series.name):
        members = list(family)
        kind = "histogram" if members[0].bounds else "counter"
        yield from _head(name, members[0].meaning, kind)
        for series in members:
            cells = snapshot.cells[series.place : series.place + series.width]
            yield from _histogram(series, cells) if series.bounds else _counter(series, cells)


def _counter(series: MetricSeries, cells: Iterable[int]) -> Iterator[str]:
    (value,) = cells
    # A series without labels is there from the start, so that a rate over it exists.
    if value or not series.labels:
        yield f"{series.name}{_shown(series.labels)} {value}"


def _histogram(series: MetricSeries, cells: Iterable[int]) -> Iterator[str]:
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


def _issued(snapshot: MetricsSnapshot, issuing: frozenset[str]) -> Iterator[str]:
    yield from _head(_ISSUED, "Tokens and keys handed out", "counter")
    counts: dict[str, int] = {}
    for series in snapshot.series:
        labels = dict(series.labels)
        operation = labels.get("operation", "")
        if operation in issuing and labels.get("status", "").startswith("2"):
            counts[operation] = counts.get(operation, 0) + snapshot.cells[series.place]
    for operation, count in sorted(counts.items()):
        yield f"{_ISSUED}{_shown((('operation', operation),))} {count}"


def _workers(workers: Iterable[MetricsWorker]) -> Iterator[str]:
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


def _lane(worker: MetricsWorker) -> str:
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
