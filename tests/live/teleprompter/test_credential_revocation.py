"""A revoked credential over two workers: nothing is written and nothing is told after the answer to its revocation."""

import asyncio
import contextlib
import json
import logging
import sqlite3
import time
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from negotiator.base.scopes import ASSISTANT
from negotiator.base.strict_json import read_jws
from negotiator.tokens import clients
from negotiator.tokens.clients import NewClient
from tests.helpers.live_server import ROUNDS, Server
from tests.live.teleprompter.socket_client import TeleprompterUser, bound

LIST: Final = "/api/negotiations"
ISSUE: Final = {"title": "Laptops", "role": "buyer", "issues": [{"name": "price", "type": "money"}]}
WAYS: Final = ("http", "http elsewhere", "mcp", "ticket")
_ROWS: Final = (
    "select (select count(*) from teleprompter_events where session = ?1)"
    " + (select count(*) from teleprompter_tickets where session = ?1)"
    " + (select count(*) from negotiations where owner = ?2)"
)
_PROMPTLY: Final = 5.0
log = logging.getLogger(__name__)


@dataclass(slots=True)
class Round:
    """One credential, its session, and what was accepted in its name; `answered` is when the revocation was."""

    server: Server
    caller: TeleprompterUser
    owner: str
    session: str
    answered: float = float("inf")
    accepted: dict[str, int] = field(default_factory=dict[str, int])
    late: list[str] = field(default_factory=list[str])
    told: list[int] = field(default_factory=list[int])
    tickets: list[str] = field(default_factory=list[str])

    def rows(self) -> int:
        """Every row that the writers make."""
        path = f"file:{self.server.database}?mode=ro"
        with contextlib.closing(sqlite3.connect(path, uri=True)) as database:
            session = self.session.rpartition("/")[2]
            return int(database.execute(_ROWS, (session, self.owner)).fetchone()[0])

    def note(self, way: str, sent: float, *, accepted: bool) -> None:
        """Count a write; one that was sent after the answer and taken is too late."""
        if accepted:
            self.accepted[way] = self.accepted.get(way, 0) + 1
            if sent > self.answered:
                self.late.append(way)

    async def write(self, client: httpx2.AsyncClient, way: str) -> None:
        """Write again and again in one way, well past the revocation."""
        number, session = 0, self.session.rpartition("/")[2]
        while time.monotonic() < self.answered + 0.15:
            number += 1
            said = {"id": session, "utterance_id": f"m{number}", "text": "And 90 with a deposit."}
            called = {"name": "hear_utterance", "arguments": said}
            path, body = {
                "http": (f"{self.session}/utterances", {"utterance_id": f"h{number}", "text": "We could do 95."}),
                "http elsewhere": (LIST, ISSUE),
                "mcp": ("/mcp", {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": called}),
                "ticket": (f"{self.session}/tickets", None),
            }[way]
            accept = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
            headers = self.caller.headers | (accept if way == "mcp" else {})
            sent = time.monotonic()
            answer = await client.post(path, json=body, headers=headers)
            accepted = answer.is_success and (way != "mcp" or answer.json()["result"].get("isError") is False)
            self.note(way, sent, accepted=accepted)
            if way == "ticket":
                self.tickets += [answer.json()["ticket"]] if accepted else []
                await asyncio.sleep(0.02)

    async def speak(self, connection: ClientConnection) -> None:
        sent: dict[str, float] = {}

        async def hear() -> None:
            async for text in connection:
                message = json.loads(text)
                if message["type"] == "ack":
                    self.note("socket", sent[message["utterance_id"]], accepted=True)
                self.told += [message["seq"]] if "at" in message else []

        hearing = asyncio.create_task(hear())
        number = 0
        with contextlib.suppress(ConnectionClosed):
            while time.monotonic() < self.answered + 0.15:
                number += 1
                sent[f"s{number}"] = time.monotonic()
                said = {"type": "text", "utterance_id": f"s{number}", "text": "Let us say 93."}
                await connection.send(json.dumps(said))
                await asyncio.sleep(0.01)
        await connection.close()
        with contextlib.suppress(ConnectionClosed):
            await hearing

    async def follow(self, client: httpx2.AsyncClient) -> str:
        """By server-sent events; the text of the stream, which has to end by itself."""
        headers = {**self.caller.headers, "accept": "text/event-stream"}
        answer = await client.get(f"{self.session}/events", headers=headers)
        return answer.text

    async def poll(self, client: httpx2.AsyncClient) -> int:
        """By a long poll that has nothing to tell; its status."""
        path = f"{self.session}/events?after=100000&wait=25"
        return (await client.get(path, headers=self.caller.headers)).status_code

    async def enter_by(self, ticket: str) -> int:
        """The status of an upgrade with this ticket."""
        address = self.server.base.replace("http", "ws", 1)
        offered: Any = ["negotiator.teleprompter.v1", f"ticket.{ticket}"]
        try:
            async with connect(f"{address}{self.session}/stream", subprotocols=offered):
                return 101
        except InvalidStatus as refused:
            return refused.response.status_code


async def _played(server: Server, client: httpx2.AsyncClient, key: tuple[str, str], number: int) -> Round:
    """One round: everything writes and listens while the token is revoked."""
    form = {"grant_type": "client_credentials", "scope": " ".join(_SCOPES)}
    token = (await client.post("/oauth/token", data=form, auth=key)).json()["access_token"]
    caller = TeleprompterUser(server.base, {"Authorization": f"Bearer {token}"})
    one = Round(server, caller, key[0], await caller.open(client))
    assert (await client.post(f"{one.session}/tickets", headers=caller.headers)).is_success
    async with caller.socket(one.session, 0) as connection:
        ways = [one.speak(connection), *(one.write(client, way) for way in WAYS)]
        writing = [asyncio.create_task(way) for way in ways]
        following = asyncio.create_task(one.follow(client))
        polling = asyncio.create_task(one.poll(client))
        async with asyncio.timeout(30):
            while len(one.accepted) < len(ways):
                await asyncio.sleep(0.01)
        await asyncio.sleep(number * 37 % 100 / 1000)
        revoked = await client.post("/oauth/revoke", data={"token": token}, auth=key)
        one.answered, before = time.monotonic(), one.rows()
        assert revoked.status_code == 200
        stream = await asyncio.wait_for(following, _PROMPTLY)
        assert await asyncio.wait_for(polling, _PROMPTLY) == 401
        await asyncio.gather(*writing)
    assert one.late == []
    assert one.rows() == before, "a row was written after the answer"
    assert '"code":"token_expired"' in stream.rstrip().rpartition("\n")[2]
    assert one.tickets
    assert await one.enter_by(one.tickets[-1]) == 401
    return one


_SCOPES: Final = tuple(ASSISTANT)


@pytest.mark.asyncio
async def test_nothing_is_accepted_after_the_answer_to_a_revocation(two_workers: Server) -> None:
    """Over HTTP, MCP, server-sent events, a long poll, a socket and tickets, on whatever worker."""
    new = NewClient("rounds", clients.GRANTS, _SCOPES)
    key = await two_workers.change(lambda tx: clients.add(tx, new))
    accepted: dict[str, int] = {}
    async with two_workers.connect() as client:
        for number in range(ROUNDS):
            one = await _played(two_workers, client, key, number)
            for way, count in one.accepted.items():
                accepted[way] = accepted.get(way, 0) + count
            await _end_all(client, key)
    log.info("accepted before the answers: %s; after them: 0", accepted)
    assert len(accepted) == 5


async def _end_all(client: httpx2.AsyncClient, key: tuple[str, str]) -> None:
    """An owner may have ten sessions open."""
    form = {"grant_type": "client_credentials", "scope": "teleprompter:stream"}
    token = (await client.post("/oauth/token", data=form, auth=key)).json()["access_token"]
    headers = {"Authorization": f"Bearer {token}"}
    page = await client.get("/api/teleprompter/sessions", headers=headers)
    for item in page.json()["items"]:
        await client.post(f"/api/teleprompter/sessions/{item['id']}/end", headers=headers)


@pytest.mark.asyncio
async def test_an_operator_s_command_closes_what_is_open_on_every_worker(two_workers: Server) -> None:
    """`users disable` runs in a process of its own, and reaches the streams over the bus."""
    caller = await bound(two_workers)
    async with two_workers.connect() as client:
        one = await caller.open(client)
        sockets = [await caller.socket(one, 0) for _ in range(4)]
        headers = {**caller.headers, "accept": "text/event-stream"}
        streams = [asyncio.create_task(client.get(f"{one}/events", headers=headers)) for _ in range(4)]
        for opened in sockets:
            assert json.loads(await opened.recv())["type"] == "ready"
        email = _email_of(two_workers, caller)
        await asyncio.to_thread(two_workers.run, "users", "disable", email)
        began = time.monotonic()
        for opened in sockets:
            await asyncio.wait_for(opened.wait_closed(), _PROMPTLY)
            assert opened.close_code == 4401
        for answer in await asyncio.wait_for(asyncio.gather(*streams), _PROMPTLY):
            assert "token_expired" in answer.text
        assert time.monotonic() - began < _PROMPTLY


def _email_of(server: Server, caller: TeleprompterUser) -> str:
    """The address of the user behind the caller's token."""
    token = caller.headers["Authorization"].removeprefix("Bearer ")
    with contextlib.closing(sqlite3.connect(server.database)) as database:
        claims = read_jws(token).unverified_claims
        found = database.execute("select email from users where id = ?", (claims["sub"],))
        return str(found.fetchone()[0])
