"""`negotiator doctor`: every part is checked at once, changes nothing, and says what to do."""

import asyncio
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Generator
from contextlib import suppress
from http import cookies
from pathlib import Path
from typing import Any

import httpx2
import orjson
import pytest

from negotiator.cli import doctor
from negotiator.cli.doctor import (
    Finding,
    Patient,
    check_address,
    check_advisor,
    check_mail,
    check_settings,
    connections_needed,
    needed_python,
    passed_on,
)
from negotiator.config.settings import Settings
from negotiator.config.settings_files import SettingsSources
from negotiator.discovery.probe_routes import PROBE_WORD, ArrivedRequest, probe_path
from tests.conftest import PEPPER, Clock, make_settings
from tests.contract.requirements import covers
from tests.helpers.asgi_websocket import WebSocketRefused, connect
from tests.helpers.command_line import CommandLine, CommandResult
from tests.helpers.fake_chat_model import completion, fake_chat_model
from tests.helpers.live_server import free_port
from tests.helpers.loopback_server import answering, serving
from tests.helpers.recording_smtp import recording_smtp

NOTHING = SettingsSources({}, ())


def found(said: CommandResult) -> dict[str, list[dict[str, Any]]]:
    """The findings of a report by name."""
    findings: dict[str, list[dict[str, Any]]] = {}
    for finding in said.value["findings"]:
        findings.setdefault(finding["name"], []).append(finding)
    return findings


def patient(settings: Settings, **overrides: Any) -> Patient:
    """A service with these settings."""
    return Patient(make_settings(settings.data_dir, settings.keys_dir, **overrides), NOTHING)


@covers("5.2:doctor")
def test_before_the_first_start_nothing_is_wrong_and_nothing_is_made(tmp_path: Path) -> None:
    places = {
        "NEGOTIATOR_DATA_DIR": str(tmp_path / "var"),
        "NEGOTIATOR_KEYS_DIR": str(tmp_path / "keys"),
        "NEGOTIATOR_BASE_URL": f"http://127.0.0.1:{free_port()}",
    }
    said = CommandLine(places).run("doctor", "--json")
    assert said.exit_code == 0, said
    findings = found(said)
    assert {"settings", "python", "disk", "files", "speech", "embedding"} <= set(findings)
    assert findings["settings"][-1]["text"] == f"variables: {', '.join(sorted(places))}"
    for name in ("data", "keys", "signing", "database", "address"):
        assert findings[name][0]["state"] == "warning", name
        assert findings[name][0]["advice"], name
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def short_folder() -> Generator[Path]:
    """A folder whose name is as long in every run: lines are broken by it."""
    with tempfile.TemporaryDirectory(prefix="doctor-") as folder:
        yield Path(folder)


@covers("5.2:doctor")
def test_every_fault_is_one_line_with_what_to_do_and_exit_1(short_folder: Path) -> None:
    data, keys, port = short_folder / "var", short_folder / "keys", free_port()
    for folder in (data, keys):
        folder.mkdir(mode=0o700)
    (keys / "es256-1.pem").write_text("garbage")
    (keys / "es256-1.pem").chmod(0o644)
    (data / "secret").write_text("x")
    data.chmod(0o777)
    dead = {
        "DATA_DIR": str(data),
        "KEYS_DIR": str(keys),
        "BASE_URL": f"http://127.0.0.2.example.invalid:{port}",
        "DATABASE_URL": f"postgresql+asyncpg://ada:geheim@127.0.0.1:{port}/x",
        "REDIS_URL": f"redis://127.0.0.1:{port}/0",
        "SMTP_URL": f"smtp://ada:geheim@127.0.0.1:{port}",
        "ADVISOR_URL": f"http://127.0.0.1:{port}/v1",
        "ADVISOR_MODEL": "m",
        "EMBEDDING_URL": f"http://127.0.0.1:{port}/v1",
        "EMBEDDING_MODEL": "m",
    }
    machine = CommandLine({f"NEGOTIATOR_{name}": text for name, text in dead.items()})
    said = machine.run("doctor", "--json")
    assert said.exit_code == 1, said
    assert said.value["ok"] is False
    assert "geheim" not in said.out
    findings = found(said)
    for name in ("data", "signing", "database", "redis", "mail", "advisor", "embedding", "address"):
        faults = [each for each in findings[name] if each["state"] == "fault"]
        assert faults, (name, findings[name])
        assert all(each["advice"] and "\n" not in each["text"] for each in faults), name
    assert findings["https"][0]["state"] == "warning"
    text = machine.run("doctor")
    assert text.exit_code == 1
    assert f"fault    data        other users may write in {data}\n" in text.out
    assert f"-> chmod go-w {data}\n" in text.out
    shown = at_terminal("doctor", variables=machine.variables, folder=short_folder, columns=100)
    too_long = [line for line in shown.splitlines() if len(line) > 100]
    room = 100 - 21
    assert [line for line in too_long if len(line.split()[-1]) <= room] == [], "only a path may be"
    assert words(shown) == words(text.out)
    assert "\n" + " " * 21 + "NEGOTIATOR_" in shown, "the list of variables goes on in its column"


