"""Fetches JSON documents and texts from public addresses only, safe from server-side request forgery.

A name is resolved once, every address it resolves to must be public, and the connection goes to one of these addresses
under the original name (SNI, certificate and `Host`). There are no redirects, proxies, cookies or content codings; time
and size are limited while reading (RFC 6890, RFC 8725 §3.10, CIMD -01 §6).
"""

import asyncio
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any, Final, cast
from urllib.parse import urlencode

import httpcore2
import httpx2

from negotiator.strict_json import read_object
from negotiator.tracing import step

_SPECIAL_V4: Final = tuple(
    IPv4Network(net)
    for net in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
_UNICAST_V6: Final = IPv6Network("2000::/3")
_SPECIAL_V6: Final = tuple(
    IPv6Network(net)
    for net in (
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "2620:4f:8000::/48",
        "3fff::/20",
    )
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
_EACH_FAMILY: Final = 2
_MAX_URL: Final = 2048
_JSON_TYPE = re.compile(
    r"application/(?:[a-z0-9.-]+\+)?json(?:\s*;\s*charset=\"?utf-8\"?)?", re.IGNORECASE
)
_HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_TEXT_TYPES: Final = _HTML_TYPES | {"text/plain", "text/markdown"}
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_ODD = re.compile(r"[ \\]")
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?(\d{1,9})", re.IGNORECASE)
_UNCACHED = re.compile(r"(?:^|[\s,])no-(?:store|cache)(?:$|[\s,=])", re.IGNORECASE)


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


class _VettedNetwork(httpcore2.AsyncNetworkBackend):
    """Opens connections to checked addresses; the name is resolved here once and not again by the library."""

    def __init__(self, resolver: Resolve, loopback: bool, *, connect_seconds: float) -> None:
        self._resolve = resolver
        self._loopback = loopback
        self._seconds = connect_seconds
        self._dialler = cast(httpcore2.AsyncNetworkBackend, httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        async with asyncio.timeout(self._seconds):
            failure: Exception = FetchFailed(f"{host} has no address")
            addresses = await self._addresses(host, port)
            # Each address gets an equal share of the time, in case one does not answer.
            share = self._seconds / max(1, len(addresses))
            for address in addresses:
                try:
                    return await self._dialler.connect_tcp(address, port, share)
                except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as unreachable:
                    failure = unreachable
            raise failure

    async def _addresses(self, host: str, port: int) -> list[str]:
        try:
            addresses = list(dict.fromkeys(await self._resolve(host, port)))
        except (OSError, UnicodeError) as unknown:
            raise HostFailing(f"{host} does not resolve: {unknown}") from None
        # A forbidden address among public ones is an attack or a mistake.
        for address in addresses:
            if not (self._loopback and is_loopback(address)) and (
                port != 443 or not is_public(address)
            ):
                raise FetchFailed(f"{host} is at {address} port {port}, which is out of bounds")
        six = [address for address in addresses if ":" in address][:_EACH_FAMILY]
        four = [address for address in addresses if ":" not in address][:_EACH_FAMILY]
        return sorted(six + four, key=addresses.index)


class Fetcher:
    """Fetches JSON objects over https on port 443; `allow_loopback` adds loopback, http there.

    At most `at_once` fetches have a connection or a thread that looks a name up; more wait, within their time.
    """

    def __init__(
        self,
        *,
        allow_loopback: bool,
        resolver: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
        connect_seconds: float = CONNECT_SECONDS,
        total_seconds: float = TOTAL_SECONDS,
        at_once: int = AT_ONCE,
    ) -> None:
        self._allow_loopback = allow_loopback
        self._total = total_seconds
        # Connections are not kept open, so that each fetch resolves and checks the name again.
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=tls or _public_roots(),
            max_connections=at_once,
            max_keepalive_connections=0,
            network_backend=_VettedNetwork(
                resolver or NameResolver(at_once), allow_loopback, connect_seconds=connect_seconds
            ),
        )
        self._timeouts = {"connect": connect_seconds} | dict.fromkeys(
            ("read", "write", "pool"), total_seconds
        )

    async def json(self, url: str, *, limit: int = 65_536) -> dict[str, Any]:
        """The JSON object at `url`, at most `limit` bytes; raises `FetchFailed`."""
        return (await self.document(url, limit=limit)).body

    async def document(self, url: str, *, limit: int = 65_536) -> FetchedDocument:
        """The JSON object at `url` with its `max-age`; raises `FetchFailed`."""
        return await self._ask("GET", url, limit=limit)

    async def text(self, url: str, *, limit: int) -> FetchedText:
        """The first `limit` bytes of the page or plain text at `url`; raises `FetchFailed`.

        A redirect is `FetchRedirected`: its target is for the caller to fetch, under the same checks.
        """
        target = self._target(url)
        try:
            with step("fetch", "client", {"http.request.method": "GET"}), _faults_of(url):
                async with asyncio.timeout(self._total):
                    return await self._read_text(target, limit)
        except FetchRedirected as redirected:
            try:
                location = str(target.join(redirected.location))
            except httpx2.InvalidURL as invalid:
                raise FetchFailed(f"{url}: redirects to no URL: {invalid}") from None
            raise FetchRedirected(int(redirected.detail[-3:]), location) from None

    async def _read_text(self, target: httpx2.URL, limit: int) -> FetchedText:
        headers = _headers(target, b"text/html, text/plain, text/markdown")
        async with self._pool.stream(
            "GET", _raw(target), headers=headers, extensions={"timeout": self._timeouts}
        ) as response:
            told = _read_headers(response)
            if response.status in _REDIRECTS and told.get("location"):
                raise FetchRedirected(response.status, told["location"])
            _check_status(response)
            if told.get("content-encoding", "identity").lower() != "identity":
                raise FetchFailed("answered with a content coding that was not requested")
            kind = told.get("content-type", "").partition(";")[0].strip().lower()
            if kind not in _TEXT_TYPES:
                raise FetchFailed("answered with a type that is no text")
            body = bytearray()
            async for chunk in response.aiter_stream():
                body += chunk
                if len(body) >= limit:
                    break
        return FetchedText(bytes(body[:limit]).decode("utf-8", "replace"), kind in _HTML_TYPES)

    async def exchange(
        self, url: str, form: Mapping[str, str], *, authorization: str = ""
    ) -> dict[str, Any]:
        """The JSON object that a token endpoint answers to a form (RFC 6749 §3.2); raises `FetchFailed`."""
        body = urlencode(form).encode()
        more = [(b"Content-Type", b"application/x-www-form-urlencoded")]
        more.append((b"Content-Length", b"%d" % len(body)))
        if authorization:
            more.append((b"Authorization", authorization.encode()))
        return (await self._ask("POST", url, limit=65_536, more=more, content=body)).body

    async def _ask(
        self,
        method: str,
        url: str,
        *,
        limit: int,
        more: Sequence[tuple[bytes, bytes]] = (),
        content: bytes | None = None,
    ) -> FetchedDocument:
        target = self._target(url)
        # Without the host, which clients may name, and without `traceparent`: it is not the operator's.
        with step("fetch", "client", {"http.request.method": method}), _faults_of(url):
            async with asyncio.timeout(self._total):
                return await self._send(method, target, limit, more=more, content=content)

    async def close(self) -> None:
        await self._pool.aclose()

    def _target(self, url: str) -> httpx2.URL:
        if len(url) > _MAX_URL or not url.isascii() or not url.isprintable() or _ODD.search(url):
            raise FetchFailed("the URL is too long or has invalid characters")
        try:
            target = httpx2.URL(url)
        except (httpx2.InvalidURL, ValueError) as invalid:
            raise FetchFailed(f"{url} is no URL: {invalid}") from None
        # Plain http is allowed for loopback only: on ports other than 443 only loopback is reachable.
        plain = self._allow_loopback and target.scheme == "http" and target.port != 443
        if target.scheme != "https" and not plain:
            raise FetchFailed(f"{url} is not https")
        if not target.host or target.userinfo or target.fragment:
            raise FetchFailed(f"{url} has no host, or has credentials or a fragment")
        if target.port is not None and not 0 < target.port < 65_536:
            raise FetchFailed(f"{url} has no such port")
        return target

    async def _send(
        self,
        method: str,
        target: httpx2.URL,
        limit: int,
        *,
        more: Sequence[tuple[bytes, bytes]],
        content: bytes | None,
    ) -> FetchedDocument:
        headers = [*_headers(target, b"application/json, application/jwk-set+json"), *more]
        extensions = {"timeout": self._timeouts}
        async with self._pool.stream(
            method, _raw(target), headers=headers, content=content, extensions=extensions
        ) as response:
            max_age = _check_head(response, limit)
            body = await _read(response, limit)
        try:
            return FetchedDocument(read_object(body), max_age)
        except ValueError as invalid:
            raise FetchFailed(f"unusable JSON: {invalid}") from None


@contextmanager
def _faults_of(url: str) -> Generator[None]:
    """Raise `FetchFailed` with the URL for whatever goes wrong in a fetch."""
    try:
        yield
    except FetchRedirected:
        raise
    except FetchFailed as failed:
        raise type(failed)(f"{url}: {failed.detail}") from None
    except TimeoutError:
        raise HostFailing(f"{url}: took too long") from None
    except (httpcore2.NetworkError, httpcore2.TimeoutException, OSError) as failed:
        raise HostFailing(f"{url}: {type(failed).__name__} {failed}") from None
    except (httpcore2.ProtocolError, ValueError) as failed:
        raise FetchFailed(f"{url}: {type(failed).__name__} {failed}") from None


@cache
def _public_roots() -> ssl.SSLContext:
    """The TLS context with the public certificate authorities; loading them is slow and done once a process."""
    return httpx2.create_ssl_context(trust_env=False)


def _raw(target: httpx2.URL) -> httpcore2.URL:
    return httpcore2.URL(
        scheme=target.raw_scheme, host=target.raw_host, port=target.port, target=target.raw_path
    )


def _headers(target: httpx2.URL, accept: bytes) -> list[tuple[bytes, bytes]]:
    return [
        (b"Host", target.netloc),
        (b"Accept", accept),
        (b"Accept-Encoding", b"identity"),
        (b"User-Agent", b"negotiator"),
        (b"Connection", b"close"),
    ]


def _read_headers(response: httpcore2.Response) -> dict[str, str]:
    """The headers by name in lower case; repeated ones are joined."""
    headers: dict[str, str] = {}
    for name, value in response.headers:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1").strip()
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


def _check_head(response: httpcore2.Response, limit: int) -> int | None:
    headers = _read_headers(response)
    _check_status(response)
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise FetchFailed("answered with a content coding that was not requested")
    if not _JSON_TYPE.fullmatch(headers.get("content-type", "")):
        raise FetchFailed("answered with a type that is not JSON")
    length = headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > 9 or int(length) > limit:
        raise FetchFailed(f"announces more than {limit} bytes")
    return _max_age(headers.get("cache-control", ""))


def _check_status(response: httpcore2.Response) -> None:
    if response.status != HTTPStatus.OK:
        is_fault = response.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        raise (HostFailing if is_fault else FetchFailed)(f"answered {response.status}")


def _max_age(cache_control: str) -> int | None:
    if _UNCACHED.search(cache_control):
        return 0
    found = _MAX_AGE.search(cache_control)
    return int(found[1]) if found else None


async def _read(response: httpcore2.Response, limit: int) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_stream():
        body += chunk
        if len(body) > limit:
            raise FetchFailed(f"sends more than {limit} bytes")
    return bytes(body)
