"""Hosts on one machine: network namespaces, each with a cable to this one. Root only."""

import os
import random
import subprocess
from dataclasses import dataclass, field
from typing import Final

_FIRST: Final = "198.18"
"""RFC 2544: addresses for measurements between networks, routed nowhere."""
NETWORK: Final = "198.18.0.0/16"


def missing_privilege() -> str:
    """Why no host can be made here, and how to get it; empty when one can."""
    if os.geteuid() != 0:
        return "network namespaces need root: run the tests as root"
    probe = Host()
    try:
        probe.create()
    except subprocess.CalledProcessError as fault:
        return f"this machine allows no network namespaces: {fault.stderr.strip()}"
    finally:
        probe.remove()
    return ""


@dataclass
class Host:
    """A network namespace whose only neighbour is this machine."""

    number: int = field(default_factory=lambda: random.SystemRandom().randrange(1 << 14))
    """Which of the networks of four addresses it takes."""

    @property
    def name(self) -> str:
        """Of the namespace, and of this machine's end of the cable."""
        return f"negotiator{self.number}"

    @property
    def gateway(self) -> str:
        """This machine's address on the cable."""
        return self._address(1)

    @property
    def address(self) -> str:
        """The host's own address."""
        return self._address(2)

    @property
    def prefix(self) -> tuple[str, ...]:
        """What runs a command on the host."""
        return ("ip", "netns", "exec", self.name)

    def create(self) -> None:
        """Make the namespace and the cable. Raises `CalledProcessError`."""
        _ip("netns", "add", self.name)
        _ip("link", "add", self.name, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        _ip("address", "add", f"{self.gateway}/30", "dev", self.name)
        _ip("link", "set", self.name, "up")
        _ip("-n", self.name, "address", "add", f"{self.address}/30", "dev", "eth0")
        for device in ("eth0", "lo"):
            _ip("-n", self.name, "link", "set", device, "up")

    def remove(self) -> None:
        """Remove the namespace, and the cable with it."""
        subprocess.run(("ip", "netns", "delete", self.name), capture_output=True, check=False)

    def unplug(self) -> None:
        """Cut the cable: nothing that is sent arrives, and nobody is told."""
        _ip("link", "set", self.name, "down")

    def plug_in(self) -> None:
        """Put the cable back."""
        _ip("link", "set", self.name, "up")

    def _address(self, last: int) -> str:
        at = 4 * self.number + last
        return f"{_FIRST}.{at >> 8}.{at & 255}"


def _ip(*command: str) -> None:
    subprocess.run(("ip", *command), capture_output=True, check=True, text=True)
