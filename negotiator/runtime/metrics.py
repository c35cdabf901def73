"""Metrics over all workers of a machine, as Prometheus text (docs/decisions/0007-metrics.md).

Each worker counts in 64-bit cells of a mapped file of its own, so that no lock is needed to count. It holds an
exclusive lock on the file while it lives; a file without a lock belongs to a dead worker, and the next worker that
starts takes it over. A snapshot adds up the cells of all files.
"""

import asyncio
import contextlib
import fcntl
import hashlib
import itertools
import mmap
import os
import sys
import time
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from pathlib import Path
from typing import Final, NamedTuple

from negotiator.runtime.telemetry import logger


def map_file(descriptor: int, size: int) -> mmap.mmap:
    """Map the first `size` bytes of a file for reading and writing; OSError when the disk has no room for them.

    Every block is allocated first: a write to a mapped page without one ends the process with SIGBUS once the disk is
    full.
    """
    if sys.platform == "linux":
        os.posix_fallocate(descriptor, 0, size)
    else:
        os.ftruncate(descriptor, size)
    return mmap.mmap(descriptor, size)


log = logger(__name__)

CELL_BYTES: Final = 8
SAMPLE_EVERY: Final = 2.0
"""Seconds."""
_OWN: Final = 2


@dataclass(frozen=True, slots=True)
class MetricsWorker:
    """A live worker: the number of its file, its process id, its start in seconds since the epoch."""

    number: int
    pid: int
    started: int


