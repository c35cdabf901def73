"""Clients that others wrote, at the MCP endpoint of the real server with its four workers."""

import asyncio
import json
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
from mcp.shared.exceptions import MCPError

from tests.conftest import bearer
from tests.helpers.live_server import Server
from tests.helpers.mcp_client import NEWEST, OLDER, McpClient, official
from tests.helpers.mcp_tool_calls import CALLS, REDEEM

_CALL: Final = (
    *("open_teleprompter_session", "hear_utterance", "judge_cue", "follow_session"),
    *("get_transcript", "end_teleprompter_session"),
)
_DIRECTORY: Final = ("list_collections", "create_collection", "save_to_collection", "submit_tool")
BEYOND: Final = ("add_tactic", "remember", "record_win", *_CALL, *_DIRECTORY)
"""The tools that an anonymous agent may not use, and is not shown."""
SHOWN: Final = {*CALLS, REDEEM} - {*BEYOND}
_UNKNOWN: Final = {
    "open_teleprompter_session": {"id": "live_x"},
    "hear_utterance": {"cues": [{"id": "cue_1"}]},
    "create_collection": {"id": "col_x"},
}


async def arrived(client: httpx2.AsyncClient) -> dict[str, Any]:
    """The registration of an anonymous agent."""
    body = {"agent_name": "mcp", "identity_type": "anonymous"}
    answer = await client.post("/api/agent/register", json=body)
    assert answer.status_code == 201, answer.text
    registered: dict[str, Any] = answer.json()
    return registered


@pytest.mark.asyncio
@pytest.mark.parametrize("version", [NEWEST, OLDER[0]])
async def test_the_python_client_calls_every_tool_on_whichever_worker(server: Server, version: str) -> None:
    known: dict[str, Any] = {}
    async with server.connect() as connected:
        line = McpClient(connected, bearer(await arrived(connected)))
        async with official(line, version, server.base) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert set(names) == SHOWN
            for name, arguments in CALLS.items():
                if name in BEYOND:
                    continue
                result = await client.call_tool(name, arguments(known))
                assert result.is_error is False, result
                known[name] = result.structured_content
            for name in BEYOND:
                way = "register with the directory" if name in _DIRECTORY else f"call {REDEEM}"
                with pytest.raises(MCPError, match=way):
                    await client.call_tool(name, CALLS[name]({**known, **_UNKNOWN}))


@pytest.mark.asyncio
async def test_a_claimed_agent_and_a_user_s_other_agent_see_the_same_over_both_doors(server: Server) -> None:
    """What is made over one door is there over the other, whichever worker answers."""
    async with server.connect() as connected:
        line = McpClient(connected, bearer(await arrived(connected)))
        made = [
            await line.done("open_negotiation", **{**CALLS["open_negotiation"]({}), "idempotency_key": f"k{n}"})
            for n in range(8)
        ]
        page = await connected.get("/api/negotiations", headers=line.headers)
        assert {talk["id"] for talk in page.json()["items"]} == {talk["id"] for talk in made}
        again = await asyncio.gather(*(line.done("get_negotiation", id=talk["id"]) for talk in made))
        assert again == made


@pytest.mark.asyncio
async def test_a_key_holds_across_workers_and_doors_of_one_kind(server: Server) -> None:
    async with server.connect() as connected:
        line = McpClient(connected, bearer(await arrived(connected)))
        body = CALLS["open_negotiation"]({})
        made = await asyncio.gather(*(line.done("open_negotiation", **body) for _ in range(12)))
        assert len({talk["id"] for talk in made}) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize(("revision", "spoken"), [("auto", NEWEST), (OLDER[0], OLDER[0])])
async def test_the_typescript_client_agrees(server: Server, modules: Path, revision: str, spoken: str) -> None:
    async with server.connect() as connected:
        token = (await arrived(connected))["access_token"]
    talk = {"id": "$open_negotiation.id"}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("open_negotiation", CALLS["open_negotiation"]({})),
        ("list_negotiations", {"limit": 5}),
        ("make_battle_plan", talk),
        ("list_battle_plans", talk),
        ("get_battle_plan", {**talk, "plan_id": "$list_battle_plans.items.0.id"}),
        ("record_offer", {**talk, "by": "them", "package": {"price": "1150"}}),
        ("get_leverage", talk),
        ("next_move", talk),
        ("suggest_tactics", talk),
    ]
    node = shutil.which("node")
    assert node is not None, "node is missing beside npm"
    done = subprocess.run(
        [node, "mcp.mjs", f"{server.base}/mcp", token, revision, json.dumps(calls)],
        cwd=modules,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["revision"] == spoken
    assert set(told["tools"]) == SHOWN
    assert told["called"] == [name for name, _ in calls]
    assert "memories:write" in told["refused"]
    assert told["prompts"] == ["prepare", "debrief"]
    assert told["shelf"] == "application/json"


@pytest.mark.asyncio
async def test_an_uninvited_client_learns_where_to_get_a_token(server: Server) -> None:
    async with server.connect() as connected:
        refused = await McpClient(connected).call("list_negotiations")
        assert refused.status_code == 401
        where = refused.headers["www-authenticate"].split('resource_metadata="')[1].split('"')[0]
        metadata = (await connected.get(where)).json()
        assert metadata["resource"] == f"{server.base}/mcp"
        issuer = metadata["authorization_servers"][0]
        found = await connected.get(f"{issuer}/.well-known/oauth-authorization-server")
        entry = found.json()["agent_auth"]["register_uri"]
        body = {"agent_name": "walker", "identity_type": "anonymous"}
        token = (await connected.post(entry, json=body)).json()
        line = McpClient(connected, bearer(token))
        assert (await line.done("list_negotiations"))["items"] == []


@pytest.mark.asyncio
async def test_blanks_around_a_header_s_value_are_no_part_of_it(server: Server) -> None:
    """RFC 9110 §5.5; seen on the wire only, since clients trim before they send."""
    async with server.connect() as connected:
        line = McpClient(connected, bearer(await arrived(connected)))
    message, headers = line.message("tools/call", {"name": "list_negotiations", "arguments": {}})
    body = json.dumps(message).encode()
    spaced = {**line.headers, **headers, "content-type": "application/json"}
    lines = [f"{name}: \t {value} \t" for name, value in spaced.items()]
    head = ["POST /mcp HTTP/1.1", "Host: x", f"Content-Length: {len(body)}", "Connection: close"]
    raw = "\r\n".join([*head, *lines, "", ""]).encode() + body
    answer = await asyncio.to_thread(_exchanged, server.port, raw)
    assert answer.startswith(b"HTTP/1.1 200 ")


def _exchanged(port: int, raw: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), 10) as wire:
        wire.sendall(raw)
        return b"".join(iter(lambda: wire.recv(65536), b""))
