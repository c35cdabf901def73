"""What a fetch from another host gives and how it fails, the addresses it may go to, and the look-up of names."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any, Final

_SPECIAL_V4: Final = tuple(
    IPv4Network(net)
    for net in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16"),
        *("192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
    )
)
_UNICAST_V6: Final = IPv6Network("2000::/3")
_SPECIAL_V6: Final = tuple(
    IPv6Network(net) for net in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
)
_NAT64: Final = IPv6Network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Whether this numeric address is public unicast (IANA registries, RFC 6890).

    Of IPv6 only 2000::/3 without its special blocks is public. That excludes loopback, ULA, link-local, IPv4-mapped
    and local NAT64; 6to4 and Teredo, which carry an IPv4 address that the sender chooses, are special blocks. An
    address with the well-known NAT64 prefix is public if the IPv4 address inside it is.
    """
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, IPv4Address):
        return not any(ip in net for net in _SPECIAL_V4)
    if ip in _NAT64:
        return is_public(str(IPv4Address(int(ip) & 0xFFFF_FFFF)))
    return ip.scope_id is None and ip in _UNICAST_V6 and not any(ip in net for net in _SPECIAL_V6)


def is_loopback(address: str) -> bool:
    """Whether this numeric address is 127.0.0.0/8 or ::1, spelled plainly."""
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    return ip == IPv6Address(1) if isinstance(ip, IPv6Address) else ip.is_loopback


CONNECT_SECONDS: Final = 3.0
TOTAL_SECONDS: Final = 5.0
AT_ONCE: Final = 8

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class FetchFailed(Exception):
    """The document could not be fetched. `detail` is for the log only."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class HostFailing(FetchFailed):
    """The host has no address, takes no connection, does not answer in time, or answers 5xx."""


class FetchRedirected(FetchFailed):
    """The host answered a redirect, which is not followed; `location` is where it leads."""

    def __init__(self, status: int, location: str) -> None:
        super().__init__(f"answered {status}")
        self.location = location


@dataclass(frozen=True, slots=True)
class FetchedText:
    """A fetched text, cut at the limit; `is_html` says whether it is a page."""

    body: str
    is_html: bool


@dataclass(frozen=True, slots=True)
class FetchedDocument:
    """A fetched JSON object, and for how many seconds it may be cached (None: not stated)."""

    body: dict[str, Any]
    max_age: int | None


class NameResolver:
    """Looks names up by the system's resolver, on threads of its own and once at a time for each name.

    A look-up cannot be stopped: one that hangs takes a thread for as long as the system waits, whoever gave up on it.
    """

    def __init__(self, at_once: int) -> None:
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="names")
        self._running: dict[tuple[str, int], asyncio.Future[Sequence[str]]] = {}

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        """The numeric addresses of a name, in the order of the system's resolver."""
        key = host, port
        lookup = self._running.get(key)
        if lookup is None:
            loop = asyncio.get_running_loop()
            lookup = self._running[key] = loop.run_in_executor(self._threads, _look_up, host, port)
            lookup.add_done_callback(lambda done: self._ended(key, done))
        return await asyncio.shield(lookup)

    def _ended(self, key: tuple[str, int], done: "asyncio.Future[Sequence[str]]") -> None:
        del self._running[key]
        if not done.cancelled():
            done.exception()  # marks it as seen: everybody may have given up waiting


def _look_up(host: str, port: int) -> Sequence[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]
