"""A Debian machine in a folder, for checks that need one: made by mmdebstrap, kept in `.work`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.house.source_tree import ROOT

SUITE: Final = "bookworm"
_PACKAGES: Final = (
    *("systemd", "systemd-sysv", "dbus", "iproute2", "curl", "ca-certificates"),
    *("python3", "python3-venv", "caddy", "nginx-light"),
    *("git", "make", "gcc", "libc6-dev", "nodejs"),
)
_NEEDED: Final = ("mmdebstrap", "systemd-nspawn", "buildah", "podman", "runc")


def say(line: str) -> None:
    """Print a line of the check at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def require_tools() -> None:
    """Install the Debian packages of these checks. Ends the program where that cannot be done."""
    if all(shutil.which(name) for name in _NEEDED):
        return
    if os.getuid() or not shutil.which("apt-get"):
        sys.exit(f"Needs root, Debian and {', '.join(_NEEDED)}.")
    packages = ("mmdebstrap", "systemd-container", "buildah", "podman", "runc", "netavark")
    install = ("apt-get", "install", "-qy", "--no-install-recommends", *packages)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-q"], check=True)
    subprocess.run(install, env=environment, check=True)


def unpack_machine(folder: Path) -> None:
    """Put a fresh Debian into the folder."""
    archive = ROOT / ".work" / "debian.tar"
    if not archive.exists():
        archive.parent.mkdir(exist_ok=True)
        say("Debian is fetched once, about three minutes")
        include = f"--include={','.join(_PACKAGES)}"
        made = archive.with_suffix(".new.tar")
        subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", include, SUITE, made], check=True)
        made.rename(archive)
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["tar", "xf", archive, "-C", folder, "--exclude=./dev/*"], check=True)
    (folder / "etc/hosts").write_text("127.0.0.1 localhost\n::1 localhost\n")
