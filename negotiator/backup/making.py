"""Writes a backup while the server runs: the database, the signing keys, the pepper and the mails not sent."""

import contextlib
import errno
import fcntl
import os
import secrets
import shutil
import sqlite3
import tempfile
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Final

from sqlalchemy.engine import make_url

from negotiator import __version__
from negotiator.backup import archive
from negotiator.backup.archive import Manifest, write_archive
from negotiator.backup.database_copy import copy_database, count_rows, open_file, revision_of
from negotiator.base import values
from negotiator.base.errors import Unavailable
from negotiator.compose.shared_secrets import fault_of_place
from negotiator.config.settings import Settings
from negotiator.keys.database_keys import WrappedKey
from negotiator.store import fingerprints
from negotiator.store.sqlite import SqliteTransaction

_FOLDER: Final = "unfinished-"
_LOCK: Final = "lock"


async def write_backup(settings: Settings, target: IO[bytes], key: str) -> Manifest:
    """Write a backup of everything that these settings name to `target`, encrypted to this key."""
    with ExitStack() as stack:
        with work_folder(settings.data_dir) as folder:
            copy = folder / archive.DATABASE
            await copy_database(settings.database_url, copy)
            with open_file(copy) as database:
                revision, counts = revision_of(database), count_rows(database)
                if WrappedKey.__tablename__ in counts:
                    _check_place(settings, database)
            # The open file outlives its name: a backup that is killed leaves no readable copy.
            opened: list[tuple[str, IO[bytes]]] = [(archive.DATABASE, stack.enter_context(copy.open("rb")))]
        # Keys after the rows: the key of every token that the rows name is there, since a rotation removes no key
        # whose tokens live.
        opened += [(archive.PEPPER, BytesIO(settings.secret.encode() or _read_secret(settings.pepper_file, "pepper")))]
        if settings.keys_in == "database":
            opened += [(archive.KEYS_WRAPPING, BytesIO(_read_keys_secret(settings)))]
        else:
            opened += _read_keys(settings.keys_dir)
        for path in sorted(settings.outbox_folder.glob("*.eml")):
            with contextlib.suppress(FileNotFoundError):
                opened.append((f"{archive.OUTBOX}/{path.name}", BytesIO(path.read_bytes())))
        manifest = Manifest(
            made_at=values.now(),
            version=__version__,
            schema=revision,
            engine=make_url(settings.database_url).get_backend_name(),
            base_url=settings.base_url,
            counts=counts,
        )
        write_archive(target, key, manifest, opened, settings.data_dir)
    return manifest


@contextmanager
def new_file(path: Path) -> Generator[IO[bytes]]:
    """A new file of mode 0600 that gets its name when the block ends, durable and whole, and else leaves nothing.

    `Unavailable` when the name is taken: nothing is replaced, and no symbolic link is followed.
    """
    if os.path.lexists(path):
        raise _taken(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    try:
        descriptor = os.open(temporary, flags, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _name(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def _name(temporary: Path, path: Path) -> None:
    """Give the file its name; unlike a rename, a link never replaces a file that came meanwhile."""
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        raise _taken(path) from None
    except OSError as fault:
        if fault.errno not in {errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}:
            raise
        temporary.rename(path)  # a file system without links


def _taken(path: Path) -> Unavailable:
    return Unavailable(f"{path} exists already; choose another name.")


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def work_folder(parent: Path) -> Generator[Path]:
    """A folder of mode 0700 that is gone afterwards; those that killed commands left in `parent` are removed."""
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in parent.glob(f"{_FOLDER}*"):
        with contextlib.suppress(OSError), (left / _LOCK).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left)
    folder = Path(tempfile.mkdtemp(prefix=_FOLDER, dir=parent))
    try:
        with (folder / f"{_LOCK}.new").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            Path(lock.name).rename(folder / _LOCK)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read_keys(folder: Path) -> list[tuple[str, IO[bytes]]]:
    keys: list[tuple[str, IO[bytes]]] = []
    for path in sorted(folder.glob("*.pem")):
        with contextlib.suppress(FileNotFoundError):  # a rotation removed it
            keys.append((f"{archive.KEYS}/{path.name}", BytesIO(path.read_bytes())))
    if not keys:
        raise Unavailable(f"There are no signing keys in {folder}: no server has run with these settings.")
    return keys


def _check_place(settings: Settings, copy: sqlite3.Connection) -> None:
    """Raise `Unavailable` when the backup would not have the signing keys of the database, or not their secret."""
    if fault := fault_of_place(settings, fingerprints.recorded(SqliteTransaction(copy))):
        raise Unavailable(fault)


def _read_keys_secret(settings: Settings) -> bytes:
    path = settings.keys_secret_file
    return settings.keys_secret.encode() or _read_secret(path, "secret of the signing keys")


def _read_secret(path: Path, name: str) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise Unavailable(f"There is no {name} at {path}: no server has run with these settings.") from None
