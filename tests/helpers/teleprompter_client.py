"""Calls: sessions of a bound agent, with the means to speak in them and to follow."""

import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest_asyncio
from starlette.applications import Starlette

from tests.conftest import Mint, Register, bearer
from tests.helpers.asgi_websocket import AsgiWebSocket, connect

PATH = "/api/teleprompter/sessions"
SCOPES = [*("negotiations:read", "negotiations:write", "memories:read", "memories:write"), "teleprompter:stream"]
CONSENT = {"basis": "all_parties", "confirmed_by": "Ada Lovelace"}


@dataclass(slots=True)
class TeleprompterClient:
    """One user's agent; `open` opens a call and `say` speaks in it."""

    client: httpx2.AsyncClient
    headers: dict[str, str]
    application: Starlette

    def socket(self, session: str, **options: Any) -> AbstractAsyncContextManager[AsgiWebSocket]:
        """A socket of a session in the agent's name, unless `headers` are given."""
        asked: dict[str, Any] = {"headers": self.headers, **options}
        return connect(self.application, f"{session}/stream", **asked)

    async def ticket(self, session: str) -> str:
        answer = await self.send("POST", f"{session}/tickets")
        assert (answer.status_code, answer.json()["expires_in"]) == (201, 30)
        assert answer.headers["cache-control"] == "no-store"
        ticket: str = answer.json()["ticket"]
        return ticket

    async def send(self, method: str, path: str, body: Any = None) -> httpx2.Response:
        return await self.client.request(method, path, json=body, headers=self.headers)

    async def open(self, **members: Any) -> str:
        body = {"consent": CONSENT, "role": "buyer", **members}
        answer = await self.send("POST", PATH, body)
        assert answer.status_code == 201, answer.text
        return f"{PATH}/{answer.json()['id']}"

    async def say(self, session: str, text: str, name: str = "u1", **members: Any) -> Any:
        """What an utterance led to."""
        body = {"utterance_id": name, "text": text, **members}
        answer = await self.send("POST", f"{session}/utterances", body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def events(self, session: str, after: int = 0, **asked: Any) -> Any:
        query = "&".join(f"{name}={value}" for name, value in {"after": after, **asked}.items())
        answer = await self.send("GET", f"{session}/events?{query}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def stream(self, session: str, *, last_event_id: str = "") -> list[Any]:
        """Every numbered event of the stream, until it ends."""
        headers = {**self.headers, "accept": "text/event-stream", "last-event-id": last_event_id}
        answer = await self.client.get(f"{session}/events", headers=headers)
        assert answer.headers["content-type"] == "text/event-stream"
        blocks = [block.split("\n") for block in answer.text.split("\n\n") if "id: " in block]
        return [json.loads(lines[-1].removeprefix("data: ")) for lines in blocks]


NewTeleprompterClient = Callable[..., Awaitable[TeleprompterClient]]


@pytest_asyncio.fixture
async def new_caller(
    application: Starlette, client: httpx2.AsyncClient, register: Register, mint: Mint
) -> NewTeleprompterClient:
    """Makes agents bound to users of their own."""

    async def make(**members: Any) -> TeleprompterClient:
        agent = await register()
        _, code = await mint(**{"scopes": SCOPES, **members})
        claim = await client.post("/api/agent/claim", json={"claim_token": code}, headers=bearer(agent))
        assert claim.status_code == 200, claim.text
        return TeleprompterClient(client, bearer(claim.json()), application)

    return make


@pytest_asyncio.fixture
async def caller(new_caller: NewTeleprompterClient) -> TeleprompterClient:
    return await new_caller()
