"""An encrypted stream comes back as it was, or is refused with the reason."""

import hashlib
from io import BytesIO
from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.backup.encrypted_stream import (
    CHUNK,
    DamagedBackup,
    EncryptedReader,
    EncryptedWriter,
    IncompleteBackup,
    KeyDerivation,
    UnreadableBackup,
    WrongPassphrase,
)

CHEAP: Final = KeyDerivation(time=1, memory=16, lanes=1)
"""The cost of the derivation is in the header; this one takes no time."""
PASSPHRASE: Final = "correct horse battery staple"
HEADER: Final = 18 + 24 + 32 + 8


def sealed(*parts: bytes) -> bytes:
    target = BytesIO()
    writer = EncryptedWriter(target, PASSPHRASE, CHEAP)
    for part in parts:
        writer.write(part)
    writer.finish()
    return target.getvalue()


def opened(data: bytes, passphrase: str = PASSPHRASE) -> bytes:
    reader = EncryptedReader(BytesIO(data), passphrase)
    return b"".join(iter(lambda: reader.read(50_000), b""))


def chunks(data: bytes) -> list[bytes]:
    """The chunks of a stream, each with its length in front."""
    found: list[bytes] = []
    rest = data[HEADER:]
    while rest:
        size = 4 + (int.from_bytes(rest[:4]) & 0x7FFFFFFF)
        found.append(rest[:size])
        rest = rest[size:]
    return found


THREE: Final = sealed(b"a" * CHUNK, b"b" * CHUNK, b"c" * 1000)


@given(st.lists(st.integers(0, 2 * CHUNK), max_size=4))
@settings(max_examples=30)
def test_what_was_written_is_read(sizes: list[int]) -> None:
    parts = [bytes([number]) * size for number, size in enumerate(sizes)]
    assert opened(sealed(*parts)) == b"".join(parts)


@given(st.integers(0, len(THREE) - 1), st.integers(1, 255))
@settings(max_examples=150)
def test_no_changed_byte_is_taken(place: int, change: int) -> None:
    changed = THREE[:place] + bytes([THREE[place] ^ change]) + THREE[place + 1 :]
    with pytest.raises(UnreadableBackup):
        opened(changed)


@given(st.integers(0, len(THREE) - 1))
@settings(max_examples=80)
def test_a_stream_that_ends_early_is_refused(size: int) -> None:
    with pytest.raises(UnreadableBackup) as refused:
        opened(THREE[:size])
    if size >= HEADER:
        assert isinstance(refused.value, IncompleteBackup)


@given(st.permutations(range(3)), st.lists(st.integers(0, 2), max_size=4))
def test_no_other_order_of_the_chunks_is_taken(order: list[int], more: list[int]) -> None:
    parts = chunks(THREE)
    changed = THREE[:HEADER] + b"".join(parts[number] for number in (*order, *more))
    if changed == THREE:
        assert opened(changed)
    else:
        with pytest.raises(UnreadableBackup):
            opened(changed)


def test_every_chunk_left_out_is_missed() -> None:
    parts = chunks(THREE)
    assert len(parts) == 3
    for left_out in range(3):
        rest = b"".join(part for number, part in enumerate(parts) if number != left_out)
        with pytest.raises(UnreadableBackup):
            opened(THREE[:HEADER] + rest)


@given(st.binary(min_size=1, max_size=40))
def test_nothing_may_follow_the_end(more: bytes) -> None:
    with pytest.raises(DamagedBackup, match="follows"):
        opened(THREE + more)


def test_no_chunk_of_another_stream_is_taken() -> None:
    other = sealed(b"a" * CHUNK, b"b" * CHUNK, b"c" * 1000)
    for number, (mine, theirs) in enumerate(zip(chunks(THREE), chunks(other), strict=True)):
        assert mine != theirs, "every stream has a key of its own"
        mixed = [*chunks(THREE)]
        mixed[number] = theirs
        with pytest.raises(DamagedBackup, match=f"chunk {number}"):
            opened(THREE[:HEADER] + b"".join(mixed))


def test_each_fault_has_a_sentence_of_its_own() -> None:
    faults = [
        (THREE, "another passphrase", WrongPassphrase),
        (THREE[: HEADER + 100], PASSPHRASE, IncompleteBackup),
        (THREE[:-1] + b"\0" + b"\0", PASSPHRASE, DamagedBackup),
        (b"SQLite format 3\0" * 20, PASSPHRASE, UnreadableBackup),
        (with_format(9), PASSPHRASE, UnreadableBackup),
    ]
    sentences: list[str] = []
    for data, passphrase, kind in faults:
        with pytest.raises(kind) as refused:
            opened(data, passphrase)
        sentences.append(str(refused.value))
    assert len(set(sentences)) == 5
    assert "format 9" in sentences[-1]
    for one, other in pairwise(sentences):
        assert one.endswith(".")
        assert "\n" not in one + other


def test_a_header_cannot_ask_for_all_memory() -> None:
    with pytest.raises(DamagedBackup, match="impossible"):
        opened(with_cost(memory=1 << 31))


def with_format(version: int) -> bytes:
    return rechecked(THREE[:18] + version.to_bytes(2) + THREE[20:])


def with_cost(*, memory: int) -> bytes:
    return rechecked(THREE[:21] + memory.to_bytes(4) + THREE[25:])


def rechecked(data: bytes) -> bytes:
    """The stream with a checksum that fits its header, as a forger would write it."""
    header = data[: HEADER - 8]
    return header + hashlib.sha256(header).digest()[:8] + data[HEADER:]
