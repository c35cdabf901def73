"""Begins where a newcomer begins: an empty Debian, a new user, no caches; clone, `make run`, first advice.

    python -m tests.live.deploy.fresh_check [test]

What is committed here is cloned. The machine has git, make, gcc, Node.js and Debian's Python, as the README asks. What
`make run` installs is installed first; then it runs without a network, so that port 8000 is its own. With `test`, the
new user runs `make test`, which leaves out what it cannot install, and then root runs what CI runs.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.house.source_tree import ROOT
from tests.live.deploy.machine import require_tools, say, unpack_machine

_HERE: Final = Path(__file__).parent


def main() -> None:
    """Print the log with the times; ends with 1 if anything fails."""
    require_tools()
    with tempfile.TemporaryDirectory(prefix="fresh-check") as scratch:
        machine = Path(scratch, "machine")
        unpack_machine(machine)
        subprocess.run(["git", "clone", "--quiet", "--bare", ROOT, machine / "srv/negotiator.git"], check=True)
        shutil.copy("/etc/ssl/certs/ca-certificates.crt", machine / "etc/ssl/certs")
        shutil.copy(_HERE / "first_steps.sh", machine / "srv")
        subprocess.run(["chroot", machine, "useradd", "--create-home", "newcomer"], check=True)
        subprocess.run(["chroot", machine, "chown", "-R", "newcomer:", "/srv"], check=True)
        _inside(machine, "newcomer", "/srv/first_steps.sh", "install")
        _inside(machine, "newcomer", "/srv/first_steps.sh", "use", network=False)
        if "test" in sys.argv[1:]:
            _inside(machine, "newcomer", "-c", "cd ~/negotiator && time make test")
            trust = "git config --global safe.directory /srv/negotiator.git"  # it is the newcomer's
            _inside(machine, "root", "-c", f"{trust} && git clone -q /srv/negotiator.git ~/ci && time ~/ci/.ci/run")


def _inside(machine: Path, user: str, *command: str, network: bool = True) -> None:
    """Run bash as this user, with nothing of this machine but its network. Ends the program if that fails."""
    nspawn = ("systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--pipe", "--capability=CAP_NET_ADMIN")
    connection = "--bind-ro=/etc/resolv.conf" if network else "--private-network"
    say(f"as {user}: bash {' '.join(command)}")
    done = subprocess.run(
        [
            *(*nspawn, f"--directory={machine}", f"--user={user}", connection),
            *("/bin/bash", "-euo", "pipefail", *command),
        ],
        env={"PATH": os.environ["PATH"], "SYSTEMD_NSPAWN_TMPFS_TMP": "0"},  # a tenth of the memory is too little
        check=False,
    )
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
