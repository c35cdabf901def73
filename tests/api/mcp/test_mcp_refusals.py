"""The same guard, limits and refusals as over HTTP: as tool errors, or as HTTP where a client can mend it."""

import httpx2
import pytest

from negotiator.config.settings import Settings
from tests.conftest import Register, bearer, connect, make_settings, running
from tests.contract.requirements import covers
from tests.helpers.answer_checks import limited, refused_over_mcp
from tests.helpers.form_browser import BASE
from tests.helpers.mcp_client import NEWEST, OLDER, McpClient, told
from tests.helpers.mcp_tool_calls import CALLS

METADATA = f'resource_metadata="{BASE}/.well-known/oauth-protected-resource/mcp"'


@pytest.mark.asyncio
@pytest.mark.parametrize("version", [NEWEST, *OLDER])
async def test_a_refusal_is_the_same_json_as_over_http(mcp_client: McpClient, version: str) -> None:
    mcp_client.version = version
    for name, arguments, path in (
        ("get_negotiation", {"id": "neg_none"}, "/api/negotiations/neg_none"),
        ("list_negotiations", {"limit": 0}, "/api/negotiations?limit=0"),
        ("list_negotiations", {"cursor": "x"}, "/api/negotiations?cursor=x"),
        ("list_negotiations", {"colour": "red"}, "/api/negotiations?colour=red"),
    ):
        over_http = (await mcp_client.client.get(path, headers=mcp_client.headers)).json()
        over_mcp = told(await mcp_client.call(name, **arguments))
        assert {**over_mcp, "request_id": ""} == {**over_http, "request_id": ""}


@pytest.mark.asyncio
@pytest.mark.parametrize("services", [["assistant"], ["assistant", "directory"]])
@covers("10.4:resource")
async def test_without_a_token_nothing_works_also_beside_public_tools(settings: Settings, services: list[str]) -> None:
    made = make_settings(settings.data_dir, settings.keys_dir, services=services)
    async with running(made) as application, connect(application) as client:
        for method in ("initialize", "tools/list", "server/discover", "tools/call", "resources/read"):
            answer = await McpClient(client).ask(method)
            refused_over_mcp(answer, 401, "invalid_token")
            challenge = answer.headers["www-authenticate"]
            assert METADATA in challenge
            assert "error=" not in challenge
            assert 'scope="negotiations:read negotiations:write' in challenge
            limited(answer)
        card = (await client.get("/.well-known/mcp/server-card.json")).json()
        assert card["authentication"]["required"] is True


@pytest.mark.asyncio
async def test_a_bad_credential_is_a_401_that_says_so(client: httpx2.AsyncClient) -> None:
    answer = await McpClient(client, {"authorization": "Bearer nonsense"}).ask("tools/list")
    words = refused_over_mcp(answer, 401, "invalid_token")["message"]
    assert f"{BASE}/auth.md" in words
    assert "After redeem_delegation_code, only the token in its answer works." in words
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]
    assert METADATA in answer.headers["www-authenticate"]


@pytest.mark.asyncio
@pytest.mark.parametrize("version", [NEWEST, *OLDER])
@covers("10.2:same")
async def test_a_lack_of_scope_is_a_403_that_names_them_all(mcp_client: McpClient, version: str) -> None:
    mcp_client.version = version
    answer = await mcp_client.call("add_tactic", **CALLS["add_tactic"]({}))
    found = refused_over_mcp(answer, 403, "insufficient_scope", id=7)
    assert found["data"]["scope"] == "memories:write"
    assert f"delegation code that grants memories:write (the user makes one at {BASE}/agents)" in (found["message"])
    assert "then call redeem_delegation_code with it" in found["message"]
    assert answer.headers["www-authenticate"].endswith(
        f'{METADATA}, error="insufficient_scope", scope="memories:write"'
    )
    limited(answer)


@pytest.mark.asyncio
@covers("10.2:same")
async def test_calls_and_requests_share_one_budget(settings: Settings, register: Register) -> None:
    few = make_settings(settings.data_dir, settings.keys_dir, limit_rpm=4)
    headers = bearer(await register())
    async with running(few) as application, connect(application) as client:
        line = McpClient(client, headers)
        left = [
            (await line.call("list_negotiations")).headers["x-ratelimit-remaining"],
            (await client.get("/api/negotiations", headers=headers)).headers["x-ratelimit-remaining"],
            (await line.ask("tools/list")).headers["x-ratelimit-remaining"],
            (await line.ask("resources/read", uri="negotiator://tactics")).headers["x-ratelimit-remaining"],
        ]
        assert left == ["3", "2", "1", "0"]
        body = told(await line.call("list_negotiations"))
        assert (body["error"], body["retry_after"] >= 1) == ("rate_limit_exceeded", True)
        answer = await line.ask("tools/list")
        found = refused_over_mcp(answer, 429, "rate_limit_exceeded", id=7)
        assert found["data"]["retry_after"] == int(answer.headers["retry-after"])
        assert int(answer.headers["retry-after"]) >= 1
        assert (await client.get("/api/negotiations", headers=headers)).status_code == 429
