"""Machines that share a database need its pepper and its signing keys; one with others does not start."""

import re
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.contract.requirements import covers
from tests.helpers.command_line import CommandLine

SERVE = ("serve", "--port", "0")


class Machine:
    """A machine with its own data and keys folders, on the database of all."""

    def __init__(self, folder: Path, name: str) -> None:
        self.data, self.keys = folder / name / "var", folder / name / "keys"
        self.variables = {
            "NEGOTIATOR_DATA_DIR": str(self.data),
            "NEGOTIATOR_KEYS_DIR": str(self.keys),
            "NEGOTIATOR_DATABASE_URL": f"sqlite+aiosqlite:///{folder}/shared.db",
        }

    def run(self, *words: str) -> str:
        """What a command says when it is refused; empty when it works."""
        done = CommandLine(self.variables).run(*words)
        assert "Traceback" not in done.err
        return done.err if done.exit_code else ""

    def starts(self) -> str:
        """What keeps the machine from starting; empty when it starts."""
        return self.run(*SERVE)

    def files(self) -> set[str]:
        made = (*self.data.glob("secret"), *self.data.glob("keys-secret"), *self.keys.glob("*.pem"))
        return {path.name for path in made}

    def doctor(self) -> str:
        return CommandLine(self.variables).run("doctor").out

    def kids(self) -> list[str]:
        return [each["kid"] for each in CommandLine(self.variables).run("keys", "list", "--json").value]


@pytest.fixture(autouse=True)
def never_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    """`serve` would run in this process."""

    def served(*_: object) -> None:
        raise SystemExit(0)

    monkeypatch.setattr("negotiator.cli.supervisor.main", served)


@pytest.fixture(autouse=True)
def never_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("negotiator.keys.database_keys.LEAD", 0)


@pytest.fixture
def first(tmp_path: Path) -> Machine:
    """The machine that started first."""
    machine = Machine(tmp_path, "first")
    assert machine.starts() == ""
    return machine


@covers("5.1:secrets")
def test_a_machine_starts_only_with_the_pepper_and_keys_of_its_database(tmp_path: Path, first: Machine) -> None:
    second = Machine(tmp_path, "second")
    assert f"{second.data}/secret is missing, the pepper of this database: copy it" in second.starts()
    assert f"fault    secrets     {second.data}/secret is missing" in second.doctor()
    assert second.files() == set()
    shutil.copy(first.data / "secret", second.data)
    for said in (second.starts(), second.doctor()):
        assert f"{second.keys} lacks keys that sign for this database" in said
    assert second.files() == {"secret"}
    shutil.copytree(first.keys, second.keys, dirs_exist_ok=True)
    assert second.starts() == ""
    second.variables["NEGOTIATOR_SECRET"] = "another"
    [line] = second.starts().splitlines()
    assert "NEGOTIATOR_SECRET is not the pepper of this database" in line
    assert first.starts() == ""
    (first.data / "secret").write_text("changed")
    found = first.doctor()
    assert "fault    secrets" in found
    assert f"{first.data}/secret is not the pepper of this database" in found
    assert "is not the pepper" in first.starts()


def test_a_copy_of_the_keys_serves_one_rotation_longer_and_not_two(tmp_path: Path, first: Machine) -> None:
    second = Machine(tmp_path, "second")
    second.data.mkdir(parents=True)
    shutil.copy(first.data / "secret", second.data)
    shutil.copytree(first.keys, second.keys)
    assert first.run("keys", "rotate") == ""
    assert second.starts() == ""
    assert first.run("keys", "rotate") == ""
    assert "lacks keys that sign" in second.starts()
    assert "lacks keys that sign" in second.run("keys", "rotate")
    assert first.starts() == ""


def test_a_pepper_and_keys_that_were_lost_are_made_anew_once_the_database_has_forgotten_them(
    tmp_path: Path, first: Machine
) -> None:
    kids = first.kids()
    shutil.rmtree(first.data)
    shutil.rmtree(first.keys)
    assert "is missing, the pepper of this database" in first.starts()
    with sqlite3.connect(tmp_path / "shared.db") as database:
        database.executescript("delete from fingerprints; delete from signing_keys;")
    assert first.starts() == ""
    assert not set(kids) & set(first.kids())
    assert "ok       secrets" in first.doctor()