class WorkerMetricFiles:
    """The workers' files in one folder, each with `size` cells after two for the process id and the start.

    `layout` is part of the file names: another version of the package counts in other files. `gauges` are the cells
    that end with their worker; of `greatest` the greatest counts and not the sum.
    """

    def __init__(
        self, folder: Path, layout: str, size: int, gauges: Sequence[int] = (), greatest: Iterable[int] = ()
    ) -> None:
        self._gauges = gauges
        self._greatest = frozenset(greatest)
        self._folder = folder
        self._layout = layout
        self._bytes = (_OWN + size) * CELL_BYTES
        self._file: int | None = None
        self._map: mmap.mmap | None = None

    def open(self, started: int) -> "memoryview[int]":
        """Take over the first file without a lock; answers its cells. OSError when the disk is full."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._forget_other_layouts()
        self._file = self._take()
        self._map = map_file(self._file, self._bytes)
        cells = memoryview(self._map).cast("Q")
        cells[0], cells[1] = os.getpid(), started
        for place in self._gauges:
            cells[_OWN + place] = 0
        return cells[_OWN:]

    def close(self) -> None:
        """Unlock the file for the next worker."""
        if self._map is not None:
            # Another view keeps the map; closing the file releases the lock all the same.
            with contextlib.suppress(BufferError):
                self._map.close()
        if self._file is not None:
            os.close(self._file)
        self._file = self._map = None

    def total(self) -> "tuple[array[int], list[MetricsWorker]]":
        """The sum or the greatest of all workers' cells, dead workers included, and the live workers."""
        total = array("Q", bytes(self._bytes - _OWN * CELL_BYTES))
        alive: list[MetricsWorker] = []
        for number, path in self._numbered():
            with path.open("rb") as file:
                content = file.read(self._bytes)
                if len(content) < self._bytes:
                    continue
                cells = array("Q", content)
                if _is_held(file.fileno()):
                    alive.append(MetricsWorker(number, cells[0], cells[1]))
                else:
                    for place in self._gauges:
                        cells[_OWN + place] = 0
            for place, value in enumerate(cells[_OWN:]):
                if value and place in self._greatest:
                    total[place] = max(total[place], value)
                elif value:
                    total[place] += value
        return total, alive

    def _numbered(self) -> Iterator[tuple[int, Path]]:
        for number in itertools.count():
            path = self._path(number)
            if not path.exists():
                return
            yield number, path

    def _path(self, number: int) -> Path:
        return self._folder / f"{self._layout}-{number}"

    def _take(self) -> int:
        for number in itertools.count():
            path = self._path(number)
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            if _hold(file) and _is_same(path, file):
                return file
            os.close(file)
        raise AssertionError("counting ended")

    def _forget_other_layouts(self) -> None:
        """Delete the files of other versions that no worker writes any more."""
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
    """Whether a worker holds the lock of this file."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False


def _is_same(path: Path, file: int) -> bool:
    """Whether the open file is still the one at this path; another worker may have deleted it."""
    try:
        return path.stat().st_ino == os.fstat(file).st_ino
    except FileNotFoundError:
        return False


STATUSES: Final = (
    *(101, 200, 201, 202, 204, 206, 301, 302, 303, 304, 307),
    *(400, 401, 403, 404, 405, 406, 409, 410, 412, 413, 415, 422, 426, 428, 429),
    *(500, 503),
)
REQUEST_SECONDS_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
COMMIT_UNITS_BUCKETS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)
PAGE_OPERATION: Final = "page"
_OUTCOMES: Final = (*map(str, STATUSES), "other")
_AT: Final = {status: at for at, status in enumerate(STATUSES)}
_TICKS: Final = 1_000_000_000

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class MetricSeries:
    """One series, or a family of counters, and its place among the cells.

    A counter and a gauge have one cell; a gauge's is in ticks too. A histogram of n bounds has n + 2: one for each
    bucket, one for observations above the last bound, one for the sum. The sum is in ticks, `per_unit` of which make
    one of the published unit. A family has a cell for each of the `values` of its label `differs_in`; it becomes one
    series a value when a snapshot is made. Of an `is_greatest` a snapshot has the greatest of the workers' numbers.
    """

    name: str
    meaning: str
    labels: Labels
    place: int
    bounds: tuple[float, ...] = ()
    per_unit: int = 1
    differs_in: str = ""
    values: tuple[str, ...] = ()
    is_gauge: bool = False
    is_greatest: bool = False
    outlives_worker: bool = False

    @property
    def width(self) -> int:
        """The number of cells."""
        return len(self.bounds) + 2 if self.bounds else len(self.values) or 1

    def expand_family(self) -> "Iterator[MetricSeries]":
        """The counters of a family; any other series by itself."""
        if not self.values:
            yield self
        alone = replace(self, differs_in="", values=())
        for at, value in enumerate(self.values):
            labels = (*self.labels, (self.differs_in, value))
            yield replace(alone, labels=labels, place=self.place + at)


@dataclass(frozen=True, slots=True)
class MetricsSnapshot:
    """The numbers of all workers at one moment."""

    series: Sequence[MetricSeries]
    cells: Sequence[int]
    workers: Sequence[MetricsWorker]
    disk: "DiskSpace | None"


class DiskSpace(NamedTuple):
    """Bytes of the file system that holds the data folder, and those of them that can still be written."""

    whole: int
    free: int


class Counter:
    """A number that only grows, or a family of them, one for each value of a label."""

    __slots__ = ("_meters", "_place")

    def __init__(self, meters: "MetricRegistry", place: int) -> None:
        self._meters = meters
        self._place = place

    def add(self, amount: int = 1, at: int = 0) -> None:
        """Add to the counter; in a family to that of the label's value at index `at`."""
        self._meters.cells[self._place + at] += amount


class Gauge:
    """A number that grows and shrinks; a snapshot has the sum, or the greatest, of those of the live workers."""

    __slots__ = ("_meters", "_per_unit", "_place")

    def __init__(self, meters: "MetricRegistry", place: int, per_unit: int = 1) -> None:
        self._meters = meters
        self._place = place
        self._per_unit = per_unit

    def set(self, value: float) -> None:
        """Set this worker's number, which is not negative."""
        self._meters.cells[self._place] = round(value * self._per_unit)


class Histogram:
    """Observations in ticks, counted by bucket."""

    __slots__ = ("_bounds", "_meters", "_place", "_sum")

    def __init__(self, meters: "MetricRegistry", place: int, bounds: Sequence[float]) -> None:
        self._meters = meters
        self._bounds = bounds
        self._place = place
        self._sum = place + len(bounds) + 1

    def observe(self, ticks: int) -> None:
        """Count one observation."""
        cells = self._meters.cells
        cells[self._place + bisect_left(self._bounds, ticks)] += 1
        cells[self._sum] += ticks


