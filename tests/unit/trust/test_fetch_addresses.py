"""Where a fetch may go, at the table and at the resolver."""

import re
import socket
from collections.abc import Sequence

import pytest

from negotiator.trust.fetch import FetchFailed, is_loopback, is_public
from negotiator.trust.fetcher import Fetcher

FORBIDDEN = re.findall(
    r"\S+",
    """
0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254
169.254.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.8 192.0.0.170 192.0.2.1 192.88.99.1
192.168.0.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1
255.255.255.255 :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:8.8.8.8 ::ffff:0:8.8.8.8
64:ff9b::127.0.0.1 64:ff9b::10.0.0.1 64:ff9b::169.254.169.254 64:ff9b:1::8.8.8.8 100::1
2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1::
2002:a00:1:: 2002:808:808:: 3fff::1 5f00::1 fc00::1 fd12:3456::1 fe80::1 fe80::1%lo fec0::1 ff02::1
2a00:1450::1%eth0
""",
)
ALLOWED = re.findall(
    r"\S+",
    """
8.8.8.8 1.1.1.1 100.63.255.255 100.128.0.1 172.15.255.255 172.32.0.1 192.169.0.1 198.17.255.255
198.20.0.1 223.255.255.255 9.255.255.255 11.0.0.0 2606:4700::1111 2a00:1450:4001::200e 2400:cb00::1
2001:200::1 2001:4860:4860::8888 64:ff9b::8.8.8.8
""",
)


@pytest.mark.parametrize("address", FORBIDDEN)
def test_a_special_address_is_out_of_bounds(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ALLOWED)
def test_a_public_address_is_within_bounds(address: str) -> None:
    assert is_public(address)
    assert not is_loopback(address)


@pytest.mark.parametrize("text", ["", "localhost", "0x7f.1", "127.1", "2130706433", "1.2.3.4/32", "01.2.3.4"])
def test_what_is_no_plain_address_is_nowhere(text: str) -> None:
    assert not is_public(text)
    assert not is_loopback(text)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1"])
def test_loopback_is_loopback_when_spelled_plainly(address: str) -> None:
    assert is_loopback(address)
    assert not is_loopback(f"::ffff:{address}")


class Names:
    """A resolver that tells what it is told to, and counts how often it is asked."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses
        self.asked: list[tuple[str, int]] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append((host, port))
        return self.addresses


async def failure(url: str, names: Names, *, allow_loopback: bool = False) -> str:
    fetcher = Fetcher(allow_loopback=allow_loopback, resolver=names, connect_seconds=0.05)
    try:
        with pytest.raises(FetchFailed) as failed:
            await fetcher.json(url)
        return failed.value.detail
    finally:
        await fetcher.close()


@pytest.mark.asyncio
@pytest.mark.parametrize("address", FORBIDDEN)
async def test_a_name_that_leads_inside_is_not_followed(address: str) -> None:
    names = Names(address)
    assert "out of bounds" in await failure("https://idp.example/jwks", names)
    assert names.asked == [("idp.example", 443)]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "addresses",
    [("8.8.8.8", "10.0.0.1"), ("127.0.0.1", "8.8.8.8"), (*(f"8.8.8.{number}" for number in range(50)), "10.0.0.1")],
)
async def test_one_forbidden_address_among_good_ones_ends_it(addresses: tuple[str, ...]) -> None:
    assert "out of bounds" in await failure("https://idp.example/jwks", Names(*addresses))


@pytest.mark.asyncio
@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "10.1.2.3", "169.254.169.254"])
async def test_an_address_in_the_url_is_looked_at_like_any_other(host: str) -> None:
    names = Names(host.strip("[]"))
    assert "out of bounds" in await failure(f"https://{host}/", names)


@pytest.mark.asyncio
async def test_loopback_is_reached_only_where_it_is_allowed_and_nothing_else_inside_is() -> None:
    names = Names("127.0.0.1")
    assert "out of bounds" in await failure("https://idp.example/", names)
    assert "out of bounds" not in await failure("https://idp.example:1/", names, allow_loopback=True)
    for inside in ("10.0.0.1", "169.254.169.254", "0.1.2.3", "::ffff:127.0.0.1"):
        assert "out of bounds" in await failure("https://idp.example/", Names(inside), allow_loopback=True)


@pytest.mark.asyncio
@pytest.mark.parametrize("url", ["https://idp.example:8443/", "http://idp.example/", "http://idp.example:80/"])
async def test_outside_loopback_there_is_https_on_its_own_port_only(url: str) -> None:
    assert await failure(url, Names("8.8.8.8"), allow_loopback=True)
    assert "out of bounds" in await failure(url, Names("8.8.8.8"), allow_loopback=True)


@pytest.mark.asyncio
async def test_plain_http_is_not_smuggled_over_the_good_port() -> None:
    names = Names("8.8.8.8")
    assert "not https" in await failure("http://idp.example:443/", names, allow_loopback=True)
    assert names.asked == []


@pytest.mark.asyncio
@pytest.mark.parametrize("fault", [socket.gaierror(-2, "unknown"), UnicodeError("no label")])
async def test_a_name_nobody_knows_leads_nowhere(fault: Exception) -> None:
    async def names(host: str, port: int) -> Sequence[str]:
        raise fault

    fetcher = Fetcher(allow_loopback=False, resolver=names)
    with pytest.raises(FetchFailed, match="does not resolve"):
        await fetcher.json("https://idp.example/")
    await fetcher.close()


@pytest.mark.asyncio
async def test_a_name_without_addresses_leads_nowhere() -> None:
    assert "no address" in await failure("https://idp.example/", Names())


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "url",
    [
        "http://idp.example/jwks",
        "file:///etc/passwd",
        "ftp://idp.example/",
        "data:application/json,{}",
        "gopher://idp.example/",
        "//idp.example/",
        "idp.example",
        "",
        "https://",
        "https:///jwks",
        "https://user:pw@idp.example/",
        "https://idp.example/#x",
        "https://idp.example\\@evil.example/",
        "https://idp.example/a b",
        "https://idp.example/\r\nHost: evil",
        "https://idp.example:99999/",
        "https://idp.example:port/",
        "https://idp.\u212aom/",
        "https://[::1/",
        "https://" + "a" * 3000,
    ],
)
async def test_what_is_no_plain_https_url_is_not_even_resolved(url: str) -> None:
    names = Names("8.8.8.8")
    assert await failure(url, names)
    assert names.asked == []
