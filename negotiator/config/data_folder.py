"""The lock on the data folder: who uses the data shares it, and who replaces the data holds it alone."""

import fcntl
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from negotiator.base.errors import Unavailable

RESTORE_JOURNAL = "restore.json"
"""The file in the data folder that lists what a restore still has to do."""
_LOCK = "in-use.lock"


@contextmanager
def share_data_folder(folder: Path) -> Generator[None]:
    """Use the data in this folder, which is made if it is missing; `Unavailable` while a restore replaces the data."""
    with _locked(folder, fcntl.LOCK_SH, "A restore is replacing the data in {}."):
        yield


@contextmanager
def own_data_folder(folder: Path) -> Generator[None]:
    """Replace the data in this folder; `Unavailable` while a server or another command uses it."""
    with _locked(folder, fcntl.LOCK_EX, "A server or another command uses {}; stop it first."):
        yield


@contextmanager
def _locked(folder: Path, kind: int, refusal: str) -> Generator[None]:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / _LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Unavailable(refusal.format(folder)) from None
        yield