class MetricRegistry:
    """The metrics of this worker. All are registered first; then `open` maps them to the worker's file.

    Before that, and in commands that never call `open`, the cells are in memory only.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._series: list[MetricSeries] = []
        self._sampled: list[tuple[Gauge, Callable[[], float]]] = []
        self._size = 0
        self._files: WorkerMetricFiles | None = None
        self.cells: memoryview[int] | array[int] = array("Q")

    def counter(self, name: str, meaning: str, **labels: str) -> Counter:
        """Register a counter; its name ends in `_total`."""
        return Counter(self, self._add(MetricSeries(name, meaning, tuple(labels.items()), self._size)))

    def gauge(self, name: str, meaning: str, **labels: str) -> Gauge:
        """Register a gauge."""
        shown = tuple(labels.items())
        series = MetricSeries(name, meaning, shown, self._size, is_gauge=True)
        return Gauge(self, self._add(series))

    def sampled_gauge(
        self,
        name: str,
        meaning: str,
        read: Callable[[], float],
        *,
        greatest: bool = False,
        per_unit: int = 1,
        **labels: str,
    ) -> None:
        """Register a gauge that `sample` sets to what `read` returns, exact to one of `per_unit` parts."""
        shown = tuple(labels.items())
        series = MetricSeries(name, meaning, shown, self._size, per_unit=per_unit, is_gauge=True, is_greatest=greatest)
        self._sampled.append((Gauge(self, self._add(series), per_unit), read))

    def timestamp(self, name: str, meaning: str) -> Gauge:
        """Register a time in seconds since the epoch; the newest of all workers counts, dead ones included."""
        series = MetricSeries(name, meaning, (), self._size, is_gauge=True, is_greatest=True, outlives_worker=True)
        return Gauge(self, self._add(series))

    def counter_family(self, name: str, meaning: str, label: str, *, values: tuple[str, ...], **labels: str) -> Counter:
        """Register a counter for each value of a label, at the cost of one."""
        named = MetricSeries(name, meaning, tuple(labels.items()), self._size)
        return Counter(self, self._add(replace(named, differs_in=label, values=values)))

    def histogram(
        self, name: str, meaning: str, bounds: Sequence[float], *, per_unit: int = 1, **labels: str
    ) -> Histogram:
        """Register a histogram; the bounds are in its unit, observations in ticks, `per_unit` of which make one."""
        shown = tuple(labels.items())
        place = self._add(MetricSeries(name, meaning, shown, self._size, tuple(bounds), per_unit))
        return Histogram(self, place, [round(bound * per_unit) for bound in bounds])

    def open(self) -> None:
        """Count in a file from now on; in memory, and in no snapshot of other workers, while the disk is full."""
        named = repr([(each.name, each.labels, each.bounds, each.values) for each in self._series])
        layout = hashlib.sha256(named.encode()).hexdigest()[:16]
        gauges = [each.place for each in self._series if each.is_gauge and not each.outlives_worker]
        greatest = [each.place for each in self._series if each.is_greatest]
        files = WorkerMetricFiles(self._folder, layout, self._size, gauges, greatest)
        try:
            cells = files.open(int(time.time()))
        except OSError as fault:
            log.error("metrics of this worker are counted in memory only", error=str(fault))
            files.close()
            return
        for place, value in enumerate(self.cells):
            cells[place] += value
        self._files, self.cells = files, cells

    def close(self) -> None:
        """Release the file; later counts go to memory."""
        if self._files is not None and isinstance(self.cells, memoryview):
            cells, self.cells = self.cells, array("Q", bytes(CELL_BYTES * self._size))
            cells.release()
            self._files.close()
            self._files = None

    def sample(self) -> None:
        """Set the sampled gauges of this worker."""
        for gauge, read in self._sampled:
            gauge.set(read())

    async def sample_regularly(self) -> None:
        """Set the sampled gauges every two seconds until cancelled; a request pays nothing for them."""
        while True:
            self.sample()
            await asyncio.sleep(SAMPLE_EVERY)

    def snapshot(self) -> MetricsSnapshot:
        """All numbers now."""
        series = [one for named in self._series for one in named.expand_family()]
        if self._files is None:
            return MetricsSnapshot(series, self.cells, (), _disk_space(self._folder))
        cells, workers = self._files.total()
        return MetricsSnapshot(series, cells, workers, _disk_space(self._folder))

    def _add(self, series: MetricSeries) -> int:
        if self._files is not None or isinstance(self.cells, memoryview):
            raise AssertionError("metrics are registered before the file is opened")
        self._series.append(series)
        self._size += series.width
        self.cells.extend([0] * series.width)
        return series.place


def _disk_space(folder: Path) -> DiskSpace | None:
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    return DiskSpace(found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize)


class RequestMetrics:
    """Requests by operation and status, and the time from each request to the head of its answer."""

    def __init__(self, meters: MetricRegistry, operations: Iterable[str]) -> None:
        self._counts: dict[str, Counter] = {}
        self._times: dict[str, Histogram] = {}
        for operation in (*operations, PAGE_OPERATION):
            self._counts[operation] = meters.counter_family(
                "negotiator_requests_total", "Requests answered", "status", values=_OUTCOMES, operation=operation
            )
            self._times[operation] = meters.histogram(
                "negotiator_request_seconds",
                "Time from a request to the head of its answer",
                REQUEST_SECONDS_BUCKETS,
                per_unit=_TICKS,
                operation=operation,
            )

    def observe(self, operation: str, status: int, nanoseconds: int) -> None:
        """Count one answer; an unknown operation is counted as a page."""
        if operation not in self._times:
            operation = PAGE_OPERATION
        self._counts[operation].add(1, _AT.get(status, len(STATUSES)))
        self._times[operation].observe(nanoseconds)


PROMETHEUS_MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_ISSUED: Final = "negotiator_tokens_issued_total"


def prometheus_text(snapshot: MetricsSnapshot, issuing: Iterable[str]) -> str:
    """The snapshot in the Prometheus exposition format 0.0.4, without counters and histograms that are zero.

    Each success of an operation in `issuing` counts as one issued credential.
    """
    lines = [
        *_families(snapshot),
        *_issued(snapshot, frozenset(issuing)),
        *_workers(snapshot.workers),
        *_disk(snapshot.disk),
    ]
    return "".join(f"{line}\n" for line in lines)


def _families(snapshot: MetricsSnapshot) -> Iterator[str]:
    named = sorted(snapshot.series, key=lambda series: series.name)
    for name, family in groupby(named, lambda series: series.name):
        members = list(family)
        kind = "histogram" if members[0].bounds else "gauge" if members[0].is_gauge else "counter"
        yield from _head(name, members[0].meaning, kind)
        for series in members:
            cells = snapshot.cells[series.place : series.place + series.width]
            yield from _histogram(series, cells) if series.bounds else _counter(series, cells)


def _counter(series: MetricSeries, cells: Iterable[int]) -> Iterator[str]:
    (value,) = cells
    # A series without labels is there from the start, so that a rate over it exists.
    if value or series.is_gauge or not series.labels:
        shown = value if series.per_unit == 1 else f"{value / series.per_unit:.9g}"
        yield f"{series.name}{_shown(series.labels)} {shown}"


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
        yield f"process_start_time_seconds{_worker_label(worker)} {worker.started}"
    memory = [(worker, used) for worker in alive if (used := _resident(worker.pid)) is not None]
    if memory:
        yield from _head("process_resident_memory_bytes", "Memory of a worker", "gauge")
    for worker, used in memory:
        yield f"process_resident_memory_bytes{_worker_label(worker)} {used}"


def _disk(space: DiskSpace | None) -> Iterator[str]:
    if space is None:
        return
    yield from _head("negotiator_disk_bytes", "Size of the disk of the data folder", "gauge")
    yield f"negotiator_disk_bytes {space.whole}"
    yield from _head("negotiator_disk_free_bytes", "Of it, what can still be written", "gauge")
    yield f"negotiator_disk_free_bytes {space.free}"


def _resident(pid: int) -> int | None:
    """The resident memory of a process in bytes; None where there is no /proc."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text("utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return None


def _worker_label(worker: MetricsWorker) -> str:
    return _shown((("worker", str(worker.number)),))


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
