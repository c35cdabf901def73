"""A database, folder, key or port that cannot be used ends every command with one line and exit 1."""

import os
import shutil
import socket
import sqlite3
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest

from negotiator.keys.keyring import FolderKeyring
from tests.contract.requirements import covers
from tests.helpers.command_line import CommandLine
from tests.helpers.live_server import free_port

SERVE = ("serve", "--port", "0")
COMMANDS = (
    SERVE,
    ("migrate",),
    ("audit",),
    ("users", "list"),
    ("users", "add", "a@x.de"),
    ("clients", "list"),
    ("issuers", "list"),
    ("delegations", "create", "--user", "a@x.de"),
    ("memory", "reembed"),
    ("directory", "agents", "list"),
    ("directory", "submissions", "list"),
)
Break = Callable[[Path], dict[str, str]]


def dead_server(_folder: Path) -> dict[str, str]:
    """A PostgreSQL that is not there."""
    return {"DATABASE_URL": f"postgresql+asyncpg://ada:geheim@127.0.0.1:{free_port()}/x"}


def garbage(folder: Path) -> dict[str, str]:
    """A database that is none."""
    (folder / "var").mkdir()
    (folder / "var" / "negotiator.db").write_bytes(b"\xff\x00garbage" * 1000)
    return {}


def newer(folder: Path) -> dict[str, str]:
    """A database of a release to come."""
    machine(folder, {}).run("migrate")
    with sqlite3.connect(folder / "var" / "negotiator.db") as database:
        database.execute("update alembic_version set version_num = '9999'")
        database.execute("update schema_floor set oldest = '9999'")
    database.close()
    return {}


def truncated(folder: Path) -> dict[str, str]:
    """A database of which half is gone."""
    machine(folder, {}).run("migrate")
    file = folder / "var" / "negotiator.db"
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    return {}


def data_is_a_file(folder: Path) -> dict[str, str]:
    """A data folder that is a file."""
    (folder / "var").write_text("x")
    return {}


def data_below_a_file(folder: Path) -> dict[str, str]:
    """A data folder in a file."""
    (folder / "file").write_text("x")
    return {"DATA_DIR": str(folder / "file" / "var")}


def data_nowhere(_folder: Path) -> dict[str, str]:
    """A data folder that nobody can make."""
    return {"DATA_DIR": "/proc/negotiator"}


def machine(folder: Path, variables: dict[str, str]) -> CommandLine:
    """A machine whose data and keys are in this folder."""
    places = {"DATA_DIR": str(folder / "var"), "KEYS_DIR": str(folder / "keys")}
    return CommandLine({f"NEGOTIATOR_{name}": text for name, text in {**places, **variables}.items()})


@pytest.fixture(autouse=True)
def never_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    """`serve` must not run in this process."""

    def served(*_: object) -> None:
        pytest.fail("it began to serve")

    monkeypatch.setattr("negotiator.cli.supervisor.main", served)


def refused(machine: CommandLine, *words: str) -> str:
    """The one line with which a command ends."""
    said = machine.run(*words)
    assert said.exit_code == 1, (words, said)
    assert said.out == "", words
    line = said.err.removesuffix("\n")
    assert "\n" not in line
    assert line.startswith("negotiator: ")
    assert line.endswith(".")
    assert "geheim" not in line
    return line


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (dead_server, "127.0.0.1"),
        (garbage, "file is not a database"),
        (newer, "9999"),
        (data_is_a_file, "is not a folder"),
        (data_below_a_file, "is not a folder"),
        (data_nowhere, "/proc/negotiator"),
    ],
)
@covers("5.2:refusal")
def test_what_cannot_be_used_is_one_line_for_every_command(tmp_path: Path, fault: Break, said: str) -> None:
    made = machine(tmp_path, fault(tmp_path))
    for words in COMMANDS:
        assert said in refused(made, *words), words


def test_a_full_disk_is_named_whatever_the_database_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = machine(tmp_path, garbage(tmp_path))
    usage = shutil.disk_usage(tmp_path)._replace(free=0)
    monkeypatch.setattr("shutil.disk_usage", Mock(return_value=usage))
    assert "the disk is full (file is not a database)" in refused(made, "migrate")


