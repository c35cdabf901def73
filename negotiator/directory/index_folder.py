"""The search index of a large catalogue as files: built once on a machine, mapped by every worker, opened at once.

A stored index is a folder below the data folder, named by its format, the number of its last change and a random word.
It is written beside its place and renamed, and never changed: one that is there is whole. Who has opened one keeps it
when its files are removed. A lock of the operating system, which ends with its process, says who builds.
"""

import contextlib
import fcntl
import hashlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Generator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from negotiator.base import search_terms
from negotiator.directory import search, taxonomy
from negotiator.directory.search.index import SearchIndex


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """A stored index: its folder, its plain values, and its last change: the number, the tool and the moment, which
    tell it from the same number in another database.
    """

    folder: Path
    values: dict[str, Any]
    seq: int
    change: tuple[str, int]

    def fill(self, index: SearchIndex) -> None:
        """Let an empty index take it over, in memory but for the arrays that nobody changes."""
        index.restore(self.values, {file.stem: _mapped(file) for file in (self.folder / "arrays").iterdir()})


@dataclass(frozen=True, slots=True)
class IndexFolder:
    """The stored indexes of this machine."""

    root: Path

    def stored(self) -> list[StoredIndex]:
        """Those that this version of the program can read, the newest change first."""
        found: list[StoredIndex] = []
        for folder in sorted(self.root.glob(f"{_format()}-*"), reverse=True):
            with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
                values: dict[str, Any] = orjson.loads((folder / "values.json").read_bytes())
                last: dict[str, Any] = values["last"]
                found.append(StoredIndex(folder, values, last["seq"], (last["tool"], last["at"])))
        return found

    @contextlib.contextmanager
    def builder(self) -> Generator[bool]:
        """Whether this process is the one that stores an index now."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self.root / "builder.lock").open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True

    def store(self, index: SearchIndex, seq: int, change: tuple[str, int]) -> None:
        """Store an index with its last change in place of all others; only for the builder."""
        values, arrays = index.state()
        made = Path(tempfile.mkdtemp(prefix="building-", dir=self.root))
        (made / "arrays").mkdir()
        for name, array in arrays.items():
            np.save(made / "arrays" / f"{name}.npy", array)
        described = {**values, "last": {"seq": seq, "tool": change[0], "at": change[1]}}
        (made / "values.json").write_bytes(orjson.dumps(described))
        _sync(made)
        folder = made.rename(self.root / f"{_format()}-{seq:015d}-{secrets.token_hex(4)}")
        for other in self.root.iterdir():
            if other.is_dir() and other != folder:
                shutil.rmtree(other, ignore_errors=True)


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