def words(text: str) -> list[str]:
    """The words of a report without what differs from run to run."""
    return [word for word in text.split() if not re.fullmatch(r"[\d.]+", word)]


def at_terminal(*command: str, variables: dict[str, str], folder: Path, columns: int) -> str:
    """What a command prints at a terminal of so many columns."""
    own, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    plain = {
        name: value for name, value in os.environ.items() if not name.startswith("NEGOTIATOR_") and name != "COLUMNS"
    }
    settings = {"NEGOTIATOR_CONFIG": os.devnull, **variables}
    with subprocess.Popen(
        [sys.executable, "-m", "negotiator", *command],
        env=plain | settings | {"PYTHONPATH": str(Path(__file__).parents[3])},
        cwd=folder,
        stdin=its,
        stdout=its,
        stderr=subprocess.STDOUT,
    ):
        os.close(its)
        printed = b""
        with suppress(OSError):  # the end of a terminal is an error on Linux
            while piece := os.read(own, 65_536):
                printed += piece
    os.close(own)
    return printed.decode().replace("\r\n", "\n")


LONG = Finding(
    "settings",
    "fault",
    f"variables: {', '.join(f'NEGOTIATOR_SETTING_{number}' for number in range(40))}\n\x1b[31m",
    "Look at /a/path/of/more/than/sixty/characters/which/is/not/divided/at/any/width/negotiator.toml.",
)


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_a_finding_fits_the_terminal_and_loses_no_word(width: int) -> None:
    lines = doctor.lines_of(LONG, width)
    assert all(len(line) <= width or len(line.split()) <= 2 for line in lines)
    assert all(line.startswith(" " * 21) for line in lines[1:])
    assert lines[0].startswith("fault    settings    variables: ")
    whole, advice = doctor.lines_of(LONG, 0)
    assert " ".join(lines).split() == f"{whole} {advice}".split()
    assert "\x1b" not in whole
    assert r"\x1b[31m" in whole


def test_the_settings_are_listed_by_where_they_come_from(tmp_path: Path) -> None:
    (tmp_path / "negotiator.toml").write_text('listen = "127.0.0.1:1"\nbase_url = "http://n.example"')
    (tmp_path / ".env").write_text("NEGOTIATOR_BASE_URL=http://other.example\n")
    places = {"NEGOTIATOR_DATA_DIR": str(tmp_path / "var"), "NEGOTIATOR_CONFIG": ""}
    said = CommandLine(places).spawn("doctor", "--json", folder=tmp_path)
    assert [each["text"] for each in found(said)["settings"]] == [
        f"{tmp_path}/.env: NEGOTIATOR_BASE_URL",
        f"{tmp_path}/negotiator.toml: listen",
        "variables: NEGOTIATOR_DATA_DIR",
    ]
    (only,) = asyncio.run(check_settings(Patient(make_settings(tmp_path, tmp_path), NOTHING)))
    assert "all settings have their defaults" in only.text


@covers("5.2:doctor")
def test_a_wrong_setting_is_the_one_finding() -> None:
    said = CommandLine({"NEGOTIATOR_LIMIT_RMP": "1"}).run("doctor", "--json")
    assert said.exit_code == 1
    (finding,) = said.value["findings"]
    assert (finding["name"], finding["state"]) == ("settings", "fault")
    assert "did you mean NEGOTIATOR_LIMIT_RPM" in finding["text"]


@pytest.mark.asyncio
async def test_a_check_that_hangs_or_breaks_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    async def check_nothing(_: Patient) -> list[Finding]:
        await asyncio.Event().wait()
        raise AssertionError

    async def check_badly(_: Patient) -> list[Finding]:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(doctor, "SECONDS", 0.01)
    one: Any = None
    (hung,) = await doctor.limited(check_nothing, one)
    (broken,) = await doctor.limited(check_badly, one)
    assert (hung.name, hung.state) == ("nothing", "fault")
    assert "no answer" in hung.text
    assert (broken.state, broken.text) == ("fault", "ZeroDivisionError: by zero")


@pytest.mark.asyncio
async def test_mail_is_connected_and_signed_in_but_only_sent_when_asked_for(settings: Settings) -> None:
    async with recording_smtp("plain") as smtp:
        url = f"smtp://ada:secret@127.0.0.1:{smtp.port}"
        one = patient(settings, smtp_url=url)
        (connected,) = await check_mail(one)
        assert (connected.state, smtp.mails) == ("ok", [])
        assert "AUTH" in smtp.commands
        asked = Patient(one.settings, NOTHING, "op@example.com")
        (sent,) = await check_mail(asked)
        assert sent.state == "ok"
        assert [mail["To"] for mail in smtp.mails] == ["op@example.com"]


