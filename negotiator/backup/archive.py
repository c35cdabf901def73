"""What a backup holds: a manifest, then the bytes of its members one after the other, all deflated.

The manifest is one line of JSON and gives each member's name and size. A member is the database, the pepper, a signing
key, the secret of those in the database, or an unsent mail; a reader takes no other name, so that none can point out of
the folder that it is unpacked into.
"""

import re
import shutil
import zlib
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Final

import orjson

from negotiator.backup.encrypted_stream import DamagedBackup, EncryptedReader, EncryptedWriter, UnreadableBackup

DATABASE: Final = "database"
PEPPER: Final = "secret"
KEYS: Final = "keys"
KEYS_WRAPPING: Final = "keys-secret"
OUTBOX: Final = "outbox"
_MEMBER: Final = re.compile(
    r"database|secret|keys-secret|keys/(?:key|rsa)_[0-9a-z]{26}\.pem|outbox/mail_[0-9a-z]{26}\.eml"
)
_SMALL: Final = 1 << 20
"""The most bytes of every member but the database."""
_LONGEST_MANIFEST: Final = 16 << 20
_PIECE: Final = 256 * 1024
_LEVEL: Final = 3


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself. `made_at` in milliseconds; `schema` is the database's revision; `counts` the rows
    of each table; `members` the size of each member, in their order."""

    made_at: int
    version: str
    schema: str
    engine: str
    base_url: str
    counts: Mapping[str, int]
    members: Mapping[str, int]

    @property
    def size(self) -> int:
        """The bytes of all members."""
        return sum(self.members.values())


def write_archive(target: EncryptedWriter, manifest: Manifest, contents: Sequence[IO[bytes]]) -> None:
    """Write a manifest and the contents of its members in their order; ValueError when a size is not the declared."""
    deflate = zlib.compressobj(_LEVEL)
    target.write(deflate.compress(orjson.dumps(asdict(manifest)) + b"\n"))
    for (name, size), content in zip(manifest.members.items(), contents, strict=True):
        written = 0
        while piece := content.read(_PIECE):
            written += len(piece)
            target.write(deflate.compress(piece))
        if written != size:
            raise ValueError(f"{name} has {written} bytes and not {size}")
    target.write(deflate.flush())
    target.finish()


class ArchiveReader:
    """Reads an archive: first its manifest, then its members. Every method raises `UnreadableBackup`."""

    def __init__(self, source: EncryptedReader) -> None:
        self._inflated = _Inflated(source)
        self.manifest = _parse(self._inflated.read_line(_LONGEST_MANIFEST))

    def unpack(self, folder: Path) -> None:
        """Write every member under the folder, which must be new, with mode 0600; the end of the stream is checked.

        Refuses before the first byte when the disk has not enough room.
        """
        free = shutil.disk_usage(folder).free
        if self.manifest.size > free:
            raise UnreadableBackup(
                f"The backup unpacks to {self.manifest.size:,} bytes, and {folder} has room for {free:,}."
            )
        for name, size in self.manifest.members.items():
            path = folder / name
            path.parent.mkdir(mode=0o700, exist_ok=True)
            with path.open("xb") as file:
                path.chmod(0o600)
                for piece in self._inflated.read_exactly(size):
                    file.write(piece)
        self._inflated.check_end()


class _Inflated:
    """The inflated bytes of a stream, in pieces of bounded size whatever they were deflated to."""

    def __init__(self, source: EncryptedReader) -> None:
        self._source = source
        self._inflate = zlib.decompressobj()
        self._ready = b""

    def read(self, size: int) -> bytes:
        """Up to `size` bytes, empty at the end."""
        while not self._ready and not self._inflate.eof:
            deflated = self._inflate.unconsumed_tail or self._source.read(_PIECE)
            if not deflated:
                raise DamagedBackup("its content ends too early")
            try:
                self._ready = self._inflate.decompress(deflated, _PIECE)
            except zlib.error:
                raise DamagedBackup("its content cannot be inflated") from None
        taken, self._ready = self._ready[:size], self._ready[size:]
        return taken

    def read_line(self, longest: int) -> bytes:
        line = bytearray()
        while b"\n" not in self._ready:
            line += self._ready
            self._ready = b""
            if len(line) > longest or not (more := self.read(_PIECE)):
                raise DamagedBackup("it has no manifest")
            self._ready = more
        end, _, self._ready = self._ready.partition(b"\n")
        return bytes(line + end)

    def read_exactly(self, size: int) -> Generator[bytes]:
        while size:
            piece = self.read(min(size, _PIECE))
            if not piece:
                raise DamagedBackup("its content is shorter than its manifest says")
            size -= len(piece)
            yield piece

    def check_end(self) -> None:
        if self.read(1) or self._inflate.unused_data or self._source.read(1):
            raise DamagedBackup("its content is longer than its manifest says")


def _parse(line: bytes) -> Manifest:
    try:
        made: dict[str, Any] = orjson.loads(line)
        manifest = Manifest(
            made_at=int(made["made_at"]),
            version=str(made["version"]),
            schema=str(made["schema"]),
            engine=str(made["engine"]),
            base_url=str(made["base_url"]),
            counts={str(name): int(count) for name, count in made["counts"].items()},
            members={str(name): int(size) for name, size in made["members"].items()},
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        raise DamagedBackup("its manifest cannot be read") from None
    for name, size in manifest.members.items():
        if not _MEMBER.fullmatch(name) or size < 0 or (name != DATABASE and size > _SMALL):
            raise DamagedBackup("its manifest names a member that no backup has")
    has_keys = any(name.startswith(KEYS) for name in manifest.members)
    if not ({DATABASE, PEPPER} <= manifest.members.keys() and has_keys):
        raise DamagedBackup("its manifest lacks the database, the pepper or the keys")
    return manifest
