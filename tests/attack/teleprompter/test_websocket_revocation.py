"""What was let in before a revocation and goes on after it: sockets, tickets, streams, polls, slow bodies."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, Final

import httpx2
import orjson
import pytest
import pytest_asyncio
from starlette.applications import Starlette
from starlette.types import Message, Scope

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
from tests.helpers.asgi_websocket import WebSocketRefused, connect
from tests.helpers.code_flow import ClientApp, ConsentingUser
from tests.helpers.code_flow import ada as ada
from tests.helpers.code_flow import public_app as public_app
from tests.helpers.event_transmitter import CAEP, push, security_event
from tests.helpers.fake_issuer import ISSUER, FakeIssuer
from tests.helpers.fake_issuer import registration as registered
from tests.helpers.fake_recognizer import FakeRecognizer, sentence_as_audio
from tests.helpers.teleprompter_client import NewTeleprompterClient, TeleprompterClient

LIST: Final = "/api/negotiations"
ISSUE: Final = {"title": "Laptops", "role": "buyer", "issues": [{"name": "price", "type": "money"}]}
CALM: Final = WebSocketTimeouts(auth=0.3, idle=60.0, renewal=0.5, believed=60.0, look=0.02, goodbye=0.5)
"""Asks nobody on its own: what is known at once came over the bus, or in the transaction of a write."""


@pytest.fixture(autouse=True)
def calm(monkeypatch: pytest.MonkeyPatch, short_timeouts: None) -> None:
    del short_timeouts
    monkeypatch.setattr("negotiator.compose.assistant.WebSocketTimeouts", lambda: CALM)


async def _revoke(teleprompter_client: TeleprompterClient) -> None:
    token = teleprompter_client.headers["Authorization"].removeprefix("Bearer ")
    answer = await teleprompter_client.client.post("/api/auth/revoke", json={"token": token})
    assert answer.status_code == 200, answer.text


async def _ticket(teleprompter_client: TeleprompterClient, session: str) -> str:
    return str((await teleprompter_client.send("POST", f"{session}/tickets")).json()["ticket"])


def _follow(application: Starlette, teleprompter_client: TeleprompterClient, one: str) -> Any:
    return connect(application, f"{one}/stream", query="after=0", headers=teleprompter_client.headers)


async def _lines(teleprompter_client: TeleprompterClient, session: str) -> list[Any]:
    lines: list[Any] = (await teleprompter_client.send("GET", f"{session}/transcript")).json()["lines"]
    return lines


@covers("3.7:dead-streams")
@pytest.mark.asyncio
async def test_a_ticket_dies_with_the_credential_that_made_it(
    application: Starlette, teleprompter_client: TeleprompterClient
) -> None:
    one = await teleprompter_client.open()
    tickets = [await _ticket(teleprompter_client, one) for _ in range(2)]
    await _revoke(teleprompter_client)
    offered = [SUBPROTOCOL, f"ticket.{tickets[0]}"]
    with pytest.raises(WebSocketRefused) as refused:
        async with connect(application, f"{one}/stream", subprotocols=offered):
            pass
    assert refused.value.status == 401
    async with connect(application, f"{one}/stream") as socket:
        await socket.send("auth", ticket=tickets[1])
        assert await socket.closed() == 4401
        assert "ready" not in {each["type"] for each in socket.said}


@covers("3.7:dead-streams")
@pytest.mark.asyncio
async def test_no_text_is_taken_after_the_answer_to_the_revocation(
    application: Starlette, new_teleprompter_client: NewTeleprompterClient
) -> None:
    teleprompter_client, other = await new_teleprompter_client(), await new_teleprompter_client()
    one = await teleprompter_client.open()
    async with _follow(application, teleprompter_client, one) as socket:
        await socket.send("text", utterance_id="u0", text="Before.")
        await socket.until("ack", of="text")
        await _revoke(teleprompter_client)
        for number in range(5):
            await socket.send("text", utterance_id=f"late{number}", text="After.")
        assert (await socket.until("error"))["code"] == "token_expired"
        assert await socket.closed() == 4401
        assert [each for each in socket.said if str(each.get("utterance_id")).startswith("l")] == [
            each for each in socket.said if each.get("of") == "text" and each["type"] == "error"
        ]
    assert [line["text"] for line in await _lines(other, one)] == ["Before."]


@pytest.mark.asyncio
async def test_no_word_that_was_sent_as_sound_is_written_after_a_revocation(
    application: Starlette, new_teleprompter_client: NewTeleprompterClient, fake_recognizer: FakeRecognizer
) -> None:
    teleprompter_client, other = await new_teleprompter_client(), await new_teleprompter_client()
    one = await teleprompter_client.open(source="audio")
    async with connect(application, f"{one}/stream", headers=teleprompter_client.headers) as socket:
        await socket.send("start", channels=[{"id": "them"}])
        await socket.until("ready")
        await socket.send_bytes(b"\0" + sentence_as_audio("Before"))
        await socket.send("flush")
        await socket.until("transcript.final")
        await socket.send_bytes(b"\0" + sentence_as_audio("Half heard"))
        await socket.until("transcript.partial")
        await _revoke(teleprompter_client)
        # What was sent before is heard to its end by the engine, and what is sent now never reaches it.
        await socket.send_bytes(b"\0" + sentence_as_audio("After"))
        assert await socket.closed() == 4401
    await asyncio.sleep(0.1)
    assert [line["text"] for line in await _lines(other, one)] == ["Before"]
    assert b"After" not in b"".join(piece for each in fake_recognizer.opened for piece in each.taken)


@pytest.mark.asyncio
async def test_a_quiet_stream_and_a_long_poll_end_at_once(
    teleprompter_client: TeleprompterClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_log, "POLL_SECONDS", 60.0)
    one = await teleprompter_client.open()
    headers = {**teleprompter_client.headers, "accept": "text/event-stream"}
    stream = asyncio.create_task(teleprompter_client.client.get(f"{one}/events", headers=headers))
    poll = asyncio.create_task(teleprompter_client.send("GET", f"{one}/events?wait=25"))
    await asyncio.sleep(0.2)
    began = time.monotonic()
    await _revoke(teleprompter_client)
    assert (await poll).status_code == 401
    assert (await stream).text.rstrip().endswith('{"type":"error","code":"token_expired"}')
    assert time.monotonic() - began < 20, "the next look of its own would be later"


@pytest.mark.asyncio
async def test_no_event_that_is_later_than_the_revocation_is_told(
    application: Starlette, new_teleprompter_client: NewTeleprompterClient
) -> None:
    """Another agent of the same user goes on speaking; who was revoked hears none of it."""
    teleprompter_client, other = await new_teleprompter_client(), await new_teleprompter_client()
    one = await teleprompter_client.open()
    headers = {**teleprompter_client.headers, "accept": "text/event-stream"}
    stream = asyncio.create_task(teleprompter_client.client.get(f"{one}/events", headers=headers))
    poll = asyncio.create_task(teleprompter_client.send("GET", f"{one}/events?wait=25"))
    async with _follow(application, teleprompter_client, one) as socket:
        await socket.until("ready")
        await _revoke(teleprompter_client)
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


async def _closes(
    application: Starlette, teleprompter_client: TeleprompterClient, end: Callable[[], Awaitable[Any]]
) -> list[Any]:
    """A socket that is open while `end` ends its credential: it hears nothing more and closes; what it was told."""
    one = await teleprompter_client.open()
    async with _follow(application, teleprompter_client, one) as socket:
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
@pytest.mark.asyncio
@pytest.mark.parametrize("what", OF_A_USER)
async def test_a_socket_ends_with_what_its_credential_depends_on(
    application: Starlette, teleprompter_client: TeleprompterClient, operate: Change, what: str
) -> None:
    claims = read_jws(teleprompter_client.headers["Authorization"].removeprefix("Bearer ")).unverified_claims

    async def end() -> None:
        await operate(lambda tx: OF_A_USER[what](tx, claims["client_id"], claims["sub"]))

    await _closes(application, teleprompter_client, end)


@covers("3.7:dead-streams")
@pytest.mark.asyncio
@pytest.mark.parametrize("what", ["the issuer", "the subject", "an event"])
async def test_a_socket_ends_with_the_issuer_s_word(
    application: Starlette, client: httpx2.AsyncClient, idp: FakeIssuer, operate: Change, what: str
) -> None:
    made = await client.post("/api/agent/register", json=registered(idp.assertion()))
    teleprompter_client = TeleprompterClient(client, bearer(made.json()))

    async def end() -> None:
        if what == "an event":
            await push(client, security_event(idp, f"{CAEP}session-revoked"))
        elif what == "the issuer":
            await operate(lambda tx: issuer_queries.remove(tx, ISSUER))
        else:
            await operate(lambda tx: issuer_queries.revoke_subject(tx, ISSUER, "u-1001"))

    said = await _closes(application, teleprompter_client, end)
    assert said[-1]["code"] == "invalid_token", "no fresh ticket can come: closed without waiting"


@pytest.mark.asyncio
async def test_a_socket_ends_with_its_family_of_refresh_tokens(
    application: Starlette, ada: ConsentingUser, public_app: ClientApp, client: httpx2.AsyncClient
) -> None:
    first = await ada.tokens(public_app, scope="openid teleprompter:stream negotiations:read")
    teleprompter_client = TeleprompterClient(client, bearer(first))

    async def end() -> None:
        second = (await public_app.refresh(first["refresh_token"])).json()
        assert (await public_app.refresh(second["refresh_token"])).status_code == 200
        assert (await public_app.refresh(first["refresh_token"])).status_code == 400

    await _closes(application, teleprompter_client, end)


def _slow(
    application: Starlette, path: str, body: bytes, headers: dict[str, str]
) -> tuple[asyncio.Event, asyncio.Event, "asyncio.Task[list[Message]]"]:
    """A POST whose last octet is sent when the second event is set; the first says that all others were read."""
    begun, go = asyncio.Event(), asyncio.Event()
    pieces = iter((body[:-1], body[-1:]))
    sent: list[Message] = []

    async def receive() -> Message:
        piece = next(pieces, None)
        if piece is None:
            await asyncio.sleep(60)
        if piece == body[-1:]:
            begun.set()
            await go.wait()
        return {"type": "http.request", "body": piece, "more_body": piece != body[-1:]}

    async def send(message: Message) -> None:
        sent.append(message)

    told = {"content-type": "application/json", "content-length": str(len(body)), **headers}
    scope: Scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "https",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in told.items()],
        "client": ("203.0.113.7", 50_000),
        "server": ("negotiator.example", 443),
        "state": {},
    }

    async def run() -> list[Message]:
        await application(scope, receive, send)
        return sent

    return begun, go, asyncio.create_task(run())


_CALL: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "open_negotiation", "arguments": ISSUE},
}


@covers("3.7:dead-streams")
@pytest.mark.asyncio
@pytest.mark.parametrize(("path", "body"), [(LIST, ISSUE), ("/mcp", _CALL)], ids=["http", "mcp"])
async def test_a_body_that_ends_after_the_revocation_writes_nothing(
    application: Starlette, new_teleprompter_client: NewTeleprompterClient, path: str, body: Any
) -> None:
    """Who was believed before the body came is asked for again in the transaction of the write."""
    teleprompter_client, other = await new_teleprompter_client(), await new_teleprompter_client()
    accept = {"accept": "application/json, text/event-stream"}
    begun, go, task = _slow(application, path, orjson.dumps(body), {**teleprompter_client.headers, **accept})
    await begun.wait()
    await _revoke(teleprompter_client)
    go.set()
    assert (await task)[0]["status"] == 401
    assert (await other.send("GET", LIST)).json()["items"] == []


@pytest.mark.asyncio
async def test_a_body_that_ends_long_after_the_revocation_reads_nothing(
    application: Starlette, teleprompter_client: TeleprompterClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("negotiator.http.pipeline._RECHECK_AFTER", 0.0)
    body = orjson.dumps({"query": "discount"})
    begun, go, task = _slow(application, "/api/memories/search", body, teleprompter_client.headers)
    await begun.wait()
    await _revoke(teleprompter_client)
    go.set()
    assert (await task)[0]["status"] == 401
