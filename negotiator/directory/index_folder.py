"""The search index of a large catalogue as files: built once on a machine, mapped by every worker, opened at once.

A stored index is a folder below the data folder, named by its format, the number of its last change and a random word.
It is written beside its place and renamed, so one that is there is whole; afterwards only `vectors` is added to it.
Locks of the operating system, which end with their process, say who builds and which folders are in use.
"""

import contextlib
import fcntl
import hashlib
import os
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Callable, Generator
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
from numpy.typing import NDArray

from negotiator.base import search_terms
from negotiator.directory import search, taxonomy
from negotiator.directory.search.index import SearchIndex

_SPARE: Final = 4
"""A quarter more rows of vectors than tools, for those that come."""


class StoredIndex:
    """An index in its folder, which nobody removes while this object lives."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.name = folder, folder.name
        _hold(self, folder, fcntl.LOCK_SH)
        self._values: dict[str, Any] = orjson.loads((folder / "values.json").read_bytes())
        last: dict[str, Any] = self._values["last"]
        self.seq: int = last["seq"]
        """The number of the last change in it."""
        self.change: tuple[str, int] = (last["tool"], last["at"])
        """The tool and the moment of that change, which tell it from the same number in another database."""

    def open(self, make: Callable[[], SearchIndex]) -> SearchIndex:
        """The index, in memory but for the arrays that nobody changes."""
        index = make()
        arrays = {file.stem: _mapped(file) for file in (self._folder / "arrays").iterdir()}
        index.restore(self._values, arrays)
        self._values = {}
        self.take_vectors(index)
        return index

    def take_vectors(self, index: SearchIndex) -> bool:
        """Let the index use the stored vectors unless it has some that are not stored; whether it does."""
        folder = self._folder / "vectors"
        try:
            rows, digests = _mapped(folder / "rows.npy"), np.load(folder / "digests.npy")
        except FileNotFoundError:
            return False
        return index.vectors.restore(rows, digests)

    def store_vectors(self, index: SearchIndex) -> None:
        """Store the vectors of the index; only for the builder."""
        rows, digests = index.vectors.stored()
        size, width = len(digests), rows.shape[1]
        for left in self._folder.glob("vectors-*"):
            shutil.rmtree(left)
        made = Path(tempfile.mkdtemp(prefix="vectors-", dir=self._folder))
        file = np.lib.format.open_memmap(made / "rows.npy", "w+", np.dtype(np.float32), (size + size // _SPARE, width))
        file[: len(rows)] = rows
        file.flush()
        np.save(made / "digests.npy", digests)
        _sync(made)
        shutil.rmtree(self._folder / "vectors", ignore_errors=True)
        made.rename(self._folder / "vectors")


class IndexFolder:
    """The stored indexes of this machine."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def newest(self, *, but: frozenset[str] = frozenset()) -> StoredIndex | None:
        """The stored index with the newest change of those that this version of the program can read."""
        form = _format()
        for folder in sorted(self._root.glob(f"{form}-*"), reverse=True):
            if folder.name not in but:
                with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
                    return StoredIndex(folder)
        return None

    @contextlib.contextmanager
    def builder(self) -> Generator[bool]:
        """Whether this process is the one that stores an index now."""
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self._root / "builder.lock").open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True

    def store(self, index: SearchIndex, seq: int, change: tuple[str, int]) -> None:
        """Store an index with its last change; only for the builder."""
        for left in self._root.glob("building-*"):
            shutil.rmtree(left)
        values, arrays = index.state()
        made = Path(tempfile.mkdtemp(prefix="building-", dir=self._root))
        (made / "arrays").mkdir()
        for name, array in arrays.items():
            np.save(made / "arrays" / f"{name}.npy", array)
        described = {**values, "last": {"seq": seq, "tool": change[0], "at": change[1]}}
        (made / "values.json").write_bytes(orjson.dumps(described))
        _sync(made)
        folder = self._root / f"{_format()}-{seq:015d}-{secrets.token_hex(4)}"
        made.rename(folder)
        if index.vectors.present:
            StoredIndex(folder).store_vectors(index)
        for other in self._root.iterdir():
            if other.is_dir() and other != folder:
                _remove_unused(other)


def _format() -> str:
    """What decides whether a stored index can be read, and is what this program would build."""
    digest = hashlib.blake2b(digest_size=8)
    for module in (search, taxonomy, search_terms):
        for file in _sources(Path(str(module.__file__))):
            digest.update(file.read_bytes())
    digest.update(metadata.version("PyStemmer").encode())
    return digest.hexdigest()


def _sources(module: Path) -> list[Path]:
    """The files of a package, or a module with the content that it reads."""
    if module.name == "__init__.py":
        return sorted(module.parent.glob("*.py"))
    return [module, *sorted((module.parent / "content").glob("*.toml"))]


def _mapped(file: Path) -> NDArray[Any]:
    """The array of a file, whose pages all processes share until they change one for themselves."""
    # numpy's class for mapped arrays is slower at each access than the plain one.
    return np.asarray(np.load(file, mmap_mode="c"))


def _sync(folder: Path) -> None:
    """Have everything in a folder written to the disk."""
    for path in (*folder.rglob("*"), folder):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _hold(owner: object, folder: Path, kind: int) -> None:
    """Lock a folder as long as the owner lives; OSError when it is being removed."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    weakref.finalize(owner, os.close, descriptor)
    fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    if os.fstat(descriptor).st_nlink == 0:
        raise FileNotFoundError(folder)


def _remove_unused(folder: Path) -> None:
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
        finally:
            os.close(descriptor)
