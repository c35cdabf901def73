"""Who is let in: tokens, tickets, first messages, origins."""

import asyncio
from typing import Any

import pytest
from starlette.applications import Starlette

from negotiator.teleprompter.websocket_messages import SUBPROTOCOL
from tests.conftest import Clock, bearer
from tests.helpers.asgi_websocket import AsgiWebSocket, WebSocketRefused, connect
from tests.helpers.teleprompter_client import NewTeleprompterClient, TeleprompterClient

pytestmark = pytest.mark.usefixtures("phrase_analyser")


async def ticket_of(teleprompter_client: TeleprompterClient, session: str) -> str:
    """A fresh ticket."""
    answer = await teleprompter_client.send("POST", f"{session}/tickets")
    assert answer.status_code == 201, answer.text
    assert answer.json()["expires_in"] == 30
    assert answer.headers["cache-control"] == "no-store"
    ticket: str = answer.json()["ticket"]
    return ticket


async def refused(application: Starlette, path: str, **options: Any) -> WebSocketRefused:
    """The refusal of an upgrade."""
    with pytest.raises(WebSocketRefused) as caught:
        async with connect(application, path, **options):
            pass
    return caught.value


@pytest.mark.asyncio
async def test_plain_http_is_told_to_upgrade(teleprompter_client: TeleprompterClient) -> None:
    one = await teleprompter_client.open()
    answer = await teleprompter_client.send("GET", f"{one}/stream")
    assert (answer.status_code, answer.json()["error"]) == (426, "upgrade_required")
    assert answer.headers["upgrade"] == "websocket"


@pytest.mark.asyncio
async def test_nobody_gets_in_with_a_bad_token(application: Starlette, teleprompter_client: TeleprompterClient) -> None:
    one = await teleprompter_client.open()
    headers = {"authorization": "Bearer nonsense"}
    said = await refused(application, f"{one}/stream", headers=headers)
    assert (said.status, said.body["error"]) == (401, "invalid_token")
    assert "www-authenticate" in said.headers
    assert said.headers["x-request-id"] == said.body["request_id"]
    assert "x-ratelimit-remaining" in said.headers


@pytest.mark.asyncio
async def test_the_scope_is_needed(
    application: Starlette, teleprompter_client: TeleprompterClient, new_teleprompter_client: NewTeleprompterClient
) -> None:
    one = await teleprompter_client.open()
    other = await new_teleprompter_client(scopes=["negotiations:read"])
    said = await refused(application, f"{one}/stream", headers=other.headers)
    assert (said.status, said.body["error"]) == (403, "insufficient_scope")


@pytest.mark.asyncio
async def test_somebody_else_s_session_is_not_there(
    application: Starlette, teleprompter_client: TeleprompterClient, new_teleprompter_client: NewTeleprompterClient
) -> None:
    one = await teleprompter_client.open()
    other = await new_teleprompter_client(email="bob@example.com")
    said = await refused(application, f"{one}/stream", headers=other.headers)
    assert said.status == 404


@pytest.mark.asyncio
async def test_another_path_has_no_socket(application: Starlette, teleprompter_client: TeleprompterClient) -> None:
    assert (await refused(application, "/api/negotiations", headers=teleprompter_client.headers)).status == 404


@pytest.mark.asyncio
async def test_of_many_who_bring_one_ticket_at_once_one_gets_in(
    application: Starlette, teleprompter_client: TeleprompterClient
) -> None:
    one = await teleprompter_client.open()
    offered = [SUBPROTOCOL, f"ticket.{await ticket_of(teleprompter_client, one)}"]

    async def enter() -> bool:
        try:
            async with connect(application, f"{one}/stream", subprotocols=offered):
                return True
        except WebSocketRefused:
            return False

    assert sorted(await asyncio.gather(*(enter() for _ in range(20)))) == [False] * 19 + [True]


@pytest.mark.asyncio
async def test_a_ticket_is_good_for_half_a_minute(
    clock: Clock, application: Starlette, teleprompter_client: TeleprompterClient
) -> None:
    one = await teleprompter_client.open()
    offered = [SUBPROTOCOL, f"ticket.{await ticket_of(teleprompter_client, one)}"]
    clock.advance(30)
    assert (await refused(application, f"{one}/stream", subprotocols=offered)).status == 401


