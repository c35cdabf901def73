"""A worker's cells in a file of its own, and the sum over everybody's.

A worker holds an exclusive lock on its file for as long as it lives, so the kernel says who is alive. When it is gone
the next worker goes on counting in the same file: nothing is lost and files do not pile up. Only its owner writes a
file, so no lock is taken to count.
"""

import contextlib
import fcntl
import itertools
import mmap
import os
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CELL: Final = 8
_OWN: Final = 2


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker that is alive: the number of its lane, its process, when it began (seconds since the epoch)."""

    lane: int
    pid: int
    started: int


class Lanes:
    """The files of one layout in one folder; `size` cells each, after two that say whose they are."""

    def __init__(self, folder: Path, layout: str, size: int) -> None:
        self._folder = folder
        self._layout = layout
        self._bytes = (_OWN + size) * CELL
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

    def total(self) -> "tuple[array[int], list[Worker]]":
        """Every worker's cells added up, the dead ones' too, and who is alive."""
        total = array("Q", bytes(self._bytes - _OWN * CELL))
        alive: list[Worker] = []
        for lane, path in self._files():
            with path.open("rb") as file:
                content = file.read(self._bytes)
                if len(content) < self._bytes:
                    continue
                cells = array("Q", content)
                if _is_held(file.fileno()):
                    alive.append(Worker(lane, cells[0], cells[1]))
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
