"""Settings: where they come from, and how a wrong one stops the start."""

import os
from pathlib import Path

import pytest

from negotiator.config import settings_files
from negotiator.config.settings import Settings, load
from negotiator.config.settings_files import SettingsSources, read_sources
from tests.contract.requirements import covers
from tests.helpers.command_line import CommandLine

DEFAULT = "http://127.0.0.1:8000"


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """A machine's own folders."""
    return {"NEGOTIATOR_DATA_DIR": str(tmp_path / "data"), "NEGOTIATOR_KEYS_DIR": str(tmp_path / "keys")}


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
    misspelt = CommandLine({**variables, "NEGOTIATOR_LIMIT_RMP": "1"})
    assert stopped(misspelt, "users", "list").endswith("is not a setting; did you mean NEGOTIATOR_LIMIT_RPM?")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BASE_URL", "negotiator.example"),
        ("BASE_URL", "https://negotiator.example/"),
        ("BASE_URL", "https://negotiator.example?x=1"),
        ("BASE_URL", "ftp://negotiator.example"),
        ("SERVICES", "assistant,unknown"),
        ("SERVICES", ""),
        ("MAIL_FROM", "Negotiator <negotiator>"),
        ("MAIL_FROM", "negotiator.example.org"),
        ("TOKEN_TTL", "an hour"),
        ("TOKEN_TTL", "0"),
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
    assert "NEGOTIATOR_BASEURL" in stopped(CommandLine({**variables, "NEGOTIATOR_BASEURL": "x"}), "serve")
    wrong = {**variables, "NEGOTIATOR_LIMIT_RPM": "many"}
    said = CommandLine(wrong).spawn("serve", folder=tmp_path)
    assert said.exit_code == 2
    assert "NEGOTIATOR_LIMIT_RPM" in said.err
    assert len(said.err.strip().splitlines()) == 1


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, Path]:
    """Empty folders in place of the current folder, the checkout and the system's folder."""
    made = tuple(tmp_path / name for name in ("here", "checkout", "system"))
    for folder in made:
        folder.mkdir()
    here, root, system = made
    (root / "pyproject.toml").touch()
    monkeypatch.chdir(here)
    monkeypatch.setattr(settings_files, "_PACKAGE", root / "negotiator")
    monkeypatch.setattr(settings_files, "SYSTEM_FOLDER", system)
    return here, root, system


FILES = {"NEGOTIATOR_CONFIG": ""}
"""A machine on which settings files apply."""


def base(machine: CommandLine) -> str:
    """The base URL among the settings of a machine."""
    said = machine.run("--version", "-v")
    assert said.exit_code == 0, said.err
    return next(line[10:] for line in said.out.splitlines() if line.startswith("Base URL: "))


@covers("5.1:environment", "5.1:files")
def test_a_variable_wins_over_env_and_that_over_toml(variables: dict[str, str], places: tuple[Path, ...]) -> None:
    here, root, _ = places
    (root / "negotiator.toml").write_text('base_url = "https://toml.example"\n')
    assert base(CommandLine({**variables, **FILES})) == "https://toml.example"
    (here / ".env").write_text("OTHER=1\nNEGOTIATOR_BASE_URL=https://env.example\n")
    assert base(CommandLine({**variables, **FILES})) == "https://env.example"
    own = {**variables, **FILES, "NEGOTIATOR_BASE_URL": "https://own.example"}
    assert base(CommandLine(own)) == "https://own.example"


@covers("5.1:files")
def test_each_file_is_the_first_of_the_current_folder_the_checkout_and_the_system(
    variables: dict[str, str], places: tuple[Path, ...]
) -> None:
    machine = CommandLine({**variables, **FILES})
    for place in reversed(places):
        (place / "negotiator.toml").write_text(f'base_url = "https://{place.name}.example"\n')
        assert base(machine) == f"https://{place.name}.example"
    named = places[0].parent / "named.toml"
    named.write_text("")
    assert base(CommandLine({**variables, "NEGOTIATOR_CONFIG": "../named.toml"})) == DEFAULT
    said = machine.run("--config", "../named.toml", "--version", "-v")
    assert str(named) in said.out
    missing = machine.run("--config", "../missing.toml", "users", "list")
    assert (missing.exit_code, missing.out) == (2, "")
    assert "missing.toml cannot be read: No such file or directory." in missing.err


