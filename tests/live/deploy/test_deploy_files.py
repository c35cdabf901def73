"""The files of `deploy` agree with each other, with the settings and with the server."""

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from negotiator.cli import serve
from negotiator.config.settings import Settings
from negotiator.discovery.health_routes import LIVE_PATH, READY_PATH
from tests.helpers.neighbours import require
from tests.house.source_tree import PACKAGE, ROOT

FILES: Final = ROOT / "deploy"
GUIDES: Final = PACKAGE / "console" / "guides"
SCREEN: Final = 55
"""Lines that a browser or an editor shows at once."""
KUBERNETES: Final = FILES / "kubernetes"
UNITS: Final = sorted(path.name for path in FILES.glob("negotiator*.service"))
EXPOSURE: Final = 20
"""Tenths of systemd's scale from 0 to 10, the smaller the better."""


@pytest.fixture(scope="module")
def units(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The units as installed; the command is one that exists here."""
    require("systemd")
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
    open_requests = options["timeout_graceful_shutdown"]
    unit = (FILES / "negotiator.service").read_text()
    (wait,) = re.findall(r"^TimeoutStopSec=(\d+)$", unit, re.MULTILINE)
    assert int(wait) > open_requests
    assert _grace(_compose()["services"]["app"]) > open_requests
    for app in _machines().values():
        drain = float(app["environment"]["NEGOTIATOR_DRAIN_SECONDS"])
        assert _grace(app) > drain + open_requests
    drain = tomllib.loads((KUBERNETES / "negotiator.toml").read_text())["drain_seconds"]
    assert _pod()["terminationGracePeriodSeconds"] > drain + open_requests


def _grace(app: dict[str, Any]) -> int:
    return int(app["stop_grace_period"].removesuffix("s"))


def test_the_settings_of_the_service_are_settings() -> None:
    settings = Settings(**tomllib.loads((FILES / "negotiator.toml").read_text()))
    unit = (FILES / "negotiator.service").read_text()
    assert f"StateDirectory={settings.data_dir.name}\n" in unit
    assert f"WorkingDirectory={settings.data_dir}\n" in unit


def test_the_settings_of_several_machines_are_settings_and_say_where_to_listen() -> None:
    """An option of the unit's command would win over the setting, and no proxy would reach the server."""
    (given,) = _fences("machines", "toml")
    settings = Settings(**tomllib.loads(given.replace("…", "x" * 32)))
    assert settings.listen == "0.0.0.0:8000"
    unit = (FILES / "negotiator.service").read_text()
    (command,) = re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    assert "serve" in command
    assert not re.search(r"--(?:host|port)", command)
    assert Settings.model_fields["listen"].default == "127.0.0.1:8000"


def test_what_the_guide_replaces_in_the_proxy_s_file_is_in_it() -> None:
    proxy = (FILES / "machines.Caddyfile").read_text()
    (edit,) = re.findall(r"^ +sed '(.*)' \\$", (GUIDES / "machines.md").read_text(), re.MULTILINE)
    patterns = [each.split("/")[1] for each in edit.split("; ")]
    assert len(patterns) == 2
    assert all(re.search(pattern, proxy) for pattern in patterns)


def test_the_first_screen_of_the_guide_goes_from_a_bare_machine_to_a_running_service() -> None:
    first, *_ = (GUIDES / "server.md").read_text().partition("\n## ")
    assert len(first.splitlines()) <= SCREEN
    steps = ("apt-get install", "enable --now negotiator", "restart caddy", "/api/health")
    commands = _fences("server", "bash")[0]
    assert [step in commands for step in steps] == [True] * len(steps)
    assert commands in first


def _fences(guide: str, language: str) -> list[str]:
    text = (GUIDES / f"{guide}.md").read_text()
    fences = rf"^```{language}\n(.*?)^```$"
    return re.findall(fences, text, re.DOTALL | re.MULTILINE)


def test_the_settings_of_the_containers_are_settings() -> None:
    names = set(re.findall(r"NEGOTIATOR_\w+(?==)", (FILES / "Dockerfile").read_text()))
    for service in ("compose.yaml", "compose.postgres.yaml"):
        names |= set(_compose(service)["services"]["app"]["environment"])
    for app in _machines().values():
        names |= set(app["environment"])
    known = {f"NEGOTIATOR_{name.upper()}" for name in Settings.model_fields}
    assert len(names) > 6
    assert names <= known


def test_the_server_keeps_connections_longer_than_the_proxies_do() -> None:
    kept = [
        *re.findall(r"keepalive_timeout (\d+)s;", (FILES / "nginx.conf").read_text()),
        *re.findall(r"keepalive (\d+)s$", (FILES / "Caddyfile").read_text(), re.MULTILINE),
        *re.findall(r"keepalive (\d+)s$", (FILES / "machines.Caddyfile").read_text(), re.MULTILINE),
    ]
    idle = [
        tomllib.loads((FILES / "negotiator.toml").read_text())["idle_timeout"],
        tomllib.loads((KUBERNETES / "negotiator.toml").read_text())["idle_timeout"],
        int(_compose()["services"]["app"]["environment"]["NEGOTIATOR_IDLE_TIMEOUT"]),
    ]
    assert len(kept) == 3
    assert min(idle) > max(map(int, kept))


def test_every_container_runs_without_more_rights_than_it_needs() -> None:
    both = (
        _compose()["services"] | _compose("compose.postgres.yaml")["services"] | {"app": _compose()["services"]["app"]}
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
    assert all(len(members) == 1 for members in shared.values()), "the name `app` has one address for Caddy"
    assert "ports" not in app


def test_the_container_has_a_user_a_volume_a_health_check_and_a_signal() -> None:
    last = (FILES / "Dockerfile").read_text().rpartition("\nFROM ")[2]
    words = dict(line.split(" ", 1) for line in last.splitlines() if re.match(r"[A-Z]+ ", line))
    assert words["USER"].split(":")[0] not in {"0", "root"}
    assert words["VOLUME"] == "/var/lib/negotiator"
    assert words["STOPSIGNAL"] == "SIGTERM"
    assert words["ENTRYPOINT"] == '["negotiator"]'
    assert "/readyz" in last


def test_both_machines_of_the_containers_are_alike_but_for_their_data() -> None:
    first, second = _machines().values()
    postgres = _compose("compose.postgres.yaml")["services"]["app"]["environment"]
    assert {**postgres, **first["environment"]} == second["environment"]
    folders = [dict(map(_mounted, app["volumes"])) for app in (first, second)]
    assert folders[0]["/var/lib/negotiator-keys"] == folders[1]["/var/lib/negotiator-keys"]
    assert "/var/lib/negotiator" not in folders[0], "the first has the data of compose.yaml"
    assert folders[1]["/var/lib/negotiator"] != "data"
    volumes = _compose("compose.machines.yaml")["volumes"]
    assert volumes.keys() == {"keys", "data2"}
    upstreams = _compose("compose.machines.yaml")["services"]["caddy"]["environment"]
    assert upstreams["NEGOTIATOR_UPSTREAMS"].split() == ["app:8000", "app2:8000"]


def _mounted(volume: str) -> tuple[str, str]:
    source, target = volume.split(":")[:2]
    return target, source


def test_the_pods_have_the_commands_the_settings_and_the_user_of_the_container() -> None:
    settings = Settings(**tomllib.loads((KUBERNETES / "negotiator.toml").read_text()))
    dockerfile = (FILES / "Dockerfile").read_text()
    pod = _pod()
    (migrate,), (server,) = pod["initContainers"], pod["containers"]
    assert json.dumps(server["args"]) in dockerfile
    assert migrate["args"] == ["migrate"]
    assert f"USER {pod['securityContext']['runAsUser']}:" in dockerfile
    for container in (migrate, server):
        folders = [mount["mountPath"] for mount in container["volumeMounts"]]
        assert {str(settings.data_dir.parent), str(settings.keys_dir.parent)} <= set(folders)
        assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
        assert container["image"] == server["image"]
    (port,) = server["ports"]
    assert port["containerPort"] == int(server["args"][server["args"].index("--port") + 1])


def test_the_pods_meet_the_restricted_standard_of_kubernetes() -> None:
    pod = _pod()
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in (*pod["initContainers"], *pod["containers"]):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["limits"]["memory"]
    labels = _resources()["Namespace"]["metadata"]["labels"]
    assert labels == {"pod-security.kubernetes.io/enforce": "restricted"}
    assert not pod["automountServiceAccountToken"]
    assert not pod["enableServiceLinks"], "NEGOTIATOR_SERVICE_HOST is no setting"


def test_kubernetes_asks_the_probes_and_keeps_one_pod_at_least() -> None:
    found = _resources()
    (server,) = _pod()["containers"]
    asked = {name: server[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")}
    assert [asked[name]["path"] for name in asked] == [LIVE_PATH, LIVE_PATH, READY_PATH]
    assert {each["port"] for each in asked.values()} == {server["ports"][0]["name"]}
    labels = found["Deployment"]["spec"]["template"]["metadata"]["labels"]
    (port,) = found["Service"]["spec"]["ports"]
    assert found["Service"]["spec"]["selector"] == labels
    assert port["targetPort"] == server["ports"][0]["name"]
    assert found["PodDisruptionBudget"]["spec"]["minAvailable"] == 1
    assert found["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    assert found["HorizontalPodAutoscaler"]["spec"]["minReplicas"] == 2
    (rule,) = found["Ingress"]["spec"]["rules"]
    (path,) = rule["http"]["paths"]
    assert path["backend"]["service"] == {"name": "negotiator", "port": {"name": port["name"]}}
    assert "non_idempotent" not in str(found["Ingress"]["metadata"]["annotations"])


def test_the_pod_of_the_backup_is_as_restricted_as_the_server_and_waits_for_its_bucket() -> None:
    job = _resources()["CronJob"]["spec"]
    assert job["suspend"]
    template = job["jobTemplate"]["spec"]["template"]
    labels = _resources()["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert template["metadata"]["labels"] != labels, "the Service sends no requests to it"
    pod, (server,) = template["spec"], _pod()["containers"]
    for name in ("securityContext", "automountServiceAccountToken", "enableServiceLinks"):
        assert pod[name] == _pod()[name]
    (backup,), (carry,) = pod["initContainers"], pod["containers"]
    assert backup["image"] == server["image"]
    assert backup["securityContext"] == carry["securityContext"] == server["securityContext"]
    assert [{**mount, "readOnly": True} for mount in backup["volumeMounts"]] == [
        {**mount, "readOnly": True} for mount in server["volumeMounts"]
    ]
    assert [volume["name"] for volume in pod["volumes"]] == [volume["name"] for volume in _pod()["volumes"]]


def _nightly_scripts() -> dict[str, str]:
    """What the service and the CronJob give to a shell, as it gets it."""
    unit = (FILES / "negotiator-backup.service").read_text().replace("\\\n", "")
    (script,) = re.findall(r"^ExecStart=/bin/sh -euc '(.+)'$", unit, re.MULTILINE)
    pod = _resources()["CronJob"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (backup,) = pod["initContainers"]
    assert backup["command"] == ["/bin/sh", "-euc"]
    (text,) = backup["args"]
    return {"service": script.replace("$$", "$").replace("%%", "%"), "CronJob": text.replace("$$", "$")}


@pytest.mark.parametrize("name", ["service", "CronJob"])
@pytest.mark.parametrize("works", [True, False])
def test_every_night_a_backup_is_written_and_read_back(name: str, works: bool, tmp_path: Path) -> None:
    """A backup that fails ends the script, and nothing is checked."""
    program = tmp_path / "negotiator"
    program.write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/calls\nexit {int(not works)}\n')
    program.chmod(0o755)
    script = _nightly_scripts()[name].replace("/opt/negotiator/bin/", "")
    variables = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run(["/bin/sh", "-euc", script], env=variables, check=False)
    calls = [line.split() for line in (tmp_path / "calls").read_text().splitlines()]
    assert (done.returncode == 0) is works
    assert [word for word, _ in calls] == (["backup", "verify"] if works else ["backup"])
    assert len({file for _, file in calls}) == 1
    assert re.fullmatch(r"/var/[a-z./]+/\d{4}-\d\d-\d\d-\d{6}\.backup", calls[0][1])


def test_every_manifest_is_applied() -> None:
    listed = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())["resources"]
    files = {path.name for path in KUBERNETES.glob("*.yaml")} - {"kustomization.yaml"}
    assert (set(listed), len(listed)) == (files, len(files))


def _machines() -> dict[str, dict[str, Any]]:
    """The two servers of `compose.machines.yaml`."""
    services = _compose("compose.machines.yaml")["services"]
    return {name: services[name] for name in ("app", "app2")}


def _resources() -> dict[str, dict[str, Any]]:
    """The manifests for Kubernetes by their kind."""
    texts = [path.read_text() for path in sorted(KUBERNETES.glob("*.yaml"))]
    return {each["kind"]: each for text in texts for each in yaml.safe_load_all(text)}


def _pod() -> dict[str, Any]:
    return _resources()["Deployment"]["spec"]["template"]["spec"]


def _compose(name: str = "compose.yaml") -> dict[str, Any]:
    return yaml.safe_load((FILES / name).read_text())
