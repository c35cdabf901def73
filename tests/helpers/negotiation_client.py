"""A client that opens negotiations about laptops, records offers and changes states."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import httpx2
import pytest_asyncio

from tests.conftest import Register, bearer

PRICE: dict[str, Any] = {"name": "price", "type": "money", "range": {"min": "800", "max": "1200.00"}}


TERM: dict[str, Any] = {
    "name": "term",
    "type": "enum",
    "options": [
        {"value": "1 year", "utility": 1},
        {"value": "2 years", "utility": 0.5},
        {"value": "3 years", "utility": 0},
    ],
}


def negotiation_body(**members: Any) -> dict[str, Any]:
    """A buyer's talk about one price, walk-away 1100."""
    plain: dict[str, Any] = {
        "title": "Laptops",
        "role": "buyer",
        "currency": "EUR",
        "issues": [PRICE],
        "walk_away": {"package": {"price": "1100"}},
    }
    sent = {**plain, **members}
    return {name: value for name, value in sent.items() if value is not None}


def pointers(answer: httpx2.Response) -> set[str]:
    """Where a 422 says the faults are."""
    assert answer.status_code == 422, answer.text
    body = answer.json()
    assert body["error"] == "validation_failed"
    return {error["pointer"] for error in body["errors"]}


@dataclass
class NegotiationClient:
    """One agent at work."""

    client: httpx2.AsyncClient
    headers: dict[str, str]

    async def post(self, path: str, body: Any, **headers: str) -> httpx2.Response:
        """POST below /api."""
        return await self._asked("POST", path, headers, body)

    async def get(self, path: str, **headers: str) -> httpx2.Response:
        """GET below /api."""
        return await self._asked("GET", path, headers)

    async def patch(self, key: str, body: Any, **headers: str) -> httpx2.Response:
        """PATCH a negotiation."""
        return await self._asked("PATCH", f"/negotiations/{key}", headers, body)

    async def delete(self, key: str, **headers: str) -> httpx2.Response:
        """DELETE a negotiation."""
        return await self._asked("DELETE", f"/negotiations/{key}", headers)

    async def _asked(self, method: str, path: str, headers: dict[str, str], body: Any = None) -> httpx2.Response:
        """The answer; a busy server is asked once more, after the seconds that it names."""
        sent = {**self.headers, **headers}
        answer = await self.client.request(method, f"/api{path}", json=body, headers=sent)
        if answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE and "retry-after" in answer.headers:
            await asyncio.sleep(int(answer.headers["retry-after"]))
            answer = await self.client.request(method, f"/api{path}", json=body, headers=sent)
        return answer

    async def opened(self, **members: Any) -> dict[str, Any]:
        """A new negotiation."""
        answer = await self.post("/negotiations", negotiation_body(**members))
        assert answer.status_code == 201, answer.text
        view: dict[str, Any] = answer.json()
        return view

    async def offer(self, key: str, price: Any, by: str = "me", **members: Any) -> httpx2.Response:
        """Record an offer of a price."""
        body = {"by": by, "package": {"price": price}, **members}
        return await self.post(f"/negotiations/{key}/offers", body)

    async def offered(self, key: str, price: Any, by: str = "me", **members: Any) -> dict[str, Any]:
        """The same, when it must succeed."""
        answer = await self.offer(key, price, by, **members)
        assert answer.status_code == 201, answer.text
        view: dict[str, Any] = answer.json()
        return view

    async def move(self, key: str, to: str, **members: Any) -> httpx2.Response:
        """Ask for a state."""
        return await self.post(f"/negotiations/{key}/state", {"to": to, **members})

    async def state(self, key: str) -> str:
        """The state now."""
        state: str = (await self.get(f"/negotiations/{key}")).json()["state"]
        return state


NewNegotiationClient = Callable[[], Awaitable[NegotiationClient]]


@pytest_asyncio.fixture
async def new_negotiation_client(client: httpx2.AsyncClient, register: Register) -> NewNegotiationClient:
    """Makes agents that know nothing of each other."""

    async def make() -> NegotiationClient:
        return NegotiationClient(client, bearer(await register()))

    return make


@pytest_asyncio.fixture
async def negotiation_client(new_negotiation_client: NewNegotiationClient) -> NegotiationClient:
    """One anonymous agent."""
    return await new_negotiation_client()


TACTIC: dict[str, Any] = {
    "name": "Coffee first",
    "family": "relationship",
    "summary": "Talk about anything else for a while.",
    "effect": {"on": "relationship", "size": "small", "evidence": "practice"},
    "use_when": [{"text": "You hardly know them", "fact": "relationship", "in": ["new"]}, "Mornings"],
    "lines": [{"role": "party", "text": "Shall we have a coffee before we start on {topic}?"}],
    "countered_by": ["tac_agenda_first"],
}
