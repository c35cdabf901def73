"""A stream encrypted by a passphrase, in authenticated chunks that cannot be changed, reordered, dropped or added to.

The construction is STREAM (Hoang, Reyhanitabar, Rogaway, Vizár: Online Authenticated-Encryption, CRYPTO 2015): the
nonce of each chunk is its number and a mark on the last one. Reading and writing need the memory of two chunks.

    header   magic, format, argon2id's time, memory and lanes, salt, HMAC-SHA-256 of all that, 8 bytes of SHA-256
    chunk    length (4 bytes, the highest bit marks the last chunk), AES-256-GCM ciphertext, tag
"""

import hashlib
import hmac
import secrets
import struct
from dataclasses import dataclass
from typing import Final, Protocol

from argon2.low_level import Type, hash_secret_raw
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from negotiator.base.errors import UnusableFileError

FORMAT: Final = 1
CHUNK: Final = 64 * 1024
"""Bytes of plain text in each chunk but the last."""
_MAGIC: Final = b"NEGOTIATOR BACKUP\n"
_TAG: Final = 16
_LAST: Final = 1 << 31
_FIELDS: Final = struct.Struct(">HBIB16s")
_MAC: Final = 32
_CHECKSUM: Final = 8
_MOST_TIME, _MOST_MEMORY, _MOST_LANES = 16, 1024 * 1024, 16
"""Bounds on what a header may ask for: a forged one must not take all memory."""


class ByteSink(Protocol):
    """What takes the bytes of a backup: a file, a pipe, an upload."""

    def write(self, data: bytes, /) -> object:
        """Take all of these bytes."""
        ...


class ByteSource(Protocol):
    """What gives the bytes of a backup: a file, a pipe, a download."""

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes, empty at the end."""
        ...


class UnreadableBackup(UnusableFileError):
    """A backup cannot be read; the message is one sentence that says why."""


class WrongPassphrase(UnreadableBackup):
    """The header is intact, and another passphrase made it."""

    def __init__(self) -> None:
        super().__init__("The passphrase is wrong.")


class DamagedBackup(UnreadableBackup):
    """A byte is not the one that was written."""

    def __init__(self, where: str) -> None:
        super().__init__(f"The backup is damaged: {where}.")


class IncompleteBackup(UnreadableBackup):
    """The file ends before the last chunk."""

    def __init__(self) -> None:
        super().__init__("The backup is incomplete: the file ends too early.")


@dataclass(frozen=True, slots=True)
class KeyDerivation:
    """The cost of argon2id: passes, memory in KiB, lanes. The default is RFC 9106's second recommendation."""

    time: int = 3
    memory: int = 64 * 1024
    lanes: int = 4

    def keys(self, passphrase: str, salt: bytes) -> tuple[bytes, bytes]:
        """The key of the chunks and the key of the header."""
        made = hash_secret_raw(
            passphrase.encode(),
            salt,
            time_cost=self.time,
            memory_cost=self.memory,
            parallelism=self.lanes,
            hash_len=64,
            type=Type.ID,
        )
        return made[:32], made[32:]


class EncryptedWriter:
    """Encrypts what is written to it into `target`; `finish` has to be called, or no reader takes it for whole."""

    def __init__(self, target: ByteSink, passphrase: str, derivation: KeyDerivation | None = None) -> None:
        derivation = derivation or KeyDerivation()
        salt = secrets.token_bytes(16)
        key, header_key = derivation.keys(passphrase, salt)
        fields = _MAGIC + _FIELDS.pack(FORMAT, derivation.time, derivation.memory, derivation.lanes, salt)
        header = fields + hmac.digest(header_key, fields, "sha256")
        target.write(header + _checksum(header))
        self._target = target
        self._cipher = AESGCM(key)
        self._number = 0
        self._waiting = bytearray()

    def write(self, data: bytes) -> None:
        self._waiting += data
        while len(self._waiting) > CHUNK:
            self._write_chunk(bytes(self._waiting[:CHUNK]), last=False)
            del self._waiting[:CHUNK]

    def finish(self) -> None:
        """Write the last chunk."""
        self._write_chunk(bytes(self._waiting), last=True)

    def _write_chunk(self, plain: bytes, *, last: bool) -> None:
        sealed = self._cipher.encrypt(_nonce(self._number, last=last), plain, None)
        self._target.write(struct.pack(">I", len(sealed) | (_LAST if last else 0)))
        self._target.write(sealed)
        self._number += 1


