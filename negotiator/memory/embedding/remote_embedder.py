"""Embeds by an operator's OpenAI-compatible endpoint: `POST {url}/embeddings`. Texts leave the server; health names the
host.
"""

import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import httpx2
import numpy as np
from opentelemetry.trace import SpanKind

from negotiator.base.errors import Unavailable
from negotiator.memory.embedding.embedder import Embedder
from negotiator.runtime.circuit_breaker import CircuitBreaker
from negotiator.runtime.tracing import outgoing_headers, span

if TYPE_CHECKING:
    from negotiator.memory.embedding.embedder import Vectors

TIMEOUT_SECONDS: Final = 10.0
FEW_SECONDS: Final = 3.0
"""Seconds for a few texts, for which somebody waits."""
_FEW: Final = 16
CALLS_AT_ONCE: Final = 32
_BATCH: Final = 64
_FAULTS: Final = (httpx2.HTTPError, OSError, ValueError, KeyError, TypeError)
_OF_THE_TEXT: Final = frozenset(
    {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY}
)
"""Statuses that say something against a text and nothing against the endpoint."""
_AWAY: Final = "The embedding endpoint cannot be used now."
_MOST_RECEIVED: Final = 8 * 1024 * 1024


class RemoteEmbedder(Embedder):
    """Vectors from an HTTP endpoint; `url` is for example `https://host/v1`."""

    english_only = False

    def __init__(self, url: str, *, key: str, model: str, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self.model = f"{urlsplit(url).hostname}/{model}"
        self._url = f"{url.rstrip('/')}/embeddings"
        self._model_name = model
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._breaker = CircuitBreaker(
            "the embedding endpoint does not answer",
            _AWAY,
            seconds=TIMEOUT_SECONDS,
            at_once=CALLS_AT_ONCE,
            faults=_FAULTS,
        )
        self._client = httpx2.AsyncClient(
            follow_redirects=False, trust_env=False, transport=transport, timeout=TIMEOUT_SECONDS, headers=headers
        )

    async def embed(self, texts: Sequence[str]) -> "Vectors":
        """One unit vector for each text; 503 when the endpoint fails or answers wrongly."""
        rows: list[Any] = []
        try:
            patience = FEW_SECONDS if len(texts) <= _FEW else None
            with span("embedding", SpanKind.CLIENT):
                async with self._breaker.call(patience):
                    for start in range(0, len(texts), _BATCH):
                        rows.extend(await self._ask(texts[start : start + _BATCH]))
                found = np.array(rows, np.float32).reshape(len(texts), -1)
        except (*_FAULTS, _TextRefused) as fault:
            raise _unavailable(str(fault)) from fault
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        if not np.isfinite(found).all() or not lengths.all():
            raise _unavailable("a vector has no direction")
        return found / lengths

    async def close(self) -> None:
        await self._client.aclose()

    async def _ask(self, texts: Sequence[str]) -> list[Any]:
        body = {"model": self._model_name, "input": list(texts), "encoding_format": "float"}
        received = b""
        async with self._client.stream("POST", self._url, json=body, headers=outgoing_headers()) as reply:
            async for chunk in reply.aiter_bytes():
                received += chunk
                if len(received) > _MOST_RECEIVED:
                    raise ValueError("the answer is too large")
            if reply.status_code in _OF_THE_TEXT:
                raise _TextRefused(f"status {reply.status_code}")
            if reply.status_code != HTTPStatus.OK:
                raise ValueError(f"status {reply.status_code}")
        listed: list[Any] = json.loads(received)["data"]
        vectors = [entry["embedding"] for entry in sorted(listed, key=lambda entry: entry["index"])]
        if len(vectors) != len(texts):
            raise ValueError("another number of vectors than of texts")
        return vectors


class _TextRefused(Exception):
    """The endpoint answers, and takes a text not."""


def _unavailable(detail: str) -> Unavailable:
    return Unavailable(_AWAY, detail=detail)
