"""Credentials that end while the socket is open, and tickets that are not one's own."""

import sqlite3
from contextlib import closing
from typing import Any

import pytest
from starlette.applications import Starlette

from negotiator.config.settings import Settings
from tests.helpers.asgi_websocket import AsgiWebSocket, connect
from tests.helpers.teleprompter_client import NewTeleprompterClient, TeleprompterClient


async def _ticket(teleprompter_client: TeleprompterClient, session: str) -> str:
    return str((await teleprompter_client.send("POST", f"{session}/tickets")).json()["ticket"])


async def _revoke(teleprompter_client: TeleprompterClient) -> None:
    token = teleprompter_client.headers["Authorization"].removeprefix("Bearer ")
    answer = await teleprompter_client.client.post("/oauth/revoke", data={"token": token})
    assert answer.status_code == 200, answer.text


@pytest.fixture(params=["token", "ticket"])
def credential_place(request: pytest.FixtureRequest) -> Any:
    """How the socket was opened."""

    async def options(teleprompter_client: TeleprompterClient, session: str) -> dict[str, Any]:
        if request.param == "token":
            return {"headers": teleprompter_client.headers}
        offered = ["negotiator.teleprompter.v1", f"ticket.{await _ticket(teleprompter_client, session)}"]
        return {"subprotocols": offered}

    return options


@pytest.mark.asyncio
async def test_a_revoked_credential_closes_the_socket_and_hears_no_more(
    application: Starlette, teleprompter_client: TeleprompterClient, credential_place: Any
) -> None:
    one = await teleprompter_client.open()
    options = await credential_place(teleprompter_client, one)
    async with connect(application, f"{one}/stream", query="after=0", **options) as socket:
        await socket.until("ready")
        await _revoke(teleprompter_client)
        assert (await socket.until("error"))["code"] == "token_expired"
        await socket.send("text", utterance_id="u1", text="Still here")
        assert (await socket.until("error", of="text"))["code"] == "token_expired"
        assert await socket.closed() == 4401
        assert not [each for each in socket.said if "at" in each]


def _follow(application: Starlette, teleprompter_client: TeleprompterClient, one: str) -> Any:
    return connect(application, f"{one}/stream", query="after=0", headers=teleprompter_client.headers)


@pytest.mark.asyncio
async def test_a_fresh_ticket_keeps_the_socket_open(
    application: Starlette, new_teleprompter_client: NewTeleprompterClient
) -> None:
    first = await new_teleprompter_client()
    second = await new_teleprompter_client()
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
    application: Starlette, teleprompter_client: TeleprompterClient, new_teleprompter_client: NewTeleprompterClient
) -> None:
    one = await teleprompter_client.open()
    other = await new_teleprompter_client(email="bob@example.com")
    theirs = await _ticket(other, await other.open())
    async with _follow(application, teleprompter_client, one) as socket:
        await socket.until("ready")
        await socket.send("auth", ticket=theirs)
        assert await socket.closed() == 4401


async def _seen(socket: AsgiWebSocket) -> str:
    await socket.send("ping")
    await socket.until("pong")
    return str(socket.said)


@pytest.mark.asyncio
async def test_nothing_of_another_session_is_told(
    application: Starlette, teleprompter_client: TeleprompterClient, new_teleprompter_client: NewTeleprompterClient
) -> None:
    other = await new_teleprompter_client(email="bob@example.com")
    mine, sibling, theirs = (await teleprompter_client.open(), await teleprompter_client.open(), await other.open())
    async with _follow(application, teleprompter_client, mine) as socket:
        await socket.until("ready")
        await teleprompter_client.say(sibling, "The sibling's secret.")
        await other.say(theirs, "The other's secret.")
        await teleprompter_client.say(mine, "My own.")
        await socket.until("transcript.final")
        assert "secret" not in await _seen(socket)


@pytest.mark.asyncio
async def test_a_ticket_is_not_kept_in_the_clear(teleprompter_client: TeleprompterClient, settings: Settings) -> None:
    ticket = await _ticket(teleprompter_client, await teleprompter_client.open())
    with closing(sqlite3.connect(settings.data_dir / "negotiator.db")) as database:
        kept = database.execute("select * from teleprompter_tickets").fetchall()
    assert len(kept) == 1
    assert ticket not in str(kept)
