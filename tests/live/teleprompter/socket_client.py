"""A caller of a running server, and a socket client that comes back as often as it is thrown out."""

import asyncio
import contextlib
import json
import random
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from negotiator.compose.application import build_application
from negotiator.config.settings import Settings
from negotiator.store.statement import Transaction
from negotiator.users import user_queries
from tests.conftest import bearer
from tests.helpers.live_server import Server
from tests.helpers.opened_store import opened_store
from tests.helpers.teleprompter_client import CONSENT, PATH, SCOPES

PATIENCE: Final = 60


@dataclass(slots=True)
class TeleprompterUser:
    """A bound agent of a server; `base` may lead to it by a detour."""

    base: str
    headers: dict[str, str]

    async def open(self, client: httpx2.AsyncClient, **members: Any) -> str:
        body = {"consent": CONSENT, "role": "buyer", **members}
        answer = await client.post(PATH, json=body, headers=self.headers)
        assert answer.status_code == 201, answer.text
        return f"{PATH}/{answer.json()['id']}"

    async def say(self, client: httpx2.AsyncClient, session: str, name: str, text: str, *, final: bool = True) -> None:
        body = {"utterance_id": name, "text": text, "final": final}
        answer = await client.post(f"{session}/utterances", json=body, headers=self.headers)
        assert answer.status_code == 200, answer.text

    def socket(self, session: str, after: int, *, base: str = "") -> Any:
        """A socket of the session, told what comes after this number."""
        address = (base or self.base).replace("http", "ws", 1)
        return connect(
            f"{address}{session}/stream?after={after}",
            additional_headers=self.headers,
            compression=None,
            open_timeout=PATIENCE,
        )


async def bound(server: Server, *more: str) -> TeleprompterUser:
    """An agent of a new user of this server, with the scopes of a call and `more`."""
    async with server.connect() as client:
        headers = await let_in(client, server.application_settings, *more)
        return TeleprompterUser(server.base, headers)


async def let_in(client: httpx2.AsyncClient, settings: Settings, *more: str) -> dict[str, str]:
    """The headers of a bound agent of a new user, with the scopes of a call and `more`."""
    mint = build_application(settings).delegations.mint

    def unit(tx: Transaction) -> str:
        user = user_queries.add(tx, f"u{random.getrandbits(48)}@example.com", actor="operator")
        return mint(tx, user, [*SCOPES, *more]).code

    async with opened_store(settings.database_url) as store:
        code = await store.write(unit)
    body = {"agent_name": "caller", "identity_type": "anonymous"}
    agent = (await client.post("/api/agent/register", json=body)).json()
    answer = await client.post("/api/agent/claim", json={"claim_token": code}, headers=bearer(agent))
    assert answer.status_code == 200, answer.text
    return bearer(answer.json())


@dataclass(slots=True)
class ReconnectingClient:
    """Follows a session and speaks in it, whatever happens to its connections.

    `told` are the numbers of all events that came; `unheard` what was not acknowledged, and so is said again.
    """

    caller: TeleprompterUser
    session: str
    base: str = ""
    told: list[int] = field(default_factory=list[int])
    unheard: dict[str, str] = field(default_factory=dict[str, str])
    comebacks: int = -1
    over: bool = False
    _open: ClientConnection | None = None

    async def run(self) -> None:
        while not self.over:
            self.comebacks += 1
            after = self.told[-1] if self.told else 0
            with contextlib.suppress(OSError, ConnectionClosed, InvalidHandshake, TimeoutError):
                async with self.caller.socket(self.session, after, base=self.base) as connection:
                    self._open = connection
                    for name, text in list(self.unheard.items()):
                        await self._send(name, text)
                    async for text in connection:
                        self._take(json.loads(text))
            self._open = None
            await asyncio.sleep(0.05)

    async def say(self, name: str, text: str) -> None:
        """Say it, now or when there is a connection again."""
        self.unheard[name] = text
        with contextlib.suppress(OSError, ConnectionClosed):
            await self._send(name, text)

    async def heard(self) -> None:
        async with asyncio.timeout(PATIENCE):
            while self.unheard:
                await asyncio.sleep(0.02)

    async def until(self, seq: int) -> None:
        async with asyncio.timeout(PATIENCE):
            while not self.told or self.told[-1] < seq:
                await asyncio.sleep(0.02)

    async def _send(self, name: str, text: str) -> None:
        if self._open is not None:
            said = {"type": "text", "utterance_id": name, "text": text}
            await self._open.send(json.dumps(said))

    def _take(self, message: dict[str, Any]) -> None:
        if message["type"] == "ack":
            self.unheard.pop(message["utterance_id"], None)
        elif "at" in message:
            self.told.append(message["seq"])
            self.over = message["type"] == "ended"
