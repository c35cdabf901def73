"""The lesser embedder, the operator's endpoint, and which of all is chosen."""

import json
from collections.abc import Callable
from pathlib import Path

import httpx2
import numpy as np
import pytest

from negotiator.base.errors import Unavailable
from negotiator.memory.embedding import minilm_embedder
from negotiator.memory.embedding.embedder import HashingEmbedder
from negotiator.memory.embedding.minilm_embedder import MiniLmEmbedder, choose_embedder
from negotiator.memory.embedding.remote_embedder import RemoteEmbedder
from negotiator.runtime.circuit_breaker import FAILURES

Handler = Callable[[httpx2.Request], httpx2.Response]


@pytest.mark.asyncio
async def test_hashed_vectors_know_words_and_spellings() -> None:
    same, other, typo, empty = await HashingEmbedder().embed(["They pay late", "They PAY early", "They pay latte", "…"])
    assert same @ typo > same @ other > 0.3
    assert np.allclose(np.linalg.norm([same, other, typo, empty], axis=1), 1)
    assert (await HashingEmbedder().embed([])).shape == (0, 384)


def remote(handler: Handler) -> RemoteEmbedder:
    """The endpoint of a stand-in server."""
    return RemoteEmbedder(
        "https://models.example/v1/", key="sesame", model="embedder-3", transport=httpx2.MockTransport(handler)
    )


def _embeddings(request: httpx2.Request) -> httpx2.Response:
    body = json.loads(request.content)
    assert request.url == "https://models.example/v1/embeddings"
    assert request.headers["authorization"] == "Bearer sesame"
    assert body["model"] == "embedder-3"
    data = [{"index": place, "embedding": [float(len(text)), 3.0, 0.0]} for place, text in enumerate(body["input"])]
    return httpx2.Response(200, json={"data": data[::-1]})


@pytest.mark.asyncio
async def test_an_endpoint_s_vectors_come_in_order_and_at_length_one() -> None:
    embedder = remote(_embeddings)
    texts = ["x" * (place % 7 + 1) for place in range(100)]
    vectors = await embedder.embed(texts)
    await embedder.close()
    assert vectors.shape == (100, 3)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert np.allclose(vectors[3], np.array([4, 3, 0]) / 5)
    assert embedder.model == "models.example/embedder-3"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "answer",
    [
        httpx2.Response(500),
        httpx2.Response(302, headers={"location": "https://elsewhere.example"}),
        httpx2.Response(200, content=b"no json"),
        httpx2.Response(200, json={"data": []}),
        httpx2.Response(200, json={"data": [{"index": 0, "embedding": [0.0, 0.0]}]}),
        httpx2.Response(200, json={"data": [{"index": 0, "embedding": ["a", "b"]}]}),
        httpx2.Response(200, content=b'{"data": [{"index": 0, "embedding": [NaN, 1.0]}]}'),
        httpx2.Response(200, content=b" " * (9 * 1024 * 1024)),
    ],
)
async def test_an_endpoint_that_answers_otherwise_is_not_there_now(answer: httpx2.Response) -> None:
    embedder = remote(lambda _request: answer)
    with pytest.raises(Unavailable):
        await embedder.embed(["x"])
    await embedder.close()


@pytest.mark.asyncio
async def test_an_endpoint_that_cannot_be_reached_is_not_there_now() -> None:
    def away(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("no route", request=request)

    embedder = remote(away)
    with pytest.raises(Unavailable):
        await embedder.embed(["x"])
    await embedder.close()


@pytest.mark.asyncio
@pytest.mark.parametrize(("status", "calls"), [(500, FAILURES), (400, FAILURES + 2)])
async def test_an_endpoint_that_fails_is_left_alone_but_a_text_it_refuses_is_no_failure(
    status: int, calls: int
) -> None:
    asked: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        return httpx2.Response(status)

    embedder = remote(answer)
    for _ in range(FAILURES + 2):
        with pytest.raises(Unavailable):
            await embedder.embed(["x"])
    assert len(asked) == calls
    await embedder.close()


def test_the_endpoint_wins_then_the_wheel_then_what_is_always_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = choose_embedder("https://models.example/v1", key="", model="m", models=tmp_path)
    assert isinstance(named, RemoteEmbedder)
    assert isinstance(choose_embedder("", key="", model="", models=tmp_path), MiniLmEmbedder | HashingEmbedder)
    monkeypatch.setattr(minilm_embedder, "find_minilm_files", lambda: None)
    lesser = choose_embedder("", key="", model="", models=tmp_path)
    assert isinstance(lesser, HashingEmbedder)
    assert "not installed" in lesser.lesser
