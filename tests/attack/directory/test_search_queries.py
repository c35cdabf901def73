"""Queries that mean harm: injections, floods of words, characters that are none, forged cursors."""

import asyncio
import base64
import time
import urllib.parse
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from negotiator.directory import exchange_import
from tests.conftest import Change
from tests.helpers.answer_checks import refused

pytestmark = pytest.mark.asyncio
HOSTILE = (
    "'; DROP TABLE tools; --", '" OR 1=1 --', "name:* NEAR(a b)", "a* AND NOT b", "(((((", ")" * 200,
    "%' OR '%'='", "\\", "{}[]^$.|?*+()", "a" * 256, "a " * 128, "(a+)+$" * 30, "\u202etxet", "\u200b" * 250,
    "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16") * 60, "İ" * 200, "ﷺ" * 14, "\u0301" * 250,
    "-" * 256, "0" * 256, "../../etc/passwd", "${jndi:ldap://x}", "<script>alert(1)</script>", "\r\nSet-Cookie: a=b",
    "NOT", "AND", "*", "\t", "…", "日本語の検索ツール", "ß" * 256,
)  # fmt: skip


@pytest_asyncio.fixture(autouse=True)
async def bundled_catalogue(change: Change) -> None:
    """The catalogue as it is after the first start."""
    await change(exchange_import.import_bundled_content)


async def test_no_query_is_more_than_words(client: httpx2.AsyncClient) -> None:
    before = (await client.get("/api/v1/tools?limit=1")).json()["total"]
    for query in HOSTILE:
        began = time.process_time()
        answer = await client.get("/api/v1/tools", params={"query": query, "facets": "tag"})
        assert answer.status_code == 200, (query, answer.text)
        assert time.process_time() - began < 0.5, query
        body = answer.json()
        assert "\u202e" not in str(body["query"])
        assert "set-cookie" not in answer.headers
    assert (await client.get("/api/v1/tools?limit=1")).json()["total"] == before


async def test_what_is_no_text_is_refused(client: httpx2.AsyncClient) -> None:
    for raw in ("%00", "a%00b", "%ff%fe", "%c0%af", "%ed%a0%80", "x" * 257, "%F0%9F%98%80" * 257):
        answer = await client.get(f"/api/v1/tools?query={raw}")
        assert answer.status_code in {400, 422}, raw


async def test_the_same_thing_many_times_is_refused_or_counted_once(client: httpx2.AsyncClient) -> None:
    kinds = "&".join(["kind=app"] * 21)
    refused(await client.get(f"/api/v1/tools?{kinds}"), 422, "validation_failed")
    flood = "&".join(f"tag=t{n}" for n in range(101))
    refused(await client.get(f"/api/v1/tools?{flood}"), 400, "invalid_request")
    facets = "&".join(["facets=tag"] * 13)
    refused(await client.get(f"/api/v1/tools?{facets}"), 422, "validation_failed")
    twice = (await client.get("/api/v1/tools?facets=tag&facets=tag")).json()
    assert list(twice["facets"]) == ["tag"]
    assert len(twice["facets"]["tag"]) <= 20


async def test_a_forged_cursor_opens_nothing(client: httpx2.AsyncClient) -> None:
    first = (await client.get("/api/v1/tools?query=data&limit=1")).json()["next_cursor"]
    octets = base64.urlsafe_b64decode(first + "=" * (-len(first) % 4))
    forged = [
        base64.urlsafe_b64encode(octets[:16] + b'[9999999,"tool_z",null]').rstrip(b"=").decode(),
        base64.urlsafe_b64encode(octets[:-1]).rstrip(b"=").decode(),
        *("A" * 40, "=", "null", "[]", first + "A", first.swapcase()),
    ]
    for cursor in forged:
        params = {"query": "data", "limit": 1, "cursor": cursor}
        refused(await client.get("/api/v1/tools", params=params), 400, "invalid_cursor")
    feed = (await client.get("/api/v1/changes?limit=1")).json()["next_cursor"]
    for path, cursor in (("/api/v1/tools", feed), ("/api/v1/changes", first), ("/v0.1/servers", feed)):
        refused(await client.get(path, params={"cursor": cursor}), 400, "invalid_cursor")


async def test_a_path_is_a_name_and_no_more(client: httpx2.AsyncClient) -> None:
    for name in ("..", "%2e%2e", "a'--", "%00", "%F0%9F%98%80", "tool_" + "z" * 26, "x" * 100):
        answer = await client.get(f"/api/v1/tools/{name}")
        assert answer.status_code in {400, 404}, name
    for name in ("a%2Fb%2Fc", "%2F", "a%00%2Fb", "'%2F--"):
        answer = await client.get(f"/v0.1/servers/{name}/versions")
        assert answer.status_code in {400, 404}, name


async def test_numbers_have_bounds(client: httpx2.AsyncClient) -> None:
    for since in ("-1", "99999999999999999999", "1e9", "nan", "0x10"):
        answer = await client.get(f"/api/v1/changes?since={since}")
        assert answer.status_code == 422, since
    assert (await client.get(f"/api/v1/changes?since={2**62}")).json()["items"] == []
    for moment in ("9999-12-31T23:59:59Z", "0001-01-01"):
        answer = await client.get("/api/v1/tools", params={"updated_since": moment})
        assert answer.status_code in {200, 422}, moment


async def test_a_flood_of_different_queries_leaves_little_behind(client: httpx2.AsyncClient) -> None:
    async def ask(number: int) -> Any:
        text = urllib.parse.quote(f"word{number} data")
        return (await client.get(f"/api/v1/tools?query={text}&limit=1")).status_code

    assert set(await asyncio.gather(*(ask(number) for number in range(400)))) == {200}
