"""What was let in before a revocation and goes on after it: sockets, tickets, streams, polls, slow bodies."""

import asyncio
import sqlite3
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import closing
from typing import Any, Final

import httpx2
import orjson
import pytest
import pytest_asyncio
from starlette.applications import Starlette

from negotiator.agents import registration
from negotiator.base.strict_json import read_jws
from negotiator.config.settings import Settings
from negotiator.store.statement import Transaction
from negotiator.store.store import make_store
from negotiator.teleprompter import event_log
from negotiator.teleprompter.bus import publish_revocations
from negotiator.teleprompter.bus_servers import make_bus
from negotiator.teleprompter.websocket_context import WebSocketTimeouts
from negotiator.teleprompter.websocket_messages import SUBPROTOCOL
from negotiator.tokens import access_tokens
from negotiator.trust import issuer_queries, revocations
from tests.conftest import Change, bearer
from tests.contract.requirements import covers
from tests.helpers.asgi_websocket import AsgiWebSocket, WebSocketRefused
from tests.helpers.code_flow import ClientApp, ConsentingUser
from tests.helpers.code_flow import ada as ada
from tests.helpers.code_flow import public_app as public_app
from tests.helpers.event_transmitter import CAEP, push, security_event
from tests.helpers.fake_issuer import ISSUER, FakeIssuer
from tests.helpers.fake_issuer import registration as registered
from tests.helpers.fake_recognizer import FakeRecognizer, sentence_as_audio
from tests.helpers.teleprompter_client import NewTeleprompterClient, TeleprompterClient

pytestmark = pytest.mark.asyncio

LIST: Final = "/api/negotiations"
ISSUE: Final = {"title": "Laptops", "role": "buyer", "issues": [{"name": "price", "type": "money"}]}
CALM: Final = WebSocketTimeouts(auth=0.3, idle=60.0, renewal=0.5, believed=60.0, look=0.02, goodbye=0.5)
"""Asks nobody on its own: what is known at once came over the bus, or in the transaction of a write."""


@pytest.fixture(autouse=True)
def calm(monkeypatch: pytest.MonkeyPatch, short_timeouts: None) -> None:
    del short_timeouts
    monkeypatch.setattr("negotiator.compose.assistant.WebSocketTimeouts", lambda: CALM)


async def _revoke(caller: TeleprompterClient) -> None:
    token = caller.headers["Authorization"].removeprefix("Bearer ")
    answer = await caller.client.post("/api/auth/revoke", json={"token": token})
    assert answer.status_code == 200, answer.text


async def _lines(caller: TeleprompterClient, session: str) -> list[Any]:
    lines: list[Any] = (await caller.send("GET", f"{session}/transcript")).json()["lines"]
    return lines


@covers("3.7:dead-streams")
async def test_a_ticket_dies_with_the_credential_that_made_it(caller: TeleprompterClient) -> None:
    one = await caller.open()
    tickets = [await caller.ticket(one) for _ in range(2)]
    await _revoke(caller)
    offered = [SUBPROTOCOL, f"ticket.{tickets[0]}"]
    with pytest.raises(WebSocketRefused) as refused:
        async with caller.socket(one, headers={}, subprotocols=offered):
            pass
    assert refused.value.status == 401
    async with caller.socket(one, headers={}) as socket:
        await socket.send("auth", ticket=tickets[1])
        assert await socket.closed() == 4401
        assert "ready" not in {each["type"] for each in socket.said}


@covers("3.7:dead-streams")
@pytest.mark.parametrize("opened_with", ["token", "ticket"])
async def test_no_text_is_taken_after_the_answer_to_the_revocation(
    new_caller: NewTeleprompterClient, opened_with: str
) -> None:
    caller, other = await new_caller(), await new_caller()
    one = await caller.open()
    ticket: dict[str, Any] = {"headers": {}, "subprotocols": [SUBPROTOCOL, f"ticket.{await caller.ticket(one)}"]}
    async with caller.socket(one, query="after=0", **(ticket if opened_with == "ticket" else {})) as socket:
        await socket.send("text", utterance_id="u0", text="Before.")
        await socket.until("ack", of="text")
        await _revoke(caller)
        for number in range(5):
            await socket.send("text", utterance_id=f"late{number}", text="After.")
        assert (await socket.until("error"))["code"] == "token_expired"
        assert await socket.closed() == 4401
        assert [each for each in socket.said if str(each.get("utterance_id")).startswith("l")] == [
            each for each in socket.said if each.get("of") == "text" and each["type"] == "error"
        ]
    assert [line["text"] for line in await _lines(other, one)] == ["Before."]


