"""Machines that share a database need its pepper and its signing keys; one with others does not start."""

import re
import shutil
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
        return {path.name for path in (*self.data.glob("secret"), *self.keys.glob("*.pem"))}


@pytest.fixture(autouse=True)
def never_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    """`serve` would run in this process."""

    def served(*_: object) -> None:
        raise SystemExit(0)

    monkeypatch.setattr("negotiator.cli.supervisor.main", served)


@pytest.fixture
def first(tmp_path: Path) -> Machine:
    """The machine that started first."""
    machine = Machine(tmp_path, "first")
    assert machine.starts() == ""
    return machine


@covers("5.1:secrets")
def test_a_machine_starts_only_with_the_pepper_and_keys_of_its_database(
    tmp_path: Path, first: Machine
) -> None:
    second = Machine(tmp_path, "second")
    assert (
        f"{second.data}/secret is missing, the pepper of this database: copy it" in second.starts()
    )
    assert second.files() == set()
    shutil.copy(first.data / "secret", second.data)
    assert f"{second.keys} lacks keys that sign for this database" in second.starts()
    assert second.files() == {"secret"}
    shutil.copytree(first.keys, second.keys, dirs_exist_ok=True)
    assert second.starts() == ""
    second.variables["NEGOTIATOR_SECRET"] = "another"
    [line] = second.starts().splitlines()
    assert "NEGOTIATOR_SECRET is not the pepper of this database" in line
    assert first.starts() == ""


def test_a_copy_of_the_keys_serves_one_rotation_longer_and_not_two(
    tmp_path: Path, first: Machine
) -> None:
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


def test_the_doctor_names_the_file_and_adopting_makes_it_count(
    tmp_path: Path, first: Machine
) -> None:
    (first.data / "secret").write_text("changed")
    found = CommandLine(first.variables).run("doctor").out
    assert "fault    secrets" in found
    assert f"{first.data}/secret is not the pepper of this database" in found
    assert "is not the pepper" in first.starts()
    assert first.run("keys", "adopt") == ""
    assert first.starts() == ""
    assert "ok       secrets" in CommandLine(first.variables).run("doctor").out


def test_the_doctor_names_a_pepper_and_keys_that_are_missing(
    tmp_path: Path, first: Machine
) -> None:
    second = Machine(tmp_path, "second")
    second.data.mkdir(parents=True)
    said = CommandLine(second.variables).run("doctor").out
    assert f"fault    secrets    {second.data}/secret is missing" in said
    shutil.copy(first.data / "secret", second.data)
    said = CommandLine(second.variables).run("doctor").out
    assert f"{second.keys} lacks keys that sign for this database" in said
    assert second.files() == {"secret"}


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
        (address,) = re.findall(r"^Listening on 127\.0\.0\.1:(\d+)$", said, re.M)
        assert int(address) > 0
        assert f"Negotiator at http://127.0.0.1:{address} " in said
    machine.variables["NEGOTIATOR_LISTEN"] = "8000"
    assert CommandLine(machine.variables).run("serve").exit_code == 2
