"""A fetch against a real server that behaves badly."""

import asyncio
import gzip
import ssl
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

import pytest

from negotiator.trust.fetch import FetchFailed
from negotiator.trust.fetcher import Fetcher
from tests.helpers.loopback_server import JSON, Write, answering, certificate, serving

pytestmark = pytest.mark.asyncio


async def get(write: Write, *, limit: int = 65_536, total: float = 5.0) -> dict[str, object]:
    fetcher = Fetcher(allow_loopback=True, total_seconds=total)
    try:
        async with serving(write) as (port, _):
            return await fetcher.json(f"http://127.0.0.1:{port}/jwks", limit=limit)
    finally:
        await fetcher.close()


async def refused(write: Write, *, limit: int = 65_536, total: float = 5.0) -> str:
    with pytest.raises(FetchFailed) as failed:
        await get(write, limit=limit, total=total)
    return failed.value.detail


async def test_a_json_object_is_fetched_with_its_age() -> None:
    fetcher = Fetcher(allow_loopback=True)
    head = JSON + b"Cache-Control: public, max-age=1234\r\n"
    async with serving(answering(b'{"keys": []}', head=head)) as (port, heads):
        document = await fetcher.document(f"http://127.0.0.1:{port}/a/b?c=d")
    await fetcher.close()
    assert (document.body, document.max_age) == ({"keys": []}, 1234)
    request = heads[0].lower()
    assert request.startswith(b"get /a/b?c=d http/1.1\r\n")
    assert b"host: 127.0.0.1:%d\r\n" % port in request
    assert b"accept-encoding: identity\r\n" in request
    assert b"cookie" not in request


@pytest.mark.parametrize(
    ("control", "age"),
    [
        (b"max-age=60, no-cache", 0),
        (b"no-store", 0),
        (b"private", None),
        (b"s-maxage=9", None),
        (b"Max-Age=7", 7),
        (b"max-age=x", None),
    ],
)
async def test_the_age_is_read_from_cache_control(control: bytes, age: int | None) -> None:
    fetcher = Fetcher(allow_loopback=True)
    head = JSON + b"Cache-Control: " + control + b"\r\n"
    async with serving(answering(b"{}", head=head)) as (port, _):
        assert (await fetcher.document(f"http://127.0.0.1:{port}/")).max_age == age
    await fetcher.close()


@pytest.mark.parametrize("status", [b"301 Moved", b"302 Found", b"307 Temporary Redirect", b"308 Moved"])
async def test_a_redirect_is_not_followed(status: bytes) -> None:
    async with serving(answering(b'{"inside": 1}')) as (inside, heads):
        head = JSON + b"Location: http://127.0.0.1:%d/\r\n" % inside
        assert status[:3].decode() in await refused(answering(b"{}", head=head, status=status))
        assert heads == []


@pytest.mark.parametrize("status", [b"404 Not Found", b"500 Oops", b"204 No Content", b"206 Partial"])
async def test_only_success_counts(status: bytes) -> None:
    assert status[:3].decode() in await refused(answering(b"{}", status=status))


@pytest.mark.parametrize(
    "kind", [b"", b"text/html", b"text/plain", b"application/jsonp", b"application/json; charset=utf-16"]
)
async def test_only_json_counts(kind: bytes) -> None:
    head = b"Content-Type: " + kind + b"\r\n" if kind else b""
    assert "type" in await refused(answering(b"{}", head=head))


@pytest.mark.parametrize("kind", [b"application/jwk-set+json", b"Application/JSON;charset=UTF-8"])
async def test_json_has_several_names(kind: bytes) -> None:
    assert await get(answering(b"{}", head=b"Content-Type: " + kind + b"\r\n")) == {}


@pytest.mark.parametrize("coding", [b"gzip", b"br", b"deflate", b"identity, gzip"])
async def test_a_packed_answer_is_not_unpacked(coding: bytes) -> None:
    body = gzip.compress(b"{" + b" " * 10_000_000 + b"}")
    head = JSON + b"Content-Encoding: " + coding + b"\r\n"
    assert "coding" in await refused(answering(body, head=head))


async def test_a_long_answer_is_refused_by_what_it_announces() -> None:
    assert await get(answering(b"{" + b" " * 998 + b"}"), limit=1000) == {}
    assert "announces" in await refused(answering(b"{" + b" " * 999 + b"}"), limit=1000)