async def test_no_word_that_was_sent_as_sound_is_written_after_a_revocation(
    new_caller: NewTeleprompterClient, fake_recognizer: FakeRecognizer
) -> None:
    caller, other = await new_caller(), await new_caller()
    one = await caller.open(source="audio")
    async with caller.socket(one) as socket:
        await socket.send("start", channels=[{"id": "them"}])
        await socket.until("ready")
        await socket.send_bytes(b"\0" + sentence_as_audio("Before"))
        await socket.send("flush")
        await socket.until("transcript.final")
        await socket.send_bytes(b"\0" + sentence_as_audio("Half heard"))
        await socket.until("transcript.partial")
        await _revoke(caller)
        # What was sent before is heard to its end by the engine, and what is sent now never reaches it.
        await socket.send_bytes(b"\0" + sentence_as_audio("After"))
        assert await socket.closed() == 4401
    await asyncio.sleep(0.1)
    assert [line["text"] for line in await _lines(other, one)] == ["Before"]
    assert b"After" not in b"".join(piece for each in fake_recognizer.opened for piece in each.taken)


async def test_a_quiet_stream_and_a_long_poll_end_at_once(
    caller: TeleprompterClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_log, "POLL_SECONDS", 60.0)
    one = await caller.open()
    headers = {**caller.headers, "accept": "text/event-stream"}
    stream = asyncio.create_task(caller.client.get(f"{one}/events", headers=headers))
    poll = asyncio.create_task(caller.send("GET", f"{one}/events?wait=25"))
    await asyncio.sleep(0.2)
    began = time.monotonic()
    await _revoke(caller)
    assert (await poll).status_code == 401
    assert (await stream).text.rstrip().endswith('{"type":"error","code":"token_expired"}')
    assert time.monotonic() - began < 20, "the next look of its own would be later"


async def test_no_event_that_is_later_than_the_revocation_is_told(new_caller: NewTeleprompterClient) -> None:
    """Another agent of the same user goes on speaking; who was revoked hears none of it."""
    caller, other = await new_caller(), await new_caller()
    one = await caller.open()
    headers = {**caller.headers, "accept": "text/event-stream"}
    stream = asyncio.create_task(caller.client.get(f"{one}/events", headers=headers))
    poll = asyncio.create_task(caller.send("GET", f"{one}/events?wait=25"))
    async with caller.socket(one, query="after=0") as socket:
        await socket.until("ready")
        await _revoke(caller)
        await other.say(one, "A secret.")
        assert await socket.closed() == 4401
        assert "secret" not in str(socket.said)
    assert "secret" not in (await stream).text
    assert "secret" not in (await poll).text


@pytest_asyncio.fixture
async def operate(application: Starlette, settings: Settings) -> AsyncGenerator[Change]:
    """Runs a unit as the operator's commands do, which tell a running service what they revoked."""
    del application
    store, bus = make_store(settings.database_url), make_bus(settings)
    publish_revocations(store, bus)
    await store.start()
    yield store.write
    await bus.close()
    await store.close()


async def _closes(caller: TeleprompterClient, end: Callable[[], Awaitable[Any]]) -> list[Any]:
    """A socket that is open while `end` ends its credential: it hears nothing more and closes; what it was told."""
    one = await caller.open()
    async with caller.socket(one, query="after=0") as socket:
        await socket.until("ready")
        await end()
        await socket.send("text", utterance_id="late", text="After.")
        began = time.monotonic()
        assert await socket.closed() == 4401
        assert time.monotonic() - began < 5
        assert "ack" not in {each["type"] for each in socket.said}
        return socket.said


OF_A_USER: Final[dict[str, Callable[[Transaction, str, str], Any]]] = {
    "its agent, on the user's page": lambda tx, agent, user: registration.revoke(tx, agent, user_id=user),
    "its user": lambda tx, _agent, user: revocations.revoke(tx, user),
    "all tokens of the user's agents": lambda tx, _agent, user: access_tokens.end_agents(tx, user),
}


@covers("3.7:dead-streams")
@pytest.mark.parametrize("what", OF_A_USER)
async def test_a_socket_ends_with_what_its_credential_depends_on(
    caller: TeleprompterClient, operate: Change, what: str
) -> None:
    claims = read_jws(caller.headers["Authorization"].removeprefix("Bearer ")).unverified_claims

    async def end() -> None:
        await operate(lambda tx: OF_A_USER[what](tx, claims["client_id"], claims["sub"]))

    await _closes(caller, end)


@covers("3.7:dead-streams")
@pytest.mark.parametrize("what", ["the issuer", "the subject", "an event"])
async def test_a_socket_ends_with_the_issuer_s_word(
    application: Starlette, client: httpx2.AsyncClient, idp: FakeIssuer, operate: Change, what: str
) -> None:
    made = await client.post("/api/agent/register", json=registered(idp.assertion()))
    caller = TeleprompterClient(client, bearer(made.json()), application)

    async def end() -> None:
        if what == "an event":
            await push(client, security_event(idp, f"{CAEP}session-revoked"))
        elif what == "the issuer":
            await operate(lambda tx: issuer_queries.remove(tx, ISSUER))
        else:
            await operate(lambda tx: issuer_queries.revoke_subject(tx, ISSUER, "u-1001"))

    said = await _closes(caller, end)
    assert said[-1]["code"] == "invalid_token", "no fresh ticket can come: closed without waiting"