@covers("5.1:base-url")
def test_a_machine_with_another_base_url_starts_with_a_warning(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "only")
    words = ("tokens, codes and links of the one do not work at the other", "base URL")
    for base, warned in (
        ("https://one.example.org", False),
        ("https://one.example.org", False),
        ("https://two.example.org", True),
        ("https://two.example.org", False),
    ):
        machine.variables["NEGOTIATOR_BASE_URL"] = base
        if warned:
            assert words[0] in CommandLine(machine.variables).run("doctor").out
        done = CommandLine(machine.variables).run(*SERVE)
        assert done.exit_code == 0
        assert all((word in done.err) == warned for word in words)


@covers("5.1:listen")
def test_the_start_names_the_port_that_it_took(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "only")
    machine.variables["NEGOTIATOR_LISTEN"] = "127.0.0.1:0"
    for words in (("serve",), SERVE):
        said = CommandLine(machine.variables).run(*words).out
        (address,) = re.findall(r"^Listening on http://127\.0\.0\.1:(\d+)$", said, re.M)
        assert int(address) > 0
        assert f"Negotiator at http://127.0.0.1:{address} " in said
    machine.variables["NEGOTIATOR_LISTEN"] = "8000"
    assert CommandLine(machine.variables).run("serve").exit_code == 2


@covers("5.1:listen")
@pytest.mark.parametrize(("host", "own"), [("0.0.0.0", "127.0.0.1"), ("[::]", "[::1]")])
def test_a_start_on_all_addresses_names_one_that_a_browser_opens(tmp_path: Path, host: str, own: str) -> None:
    machine = Machine(tmp_path, "only")
    machine.variables["NEGOTIATOR_LISTEN"] = f"{host}:0"
    said = CommandLine(machine.variables).run("serve").out
    (url,) = re.findall(r"^Listening on (\S+), on all addresses of this machine$", said, re.M)
    assert url.rpartition(":")[0] == f"http://{own}"
    assert f"Negotiator at {url} " in said
    assert f"{url}/first-user/" in said


@covers("5.1:listen", "5.1:base-url")
@pytest.mark.parametrize(
    ("base", "warned"), [("http://127.0.0.1:1", True), ("http://localhost:1", True), ("https://n.example.org", False)]
)
def test_a_base_url_of_this_machine_where_nothing_listens_is_warned_of(tmp_path: Path, base: str, warned: bool) -> None:
    machine = Machine(tmp_path, "only")
    machine.variables |= {"NEGOTIATOR_LISTEN": "127.0.0.1:0", "NEGOTIATOR_BASE_URL": base}
    said = CommandLine(machine.variables).run("serve")
    (url,) = re.findall(r"^Listening on (\S+)$", said.out, re.M)
    assert (f"links and tokens name {base} (base_url)" in said.err) == warned
    assert (f"open {url}" in said.err) == warned


def with_keys_in_database(folder: Path, name: str) -> Machine:
    """A machine of an installation whose signing keys are in the database."""
    machine = Machine(folder, name)
    machine.variables |= {
        "NEGOTIATOR_KEYS_IN": "database",
        "NEGOTIATOR_SECRET": "the pepper of all machines",
        "NEGOTIATOR_KEYS_SECRET": "the secret of the keys of all machines",
    }
    return machine


@covers("5.1:keys-in-database")
def test_machines_with_keys_in_the_database_share_no_file(tmp_path: Path) -> None:
    first, second = (with_keys_in_database(tmp_path, name) for name in ("first", "second"))
    assert first.starts() == second.starts() == ""
    assert first.kids() == second.kids()
    assert len(first.kids()) == 4
    assert first.files() == second.files() == set()
    assert first.run("keys", "rotate") == ""
    assert second.starts() == ""
    assert len(second.kids()) == 6
    assert second.run("keys", "rotate") == first.run("keys", "rotate") == ""
    assert "ok       signing     10 keys; in use: ES256 key_" in first.doctor()
    assert "ok       secrets" in second.doctor()


