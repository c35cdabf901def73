"""An archive comes back as it was, is unpacked into its folder and nowhere else, or is refused with the reason."""

import tarfile
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Final

import orjson
import pyrage
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from negotiator.backup.archive import MANIFEST, DamagedBackup, Manifest, UnreadableBackup, unpack_archive, write_archive
from negotiator.base.errors import InvalidRequest
from negotiator.store.schema_upgrades import known_revisions
from tests.helpers.backup_keys import ANOTHER_KEY, BACKUP_KEY

KEY: Final = f"keys/key_{'0' * 26}.pem"
CONTENT: Final = {"database": b"rows" * 50_000, "secret": b"pepper", KEY: b"pem"}
SAID: Final = Manifest(1000, "0.1.0", max(known_revisions()), "sqlite", "http://here", {"users": 1})
SHARED_FOLDER: Final = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@cache
def whole() -> bytes:
    target = BytesIO()
    members: list[tuple[str, IO[bytes]]] = [(name, BytesIO(content)) for name, content in CONTENT.items()]
    write_archive(target, BACKUP_KEY, SAID, members, Path("/tmp"))  # noqa: S108  a file without a name
    return target.getvalue()


def forged(members: Mapping[str, bytes], manifest: Any = None) -> bytes:
    """An archive that has what a forger with the key wants it to have."""
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, content in {MANIFEST: orjson.dumps(manifest or asdict(SAID)), **members}.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, BytesIO(content))
    return pyrage.encrypt(packed.getvalue(), [pyrage.x25519.Identity.from_str(BACKUP_KEY).to_public()])


def unpack(data: bytes, folder: Path, key: str = BACKUP_KEY) -> Manifest:
    return unpack_archive(BytesIO(data), key, folder)


def test_members_come_back_with_mode_0600(tmp_path: Path) -> None:
    assert unpack(whole(), tmp_path) == SAID
    assert {name: (tmp_path / name).read_bytes() for name in CONTENT} == CONTENT
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in CONTENT} == {0o600}


def test_a_backup_is_a_deflated_tar_file_in_an_age_file() -> None:
    plain = pyrage.decrypt(whole(), [pyrage.x25519.Identity.from_str(BACKUP_KEY)])
    with tarfile.open(fileobj=BytesIO(plain), mode="r:gz") as tar:
        assert tar.getnames() == [MANIFEST, *CONTENT]


@given(st.data())
@SHARED_FOLDER
def test_no_changed_byte_is_taken_and_nothing_is_written(tmp_path: Path, data: st.DataObject) -> None:
    place, change = data.draw(st.integers(0, len(whole()) - 1)), data.draw(st.integers(1, 255))
    changed = whole()[:place] + bytes([whole()[place] ^ change]) + whole()[place + 1 :]
    with pytest.raises(UnreadableBackup):
        unpack(changed, tmp_path)
    assert list(tmp_path.iterdir()) == []


@given(st.data())
@SHARED_FOLDER
def test_a_backup_that_ends_early_or_goes_on_is_refused(tmp_path: Path, data: st.DataObject) -> None:
    size = data.draw(st.integers(0, len(whole()) - 1))
    for changed in (whole()[:size], whole() + data.draw(st.binary(min_size=1, max_size=40))):
        with pytest.raises(UnreadableBackup):
            unpack(changed, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_each_fault_has_a_sentence_of_its_own(tmp_path: Path) -> None:
    faults = [
        (whole(), ANOTHER_KEY, "The backup key is wrong."),
        (whole()[:-1], BACKUP_KEY, "The backup is damaged: bytes of it were changed or are missing."),
        (b"SQLite format 3\0" * 20, BACKUP_KEY, "This is no backup of Negotiator."),
        (forged({}, asdict(SAID) | {"schema": "9999"}), BACKUP_KEY, "The backup was made by Negotiator 0.1.0"),
    ]
    for data, key, sentence in faults:
        with pytest.raises(UnreadableBackup, match=sentence):
            unpack(data, tmp_path, key)
    with pytest.raises(InvalidRequest, match="no age key"):
        unpack(whole(), tmp_path, "a long enough passphrase")


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
def test_no_member_has_a_name_of_its_own_choice(name: str, tmp_path: Path) -> None:
    with pytest.raises(DamagedBackup, match="no backup has"):
        unpack(forged({**CONTENT, name: b"x"}), tmp_path)


def test_no_member_is_a_link(tmp_path: Path) -> None:
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        said = tarfile.TarInfo(MANIFEST)
        content = orjson.dumps(asdict(SAID))
        said.size = len(content)
        tar.addfile(said, BytesIO(content))
        link = tarfile.TarInfo("secret")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    sealed = pyrage.encrypt(packed.getvalue(), [pyrage.x25519.Identity.from_str(BACKUP_KEY).to_public()])
    with pytest.raises(DamagedBackup):
        unpack(sealed, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("missing", ["database", "secret", KEY])
def test_nothing_may_be_missing(missing: str, tmp_path: Path) -> None:
    with pytest.raises(DamagedBackup, match="lacks"):
        unpack(forged({name: content for name, content in CONTENT.items() if name != missing}), tmp_path)


def test_what_stands_in_the_folder_is_not_written_over(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "secret").symlink_to(outside)
    with pytest.raises(FileExistsError):
        unpack(whole(), folder)
    assert outside.read_text() == "mine"


@pytest.mark.parametrize("document", [[1], {"members": {}}, "text", {"made_at": "yesterday"}])
def test_a_manifest_that_is_none_is_damaged(document: Any, tmp_path: Path) -> None:
    with pytest.raises(DamagedBackup, match="manifest"):
        unpack(forged(CONTENT, document), tmp_path)
