"""Boots a Debian machine with systemd, runs the page "On a server" on it word for word, and uses what it installed.

    python -m tests.live.deploy.server_check FOLDER

FOLDER is what `make dist` made. Each `bash` fence of the page is run as root, in order, then `after_install.sh`. Three
things are not as on a real server: the domain is localhost, so that Caddy makes the certificate itself; the packages of
the lock are fetched beforehand, since the machine has no network but its own loopback; and Debian's packages are
there already.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from tests.house.source_tree import PACKAGE, ROOT
from tests.live.deploy.machine import require_tools, say, unpack_machine

_PAGE: Final = PACKAGE / "console" / "guides" / "server.md"
_FENCE: Final = re.compile(r"^```bash\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_HERE: Final = Path(__file__).parent
_AFTER: Final = _HERE / "after_install.sh"
_PATIENCE: Final = 1800
_UNIT: Final = """[Unit]
After=multi-user.target
[Service]
Type=oneshot
WorkingDirectory=/srv
Environment=HOME=/root PIP_NO_INDEX=1 PIP_FIND_LINKS=/srv/wheels PIP_DISABLE_PIP_VERSION_CHECK=1
Environment=PIP_ROOT_USER_ACTION=ignore
Environment=CURL_CA_BUNDLE=/var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt
ExecStart=/bin/bash -euxo pipefail /srv/page.sh
ExecStopPost=/bin/sh -c 'echo "exit $EXIT_STATUS" >> /srv/page.log; systemctl --no-block poweroff'
StandardOutput=append:/srv/page.log
StandardError=append:/srv/page.log
TimeoutStartSec=infinity
[Install]
WantedBy=default.target
"""


def main() -> None:
    """Run the page; ends with 1 and its whole log if a command fails."""
    require_tools()
    release = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="server-check") as scratch:
        machine = Path(scratch, "machine")
        unpack_machine(machine)
        home = machine / "srv"
        shutil.copytree(release, home / "dist")
        shutil.copytree(ROOT / "deploy", home / "deploy")
        _fetch(machine)
        (home / "page.sh").write_text(_script())
        shutil.copy(_HERE / "sandbox_probe.py", home)
        units = machine / "etc/systemd/system"
        (units / "page.service").write_text(_UNIT)
        for proxy in ("nginx", "caddy"):  # as if they were not installed yet
            (units / "multi-user.target.wants" / f"{proxy}.service").unlink(missing_ok=True)
        (units / "default.target.wants").mkdir(exist_ok=True)
        (units / "default.target.wants/page.service").symlink_to("/etc/systemd/system/page.service")
        began = time.monotonic()
        boot = ("systemd-nspawn", "--quiet", "--boot", "--register=no", "--keep-unit", "--private-network")
        with (Path(scratch) / "console").open("wb") as console:
            subprocess.run(
                [*boot, f"--directory={machine}"],
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                timeout=_PATIENCE,
                check=False,
            )
        log = (home / "page.log").read_text()
        say(log)
        say(f"{time.monotonic() - began:.0f} s from boot to shutdown")
        if not log.endswith("exit 0\n"):
            sys.exit(1)


def _script() -> str:
    commands = "".join(_FENCE.findall(_PAGE.read_text()))
    domain = "domain=negotiator.example.org\n"
    assert domain in commands
    return commands.replace(domain, "domain=localhost\n") + _AFTER.read_text()


def _fetch(machine: Path) -> None:
    """Download what the lock names, as the machine's own Python reads it."""
    for path in ("/etc/resolv.conf", "/etc/ssl/certs/ca-certificates.crt"):
        shutil.copy(path, machine / path[1:])
    inside = ("chroot", str(machine))
    subprocess.run([*inside, "python3", "-m", "venv", "/opt/fetch"], check=True)
    pip = (*inside, "/opt/fetch/bin/pip", "--disable-pip-version-check", "--quiet", "download")
    lock = ("--no-deps", "--require-hashes", "-r", "/srv/dist/requirements.lock")
    environment = {"PATH": os.environ["PATH"], "PIP_CERT": "/etc/ssl/certs/ca-certificates.crt"}
    folder = ("-d", "/srv/wheels")
    subprocess.run([*pip, *lock, *folder], env=environment, check=True)


if __name__ == "__main__":
    main()