@pytest.mark.asyncio
async def test_the_advisor_is_asked_for_one_line(settings: Settings) -> None:
    seen: list[dict[str, Any]] = []
    answer = {"/line": "We would sign within this week."}
    async with fake_chat_model(completion({"texts": answer}), seen) as url:
        (finding,) = await check_advisor(patient(settings, advisor_url=url, advisor_model="m"))
    assert len(seen) == 1
    assert finding.state in {"ok", "warning"}
    assert "answers" in finding.text


@pytest.mark.asyncio
async def test_another_program_at_the_address_is_told_from_this_one(settings: Settings) -> None:
    async with serving(answering(b"{}")) as (port, _):
        findings = await check_address(patient(settings, base_url=f"http://127.0.0.1:{port}"))
    assert [(each.name, each.state) for each in findings] == [("address", "fault")]
    assert "is not Negotiator" in findings[0].text


@pytest.mark.parametrize(
    ("redis_url", "allowed", "state", "most"),
    [
        ("redis://r", 65, "ok", "16 connections × 2 machines = 64"),
        ("redis://r", 64, "warning", "16 connections × 2 machines = 64"),
        ("", 68, "warning", "17 connections × 2 machines = 68"),
    ],
)
def test_the_connections_of_all_workers_are_counted(
    settings: Settings, redis_url: str, allowed: int, state: str, most: str
) -> None:
    """Without Redis each worker has one more, on which PostgreSQL tells it of events."""
    one = patient(settings, redis_url=redis_url)
    finding = connections_needed(Patient(one.settings, NOTHING, "", machines=2, workers=2), allowed)
    assert (finding.state, finding.text) == (state, f"2 workers × {most}, of {allowed} that PostgreSQL allows")


PLAIN = ArrivedRequest(host="n.example", peer="10.0.0.2", forwarded="203.0.113.9", is_trusted=True)


@pytest.mark.parametrize(
    ("base", "changed", "said"),
    [
        ("https://n.example", {}, ""),
        ("https://n.example", {"host": "127.0.0.1:8000"}, "passes Host 127.0.0.1:8000"),
        ("https://n.example", {"forwarded": "203.0.113.9:51234"}, ""),
        ("https://n.example", {"forwarded": "[2001:db8::1]:443, "}, ""),
        ("https://n.example", {"forwarded": "unknown"}, "sends X-Forwarded-For: unknown, which is no address"),
        ("https://n.example", {"is_trusted": False}, "10.0.0.2 is not trusted"),
        ("https://n.example", {"forwarded": ""}, "does not send X-Forwarded-For"),
        ("https://n.example", {"forwarded": "", "is_trusted": False}, "does not send X-Forwarded"),
        ("http://n.example", {"forwarded": "", "is_trusted": False}, ""),
    ],
)
@covers("5.2:doctor")
def test_what_a_proxy_does_not_pass_on_is_named(base: str, changed: dict[str, Any], said: str) -> None:
    arrived: Any = {**PLAIN, **changed}
    findings = passed_on(base, arrived)
    assert [said in each.text for each in findings] == ([True] if said else [])
    assert all(each.state == "warning" and each.advice for each in findings)


@pytest.mark.asyncio
async def test_a_probe_is_answered_only_with_a_fresh_proof(
    clock: Clock, client: httpx2.AsyncClient, application: Any
) -> None:
    path = probe_path(PEPPER.encode())
    answer = await client.get(path, headers={"x-forwarded-for": "198.51.100.1"})
    assert answer.json()["peer"] == "203.0.113.7"
    assert answer.json()["forwarded"] == "198.51.100.1"
    async with connect(application, path) as socket:
        assert await socket.next() == orjson.loads(PROBE_WORD)
    wrong = probe_path(b"another")
    assert (await client.get(wrong)).status_code == 404
    with pytest.raises(WebSocketRefused):
        async with connect(application, wrong):
            pass
    clock.advance(601)
    assert (await client.get(path)).status_code == 404


@pytest.mark.parametrize(
    ("version", "needed"),
    [((3, 11, 9), "3.11.10"), ((3, 11, 10), ""), ((3, 12, 5), "3.12.6"), ((3, 12, 6), ""), ((3, 13, 0), "")],
)
def test_an_interpreter_with_a_known_hole_is_told_from_one_that_is_patched(
    version: tuple[int, int, int], needed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(cookies, "_unquote_sub", raising=False)
    assert needed_python(version) == needed
    # A distribution mends the library under the same version.
    monkeypatch.setattr(cookies, "_unquote_sub", None, raising=False)
    assert needed_python(version) == ""