def test_a_current_folder_that_this_user_cannot_search_has_no_settings_file(
    places: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, *_ = places
    (here / "negotiator.toml").write_text("")
    monkeypatch.delenv("NEGOTIATOR_CONFIG", raising=False)
    here.chmod(0)
    is_root = os.geteuid() == 0
    if is_root:  # who may search every folder
        os.seteuid(65_534)
    try:
        found = settings_files.find_files()
    finally:
        if is_root:
            os.seteuid(0)
        here.chmod(0o700)
    assert found == ()


@covers("5.1:files")
def test_a_settings_file_of_another_user_in_the_current_folder_is_not_read(
    places: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, root, _ = places
    monkeypatch.delenv("NEGOTIATOR_CONFIG", raising=False)
    monkeypatch.delenv("SUDO_UID", raising=False)
    planted = here / ".env"
    for folder in (here, root):
        (folder / ".env").write_text("")
    assert settings_files.find_files() == (planted,)
    monkeypatch.setattr(os, "geteuid", lambda: planted.stat().st_uid + 1)
    if planted.stat().st_uid == 0:  # root's files are everybody's
        os.chown(planted, 65_534, -1)
    assert settings_files.find_files() == (root / ".env",)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("SUDO_UID", str(planted.stat().st_uid))
    assert settings_files.find_files() == (planted,)


@covers("5.1:files")
def test_a_relative_path_starts_at_the_folder_of_the_file_that_has_it(places: tuple[Path, ...]) -> None:
    here, root, _ = places
    (root / "negotiator.toml").write_text('data_dir = "data"\nkeys_dir = "~/keys"\n')
    made = load(read(root / "negotiator.toml"))
    assert (made.data_dir, made.keys_dir) == (root / "data", Path.home() / "keys")
    assert made.database_url == f"sqlite+aiosqlite:///{root}/data/negotiator.db"
    (here / ".env").write_text("NEGOTIATOR_DATABASE_URL=sqlite+aiosqlite:///x.db\n")
    assert load(read(here / ".env")).database_url == f"sqlite+aiosqlite:///{here}/x.db"


def read(*files: Path, **variables: str) -> SettingsSources:
    """What the files and variables give."""
    return read_sources(Settings.model_fields, files, variables)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "negotiator.toml",
            "# ours\n\nlimit_rmp = 1\n",
            "negotiator.toml, line 3: limit_rmp is not a setting; did you mean limit_rpm?",
        ),
        (
            "negotiator.toml",
            'base_url = "https://a.example"\nlimit_rpm = "many"\n',
            "negotiator.toml, line 2: limit_rpm: Input should be a valid integer",
        ),
        (
            "negotiator.toml",
            'base_url = "https://N.Example:443"\n',
            "negotiator.toml, line 1: base_url: must be written as browsers send it: https://n.example",
        ),
        (
            "negotiator.toml",
            'base_url = "https://b\u00fccher.example/n"\n',
            "negotiator.toml, line 1: base_url: must be written as browsers send it: https://xn--bcher-kva.example/n",
        ),
        ("negotiator.toml", "a = 1\nthis is no toml\n", "negotiator.toml, line 2: Expected '='"),
        ("negotiator.toml", "[negotiator]\n", "negotiator.toml, line 1: negotiator is not a"),
        (
            ".env",
            "A=1\n\nNEGOTIATOR_BASEURL=https://env.example\n",
            ".env, line 3: NEGOTIATOR_BASEURL is not a setting; did you mean NEGOTIATOR_BASE_URL?",
        ),
        (".env", "NEGOTIATOR_LIMIT_RPM=-1\n", ".env, line 1: NEGOTIATOR_LIMIT_RPM: Input should"),
        (".env", "A=1\nnot a line\n", ".env, line 2: this is not NAME=value."),
        (".env", b"\xff", ".env is not UTF-8 text."),
        (
            ".env",
            "NEGOTIATOR_ADVISOR_URL=https://a.example/v1\n",
            "NEGOTIATOR_ADVISOR_MODEL: must be set when advisor_url is",
        ),
    ],
)
@covers("5.1:unknown", "5.1:ill-typed")
def test_a_fault_in_a_file_names_file_line_and_what_was_meant(
    variables: dict[str, str], places: tuple[Path, ...], name: str, text: str | bytes, said: str
) -> None:
    (places[0] / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    line = stopped(CommandLine({**variables, **FILES}), "users", "list")
    assert line.startswith(f"negotiator: {said}")


@covers("5.1:defaults", "5.1:made", "5.1:folders")
def test_without_a_setting_data_and_keys_lie_in_the_checkout(places: tuple[Path, ...]) -> None:
    here, root, _ = places
    said = CommandLine({}).run("users", "add", "ada@example.com", "--json")
    assert said.exit_code == 0, said.err
    database = root / "var" / "negotiator.db"
    assert said.err == f"negotiator: A new database was made at {database}.\n"
    listed = CommandLine({}).run("keys", "list", "--json")
    assert [key["state"] for key in listed.value] == ["current", "next"] * 2
    made = CommandLine({}).run("openapi", "--json")
    assert made.value["servers"] == [{"url": DEFAULT}]
    for path in (root / "var" / "secret", database, *(root / "keys").glob("*.pem")):
        assert path.stat().st_mode & 0o777 == 0o600, path
    assert len(list((root / "keys").glob("*.pem"))) == 4
    assert list(here.iterdir()) == []


@covers("5.1:folders")
def test_without_a_checkout_they_lie_in_the_users_data_folder(
    places: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (places[1] / "pyproject.toml").unlink()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    assert load(read()).data_dir == tmp_path / "share" / "negotiator"
    assert load(read()).keys_dir == tmp_path / "share" / "negotiator" / "keys"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load(read()).data_dir == tmp_path / ".local" / "share" / "negotiator"
    own = read(NEGOTIATOR_DATA_DIR="mine")
    assert load(own).keys_dir == places[0] / "mine" / "keys"


@covers("5.1:files")
def test_a_system_file_that_this_user_may_not_read_is_named_where_a_database_is_missed_or_made(
    places: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = places[2] / "negotiator.toml"
    file.write_text("limit_rpm = 7\n")
    text = Path.read_text

    def refused(path: Path, *words: str, **named: str) -> str:
        if path == file:
            raise PermissionError(13, "Permission denied")
        return text(path, *words, **named)

    monkeypatch.setattr(Path, "read_text", refused)
    for words, code in ((("users", "list"), 1), (("users", "add", "ada@example.com"), 0)):
        said = CommandLine(FILES).run(*words)
        assert said.exit_code == code, said.err
        assert f"because this user may not read {file}." in said.err


NAMED_BY_CONTRACT = """
base_url services database_url redis_url data_dir keys_dir secret ephemeral_ttl token_ttl trusted_proxies
register_limit_anonymous register_limit_assertion limit_rpm limit_burst limit_baseline_rpm smtp_url advisor_url
advisor_key advisor_model log_format
"""


def test_every_setting_that_the_contract_names_is_there() -> None:
    assert set(NAMED_BY_CONTRACT.split()) <= set(Settings.model_fields)
