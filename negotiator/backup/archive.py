"""What a backup is: a deflated tar file in an age file (https://age-encryption.org/v1).

`age --decrypt -i KEY_FILE BACKUP | tar xz` opens one by hand. The first member is a manifest; the others are the
database, the pepper, the signing keys or the secret of those in the database, and unsent mails. A reader takes no other
name, so that none can point out of the folder that it is unpacked into.
"""

import asyncio
import os
import re
import shutil
import tarfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from gzip import BadGzipFile
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final

import orjson
import pyrage

from negotiator.base.errors import InvalidRequest, UnusableFileError
from negotiator.store.schema_upgrades import known_revisions

DATABASE: Final = "database"
PEPPER: Final = "secret"
KEYS: Final = "keys"
KEYS_WRAPPING: Final = "keys-secret"
OUTBOX: Final = "outbox"
MANIFEST: Final = "manifest.json"
_MEMBER: Final = re.compile(
    r"database|secret|keys-secret|keys/(?:key|rsa)_[0-9a-z]{26}\.pem|outbox/mail_[0-9a-z]{26}\.eml"
)
_LEVEL: Final = 3
_OTHER_KEY: Final = "No matching keys found"
"""What pyrage says of a file that is encrypted to another key."""


class UnreadableBackup(UnusableFileError):
    """A backup cannot be read; the message is one sentence that says why."""


class DamagedBackup(UnreadableBackup):
    """A byte is not the one that was written, or is missing."""

    def __init__(self, where: str) -> None:
        super().__init__(f"The backup is damaged: {where}.")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself. `made_at` in milliseconds; `schema` is the database's revision; `counts` the rows
    of each table."""

    made_at: int
    version: str
    schema: str
    engine: str
    base_url: str
    counts: Mapping[str, int]


def check_key(key: str) -> None:
    """Raise `InvalidRequest` unless this is a key that can encrypt a backup."""
    _identity(key)


def write_archive(
    target: IO[bytes], key: str, manifest: Manifest, members: Iterable[tuple[str, IO[bytes]]], folder: Path
) -> None:
    """Write a manifest and its members, encrypted to this key; the deflated archive is in `folder` meanwhile."""
    identity = _identity(key)
    with TemporaryFile(dir=folder) as packed:
        with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=_LEVEL) as tar:
            for name, content in ((MANIFEST, BytesIO(orjson.dumps(asdict(manifest)))), *members):
                member = tarfile.TarInfo(name)
                member.size, member.mode, member.mtime = content.seek(0, os.SEEK_END), 0o600, manifest.made_at // 1000
                content.seek(0)
                tar.addfile(member, content)
        packed.seek(0)
        _run(pyrage.encrypt_io, packed, target, [identity.to_public()])


def unpack_archive(source: IO[bytes], key: str, folder: Path) -> Manifest:
    """Write every member under the folder, which must be new, with mode 0600; raises `UnreadableBackup`.

    Every byte is authenticated before the first member is written.
    """
    identity = _identity(key)
    with TemporaryFile(dir=folder) as packed:
        try:
            _run(pyrage.decrypt_io, source, packed, [identity])
        except pyrage.DecryptError as fault:
            if str(fault) == _OTHER_KEY:
                raise UnreadableBackup("The backup key is wrong.") from None
            raise UnreadableBackup("This is no backup of Negotiator.") from None
        except OSError as fault:
            if fault.errno is not None:
                raise
            raise DamagedBackup("bytes of it were changed or are missing") from None
        packed.seek(0)
        try:
            with tarfile.open(fileobj=packed, mode="r:gz") as tar:
                return _unpack(tar, folder)
        except (tarfile.TarError, BadGzipFile, EOFError, zlib.error):
            raise DamagedBackup("its content is no archive") from None


def _identity(key: str) -> pyrage.x25519.Identity:
    try:
        return pyrage.x25519.Identity.from_str(key)
    except pyrage.IdentityError:
        raise InvalidRequest("The backup key is no age key; age-keygen makes one.") from None


class _SignalledFile:
    """A file whose every use runs some Python, so that the handlers of pending signals are called."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, size: int) -> bytes:
        return self._file.read(size)

    def write(self, data: bytes) -> int:
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()


def _run(work: Callable[..., object], source: IO[bytes], target: IO[bytes], keys: Any) -> None:
    """Encrypt or decrypt; a handler of a signal that ends it gives CancelledError, which pyrage makes a text of."""
    try:
        work(_SignalledFile(source), _SignalledFile(target), keys)
    except (pyrage.EncryptError, pyrage.DecryptError, OSError) as fault:
        if asyncio.CancelledError.__name__ in str(fault):
            raise asyncio.CancelledError from None
        raise


def _unpack(tar: tarfile.TarFile, folder: Path) -> Manifest:
    first = tar.next()
    content = tar.extractfile(first) if first and first.isreg() and first.name == MANIFEST else None
    if content is None:
        raise DamagedBackup("it has no manifest")
    manifest = _parse(content.read())
    unpacked: set[str] = set()
    for member in tar:
        if member.name == MANIFEST:
            continue
        content = tar.extractfile(member) if member.isreg() and _MEMBER.fullmatch(member.name) else None
        if content is None:
            raise DamagedBackup("it has a member that no backup has")
        if member.size > (free := shutil.disk_usage(folder).free):
            raise UnreadableBackup(
                f"{member.name} in the backup has {member.size:,} bytes, and {folder} has room for {free:,}."
            )
        path = folder / member.name
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with path.open("xb") as file:
            path.chmod(0o600)
            shutil.copyfileobj(content, file)
        unpacked.add(member.name)
    if not ({DATABASE, PEPPER} <= unpacked and any(name.startswith(KEYS) for name in unpacked)):
        raise DamagedBackup("it lacks the database, the pepper or the keys")
    return manifest


def _parse(document: bytes) -> Manifest:
    try:
        made: dict[str, Any] = orjson.loads(document)
        manifest = Manifest(
            made_at=int(made["made_at"]),
            version=str(made["version"]),
            schema=str(made["schema"]),
            engine=str(made["engine"]),
            base_url=str(made["base_url"]),
            counts={str(name): int(count) for name, count in made["counts"].items()},
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        raise DamagedBackup("its manifest cannot be read") from None
    if manifest.schema not in known_revisions():
        raise UnreadableBackup(
            f"The backup was made by Negotiator {manifest.version} with schema {manifest.schema}, which this version "
            "does not know. Use the version that made it, or a newer one."
        )
    return manifest