class EncryptedReader:
    """Reads what an `EncryptedWriter` wrote; every method raises `UnreadableBackup`.

    No byte is given out before its chunk is authenticated. That the stream is whole is known when `read` returned no
    more bytes.
    """

    def __init__(self, source: ByteSource, passphrase: str) -> None:
        header_size = len(_MAGIC) + _FIELDS.size + _MAC
        start = _read_fully(source, len(_MAGIC))
        if start != _MAGIC:
            raise UnreadableBackup("This is no backup of Negotiator.")
        header = start + _read_fully(source, header_size - len(_MAGIC))
        checksum = _read_fully(source, _CHECKSUM)
        if len(header) < header_size or len(checksum) < _CHECKSUM:
            raise IncompleteBackup
        fields, mac = header[:-_MAC], header[-_MAC:]
        version, *cost, salt = _FIELDS.unpack(fields[len(_MAGIC) :])
        if checksum != _checksum(header):
            raise DamagedBackup("its header does not match its checksum")
        if version > FORMAT:
            raise UnreadableBackup(
                f"The backup has format {version}; this version of Negotiator reads format {FORMAT}. Update it."
            )
        derivation = KeyDerivation(*cost)
        if not _is_bounded(derivation):
            raise DamagedBackup("its header asks for an impossible key derivation")
        key, header_key = derivation.keys(passphrase, salt)
        if not hmac.compare_digest(mac, hmac.digest(header_key, fields, "sha256")):
            raise WrongPassphrase
        self._source = source
        self._cipher = AESGCM(key)
        self._number = 0
        self._ready = b""
        self._ended = False

    def read(self, size: int) -> bytes:
        """Up to `size` bytes, at least one; empty at the end of a whole stream."""
        while not self._ready and not self._ended:
            self._ready = self._read_chunk()
        taken, self._ready = self._ready[:size], self._ready[size:]
        return taken

    def _read_chunk(self) -> bytes:
        prefix = _read_fully(self._source, 4)
        if len(prefix) < 4:
            raise IncompleteBackup
        (marked,) = struct.unpack(">I", prefix)
        size, last = marked & ~_LAST, bool(marked & _LAST)
        where = f"chunk {self._number}"
        if not _TAG <= size <= CHUNK + _TAG or not (last or size == CHUNK + _TAG):
            raise DamagedBackup(where)
        sealed = _read_fully(self._source, size)
        if len(sealed) < size:
            raise IncompleteBackup
        try:
            plain = self._cipher.decrypt(_nonce(self._number, last=last), sealed, None)
        except InvalidTag:
            raise DamagedBackup(where) from None
        if last and self._source.read(1):
            raise DamagedBackup("something follows its end")
        self._number += 1
        self._ended = last
        return plain


def is_backup(source: ByteSource) -> bool:
    """Whether a file begins as a backup does."""
    return source.read(len(_MAGIC)) == _MAGIC


def _is_bounded(derivation: KeyDerivation) -> bool:
    return (
        0 < derivation.time <= _MOST_TIME
        and 0 < derivation.lanes <= _MOST_LANES
        and 8 * derivation.lanes <= derivation.memory <= _MOST_MEMORY
    )


def _nonce(number: int, *, last: bool) -> bytes:
    """Eleven bytes of the chunk's number and one of the mark; the key is new for every stream."""
    return number.to_bytes(11) + bytes([last])


def _checksum(header: bytes) -> bytes:
    return hashlib.sha256(header).digest()[:_CHECKSUM]


def _read_fully(source: ByteSource, size: int) -> bytes:
    """`size` bytes, fewer only at the end; a pipe gives less than it is asked for."""
    parts: list[bytes] = []
    while size and (part := source.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
