"""The files of `deploy` agree with each other, with the settings and with the server."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from negotiator.cli import serve
from negotiator.settings import Settings
from tests.helpers.missing_tools import missing
from tests.house.source_tree import ROOT

FILES: Final = ROOT / "deploy"
UNITS: Final = sorted(path.name for path in FILES.glob("negotiator*.service"))
EXPOSURE: Final = 20
"""Tenths of systemd's scale from 0 to 10, the smaller the better."""


@pytest.fixture(scope="module")
def units(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The units as installed; the command is one that exists here."""
    if shutil.which("systemd-analyze") is None:
        missing("systemd-analyze is not installed: apt-get install systemd")
    folder = tmp_path_factory.mktemp("units")
    for path in (*FILES.glob("*.service"), *FILES.glob("*.timer")):
        text = re.sub(r"/opt/negotiator/bin/\w+", "/bin/true", path.read_text())
        (folder / path.name).write_text(text)
    return folder


def test_systemd_finds_no_fault_in_the_units(units: Path) -> None:
    paths = sorted(str(path) for path in units.iterdir())
    done = subprocess.run(["systemd-analyze", "verify", *paths], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", UNITS)
def test_a_service_is_exposed_to_little(units: Path, name: str) -> None:
    command = ("systemd-analyze", "security", "--offline=yes", f"--threshold={EXPOSURE}")
    done = subprocess.run([*command, str(units / name)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_stop_waits_until_open_requests_are_finished() -> None:
    options = serve.server_options("127.0.0.1", 8000, 2, reload=False, timeout=30)
    drain = options["timeout_graceful_shutdown"]
    unit = (FILES / "negotiator.service").read_text()
    app = _compose()["services"]["app"]
    waits = re.findall(r"^TimeoutStopSec=(\d+)$", unit, re.MULTILINE)
    assert [int(each) > drain for each in (*waits, app["stop_grace_period"].removesuffix("s"))] == [
        True,
        True,
    ]


def test_the_settings_of_the_service_are_settings() -> None:
    settings = Settings(**tomllib.loads((FILES / "negotiator.toml").read_text()))
    unit = (FILES / "negotiator.service").read_text()
    assert f"StateDirectory={settings.data_dir.name}\n" in unit
    assert f"WorkingDirectory={settings.data_dir}\n" in unit


def test_the_settings_of_the_containers_are_settings() -> None:
    names = set(re.findall(r"NEGOTIATOR_\w+(?==)", (FILES / "Dockerfile").read_text()))
    for service in ("compose.yaml", "compose.postgres.yaml"):
        names |= set(_compose(service)["services"]["app"]["environment"])
    known = {f"NEGOTIATOR_{name.upper()}" for name in Settings.model_fields}
    assert len(names) > 6
    assert names <= known


def test_the_server_keeps_connections_longer_than_the_proxies_do() -> None:
    kept = [
        *re.findall(r"keepalive_timeout (\d+)s;", (FILES / "nginx.conf").read_text()),
        *re.findall(r"keepalive (\d+)s$", (FILES / "Caddyfile").read_text(), re.MULTILINE),
    ]
    idle = [
        tomllib.loads((FILES / "negotiator.toml").read_text())["idle_timeout"],
        int(_compose()["services"]["app"]["environment"]["NEGOTIATOR_IDLE_TIMEOUT"]),
    ]
    assert len(kept) == 2
    assert min(idle) > max(map(int, kept))


def test_every_container_runs_without_more_rights_than_it_needs() -> None:
    both = (
        _compose()["services"]
        | _compose("compose.postgres.yaml")["services"]
        | {"app": _compose()["services"]["app"]}
    )
    assert set(both) == {"app", "caddy", "postgres", "redis"}
    for name, service in both.items():
        assert service["read_only"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["restart"] == "unless-stopped", name
        assert "privileged" not in service, name
        # PostgreSQL's image begins as root, gives its folder away and then drops its rights.
        assert service.get("cap_drop") == ["ALL"] or name == "postgres"


def test_only_the_proxy_shares_the_network_whose_addresses_are_believed() -> None:
    compose = _compose()
    (network,) = compose["networks"]["front"]["ipam"]["config"]
    app = compose["services"]["app"]
    assert app["environment"]["NEGOTIATOR_TRUSTED_PROXIES"] == network["subnet"]
    shared = {
        name: [each for each, one in compose["services"].items() if name in one["networks"]]
        for name in compose["networks"]
    }
    assert shared.pop("front") == ["app", "caddy"]
    assert all(len(members) == 1 for members in shared.values()), (
        "the name `app` has one address for Caddy"
    )
    assert "ports" not in app


def test_the_container_has_a_user_a_volume_a_health_check_and_a_signal() -> None:
    last = (FILES / "Dockerfile").read_text().rpartition("\nFROM ")[2]
    words = dict(line.split(" ", 1) for line in last.splitlines() if re.match(r"[A-Z]+ ", line))
    assert words["USER"].split(":")[0] not in {"0", "root"}
    assert words["VOLUME"] == "/var/lib/negotiator"
    assert words["STOPSIGNAL"] == "SIGTERM"
    assert words["ENTRYPOINT"] == '["negotiator"]'
    assert "/api/health" in last


def _compose(name: str = "compose.yaml") -> dict[str, Any]:
    return yaml.safe_load((FILES / name).read_text())
