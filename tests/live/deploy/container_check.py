"""Builds and runs the container image where neither Docker nor its registry is: with buildah and podman.

    python -m tests.live.deploy.container_check

Where the base image is missing, a stand-in gets its name: a Debian without compilers, with the Python 3.13 of this
machine in `/usr/local`, where the official one has it. The Dockerfile is linted by hadolint and read as it is; the
manifests for Kubernetes are compared with the schemas of its API; the
container runs with the options of `compose.yaml`, and its health is asked by the command of the Dockerfile.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import yaml

from tests.house.source_tree import ROOT
from tests.live.deploy.install_check import TOOLS, find_pythons
from tests.live.deploy.machine import require_tools, say, unpack_machine

_DOCKERFILE: Final = "deploy/Dockerfile"
_VERSION: Final = "3.13"
_BASE: Final = f"docker.io/library/python:{_VERSION}-slim-bookworm"
_IMAGE: Final = "localhost/negotiator-check"
_NAME: Final = "negotiator-check"
_PODMAN: Final = ("podman", "--runtime=runc", "--cgroup-manager=cgroupfs")
_SECONDS_TO_START: Final = 120
_ADVICE: Final = """
import json, urllib.request
def post(path, body, token=""):
    headers = {"Content-Type": "application/json", **({"Authorization": "Bearer " + token} if token else {})}
    request = urllib.request.Request("http://127.0.0.1:8000" + path, json.dumps(body).encode(), headers)
    return json.load(urllib.request.urlopen(request))
agent = post("/api/agent/register", {"agent_name": "first", "identity_type": "anonymous"})
price = {"name": "price", "type": "money", "range": {"min": 11000, "max": 15000}}
limits = {"target": {"package": {"price": 12500}}, "walk_away": {"package": {"price": 14000}}}
advice = post("/api/leverage", {"role": "buyer", "issues": [price], **limits}, agent["access_token"])
print(advice["summary"]["text"])
"""


def main() -> None:
    """Lint, build, run; ends with 1 at the first command that fails."""
    require_tools()
    _lint()
    if subprocess.run(["podman", "image", "exists", _BASE]).returncode:
        began = time.monotonic()
        _make_base()
        say(f"base image {_BASE} in {time.monotonic() - began:.0f} s")
    began = time.monotonic()
    _build()
    say(f"image built in {time.monotonic() - began:.0f} s")
    _run("podman", "rm", "--force", "--ignore", _NAME)
    try:
        _use()
    finally:
        _run("podman", "rm", "--force", "--ignore", "--volumes", "--time", "30", _NAME)
        _run("podman", "volume", "rm", "--force", _NAME)


def _lint() -> None:
    folder = ROOT / ".hosts" / "deploy"
    linter, validator = (folder / "bin" / each for each in ("hadolint", "kubernetes-validate"))
    if not validator.exists():
        _run(sys.executable, "-m", "venv", str(folder))
        _run(str(folder / "bin" / "pip"), "install", "--quiet", "--requirement", str(TOOLS))
    say(_run(str(linter), _DOCKERFILE) or "hadolint finds nothing")
    for path in sorted((ROOT / "deploy/kubernetes").glob("*.yaml")):
        if path.name != "kustomization.yaml":
            say(_run(str(validator), "--strict", str(path)) or f"{path.name} is valid")


def _make_base() -> None:
    python = dict(find_pythons()).get(_VERSION)
    if python is None:
        sys.exit(f"Python {_VERSION} is needed for the stand-in of {_BASE}.")
    prefix = Path(_run(python, "-c", "import sys; print(sys.base_prefix)").strip())
    with tempfile.TemporaryDirectory(prefix="container-base") as scratch:
        base = Path(scratch)
        unpack_machine(base)
        for path in (*base.glob("usr/bin/*gcc*"), *base.glob("usr/bin/python3*")):
            path.unlink()
        local = base / "usr/local"
        shutil.copytree(prefix, local, symlinks=True, dirs_exist_ok=True)
        for name, target in (("python", "python3"), ("pip", "pip3")):
            (local / "bin" / name).unlink(missing_ok=True)
            (local / "bin" / name).symlink_to(target)
        for script in local.glob("bin/pip3*"):
            _, _, code = script.read_text().partition("\n")
            script.write_text(f"#!/usr/local/bin/python3\n{code}")
        _run("chroot", str(base), "/sbin/ldconfig")
        container = _run("buildah", "from", "scratch").strip()
        _run("buildah", "add", "--quiet", container, str(base), "/")
        path = "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
        _run("buildah", "config", "--env", f"PATH={path}", container)
        _run("buildah", "commit", "--quiet", "--rm", container, _BASE)


def _build() -> None:
    certificates = "/etc/ssl/certs/ca-certificates.crt"
    _run(
        *("buildah", "build", "--layers", "--format", "docker", "--isolation", "chroot", "--pull-never"),
        *("--volume", f"{certificates}:{certificates}:ro", "--file", _DOCKERFILE),
        *("--ignorefile", f"{_DOCKERFILE}.dockerignore", "--tag", _IMAGE, "."),
    )


def _use() -> None:
    app: dict[str, Any] = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())["services"]["app"]
    assert app["read_only"], "the container runs read-only"
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    files = min(app["ulimits"]["nofile"], most)
    options = (
        *("--read-only", "--read-only-tmpfs=false", f"--ulimit=nofile={files}:{files}"),
        *("--ulimit=nproc=4096:4096", f"--pids-limit={app['pids_limit']}"),
        *(f"--tmpfs={path}" for path in app["tmpfs"]),
        *(f"--cap-drop={each}" for each in app["cap_drop"]),
        *(f"--security-opt={each.partition(':')[0]}" for each in app["security_opt"]),
        *("--volume", f"{_NAME}:/var/lib/negotiator", "--network=none"),
        "--no-healthcheck",  # by itself podman needs systemd for it
    )
    (image,) = json.loads(_run("podman", "image", "inspect", _IMAGE))
    health = image["Healthcheck"]["Test"][1:]
    began = time.monotonic()
    _run(*_PODMAN, "run", "--detach", f"--name={_NAME}", *options, _IMAGE)
    while subprocess.run(["podman", "exec", _NAME, *health], capture_output=True).returncode:
        if time.monotonic() - began > _SECONDS_TO_START:
            sys.exit(_run("podman", "logs", _NAME))
        time.sleep(1)
    say(f"healthy {time.monotonic() - began:.0f} s after its start")
    say(_inside("python", "-c", _ADVICE).strip())
    added = _inside("negotiator", "users", "add", "ada@example.com")
    assert "ada@example.com" in added, added
    assert _inside("id", "-u").strip() == "10001"
    assert subprocess.run(["podman", "exec", _NAME, "touch", "/opt/x"], capture_output=True).returncode
    began = time.monotonic()
    _run("podman", "stop", "--time", "30", _NAME)
    code = json.loads(_run("podman", "inspect", _NAME))[0]["State"]["ExitCode"]
    say(f"stopped in {time.monotonic() - began:.0f} s, exit code {code}")
    assert code == 0
    _run(*_PODMAN, "start", _NAME)
    time.sleep(1)
    users = _inside("negotiator", "users", "list")
    assert "ada@example.com" in users, "the volume keeps the data"
    say("started again with its data")


def _inside(*command: str) -> str:
    return _run("podman", "exec", _NAME, *command)


def _run(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
