"""What an address says about its tool: page, llms.txt, server card, OpenAPI; redirects are checked like addresses."""

import threading
from dataclasses import dataclass, field
from typing import Any, cast

import orjson
import pytest

from negotiator.directory.address_reader import PAGE_BYTES, AddressReader
from negotiator.trust.fetch import FetchedText, FetchFailed
from negotiator.trust.fetcher import Fetcher
from tests.helpers.linear_time import WHOLE, is_linear_async
from tests.helpers.loopback_server import answering, free_hosts, serving

pytestmark = pytest.mark.asyncio

HTML = b"Content-Type: text/html; charset=utf-8\r\n"
PAGE = b"""<html><head><title>Quiet Search | notes</title><meta name="description" content="Finds your notes.">
</head><body><title>Other</title></body></html>"""


def reader() -> AddressReader:
    return AddressReader(free_hosts(Fetcher(allow_loopback=True)))


async def test_a_page_states_its_name_and_what_it_does() -> None:
    async with serving(answering(PAGE, head=HTML)) as (port, _):
        draft, sources = await reader().read(f"http://127.0.0.1:{port}/", "usr_ada")
    assert draft["name"] == "Quiet Search"
    assert draft["summary"] == "Finds your notes."
    assert [bool(source.found) for source in sources] == [True, False, False, False]


async def test_a_server_card_states_its_endpoint() -> None:
    card = {
        "serverInfo": {"name": "quiet", "title": "Quiet Search", "version": "2.0"},
        "description": "Finds notes",
        "transport": {"type": "streamable-http", "endpoint": "https://quiet.example/mcp"},
    }
    async with serving(answering(orjson.dumps(card))) as (port, _):
        draft, sources = await reader().read(f"http://127.0.0.1:{port}/", "usr_ada")
    assert draft["name"] == "Quiet Search"
    assert draft["kind"] == "mcp_server"
    assert draft["interfaces"] == [{"type": "streamable-http", "url": "https://quiet.example/mcp"}]
    assert not sources[0].found


async def test_openapi_states_its_base_and_a_long_text_is_cut() -> None:
    body = {
        "openapi": "3.1.0",
        "info": {"title": "Quiet API", "description": "word " * 100},
        "servers": [{"url": "https://api.quiet.example/v1"}],
    }
    async with serving(answering(orjson.dumps(body))) as (port, _):
        draft, _ = await reader().read(f"http://127.0.0.1:{port}/", "usr_ada")
    assert draft["interfaces"] == [{"type": "rest", "url": "https://api.quiet.example/v1"}]
    assert len(draft["summary"]) <= 200
    assert draft["description"].startswith("word word")


async def test_a_redirect_to_a_private_address_is_not_followed() -> None:
    for target in (b"http://10.0.0.1/", b"https://169.254.169.254/", b"https://localhost/"):
        head = b"Location: " + target + b"\r\n"
        moved = answering(b"", head=head, status=b"302 Found")
        async with serving(moved) as (port, _):
            draft, sources = await reader().read(f"http://127.0.0.1:{port}/", "usr_ada")
        assert draft == {}, target
        assert not any(source.found for source in sources)


async def test_hidden_characters_and_markup_of_a_page_do_not_arrive() -> None:
    page = '<title>Qui\u200bet</title><meta name="description" content="a\u202eb">'.encode()
    async with serving(answering(page, head=HTML)) as (port, _):
        draft, _ = await reader().read(f"http://127.0.0.1:{port}/", "usr_ada")
    assert draft["name"] == "Quiet"
    assert draft["summary"] == "ab"


@dataclass
class OnePage:
    """A fetcher that finds one page and nothing else, and whether its text was read on the event loop."""

    page: str
    readers: list[threading.Thread] = field(default_factory=list[threading.Thread])

    async def text(self, url: str, *, limit: int, address: str) -> FetchedText:
        del limit, address
        if url.endswith(".txt"):
            raise FetchFailed("nothing there")
        return cast("Any", self)

    async def json(self, url: str, *, limit: int, address: str) -> dict[str, Any]:
        raise FetchFailed("nothing there")

    @property
    def is_html(self) -> bool:
        return True

    @property
    def body(self) -> str:
        self.readers.append(threading.current_thread())
        return self.page


async def read_page(page: str) -> tuple[dict[str, Any], OnePage]:
    """What a page of this text states."""
    fetcher = OnePage(page)
    draft, _ = await AddressReader(cast("Any", fetcher)).read("https://quiet.example/", "usr_ada")
    return draft, fetcher


async def test_a_page_is_read_beside_the_event_loop() -> None:
    _, fetcher = await read_page("<title>Quiet Search</title>")
    assert fetcher.readers
    assert threading.current_thread() not in fetcher.readers


@pytest.mark.parametrize("unit", ["<", "<a ", "<meta name=a content=b>"])
async def test_a_page_costs_time_in_proportion(unit: str) -> None:
    async def call(size: int) -> None:
        await read_page("<title>" + unit * (size * PAGE_BYTES // 2 // WHOLE // len(unit)))

    assert await is_linear_async(call)


async def test_a_page_that_goes_on_in_no_html_states_what_came_before() -> None:
    draft, _ = await read_page("<title>Quiet Search</title><![<![")
    assert draft["name"] == "Quiet Search"
