"""What was acknowledged is still so after SIGKILL, and what was begun is finished after SIGTERM."""

import asyncio
import secrets
import socket
import sqlite3
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest

from negotiator.base.scopes import ASSISTANT
from negotiator.compose.application import build_application
from negotiator.store.statement import Transaction
from negotiator.users import user_queries
from tests.conftest import bearer
from tests.contract.requirements import covers
from tests.helpers.live_server import ROUNDS, Server

REGISTER, CLAIM, LIST = "/api/agent/register", "/api/agent/claim", "/api/negotiations"
ANONYMOUS = {"agent_name": "walker", "identity_type": "anonymous"}


@dataclass
class Ledger:
    """What the server acknowledged; an agent whose last request got no answer is in none of the lists."""

    registered: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    claimed: list[tuple[dict[str, Any], str]] = field(default_factory=list[tuple[dict[str, Any], str]])
    dead: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    enough: asyncio.Event = field(default_factory=asyncio.Event)
    countdown: int = 0

    def acknowledge(self) -> None:
        """One more answer came; at the last of the countdown it is enough."""
        self.countdown -= 1
        if self.countdown <= 0:
            self.enough.set()


@pytest.fixture(scope="module")
def resurrected(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """One folder and port for servers that come and go."""
    made = Server(tmp_path_factory.mktemp("mortal"), workers=2)
    made.settings["register_limit_anonymous"] = "1000000"
    yield made
    made.stop()


@pytest.fixture
def server_to_kill(resurrected: Server) -> Server:
    """A running server with two workers, to be killed."""
    if resurrected.process is None or resurrected.process.poll() is not None:
        resurrected.start()
    return resurrected


async def _codes(server: Server, count: int) -> list[str]:
    delegations = build_application(server.application_settings).delegations

    def unit(tx: Transaction) -> list[str]:
        found = user_queries.by_email(tx, "ada@example.com")
        user = found.id if found else user_queries.add(tx, "ada@example.com", actor="operator")
        return [delegations.mint(tx, user, list(ASSISTANT), ttl=3600).code for _ in range(count)]

    codes: list[str] = await server.change(unit)
    return codes


async def _live(client: httpx2.AsyncClient, codes: list[str], ledger: Ledger) -> None:
    """Register, claim, revoke, in turn, until the server is gone."""
    while True:
        answer = await client.post(REGISTER, json=ANONYMOUS)
        assert answer.status_code == 201, answer.text
        agent = answer.json()
        fate = secrets.randbelow(3)
        if fate == 1 and codes:
            code = codes.pop()
            told = await client.post(CLAIM, json={"claim_token": code}, headers=bearer(agent))
            assert told.status_code == 200, told.text
            ledger.claimed.append((told.json(), code))
            ledger.dead.append(agent)
        elif fate == 2:
            form = {"token": agent["access_token"]}
            assert (await client.post("/oauth/revoke", data=form)).status_code == 200
            ledger.dead.append(agent)
        else:
            ledger.registered.append(agent)
        ledger.acknowledge()


async def _until_gone(server: Server, codes: list[str], ledger: Ledger) -> None:
    async def one() -> None:
        try:
            async with server.connect(keep=1) as client:
                await _live(client, codes, ledger)
        except httpx2.TransportError:
            return

    ledger.countdown = 1 + secrets.randbelow(250)
    ledger.enough.clear()

    async def kill() -> None:
        await ledger.enough.wait()
        await asyncio.to_thread(server.kill)

    await asyncio.gather(*(one() for _ in range(8)), kill())


async def _check(server: Server, ledger: Ledger) -> None:
    async with server.connect(keep=16) as client:

        async def status(agent: dict[str, Any]) -> int:
            while (found := await client.get(LIST, headers=bearer(agent))).status_code == 503:
                await asyncio.sleep(int(found.headers["retry-after"]))
            return found.status_code

        living = [*ledger.registered, *(agent for agent, _ in ledger.claimed)]
        assert set(await asyncio.gather(*map(status, living[-400:]))) <= {200}
        assert set(await asyncio.gather(*map(status, ledger.dead[-400:]))) <= {401}
        for agent, code in ledger.claimed[-20:]:
            again = await client.post(CLAIM, json={"claim_token": code}, headers=bearer(agent))
            assert again.json()["error"] == "already_claimed"
            other = (await client.post(REGISTER, json=ANONYMOUS)).json()
            used = await client.post(CLAIM, json={"claim_token": code}, headers=bearer(other))
            assert used.json()["error"] == "claim_used"
    with sqlite3.connect(server.database) as connection:
        assert connection.execute("pragma integrity_check").fetchall() == [("ok",)]


@pytest.mark.asyncio
async def test_what_was_acknowledged_survives_being_killed(server_to_kill: Server) -> None:
    ledger = Ledger()
    for _ in range(ROUNDS if ROUNDS > 5 else 2):  # each costs a start of the whole service
        await _until_gone(server_to_kill, await _codes(server_to_kill, 300), ledger)
        await asyncio.to_thread(server_to_kill.start)
        await _check(server_to_kill, ledger)
    assert ledger.registered
    assert ledger.claimed
    assert ledger.dead


@covers("5.3:serve")
def test_an_open_request_is_finished_before_the_end(server_to_kill: Server) -> None:
    """SIGTERM between the two halves of a body: the second half still gets its answer, then all is over."""
    body = b'{"agent_name": "walker", "identity_type": "anonymous"}'
    lines = ("host: x", "content-type: application/json", f"content-length: {len(body)}")
    head = "\r\n".join((f"POST {REGISTER} HTTP/1.1", *lines, "", ""))
    with socket.create_connection(("127.0.0.1", server_to_kill.port)) as connection:
        connection.settimeout(20)
        connection.sendall(head.encode() + body[:10])
        assert server_to_kill.process is not None
        # The workers see the first half before the signal: they have answered somebody who came later.
        for _ in range(8):
            assert httpx2.get(f"{server_to_kill.base}/api/health").status_code == 200
        server_to_kill.process.terminate()
        assert _stops_answering(server_to_kill)
        connection.sendall(body[10:])
        answer = connection.recv(65_536)
    assert answer.startswith(b"HTTP/1.1 201")
    assert server_to_kill.process.wait(30) == 0


def _stops_answering(server: Server) -> bool:
    for _ in range(200):
        try:
            httpx2.get(f"{server.base}/api/health", timeout=0.3)
        except httpx2.TransportError:
            return True
    return False
