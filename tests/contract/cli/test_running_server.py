"""Commands find the settings of the server that the user runs, unless they name a database themselves."""

from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path

import pytest

from negotiator.cli.running_servers import recorded, running_servers
from negotiator.config.settings import Settings, load
from negotiator.config.settings_files import read_sources
from tests.contract.requirements import covers
from tests.helpers.command_line import CommandLine

Serve = Callable[..., Path]
FREE = CommandLine({"NEGOTIATOR_CONFIG": ""})
"""A shell in which nothing of Negotiator is set."""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user stands in an empty folder and has a state folder; no setting of this machine applies."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return here


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Serve]:
    """Record this process as a server whose data folder was given by a variable, and return the folder."""
    with ExitStack() as servers:

        def start(name: str, *files: Path, **variables: str) -> Path:
            folder = tmp_path / name
            given = {"NEGOTIATOR_DATA_DIR": str(folder), "NEGOTIATOR_BASE_URL": f"https://{name}.example", **variables}
            sources = read_sources(Settings.model_fields, files, given)
            with monkeypatch.context() as patch:
                for variable, value in given.items():
                    patch.setenv(variable, value)
                servers.enter_context(recorded(load(sources), sources))
            return folder

        yield start


def told(machine: CommandLine) -> str:
    """Where a command finds its data and settings."""
    said = machine.run("--version", "-v")
    assert said.exit_code == 0, said
    return said.out


@covers("5.2:running-server")
def test_a_command_that_is_given_nothing_uses_the_running_servers_settings(serve: Serve, elsewhere: Path) -> None:
    folder = serve("one", NEGOTIATOR_SECRET="its own")
    assert FREE.run("users", "add", "ada@example.com").exit_code == 0
    assert (folder / "negotiator.db").exists()
    codes = FREE.run("delegations", "create", "--user", "ada@example.com")
    assert codes.exit_code == 0, codes
    assert not (folder / "secret").exists(), "the pepper is the server's"
    assert list(elsewhere.iterdir()) == []


@covers("5.2:running-server")
def test_what_the_user_names_wins_over_the_running_server(serve: Serve, elsewhere: Path, tmp_path: Path) -> None:
    folder = serve("one")
    own = {"NEGOTIATOR_CONFIG": "", "NEGOTIATOR_DATA_DIR": str(tmp_path / "own")}
    assert f"{tmp_path}/own" in told(CommandLine(own))
    assert str(folder) not in told(CommandLine({}))  # --config
    single = CommandLine({"NEGOTIATOR_CONFIG": "", "NEGOTIATOR_KEYS_DIR": "/srv/keys"})
    assert f"Data folder: {folder}\nKeys folder: /srv/keys" in told(single)
    (elsewhere / "negotiator.toml").write_text('data_dir = "mine"\n')
    assert f"Data folder: {elsewhere}/mine" in told(FREE)


@covers("5.2:running-server")
def test_a_file_that_the_server_reads_too_is_no_choice_of_another_database(serve: Serve, elsewhere: Path) -> None:
    file = elsewhere / "negotiator.toml"
    file.write_text("limit_rpm = 7\n")
    folder = serve("one", file)
    assert f"Settings: {file}\nBase URL: https://one.example\nData folder: {folder}" in told(FREE)


@covers("5.2:running-server")
def test_several_servers_are_listed_and_chosen_by_their_address(serve: Serve) -> None:
    one, two = serve("one"), serve("two")
    said = FREE.run("users", "list")
    assert (said.exit_code, said.out) == (2, "")
    (line,) = said.err.splitlines()
    for each in (one, two):
        assert f"https://{each.name}.example (data in {each})" in line
    assert not one.exists()
    chosen = {"NEGOTIATOR_CONFIG": "", "NEGOTIATOR_BASE_URL": "https://two.example"}
    assert f"Data folder: {two}" in told(CommandLine(chosen))


def test_several_servers_of_one_database_need_no_choice(serve: Serve) -> None:
    folder = serve("one")
    serve("two", NEGOTIATOR_DATA_DIR=str(folder))
    assert f"Data folder: {folder}" in told(FREE)


def test_a_record_is_readable_by_its_user_alone(serve: Serve, tmp_path: Path) -> None:
    serve("one")
    (record,) = (tmp_path / "state" / "negotiator").iterdir()
    assert record.stat().st_mode & 0o777 == 0o600
    assert record.parent.stat().st_mode & 0o777 == 0o700


def test_records_of_the_dead_and_garbage_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "negotiator"
    folder.mkdir(parents=True)
    (folder / "dead.server.json").write_text("{}")
    assert running_servers() == []
    assert list(folder.iterdir()) == []


def test_a_server_of_another_installation_is_not_meant(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("negotiator.cli.running_servers._package", lambda: "/opt/other")
    serve("one")
    monkeypatch.undo()
    assert running_servers() == []


def test_a_state_folder_that_cannot_be_made_does_not_stop_a_server(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/none")
    serve("one")
    assert running_servers() == []
