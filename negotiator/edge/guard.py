"""Who is calling: the client address, the bearer credential, the scopes an operation needs (RFC 6750)."""

from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any, Protocol

from negotiator.caller import Caller, nobody
from negotiator.edge.operation import Operation
from negotiator.errors import InsufficientScope, InvalidRequest, Unauthorized
from negotiator.scopes import ordered
from negotiator.settings import Network

Address = IPv4Address | IPv6Address


class Authenticator(Protocol):
    """Believes a credential, or does not."""

    async def authenticate(self, credential: str, address: str = "") -> Caller | None:
        """The caller behind a live credential that came from this address; None for anything else."""
        ...


class Guard:
    """The door of every operation."""

    def __init__(self, authenticator: Authenticator, proxies: Iterable[Network]) -> None:
        self._authenticator = authenticator
        self._proxies = tuple(proxies)

    def address(self, scope: Mapping[str, Any], headers: Mapping[str, str]) -> str:
        """The client address limits are keyed by; forwarded headers count only from configured proxies."""
        client = scope.get("client")
        peer: str = client[0] if client else "127.0.0.1"
        if not self._proxies:
            return _key(peer)
        hops = [
            peer,
            *reversed([hop.strip() for hop in headers.get("x-forwarded-for", "").split(",")]),
        ]
        for nearer, further in zip(hops, [*hops[1:], ""], strict=True):
            if not self._is_proxy(nearer) or not _parse(further):
                return _key(nearer)
        return _key(peer)

    async def admit(self, operation: Operation, headers: Mapping[str, str], address: str) -> Caller:
        """The caller, if the operation is open to it; 401 and 403 otherwise."""
        if operation.access == "open":
            return nobody(address)
        caller = await self.identify(headers, address)
        self.allow(operation, caller)
        return caller

    async def identify(self, headers: Mapping[str, str], address: str) -> Caller:
        """Who sent this: nobody without a credential, 401 with one that is not believed."""
        credential = _bearer(headers.get("authorization"))
        if credential is None:
            return nobody(address)
        caller = await self._authenticator.authenticate(credential, address)
        if caller is None:
            raise Unauthorized("The credential is unknown, expired or revoked.")
        return caller

    def allow(self, operation: Operation, caller: Caller) -> None:
        """Refuse who needs a credential and has none, or lacks one of the operation's scopes."""
        if operation.access == "bearer" and caller.kind == "nobody":
            raise Unauthorized("Send a bearer token in the Authorization header.", sent=False)
        if not operation.scopes <= caller.scopes:
            raise InsufficientScope(ordered(operation.scopes))

    def _is_proxy(self, text: str) -> bool:
        address = _parse(text)
        return address is not None and any(address in network for network in self._proxies)


def _bearer(header: str | None) -> str | None:
    """The bearer credential; None when no header or another scheme was sent (RFC 6750 §3: no error then)."""
    if header is None:
        return None
    scheme, _, credential = header.partition(" ")
    if scheme.lower() != "bearer":
        return None
    credential = credential.strip(" ")
    if not credential or any(mark in credential for mark in ' ,\t"'):
        raise InvalidRequest("The Authorization header is malformed.")
    return credential


def _parse(text: str) -> Address | None:
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _key(text: str) -> str:
    """One key for one client: IPv4 whole, IPv6 by its /64, since a household owns that many."""
    if ":" not in text:
        return text
    address = _parse(text)
    if not isinstance(address, IPv6Address):
        return str(address or text)
    return str(IPv6Network((int(address) >> 64 << 64, 64)))