@pytest.mark.asyncio
async def test_a_ticket_of_another_session_is_refused(
    application: Starlette, teleprompter_client: TeleprompterClient
) -> None:
    one, other = await teleprompter_client.open(), await teleprompter_client.open()
    offered = [SUBPROTOCOL, f"ticket.{await ticket_of(teleprompter_client, other)}"]
    assert (await refused(application, f"{one}/stream", subprotocols=offered)).status == 401


@pytest.mark.asyncio
async def test_a_ticket_for_nobody_s_session_is_not_made(
    teleprompter_client: TeleprompterClient, new_teleprompter_client: NewTeleprompterClient
) -> None:
    one = await teleprompter_client.open()
    other = await new_teleprompter_client(email="bob@example.com")
    assert (await other.send("POST", f"{one}/tickets")).status_code == 404


@pytest.mark.asyncio
async def test_who_cannot_say_it_before_says_it_first(
    application: Starlette, teleprompter_client: TeleprompterClient
) -> None:
    one = await teleprompter_client.open()
    ticket = await ticket_of(teleprompter_client, one)
    async with connect(application, f"{one}/stream") as socket:
        await socket.send("auth", ticket=ticket)
        await socket.send("start")
        assert (await socket.next())["type"] == "ready"


async def _says_something_else(socket: AsgiWebSocket) -> None:
    await socket.send("start")


async def _brings_a_bad_ticket(socket: AsgiWebSocket) -> None:
    await socket.send("auth", ticket="nonsense")


async def _says_nothing(_socket: AsgiWebSocket) -> None:
    return


@pytest.mark.asyncio
@pytest.mark.parametrize("do", [_says_something_else, _brings_a_bad_ticket, _says_nothing], ids=lambda do: do.__name__)
async def test_who_does_not_is_told_nothing(
    short_timeouts: None, application: Starlette, teleprompter_client: TeleprompterClient, do: Any
) -> None:
    del short_timeouts
    one = await teleprompter_client.open()
    async with connect(application, f"{one}/stream", query="after=0") as socket:
        await do(socket)
        assert await socket.closed() == 4401
        assert {each["type"] for each in socket.said} <= {"error"}


@pytest.mark.asyncio
async def test_pages_of_foreign_origins_are_kept_out(
    application: Starlette, teleprompter_client: TeleprompterClient
) -> None:
    one = await teleprompter_client.open()
    for origin in ("https://evil.example", "null", "http://testserver.evil.example"):
        headers = {**teleprompter_client.headers, "origin": origin}
        assert (await refused(application, f"{one}/stream", headers=headers)).status == 403


@pytest.mark.asyncio
async def test_a_ticket_made_for_one_origin_is_good_there_only(
    application: Starlette, teleprompter_client: TeleprompterClient
) -> None:
    one = await teleprompter_client.open()
    headers = {**teleprompter_client.headers, "origin": "https://elsewhere.example"}
    answer = await teleprompter_client.client.post(f"{one}/tickets", headers=headers)
    offered = [SUBPROTOCOL, f"ticket.{answer.json()['ticket']}"]
    assert (await refused(application, f"{one}/stream", subprotocols=offered)).status == 401


@pytest.mark.asyncio
@pytest.mark.parametrize("query", ["access_token={token}", "token={token}", "ticket=x", "after=-1"])
async def test_no_credential_is_taken_from_the_query(
    application: Starlette, teleprompter_client: TeleprompterClient, query: str
) -> None:
    one = await teleprompter_client.open()
    token = teleprompter_client.headers["Authorization"].removeprefix("Bearer ")
    said = await refused(application, f"{one}/stream", query=query.format(token=token))
    assert said.status == 422
    assert token not in str(said.body)


@pytest.mark.asyncio
async def test_another_protocol_is_not_spoken(application: Starlette, teleprompter_client: TeleprompterClient) -> None:
    one = await teleprompter_client.open()
    said = await refused(application, f"{one}/stream", headers=teleprompter_client.headers, subprotocols=["graphql-ws"])
    assert said.status == 400


@pytest.mark.asyncio
async def test_an_anonymous_agent_has_no_sockets(
    application: Starlette, teleprompter_client: TeleprompterClient, register: Any
) -> None:
    one = await teleprompter_client.open()
    headers = bearer(await register())
    assert (await refused(application, f"{one}/stream", headers=headers)).status == 403