async def test_a_socket_ends_with_its_family_of_refresh_tokens(
    application: Starlette, ada: ConsentingUser, public_app: ClientApp, client: httpx2.AsyncClient
) -> None:
    first = await ada.tokens(public_app, scope="openid teleprompter:stream negotiations:read")
    caller = TeleprompterClient(client, bearer(first), application)

    async def end() -> None:
        second = (await public_app.refresh(first["refresh_token"])).json()
        assert (await public_app.refresh(second["refresh_token"])).status_code == 200
        assert (await public_app.refresh(first["refresh_token"])).status_code == 400

    await _closes(caller, end)


def _slow(
    caller: TeleprompterClient, path: str, sent: Any
) -> tuple[asyncio.Event, asyncio.Event, "asyncio.Task[httpx2.Response]"]:
    """A POST whose last octet is sent when the second event is set; the first says that all others were read."""
    begun, go, body = asyncio.Event(), asyncio.Event(), orjson.dumps(sent)

    async def pieces() -> AsyncGenerator[bytes]:
        yield body[:-1]
        begun.set()
        await go.wait()
        yield body[-1:]

    told = {"content-type": "application/json", "content-length": str(len(body)), **caller.headers}
    told |= {"accept": "application/json, text/event-stream"}
    return begun, go, asyncio.create_task(caller.client.post(path, content=pieces(), headers=told))


_CALL: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "open_negotiation", "arguments": ISSUE},
}


@covers("3.7:dead-streams")
@pytest.mark.parametrize(("path", "body"), [(LIST, ISSUE), ("/mcp", _CALL)], ids=["http", "mcp"])
async def test_a_body_that_ends_after_the_revocation_writes_nothing(
    new_caller: NewTeleprompterClient, path: str, body: Any
) -> None:
    """Who was believed before the body came is asked for again in the transaction of the write."""
    caller, other = await new_caller(), await new_caller()
    begun, go, task = _slow(caller, path, body)
    await begun.wait()
    await _revoke(caller)
    go.set()
    assert (await task).status_code == 401
    assert (await other.send("GET", LIST)).json()["items"] == []


async def test_a_body_that_ends_long_after_the_revocation_reads_nothing(
    caller: TeleprompterClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("negotiator.http.pipeline._RECHECK_AFTER", 0.0)
    begun, go, task = _slow(caller, "/api/memories/search", {"query": "discount"})
    await begun.wait()
    await _revoke(caller)
    go.set()
    assert (await task).status_code == 401


async def test_a_fresh_ticket_keeps_the_socket_open(new_caller: NewTeleprompterClient) -> None:
    first = await new_caller()
    second = await new_caller()
    one = await first.open()
    async with first.socket(one, query="after=0") as socket:
        await socket.until("ready")
        ticket = await second.ticket(one)
        await _revoke(first)
        await socket.until("error", code="token_expired")
        await socket.send("auth", ticket=ticket)
        await socket.until("ack", of="auth")
        await socket.send("text", utterance_id="u1", text="Back again.")
        assert (await socket.until("transcript.final"))["seq"] == 1


async def test_a_ticket_of_somebody_else_does_not(
    caller: TeleprompterClient, new_caller: NewTeleprompterClient
) -> None:
    one = await caller.open()
    other = await new_caller(email="bob@example.com")
    theirs = await other.ticket(await other.open())
    async with caller.socket(one, query="after=0") as socket:
        await socket.until("ready")
        await socket.send("auth", ticket=theirs)
        assert await socket.closed() == 4401


async def _seen(socket: AsgiWebSocket) -> str:
    await socket.send("ping")
    await socket.until("pong")
    return str(socket.said)


async def test_nothing_of_another_session_is_told(
    caller: TeleprompterClient, new_caller: NewTeleprompterClient
) -> None:
    other = await new_caller(email="bob@example.com")
    mine, sibling, theirs = (await caller.open(), await caller.open(), await other.open())
    async with caller.socket(mine, query="after=0") as socket:
        await socket.until("ready")
        await caller.say(sibling, "The sibling's secret.")
        await other.say(theirs, "The other's secret.")
        await caller.say(mine, "My own.")
        await socket.until("transcript.final")
        assert "secret" not in await _seen(socket)


async def test_a_ticket_is_not_kept_in_the_clear(caller: TeleprompterClient, settings: Settings) -> None:
    ticket = await caller.ticket(await caller.open())
    with closing(sqlite3.connect(settings.data_dir / "negotiator.db")) as database:
        kept = database.execute("select * from teleprompter_tickets").fetchall()
    assert len(kept) == 1
    assert ticket not in str(kept)
