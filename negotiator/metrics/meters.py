"""What is counted, by name: counters, histograms, the traffic of requests. Counting is one addition to a cell."""

import hashlib
import time
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from negotiator.metrics.lanes import Lanes, Worker

STATUSES: Final = (
    *(101, 200, 201, 202, 204, 206, 301, 302, 303, 304, 307),
    *(400, 401, 403, 404, 405, 406, 409, 410, 412, 413, 415, 422, 426, 428, 429),
    *(500, 503),
)
SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
UNITS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)
PAGE: Final = "page"
_OUTCOMES: Final = (*map(str, STATUSES), "other")
_AT: Final = {status: at for at, status in enumerate(STATUSES)}
_TICKS: Final = 1_000_000_000

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Series:
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

    def apart(self) -> "Iterator[Series]":
        """The counters of a row; anything else is itself."""
        if not self.values:
            yield self
        alone = replace(self, differs_in="", values=())
        for at, value in enumerate(self.values):
            labels = (*self.labels, (self.differs_in, value))
            yield replace(alone, labels=labels, place=self.place + at)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All numbers at one moment, over all workers."""

    series: Sequence[Series]
    cells: Sequence[int]
    workers: Sequence[Worker]


class Counter:
    """A number that only grows."""

    __slots__ = ("_meters", "_place")

    def __init__(self, meters: "Meters", place: int) -> None:
        self._meters = meters
        self._place = place

    def add(self, amount: int = 1) -> None:
        """Count."""
        self._meters.cells[self._place] += amount


class Row:
    """Counters that differ in one label, told apart by the place of its value."""

    __slots__ = ("_meters", "_place")

    def __init__(self, meters: "Meters", place: int) -> None:
        self._meters = meters
        self._place = place

    def add(self, at: int) -> None:
        """Count one of the value that stands there."""
        self._meters.cells[self._place + at] += 1


class Histogram:
    """How large something was, by bounds."""

    __slots__ = ("_bounds", "_meters", "_place", "_sum")

    def __init__(self, meters: "Meters", place: int, bounds: Sequence[float]) -> None:
        self._meters = meters
        self._bounds = bounds
        self._place = place
        self._sum = place + len(bounds) + 1

    def saw(self, ticks: int) -> None:
        """Count one of this size."""
        cells = self._meters.cells
        cells[self._place + bisect_left(self._bounds, ticks)] += 1
        cells[self._sum] += ticks


class Meters:
    """Every number of this worker. They are named first, then `open` lays them out in the worker's file.

    Until then, and in commands that never open it, counting goes to memory and is forgotten.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._series: list[Series] = []
        self._size = 0
        self._lanes: Lanes | None = None
        self.cells: memoryview[int] | array[int] = array("Q")

    def counter(self, name: str, meaning: str, **labels: str) -> Counter:
        """A counter; its name ends in `_total`."""
        return Counter(self, self._add(Series(name, meaning, tuple(labels.items()), self._size)))

    def row(
        self, name: str, meaning: str, label: str, *, values: tuple[str, ...], **labels: str
    ) -> Row:
        """A counter for each value of a label; naming thousands costs no more than naming one."""
        named = Series(name, meaning, tuple(labels.items()), self._size)
        return Row(self, self._add(replace(named, differs_in=label, values=values)))

    def histogram(
        self, name: str, meaning: str, bounds: Sequence[float], *, per_unit: int = 1, **labels: str
    ) -> Histogram:
        """A histogram whose bounds are in its unit and whose observations come in `per_unit` ticks of it."""
        shown = tuple(labels.items())
        place = self._add(Series(name, meaning, shown, self._size, tuple(bounds), per_unit))
        return Histogram(self, place, [round(bound * per_unit) for bound in bounds])

    def open(self) -> None:
        """Take a file and count there from now on."""
        named = repr([(each.name, each.labels, each.bounds, each.values) for each in self._series])
        layout = hashlib.sha256(named.encode()).hexdigest()[:16]
        self._lanes = Lanes(self._folder, layout, self._size)
        kept, self.cells = self.cells, self._lanes.open(int(time.time()))
        for place, value in enumerate(kept):
            self.cells[place] += value

    def close(self) -> None:
        """Leave the file to the next worker; what is still counted is forgotten."""
        if self._lanes is not None and isinstance(self.cells, memoryview):
            cells, self.cells = self.cells, array("Q", bytes(8 * self._size))
            self._lanes.close(cells)
            self._lanes = None

    def snapshot(self) -> Snapshot:
        """All numbers now."""
        series = [one for named in self._series for one in named.apart()]
        if self._lanes is None:
            return Snapshot(series, self.cells, ())
        cells, workers = self._lanes.total()
        return Snapshot(series, cells, workers)

    def _add(self, series: Series) -> int:
        if self._lanes is not None or isinstance(self.cells, memoryview):
            raise AssertionError("what is counted is named before the file is laid out")
        self._series.append(series)
        self._size += series.width
        self.cells.extend([0] * series.width)
        return series.place


class Traffic:
    """Requests by operation and status, and how long each took to begin its answer."""

    def __init__(self, meters: Meters, operations: Iterable[str]) -> None:
        self._counts: dict[str, Row] = {}
        self._times: dict[str, Histogram] = {}
        for operation in (*operations, PAGE):
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
                SECONDS,
                per_unit=_TICKS,
                operation=operation,
            )

    def saw(self, operation: str, status: int, nanoseconds: int) -> None:
        """Count one answer; what is no operation we know is a page."""
        if operation not in self._times:
            operation = PAGE
        self._counts[operation].add(_AT.get(status, len(STATUSES)))
        self._times[operation].saw(nanoseconds)
