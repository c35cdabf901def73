"""Reads documents over HTTP from addresses that are checked first, safe from server-side request forgery.

A name is resolved once, every address it resolves to must be public, and the connection goes to one of these addresses
under the original name (SNI, certificate and `Host`). There are no redirects, proxies, cookies or content codings; time
and size are limited while reading (RFC 6890, RFC 8725 §3.10, CIMD -01 §6).
"""

import asyncio
import re
import ssl
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from http import HTTPStatus
from typing import Any, Final, cast
from urllib.parse import urlencode

import httpcore2
import httpx2
from opentelemetry.trace import SpanKind

from negotiator.base.strict_json import read_object
from negotiator.runtime.tracing import span
from negotiator.trust.fetch import (
    FetchedDocument,
    FetchedText,
    FetchFailed,
    FetchRedirected,
    HostFailing,
    Resolve,
    is_loopback,
    is_public,
)

_EACH_FAMILY: Final = 2
_MAX_URL: Final = 2048
_JSON_TYPE = re.compile(r"application/(?:[a-z0-9.-]+\+)?json(?:\s*;\s*charset=\"?utf-8\"?)?", re.IGNORECASE)
_HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_TEXT_TYPES: Final = _HTML_TYPES | {"text/plain", "text/markdown"}
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_ODD = re.compile(r"[ \\]")
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?(\d{1,9})", re.IGNORECASE)
_UNCACHED = re.compile(r"(?:^|[\s,])no-(?:store|cache)(?:$|[\s,=])", re.IGNORECASE)


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
            if not (self._loopback and is_loopback(address)) and (port != 443 or not is_public(address)):
                raise FetchFailed(f"{host} is at {address} port {port}, which is out of bounds")
        six = [address for address in addresses if ":" in address][:_EACH_FAMILY]
        four = [address for address in addresses if ":" not in address][:_EACH_FAMILY]
        return sorted(six + four, key=addresses.index)


class HttpClient:
    """The connections of a `Fetcher`, and how its requests are made; it imports the HTTP library."""

    def __init__(
        self,
        *,
        allow_loopback: bool,
        resolver: Resolve,
        tls: ssl.SSLContext | None,
        connect_seconds: float,
        total_seconds: float,
        at_once: int,
    ) -> None:
        self._allow_loopback = allow_loopback
        self._total = total_seconds
        # Connections are not kept open, so that each fetch resolves and checks the name again.
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=tls or _public_roots(),
            max_connections=at_once,
            max_keepalive_connections=0,
            network_backend=_VettedNetwork(resolver, allow_loopback, connect_seconds=connect_seconds),
        )
        self._timeouts = {"connect": connect_seconds} | dict.fromkeys(("read", "write", "pool"), total_seconds)

    async def document(self, url: str, *, limit: int) -> FetchedDocument:
        return await self._ask("GET", url, limit=limit)

    async def text(self, url: str, *, limit: int) -> FetchedText:
        """The first `limit` bytes of the page or plain text at `url`; raises `FetchFailed`.

        A redirect is `FetchRedirected`: its target is for the caller to fetch, under the same checks.
        """
        target = self._target(url)
        try:
            with span("fetch", SpanKind.CLIENT, {"http.request.method": "GET"}), _faults_of(url):
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

    async def exchange(self, url: str, form: Mapping[str, str], *, authorization: str) -> dict[str, Any]:
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
        with span("fetch", SpanKind.CLIENT, {"http.request.method": method}), _faults_of(url):
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
        self, method: str, target: httpx2.URL, limit: int, *, more: Sequence[tuple[bytes, bytes]], content: bytes | None
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
    return httpcore2.URL(scheme=target.raw_scheme, host=target.raw_host, port=target.port, target=target.raw_path)


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