@covers("5.1:keys-in-database")
def test_another_secret_of_the_keys_is_refused_in_one_line(tmp_path: Path) -> None:
    first, second = (with_keys_in_database(tmp_path, name) for name in ("first", "second"))
    assert first.starts() == ""
    second.variables["NEGOTIATOR_KEYS_SECRET"] = "another secret of the keys of all"
    for words in (SERVE, ("keys", "list"), ("keys", "rotate")):
        [line] = second.run(*words).splitlines()
        assert "NEGOTIATOR_KEYS_SECRET is not the secret of this database's signing keys" in line
        assert "another secret" not in line
    assert "fault    secrets     NEGOTIATOR_KEYS_SECRET is not the secret" in second.doctor()
    del second.variables["NEGOTIATOR_KEYS_SECRET"]
    assert f"{second.data}/keys-secret is not the secret of this database" in second.starts()
    assert second.files() == set(), "no secret is made where the database has another"
    second.variables["NEGOTIATOR_KEYS_SECRET"] = "short"
    assert "NEGOTIATOR_KEYS_SECRET: must have at least 32 characters" in second.starts()


def test_a_secret_is_made_on_the_first_start_and_the_others_need_a_copy(tmp_path: Path) -> None:
    first, second = (with_keys_in_database(tmp_path, name) for name in ("first", "second"))
    for machine in (first, second):
        del machine.variables["NEGOTIATOR_KEYS_SECRET"]
    assert first.starts() == ""
    assert first.files() == {"keys-secret"}
    assert (first.data / "keys-secret").stat().st_mode & 0o777 == 0o600
    assert "keys-secret is not the secret" in second.starts()
    shutil.copy(first.data / "keys-secret", second.data)
    assert second.starts() == ""


def test_a_changed_row_is_refused_in_one_line_that_names_the_key(tmp_path: Path) -> None:
    machine = with_keys_in_database(tmp_path, "first")
    assert machine.starts() == ""
    kid = machine.kids()[1]
    with sqlite3.connect(tmp_path / "shared.db") as database:
        database.execute("update signing_keys set wrapped = x'00112233' where kid = ?", (kid,))
    for words in (SERVE, ("keys", "list"), ("keys", "rotate")):
        [line] = machine.run(*words).splitlines()
        assert f"The signing key {kid} in the database cannot be decrypted" in line
    assert f"fault    signing     The signing key {kid} in the database" in machine.doctor()


def test_lost_keys_are_not_made_anew_in_silence(tmp_path: Path) -> None:
    machine = with_keys_in_database(tmp_path, "first")
    assert machine.starts() == ""
    with sqlite3.connect(tmp_path / "shared.db") as database:
        database.execute("delete from signing_keys")
    assert "The database has no signing keys." in machine.starts()
    assert "fault    signing" in machine.doctor()


@covers("5.1:keys-in-database")
def test_keys_of_files_are_copied_into_the_database_by_the_start_of_a_machine_that_has_them(
    tmp_path: Path, first: Machine
) -> None:
    kids = first.kids()
    in_database = with_keys_in_database(tmp_path, "second")
    in_database.variables["NEGOTIATOR_SECRET"] = (first.data / "secret").read_text()
    for words in (SERVE, ("keys", "list"), ("keys", "rotate")):
        assert "The signing keys of this database are in files" in in_database.run(*words)
    assert "are in files" in in_database.doctor()
    assert in_database.files() == set()
    in_database.variables["NEGOTIATOR_KEYS_DIR"] = str(first.keys)
    assert in_database.starts() == ""
    assert in_database.kids() == kids
    for words in (SERVE, ("keys", "rotate")):
        assert "The signing keys of this database are in it" in first.run(*words)
    assert first.kids() == kids, "a refused rotation changes no file"
    del in_database.variables["NEGOTIATOR_KEYS_DIR"]
    assert in_database.run("keys", "rotate") == ""
    assert in_database.starts() == ""
    assert len(in_database.kids()) == len(kids) + 2


def test_keys_of_another_installation_are_not_copied_into_the_database(tmp_path: Path, first: Machine) -> None:
    (tmp_path / "elsewhere").mkdir()
    alone = Machine(tmp_path / "elsewhere", "other")
    assert alone.starts() == ""
    in_database = with_keys_in_database(tmp_path, "second")
    in_database.variables |= {
        "NEGOTIATOR_SECRET": (first.data / "secret").read_text(),
        "NEGOTIATOR_KEYS_DIR": str(alone.keys),
    }
    assert "are in files" in in_database.starts()
    assert first.starts() == ""
