"""An agent that remembers, and short ways to have it do so."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

import httpx2
import pytest
import pytest_asyncio

from negotiator.compose import assistant as wiring
from negotiator.memory.embedding.embedder import HashingEmbedder
from tests.conftest import Mint, Register, bearer

SCOPES: Final = ("memories:read", "memories:write")


@dataclass
class MemoryClient:
    """One owner's memories, written by one of their agents."""

    client: httpx2.AsyncClient
    owner: str
    agent: str
    headers: dict[str, str]

    async def call(self, method: str, path: str, body: Any = None, /, **headers: str) -> httpx2.Response:
        """Any request below /api/memories."""
        sent = {**self.headers, **{name.replace("_", "-"): text for name, text in headers.items()}}
        extra: dict[str, Any] = {} if body is None else {"json": body}
        return await self.client.request(method, f"/api/memories{path}", headers=sent, **extra)

    async def said(self, text: str, **members: Any) -> dict[str, Any]:
        """Remember a text; it must be taken, new or known."""
        answer = await self.call("POST", "", {"text": text, **members})
        assert answer.status_code in {200, 201}, answer.text
        view: dict[str, Any] = answer.json()
        return view

    async def found(self, query: str, **members: Any) -> list[str]:
        """The texts that a search answers, in its order."""
        return [hit["memory"]["text"] for hit in await self.hits(query, **members)]

    async def hits(self, query: str, **members: Any) -> list[dict[str, Any]]:
        """What a search answers."""
        answer = await self.call("POST", "/search", {"query": query, **members})
        assert answer.status_code == 200, answer.text
        items: list[dict[str, Any]] = answer.json()["items"]
        return items

    async def listed(self, query: str = "") -> list[dict[str, Any]]:
        """One page of memories."""
        answer = await self.call("GET", query and f"?{query}")
        assert answer.status_code == 200, answer.text
        items: list[dict[str, Any]] = answer.json()["items"]
        return items

    async def erased(self) -> httpx2.Response:
        """Erase everything."""
        wrong = await self.call("DELETE", "?confirm=100000")
        return await self.call("DELETE", f"?confirm={wrong.json()['count']}")


NewMemoryClient = Callable[..., Awaitable[MemoryClient]]


@pytest.fixture
def hashing_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedder that needs no model: a test of something else need not load one."""

    def choose(_url: str, **_rest: Any) -> HashingEmbedder:
        return HashingEmbedder("tests are in a hurry")

    monkeypatch.setattr(wiring, "choose_embedder", choose)


@pytest.fixture(autouse=True)
def use_hashing_embedder(hashing_embedder: None) -> None:
    """Every test where this is imported."""
    del hashing_embedder


@pytest_asyncio.fixture
async def new_memory_client(client: httpx2.AsyncClient, register: Register, mint: Mint) -> NewMemoryClient:
    """Makes claimed agents of the user of this address."""

    async def make(email: str = "ada@example.com", scopes: Any = SCOPES) -> MemoryClient:
        registered = await register()
        user, code = await mint(email, scopes=list(scopes))
        claim = {"claim_token": code}
        claimed = await client.post("/api/agent/claim", json=claim, headers=bearer(registered))
        assert claimed.status_code == 200, claimed.text
        return MemoryClient(client, user, registered["client_id"], bearer(claimed.json()))

    return make


@pytest_asyncio.fixture
async def memory_client(new_memory_client: NewMemoryClient) -> MemoryClient:
    """One owner's."""
    return await new_memory_client()
