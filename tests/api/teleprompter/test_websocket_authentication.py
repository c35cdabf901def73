"""Who is let in: tokens, tickets, first messages, origins."""

import asyncio
from typing import Any

import pytest
from starlette.applications import Starlette

from negotiator.teleprompter.websocket_messages import SUBPROTOCOL
from tests.conftest import Clock, bearer
from tests.helpers.asgi_websocket import AsgiWebSocket, WebSocketRefused, connect
from tests.helpers.teleprompter_client import NewTeleprompterClient, TeleprompterClient

pytestmark = [pytest.mark.asyncio, pytest.mark.usefixtures("phrase_analyser")]


async def refused(client: TeleprompterClient, session: str, **options: Any) -> WebSocketRefused:
    with pytest.raises(WebSocketRefused) as caught:
        async with client.socket(session, **{"headers": {}, **options}):
            pass
    return caught.value


async def test_nobody_gets_in_with_a_bad_token(caller: TeleprompterClient) -> None:
    one = await caller.open()
    headers = {"authorization": "Bearer nonsense"}
    said = await refused(caller, one, headers=headers)
    assert (said.status, said.body["error"]) == (401, "invalid_token")
    assert "www-authenticate" in said.headers
    assert said.headers["x-request-id"] == said.body["request_id"]
    assert "x-ratelimit-remaining" in said.headers


async def test_the_scope_is_needed(caller: TeleprompterClient, new_caller: NewTeleprompterClient) -> None:
    one = await caller.open()
    other = await new_caller(scopes=["negotiations:read"])
    said = await refused(caller, one, headers=other.headers)
    assert (said.status, said.body["error"]) == (403, "insufficient_scope")


async def test_another_path_has_no_socket(application: Starlette, caller: TeleprompterClient) -> None:
    with pytest.raises(WebSocketRefused, match="404"):
        async with connect(application, "/api/negotiations", headers=caller.headers):
            pass


async def test_of_many_who_bring_one_ticket_at_once_one_gets_in(caller: TeleprompterClient) -> None:
    one = await caller.open()
    offered = [SUBPROTOCOL, f"ticket.{await caller.ticket(one)}"]

    async def enter() -> bool:
        try:
            async with caller.socket(one, headers={}, subprotocols=offered):
                return True
        except WebSocketRefused:
            return False

    assert sorted(await asyncio.gather(*(enter() for _ in range(20)))) == [False] * 19 + [True]


async def test_a_ticket_is_good_for_half_a_minute(clock: Clock, caller: TeleprompterClient) -> None:
    one = await caller.open()
    offered = [SUBPROTOCOL, f"ticket.{await caller.ticket(one)}"]
    clock.advance(30)
    assert (await refused(caller, one, subprotocols=offered)).status == 401


async def test_a_ticket_of_another_session_is_refused(caller: TeleprompterClient) -> None:
    one, other = await caller.open(), await caller.open()
    offered = [SUBPROTOCOL, f"ticket.{await caller.ticket(other)}"]
    assert (await refused(caller, one, subprotocols=offered)).status == 401


async def test_a_ticket_for_nobody_s_session_is_not_made(
    caller: TeleprompterClient, new_caller: NewTeleprompterClient
) -> None:
    one = await caller.open()
    other = await new_caller(email="bob@example.com")
    assert (await other.send("POST", f"{one}/tickets")).status_code == 404


async def test_who_cannot_say_it_before_says_it_first(caller: TeleprompterClient) -> None:
    one = await caller.open()
    ticket = await caller.ticket(one)
    async with caller.socket(one, headers={}) as socket:
        await socket.send("auth", ticket=ticket)
        await socket.send("start")
        assert (await socket.next())["type"] == "ready"


async def _says_something_else(socket: AsgiWebSocket) -> None:
    await socket.send("start")


async def _brings_a_bad_ticket(socket: AsgiWebSocket) -> None:
    await socket.send("auth", ticket="nonsense")


async def _says_nothing(_socket: AsgiWebSocket) -> None:
    return


@pytest.mark.parametrize("do", [_says_something_else, _brings_a_bad_ticket, _says_nothing], ids=lambda do: do.__name__)
async def test_who_does_not_is_told_nothing(short_timeouts: None, caller: TeleprompterClient, do: Any) -> None:
    del short_timeouts
    one = await caller.open()
    async with caller.socket(one, headers={}, query="after=0") as socket:
        await do(socket)
        assert await socket.closed() == 4401
        assert {each["type"] for each in socket.said} <= {"error"}


async def test_pages_of_foreign_origins_are_kept_out(caller: TeleprompterClient) -> None:
    one = await caller.open()
    for origin in ("https://evil.example", "null", "http://testserver.evil.example"):
        headers = {**caller.headers, "origin": origin}
        assert (await refused(caller, one, headers=headers)).status == 403


async def test_a_ticket_made_for_one_origin_is_good_there_only(caller: TeleprompterClient) -> None:
    one = await caller.open()
    headers = {**caller.headers, "origin": "https://elsewhere.example"}
    answer = await caller.client.post(f"{one}/tickets", headers=headers)
    offered = [SUBPROTOCOL, f"ticket.{answer.json()['ticket']}"]
    assert (await refused(caller, one, subprotocols=offered)).status == 401


@pytest.mark.parametrize("query", ["access_token={token}", "token={token}", "ticket=x", "after=-1"])
async def test_no_credential_is_taken_from_the_query(caller: TeleprompterClient, query: str) -> None:
    one = await caller.open()
    token = caller.headers["Authorization"].removeprefix("Bearer ")
    said = await refused(caller, one, query=query.format(token=token))
    assert said.status == 422
    assert token not in str(said.body)


async def test_another_protocol_is_not_spoken(caller: TeleprompterClient) -> None:
    one = await caller.open()
    said = await refused(caller, one, headers=caller.headers, subprotocols=["graphql-ws"])
    assert said.status == 400


async def test_an_anonymous_agent_has_no_sockets(caller: TeleprompterClient, register: Any) -> None:
    one = await caller.open()
    headers = bearer(await register())
    assert (await refused(caller, one, headers=headers)).status == 403
