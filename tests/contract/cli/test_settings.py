"""Settings: where they come from, and how a wrong one stops the start."""

import json
from pathlib import Path

import pytest

from tests.contract.requirements import covers
from tests.helpers.command_line import CommandLine


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """A machine's own folders."""
    return {
        "NEGOTIATOR_DATA_DIR": str(tmp_path / "data"),
        "NEGOTIATOR_KEYS_DIR": str(tmp_path / "keys"),
    }


def stopped(machine: CommandLine, *words: str) -> str:
    """The one line with which a command stopped, exit 2."""
    said = machine.run(*words)
    assert said.exit_code == 2, said
    assert said.out == ""
    line = said.err.strip()
    assert "\n" not in line
    assert line.startswith("negotiator: ")
    return line


@pytest.mark.parametrize("name", ["NEGOTIATOR_BASEURL", "NEGOTIATOR_LIMIT", "NEGOTIATOR_"])
@covers("5.1:unknown")
def test_an_unknown_setting_is_named(variables: dict[str, str], name: str) -> None:
    machine = CommandLine({**variables, name: "1"})
    assert name in stopped(machine, "users", "list")
    assert name in stopped(machine, "keys", "list")
    assert name in stopped(machine, "openapi")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BASE_URL", "negotiator.example"),
        ("BASE_URL", "https://negotiator.example/"),
        ("BASE_URL", "https://negotiator.example?x=1"),
        ("BASE_URL", "ftp://negotiator.example"),
        ("SERVICES", "assistant,unknown"),
        ("SERVICES", ""),
        ("EPHEMERAL_TTL", "an hour"),
        ("EPHEMERAL_TTL", "0"),
        ("TOKEN_TTL", "1e9"),
        ("TRUSTED_PROXIES", "10.0.0.0/8,nowhere"),
        ("TRUSTED_PROXIES", "10.0.0.1/8"),
        ("LIMIT_RPM", "-1"),
        ("LOG_FORMAT", "xml"),
        ("DATABASE_URL", "mysql://localhost/x"),
        ("ALLOW_LOOPBACK_FETCH", "perhaps"),
    ],
)
@covers("5.1:ill-typed")
def test_an_ill_typed_setting_is_named(variables: dict[str, str], name: str, value: str) -> None:
    line = stopped(CommandLine({**variables, f"NEGOTIATOR_{name}": value}), "users", "list")
    assert name in line.upper()


@covers("5.1:unknown", "5.1:ill-typed")
def test_serve_stops_in_the_same_way(variables: dict[str, str], tmp_path: Path) -> None:
    assert "NEGOTIATOR_BASEURL" in stopped(
        CommandLine({**variables, "NEGOTIATOR_BASEURL": "x"}), "serve"
    )
    wrong = {**variables, "NEGOTIATOR_LIMIT_RPM": "many"}
    said = CommandLine(wrong).spawn("serve", folder=tmp_path)
    assert said.exit_code == 2
    assert "NEGOTIATOR_LIMIT_RPM" in said.err
    assert len(said.err.strip().splitlines()) == 1


@covers("5.1:environment", "5.1:unknown")
def test_files_are_read_too_and_the_environment_wins(
    variables: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("negotiator.toml").write_text('base_url = "https://toml.example"\n')

    def base(machine: CommandLine) -> str:
        said = machine.run("openapi", "--json")
        assert said.exit_code == 0, said.err
        served: str = said.value["servers"][0]["url"]
        return served

    assert base(CommandLine(variables)) == "https://toml.example"
    Path(".env").write_text("NEGOTIATOR_BASE_URL=https://env.example\n")
    assert base(CommandLine(variables)) == "https://env.example"
    own = {**variables, "NEGOTIATOR_BASE_URL": "https://own.example"}
    assert base(CommandLine(own)) == "https://own.example"
    Path(".env").write_text("NEGOTIATOR_BASEURL=https://env.example\n")
    assert "BASEURL" in stopped(CommandLine(variables), "users", "list").upper()
    Path(".env").unlink()
    Path("negotiator.toml").write_text("colour = 1\n")
    assert "COLOUR" in stopped(CommandLine(variables), "users", "list").upper()
    Path("negotiator.toml").write_text("this is no toml\n")
    assert "TOML" in stopped(CommandLine(variables), "users", "list").upper()


@covers("5.1:defaults", "5.1:made", "5.1:environment")
def test_without_a_setting_everything_lives_in_the_folder_where_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = CommandLine({}).spawn("users", "add", "ada@example.com", "--json", folder=tmp_path)
    assert said.exit_code == 0, said.err
    assert (tmp_path / "var" / "negotiator.db").exists()
    listed = CommandLine({}).run("keys", "list", "--json")
    assert [key["state"] for key in listed.value] == ["current", "next"] * 2
    made = CommandLine({}).run("openapi")
    assert json.loads(made.out)["servers"] == [{"url": "http://127.0.0.1:8000"}]
    secrets = [tmp_path / "var" / "secret", tmp_path / "var" / "negotiator.db"]
    for path in (*secrets, *(tmp_path / "keys").glob("*.pem")):
        assert path.stat().st_mode & 0o777 == 0o600, path
    assert len(list((tmp_path / "keys").glob("*.pem"))) == 4
