"""Pages are compressed for whoever accepts gzip; answers of operations are not; the length says nothing exact."""

import gzip

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.http.middleware import PageCompression, compress

TEXT = "A line of a page. " * 200


async def page(request: Request) -> Response:
    """The text in the media type that the query names."""
    kind = request.query_params["type"]
    return Response(TEXT[: int(request.query_params.get("most", 9999))], headers={"content-type": kind, "etag": '"1"'})


@pytest.fixture
def client() -> httpx2.AsyncClient:
    app = PageCompression(Starlette(routes=[Route("/", page)]))
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://test")


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", ["text/html; charset=utf-8", "text/css", "text/javascript"])
async def test_text_of_pages_is_compressed(client: httpx2.AsyncClient, kind: str) -> None:
    answer = await client.get("/", params={"type": kind})
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["vary"] == "Accept-Encoding"
    assert answer.headers["etag"] == 'W/"1"'
    assert int(answer.headers["content-length"]) < len(TEXT) / 2
    assert answer.text == TEXT
    plain = await client.get("/", params={"type": kind}, headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.text == TEXT


@pytest.mark.asyncio
@pytest.mark.parametrize("query", [{"type": "application/json"}, {"type": "text/html", "most": "700"}])
async def test_other_answers_and_small_ones_stay(client: httpx2.AsyncClient, query: dict[str, str]) -> None:
    answer = await client.get("/", params=query)
    assert "content-encoding" not in answer.headers
    assert answer.headers["etag"] == '"1"'


def test_the_length_of_one_text_varies() -> None:
    packed = [compress(TEXT.encode()) for _ in range(50)]
    assert len({len(one) for one in packed}) > 10
    assert {gzip.decompress(one) for one in packed} == {TEXT.encode()}
