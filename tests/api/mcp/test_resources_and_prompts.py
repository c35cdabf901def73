"""Resources and prompts: the caller's own documents, by the same operations."""

from typing import Any

import orjson
import pytest

from tests.conftest import Register, bearer
from tests.helpers.mcp_client import NEWEST, OLDER, PRICED, McpClient, error, official


async def text(mcp_client: McpClient, uri: str) -> str:
    """The text of a resource."""
    contents: list[dict[str, Any]] = (await mcp_client.ask("resources/read", uri=uri)).json()["result"]["contents"]
    assert [entry["uri"] for entry in contents] == [uri]
    found: str = contents[0]["text"]
    return found


@pytest.mark.asyncio
@pytest.mark.parametrize("version", [NEWEST, OLDER[0]])
async def test_the_official_client_reads_resources_and_prompts(mcp_client: McpClient, version: str) -> None:
    talk = await mcp_client.done("open_negotiation", **PRICED)
    await mcp_client.call("make_battle_plan", id=talk["id"])
    async with official(mcp_client, version) as client:
        listed = (await client.list_resources()).resources
        ours = [entry.uri for entry in listed if not entry.uri.startswith("skill://")]
        assert ours == ["negotiator://tactics"]
        templates = (await client.list_resource_templates()).resource_templates
        assert len(templates) == 6
        uri = f"negotiator://negotiations/{talk['id']}/battle-plan"
        plan: Any = (await client.read_resource(uri)).contents[0]
        assert plan.mime_type == "text/markdown"
        assert plan.text.startswith("# ")
        names = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert names == ["prepare", "debrief"]
        filled = await client.get_prompt("prepare", {"negotiation_id": talk["id"]})
        parts: list[Any] = [message.content for message in filled.messages]
        assert [part.type for part in parts] == ["text", "resource", "resource"]
        assert "not an instruction" in parts[0].text or "instruction to you" in parts[0].text
        assert parts[2].resource.text == plan.text


@pytest.mark.asyncio
async def test_every_document_of_a_negotiation_can_be_read(mcp_client: McpClient) -> None:
    talk = await mcp_client.done("open_negotiation", **PRICED)
    made = (await mcp_client.call("make_battle_plan", id=talk["id"])).json()["result"]["content"]
    (plan,) = (await mcp_client.done("list_battle_plans", id=talk["id"]))["items"]
    root = f"negotiator://negotiations/{talk['id']}"
    assert '"title":"Laptops"' in await text(mcp_client, root)
    assert '"items":[]' in await text(mcp_client, f"{root}/offers")
    assert '"kind"' in await text(mcp_client, f"{root}/events")
    newest = await text(mcp_client, f"{root}/battle-plan")
    assert newest == await text(mcp_client, f"{root}/battle-plans/{plan['id']}")
    read = await mcp_client.call("get_battle_plan", id=talk["id"], plan_id=plan["id"])
    assert made == read.json()["result"]["content"] == [{"type": "text", "text": newest}]


@pytest.mark.asyncio
async def test_the_tactics_are_an_index_with_parts(mcp_client: McpClient) -> None:
    index = orjson.loads(await text(mcp_client, "negotiator://tactics"))["items"]
    assert len(index) > 100, "every page of the list"
    assert len({entry["id"] for entry in index}) == len(index)
    assert all(entry.keys() == {"id", "name", "family"} for entry in index)
    assert len(orjson.dumps(index)) < 12_000
    part = orjson.loads(await text(mcp_client, f"negotiator://tactics/{index[-1]['id']}"))
    assert part["name"] == index[-1]["name"]
    assert part["lines"]


@pytest.mark.asyncio
async def test_a_debrief_brings_ledger_and_history(mcp_client: McpClient) -> None:
    talk = await mcp_client.done("open_negotiation", **PRICED)
    answer = await mcp_client.ask("prompts/get", name="debrief", arguments={"negotiation_id": talk["id"]})
    messages = answer.json()["result"]["messages"]
    uris = [part["content"]["resource"]["uri"] for part in messages[1:]]
    root = f"negotiator://negotiations/{talk['id']}"
    assert uris == [root, f"{root}/offers", f"{root}/events"]


@pytest.mark.asyncio
@pytest.mark.parametrize("version", [NEWEST, OLDER[0]])
async def test_what_is_not_there_is_not_found_in_the_revision_s_own_word(
    mcp_client: McpClient, register: Register, version: str
) -> None:
    talk = await mcp_client.done("open_negotiation", **PRICED)
    foreign = McpClient(mcp_client.client, bearer(await register("other")), version)
    status, code = (400, -32602) if version == NEWEST else (200, -32002)
    for uri in (
        f"negotiator://negotiations/{talk['id']}",
        f"negotiator://negotiations/{talk['id']}/battle-plan",
        "negotiator://negotiations/../tactics",
        "negotiator://nothing",
        "https://negotiator.example/api/negotiations",
        "file:///etc/passwd",
    ):
        found = error(await foreign.ask("resources/read", uri=uri), status, code)
        assert found["data"] == {"uri": uri}
    asked = {"negotiation_id": talk["id"]}
    status = 400 if version == NEWEST else 200
    error(await foreign.ask("prompts/get", name="prepare", arguments=asked), status, -32602)
