"""Credentials that end while the socket is open, and tickets that are not one's own."""

import sqlite3
from contextlib import closing
from typing import Any

import pytest
from starlette.applications import Starlette

from negotiator.settings import Settings
from tests.helpers.asgi_websocket import AsgiWebSocket, connect
from tests.helpers.teleprompter_client import NewTeleprompterClient, TeleprompterClient


async def _ticket(desk: TeleprompterClient, session: str) -> str:
    return str((await desk.send("POST", f"{session}/tickets")).json()["ticket"])


async def _revoke(desk: TeleprompterClient) -> None:
    token = desk.headers["Authorization"].removeprefix("Bearer ")
    answer = await desk.client.post("/oauth/revoke", data={"token": token})
    assert answer.status_code == 200, answer.text


@pytest.fixture(params=["token", "ticket"])
def entry(request: pytest.FixtureRequest) -> Any:
    """How the socket was opened."""

    async def options(desk: TeleprompterClient, session: str) -> dict[str, Any]:
        if request.param == "token":
            return {"headers": desk.headers}
        offered = ["negotiator.teleprompter.v1", f"ticket.{await _ticket(desk, session)}"]
        return {"subprotocols": offered}

    return options


@pytest.mark.asyncio
async def test_a_revoked_credential_closes_the_socket_and_hears_no_more(
    application: Starlette, desk: TeleprompterClient, entry: Any
) -> None:
    one = await desk.open()
    options = await entry(desk, one)
    async with connect(application, f"{one}/stream", query="after=0", **options) as socket:
        await socket.until("ready")
        await _revoke(desk)
        assert (await socket.until("error"))["code"] == "token_expired"
        await socket.send("text", utterance_id="u1", text="Still here")
        assert (await socket.until("error", of="text"))["code"] == "token_expired"
        assert await socket.closed() == 4401
        assert not [each for each in socket.said if "at" in each]


def _follow(application: Starlette, desk: TeleprompterClient, one: str) -> Any:
    return connect(application, f"{one}/stream", query="after=0", headers=desk.headers)


@pytest.mark.asyncio
async def test_a_fresh_ticket_keeps_the_socket_open(
    application: Starlette, new_desk: NewTeleprompterClient
) -> None:
    first = await new_desk()
    second = await new_desk()
    one = await first.open()
    async with _follow(application, first, one) as socket:
        await socket.until("ready")
        ticket = await _ticket(second, one)
        await _revoke(first)
        await socket.until("error", code="token_expired")
        await socket.send("auth", ticket=ticket)
        await socket.until("ack", of="auth")
        await socket.send("text", utterance_id="u1", text="Back again.")
        assert (await socket.until("transcript.final"))["seq"] == 1


@pytest.mark.asyncio
async def test_a_ticket_of_somebody_else_does_not(
    application: Starlette, desk: TeleprompterClient, new_desk: NewTeleprompterClient
) -> None:
    one = await desk.open()
    other = await new_desk(email="bob@example.com")
    theirs = await _ticket(other, await other.open())
    async with _follow(application, desk, one) as socket:
        await socket.until("ready")
        await socket.send("auth", ticket=theirs)
        assert await socket.closed() == 4401


async def _seen(socket: AsgiWebSocket) -> str:
    await socket.send("ping")
    await socket.until("pong")
    return str(socket.said)


@pytest.mark.asyncio
async def test_nothing_of_another_session_is_told(
    application: Starlette, desk: TeleprompterClient, new_desk: NewTeleprompterClient
) -> None:
    other = await new_desk(email="bob@example.com")
    mine, sibling, theirs = await desk.open(), await desk.open(), await other.open()
    async with _follow(application, desk, mine) as socket:
        await socket.until("ready")
        await desk.say(sibling, "The sibling's secret.")
        await other.say(theirs, "The other's secret.")
        await desk.say(mine, "My own.")
        await socket.until("transcript.final")
        assert "secret" not in await _seen(socket)


@pytest.mark.asyncio
async def test_a_ticket_is_not_kept_in_the_clear(
    desk: TeleprompterClient, settings: Settings
) -> None:
    ticket = await _ticket(desk, await desk.open())
    with closing(sqlite3.connect(settings.data_dir / "negotiator.db")) as database:
        kept = database.execute("select * from teleprompter_tickets").fetchall()
    assert len(kept) == 1
    assert ticket not in str(kept)