def test_a_database_that_breaks_while_it_is_used_is_one_line(tmp_path: Path) -> None:
    made = machine(tmp_path, truncated(tmp_path))
    assert "database" in refused(made, "audit")


@pytest.mark.parametrize("content", [b"", b"garbage", b"-----BEGIN PRIVATE KEY-----\n"])
def test_a_key_that_cannot_be_read_is_named(tmp_path: Path, content: bytes) -> None:
    FolderKeyring(tmp_path / "keys")
    file = next((tmp_path / "keys").glob("*.pem"))
    file.write_bytes(content)
    for words in (SERVE, ("keys", "list"), ("keys", "rotate"), ("openapi",)):
        assert str(file) in refused(machine(tmp_path, {}), *words)


def test_a_key_of_another_kind_than_its_name_says_is_named(tmp_path: Path) -> None:
    FolderKeyring(tmp_path / "keys")
    files = sorted((tmp_path / "keys").glob("*.pem"))
    shutil.copy(files[0], files[-1])
    assert str(files[-1]) in refused(machine(tmp_path, {}), *SERVE)


def test_a_keys_folder_that_is_a_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("x")
    for words in (SERVE, ("keys", "list"), ("openapi",)):
        assert "is not a folder" in refused(machine(tmp_path, {}), *words)


def test_a_folder_without_permission_is_one_line(tmp_path: Path) -> None:
    made = machine(tmp_path, {})
    for words in COMMANDS[1:4]:
        assert made.run(*words).exit_code == 0  # all that is needed is loaded
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    made = machine(tmp_path, {"DATA_DIR": str(closed / "var")})
    was = os.geteuid()
    if was == 0:
        os.seteuid(65534)
    try:
        for words in COMMANDS[1:4]:
            assert "Permission denied" in refused(made, *words)
    finally:
        os.seteuid(was)
        closed.chmod(0o700)


@pytest.mark.parametrize("option", ["--port", "metrics"])
def test_an_address_that_is_taken_is_said_before_anything_is_promised(tmp_path: Path, option: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        if option == "metrics":
            made = machine(tmp_path, {"METRICS_LISTEN": f"127.0.0.1:{port}"})
            line = refused(made, "serve", "--port", "0")
        else:
            line = refused(machine(tmp_path, {}), "serve", "--port", port)
    assert f"127.0.0.1:{port}" in line
    assert "in use" in line


def test_an_address_that_is_none_is_one_line(tmp_path: Path) -> None:
    assert "nowhere.invalid" in refused(machine(tmp_path, {}), "serve", "--host", "nowhere.invalid")
    assert machine(tmp_path, {}).run("serve", "--port", "99999").exit_code == 2


def test_an_unreadable_pepper_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "var" / "secret").mkdir(parents=True)
    assert "secret" in refused(machine(tmp_path, {}), *SERVE)


@covers("5.2:refusal")
@pytest.mark.parametrize(
    "words",
    [
        ("users", "list"),
        ("users", "disable", "a@x.de"),
        ("issuers", "list"),
        ("issuers", "remove", "https://idp.example"),
        ("delegations", "list"),
        ("clients", "list"),
        ("directory", "submissions", "list"),
        ("keys", "list"),
        ("audit",),
    ],
)
def test_a_command_that_needs_a_database_says_that_there_is_none_and_makes_none(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    said = machine(tmp_path, {}).run(*words)
    assert (said.exit_code, said.out) == (1, "")
    assert said.err.startswith(
        f"negotiator: There is no database at {tmp_path / 'var' / 'negotiator.db'}. Run this as the user of the server"
    )
    assert said.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ("migrate",),
        ("users", "add", "a@x.de"),
        ("clients", "add", "App"),
        ("issuers", "add", "https://idp.example", "--jwks-url", "https://127.0.0.1/jwks"),
    ],
)
def test_a_command_that_adds_makes_the_database_and_says_so(tmp_path: Path, words: tuple[str, ...]) -> None:
    said = machine(tmp_path, {}).run(*words)
    assert said.exit_code == 0, said.err
    assert "A new database was made at" in said.err
