"""A real server process is found by commands in other folders for as long as it lives."""

from pathlib import Path

import pytest

from negotiator.users import user_queries
from tests.contract.requirements import covers
from tests.helpers.command_line import CommandLine
from tests.helpers.live_server import Server

pytestmark = pytest.mark.usefixtures("built_models")


@covers("5.2:running-server", "5.2:doctor")
def test_commands_find_a_server_until_it_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(tmp_path / "served", workers=1)
    server.folder.mkdir()
    monkeypatch.chdir(tmp_path)
    shell = {"NEGOTIATOR_CONFIG": "", "XDG_STATE_HOME": str(server.folder / "state")}
    server.start()
    try:
        assert f"Data folder: {server.folder}/var" in (server.folder / "log").read_text()
        assert CommandLine(shell).run("users", "add", "ada@example.com").exit_code == 0
        report = CommandLine(shell).run("doctor", "--json")
        states = {each["name"]: each["state"] for each in report.value["findings"]}
        for part in ("address", "clock", "sockets", "database", "signing", "data"):
            assert states[part] == "ok", report.value
        assert server.change_now(lambda tx: user_queries.by_email(tx, "ada@example.com"))
    finally:
        server.kill()
    version = CommandLine(shell).run("--version", "-v").out
    assert str(server.folder) not in version
