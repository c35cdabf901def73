"""An archive is unpacked into its folder and nowhere else, and takes no more room than it says."""

import zlib
from collections.abc import Mapping
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import orjson
import pytest

from negotiator.backup.archive import ArchiveReader, Manifest, write_archive
from negotiator.backup.encrypted_stream import (
    DamagedBackup,
    EncryptedReader,
    EncryptedWriter,
    KeyDerivation,
    UnreadableBackup,
)

CHEAP: Final = KeyDerivation(time=1, memory=16, lanes=1)
KEY: Final = f"keys/key_{'0' * 26}.pem"
CONTENT: Final = {"database": b"rows", "secret": b"pepper", KEY: b"pem"}


def manifest(members: Mapping[str, int]) -> Manifest:
    return Manifest(1, "0.1.0", "0001", "sqlite", "http://here", {"users": 1}, members)


def reader(document: Any, content: bytes) -> ArchiveReader:
    """The reader of an archive that says what a forger with the passphrase wants it to say."""
    target = BytesIO()
    writer = EncryptedWriter(target, "passphrase", CHEAP)
    writer.write(zlib.compress(orjson.dumps(document) + b"\n" + content))
    writer.finish()
    target.seek(0)
    return ArchiveReader(EncryptedReader(target, "passphrase"))


def test_members_come_back_with_mode_0600(tmp_path: Path) -> None:
    target = BytesIO()
    sizes = {name: len(content) for name, content in CONTENT.items()}
    writer = EncryptedWriter(target, "passphrase", CHEAP)
    write_archive(writer, manifest(sizes), [BytesIO(each) for each in CONTENT.values()])
    target.seek(0)
    archive = ArchiveReader(EncryptedReader(target, "passphrase"))
    assert archive.manifest == manifest(sizes)
    archive.unpack(tmp_path)
    assert {name: (tmp_path / name).read_bytes() for name in CONTENT} == CONTENT
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in CONTENT} == {0o600}


@pytest.mark.parametrize(
    "name",
    [
        "../secret",
        "keys/../../secret",
        "/etc/passwd",
        "keys/key_.pem",
        f"{KEY}\n",
        "outbox",
        "keys/link -> /etc",
        f"keys/../{KEY}",
        "",
    ],
)
def test_no_member_has_a_name_of_its_own_choice(name: str) -> None:
    sizes = {**{each: len(content) for each, content in CONTENT.items()}, name: 1}
    with pytest.raises(DamagedBackup, match="no backup has"):
        reader(asdict(manifest(sizes)), b"")


@pytest.mark.parametrize("missing", ["database", "secret", KEY])
def test_nothing_may_be_missing(missing: str) -> None:
    sizes = {name: 1 for name in CONTENT if name != missing}
    with pytest.raises(DamagedBackup, match="lacks"):
        reader(asdict(manifest(sizes)), b"")


def test_what_stands_in_the_folder_is_not_written_over(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "secret").symlink_to(outside)
    sizes = {name: len(content) for name, content in CONTENT.items()}
    with pytest.raises(FileExistsError):
        reader(asdict(manifest(sizes)), b"".join(CONTENT.values())).unpack(folder)
    assert outside.read_text() == "mine"


def test_a_bomb_writes_no_more_than_its_manifest_says(tmp_path: Path) -> None:
    sizes = {"database": 10, "secret": 1, KEY: 1}
    with pytest.raises(DamagedBackup, match="longer"):
        reader(asdict(manifest(sizes)), bytes(200_000_000)).unpack(tmp_path)
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) == 12


def test_a_bomb_that_says_its_size_is_refused_for_want_of_room(tmp_path: Path) -> None:
    sizes = {"database": 1 << 60, "secret": 1, KEY: 1}
    with pytest.raises(UnreadableBackup, match="has room for"):
        reader(asdict(manifest(sizes)), bytes(10_000)).unpack(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_content_that_is_shorter_than_it_says_is_damaged(tmp_path: Path) -> None:
    sizes = {"database": 100, "secret": 1, KEY: 1}
    with pytest.raises(DamagedBackup, match="shorter"):
        reader(asdict(manifest(sizes)), b"rows").unpack(tmp_path)


@pytest.mark.parametrize("document", [[], {}, {"members": {}}, "text", {"made_at": "yesterday"}])
def test_a_manifest_that_is_none_is_damaged(document: Any) -> None:
    with pytest.raises(DamagedBackup, match="manifest"):
        reader(document, b"")


def test_a_line_without_end_is_no_manifest() -> None:
    target = BytesIO()
    writer = EncryptedWriter(target, "passphrase", CHEAP)
    writer.write(zlib.compress(b"x" * 40_000_000))
    writer.finish()
    target.seek(0)
    with pytest.raises(DamagedBackup, match="no manifest"):
        ArchiveReader(EncryptedReader(target, "passphrase"))