async def test_an_endless_answer_is_cut_at_the_limit() -> None:
    sent = 0

    async def write(writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\n" + JSON + b"Transfer-Encoding: chunked\r\n\r\n")
        while sent < 60_000_000:
            writer.write(b"4000\r\n" + b" " * 0x4000 + b"\r\n")
            await writer.drain()
            sent += 0x4000

    assert "sends more" in await refused(write)
    assert sent < 30_000_000


async def test_endless_headers_are_cut() -> None:
    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        for _ in range(10_000):
            writer.write(b"X-More: " + b"y" * 1000 + b"\r\n")
            await writer.drain()

    assert "ProtocolError" in await refused(write)


@pytest.mark.parametrize("opening", [b"HTTP/1.1 200 OK\r\n" + JSON + b"\r\n{", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200"])
async def test_a_slow_drip_is_cut_by_the_clock_on_the_wall(opening: bytes) -> None:
    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(opening)
        for _ in range(2000):
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.01)

    began = monotonic()
    assert "too long" in await refused(write, total=0.15)
    assert monotonic() - began < 10, "the whole drip takes twenty seconds"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b"{} x",
        b'{"a": 1, "a": 2}',
        b'{"a": NaN}',
        b'{"a": 1e999}',
        b'{"a": "\xff"}',
        b"\xef\xbb\xbf{}",
        "{}".encode("utf-16"),
        b'{"a": ' + b"[" * 20 + b"]" * 20 + b"}",
        b'{"a": ' + b"[" * 30_000 + b"]" * 30_000 + b"}",
        b'{"a": ' + b"9" * 5000 + b"}",
    ],
)
async def test_only_strict_json_counts(body: bytes) -> None:
    assert "unusable JSON" in await refused(answering(body))


async def test_a_broken_answer_is_a_failed_fetch() -> None:
    async def nonsense(writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-x\r\n\r\n")

    async def half(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n" + JSON + b"Content-Length: 100\r\n\r\n{}")

    async def nothing(writer: asyncio.StreamWriter) -> None:
        writer.write(b"")

    for write in (nonsense, half, nothing):
        assert "ProtocolError" in await refused(write)


async def test_nobody_listening_is_a_failed_fetch() -> None:
    async with serving(answering(b"{}")) as (port, _):
        pass
    fetcher = Fetcher(allow_loopback=True)
    with pytest.raises(FetchFailed):
        await fetcher.json(f"http://127.0.0.1:{port}/")
    await fetcher.close()


async def test_proxies_of_the_environment_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(answering(b'{"proxy": 1}')) as (proxy, heads):
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy}")
        assert await get(answering(b'{"direct": 1}')) == {"direct": 1}
        assert heads == []


async def test_an_address_where_nobody_answers_leaves_room_for_the_next() -> None:
    async def names(host: str, port: int) -> Sequence[str]:
        return ["::1", "::1", "127.0.0.2", "127.0.0.1"]

    fetcher = Fetcher(allow_loopback=True, resolver=names)
    async with serving(answering(b'{"a": 1}')) as (port, _):
        assert await fetcher.json(f"http://idp.example:{port}/") == {"a": 1}
    await fetcher.close()


async def test_every_fetch_resolves_again() -> None:
    asked: list[str] = []

    async def names(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]

    fetcher = Fetcher(allow_loopback=True, resolver=names)
    async with serving(answering(b"{}")) as (port, _):
        assert await fetcher.json(f"http://idp.example:{port}/") == {}
        with pytest.raises(FetchFailed, match="out of bounds"):
            await fetcher.json(f"http://idp.example:{port}/")
    await fetcher.close()
    assert asked == ["idp.example", "idp.example"]


async def test_the_vetted_address_is_spoken_to_by_the_name_that_was_asked_for(tmp_path: Path) -> None:
    seen: list[str | None] = []

    def note(_: object, name: str | None, __: object) -> None:
        seen.append(name)

    server = certificate(tmp_path, "idp.example")
    server.sni_callback = note

    async def names(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    client = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    fetcher = Fetcher(allow_loopback=True, resolver=names, tls=client)
    async with serving(answering(b'{"a": 1}'), tls=server) as (port, heads):
        assert await fetcher.json(f"https://idp.example:{port}/") == {"a": 1}
        assert b"host: idp.example:%d\r\n" % port in heads[0].lower()
        with pytest.raises(FetchFailed, match="CERTIFICATE_VERIFY_FAILED"):
            await fetcher.json(f"https://other.example:{port}/")
    await fetcher.close()
    assert seen == ["idp.example", "other.example"]


async def test_a_certificate_only_the_environment_vouches_for_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    server = certificate(tmp_path, "idp.example")

    async def names(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    fetcher = Fetcher(allow_loopback=True, resolver=names)
    async with serving(answering(b"{}"), tls=server) as (port, _):
        with pytest.raises(FetchFailed, match="CERTIFICATE_VERIFY_FAILED"):
            await fetcher.json(f"https://idp.example:{port}/")
    await fetcher.close()
