"""Every tool, called by the official client at every revision we promise; answers fit the schemas shown."""

from typing import Any, Final, cast

import orjson
import pytest
from jsonschema import Draft202012Validator

from negotiator.directory import exchange_import
from tests.conftest import Change
from tests.helpers.mcp_client import NEWEST, OLDER, McpClient, official
from tests.helpers.mcp_tool_calls import CALLS

LATER: Final = "2099-01-31T12:00:00Z"


@pytest.mark.asyncio
async def test_the_directory_is_searched_with_any_token(change: Change, mcp_client: McpClient) -> None:
    await change(exchange_import.import_bundled_content)
    found = await mcp_client.done("search_tools", query="database", limit=2)
    assert len(found["items"]) == 2
    tool = await mcp_client.done("get_tool", id=found["items"][0]["slug"])
    assert tool["id"] == found["items"][0]["id"]
    assert len((await mcp_client.done("list_categories"))["items"]) == 19


def valid(instance: Any, schema: dict[str, Any]) -> None:
    """The instance fits the schema, which is itself a sound one."""
    kind: Any = Draft202012Validator
    kind.check_schema(schema)
    kind(schema).validate(instance)


@pytest.mark.asyncio
@pytest.mark.parametrize("version", [NEWEST, OLDER[0]])
async def test_the_official_client_calls_every_tool(full_mcp_client: McpClient, change: Change, version: str) -> None:
    await change(exchange_import.import_bundled_content)
    known: dict[str, Any] = {}
    async with official(full_mcp_client, version) as client:
        assert client.protocol_version == version
        shown = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert shown.keys() == CALLS.keys(), "tests/helpers/mcp_tool_calls.py has one line for every tool"
        for name, arguments in CALLS.items():
            sent = arguments(known)
            valid(sent, shown[name].input_schema)
            result = await client.call_tool(name, sent)
            assert result.is_error is False, result
            known[name] = result.structured_content
            schema = shown[name].output_schema
            assert (known[name] is None) is (schema is None) is (name in {"make_battle_plan", "get_battle_plan"})
            if schema:
                valid(known[name], schema)


@pytest.mark.long
@pytest.mark.asyncio
async def test_a_model_in_strict_mode_calls_every_tool(full_mcp_client: McpClient, change: Change) -> None:
    """OpenAI's strict mode makes every member required: a model sends null, "", [] or the default for the rest."""
    await change(exchange_import.import_bundled_content)
    listed = (await full_mcp_client.ask("tools/list")).json()["result"]["tools"]
    schemas: dict[str, Any] = {tool["name"]: tool["inputSchema"] for tool in listed}
    known: dict[str, Any] = {}
    for name, arguments in CALLS.items():
        sent = everything(arguments(known), schemas[name])
        valid(sent, schemas[name])
        result = (await full_mcp_client.call(name, **sent)).json()["result"]
        assert result["isError"] is False, result
        known[name] = result.get("structuredContent")
    offer = known["record_offer"]
    assert (offer["package"], offer["valid_until"]) == ({"price": "1150.00"}, None)


def everything(given: Any, schema: dict[str, Any]) -> Any:
    """What is given, with something for each member that is not."""
    forms = [form for form in schema.get("anyOf", [schema]) if form != {"type": "null"}]
    if isinstance(given, list):
        entries = cast("list[Any]", given)
        return [everything(entry, forms[0]["items"]) for entry in entries]
    if not isinstance(given, dict):
        return given
    members = cast("dict[str, Any]", given)
    return {
        name: everything(members[name], member) if name in members else nothing(member)
        for name, member in forms[0]["properties"].items()
    }


def nothing(schema: dict[str, Any]) -> Any:
    """What says that a member is not given: null, an empty text or list, or the default that its description names."""
    if schema.get("type") == "array":
        return []
    if {"type": "null"} in schema.get("anyOf", []):
        return None
    _, said, default = schema.get("description", "").removesuffix(".").rpartition("Default ")
    if not said:
        return ""
    return default if schema["type"] == "string" else orjson.loads(default)


@pytest.mark.asyncio
async def test_what_a_tool_does_not_show_it_takes_all_the_same(mcp_client: McpClient) -> None:
    rule = {"issue": "price", "op": "<=", "value": "1050"}
    told = {**CALLS["open_negotiation"]({}), "constraints": [rule], "walk_away": {"utility": 0.2}}
    opened = await mcp_client.done("open_negotiation", **told)
    assert opened["constraints"][0]["issue"] == "price"
    assert opened["walk_away"]["utility"] == 0.2
    edited = await mcp_client.done("edit_negotiation", id=opened["id"], arguments=["The tyres are worn."])
    assert edited["arguments"][0]["kind"] == "reason"
    cleared = await mcp_client.done("edit_negotiation", id=opened["id"], clear=["arguments"])
    assert cleared["arguments"] == []


@pytest.mark.asyncio
async def test_a_member_is_removed_by_name_and_null_means_nothing(mcp_client: McpClient) -> None:
    opened = await mcp_client.done("open_negotiation", **CALLS["open_negotiation"]({}), deadline=LATER)
    same = await mcp_client.done("edit_negotiation", id=opened["id"], walk_away=None, deadline=None)
    assert (same["walk_away"], same["deadline"]) == (opened["walk_away"], opened["deadline"])
    package = [{"name": "price", "value": "1150"}]
    edited = await mcp_client.done("edit_negotiation", id=opened["id"], batna={"value": package})
    assert edited["batna"]["value"]["package"] == {"price": "1150.00"}
    names = ["deadline", "batna.value"]
    gone = await mcp_client.done(
        "edit_negotiation", id=opened["id"], clear=names, batna={"description": "Stay with Acme"}
    )
    assert gone["deadline"] is None
    assert gone["batna"]["description"] == "Stay with Acme"
    assert not gone["batna"].get("value")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("arguments", "pointer"),
    [
        ({"walk_away": [{"name": "price"}]}, "/walk_away/0"),
        ({"walk_away": [{"name": 1, "value": 2}]}, "/walk_away/0/name"),
        ({"walk_away": [{"name": "price", "value": 1}] * 2}, "/walk_away/1/name"),
        ({"walk_away": [{"name": "price", "value": None}]}, "/walk_away/0/value"),
        ({"clear": "deadline"}, "/clear"),
        ({"clear": [1]}, "/clear/0"),
        ({"clear": ["title"], "title": "New"}, "/clear/0"),
        ({"clear": ["title.a"], "title": "New"}, "/clear/0"),
        ({"clear": ["a." * 200 + "a"]}, "/clear/0"),
        ({"clear": ["no_such_member"]}, "/no_such_member"),
    ],
)
async def test_malformed_pairs_and_names_are_refused_where_they_are(
    mcp_client: McpClient, arguments: dict[str, Any], pointer: str
) -> None:
    opened = await mcp_client.done("open_negotiation", **CALLS["open_negotiation"]({}))
    answer = await mcp_client.call("edit_negotiation", id=opened["id"], **arguments)
    result = answer.json()["result"]
    assert result["isError"] is True
    assert f'"{pointer}"' in result["content"][0]["text"]
    assert await mcp_client.done("get_negotiation", id=opened["id"]) == opened


@pytest.mark.asyncio
async def test_lists_are_short_enough_to_read(full_mcp_client: McpClient, change: Change) -> None:
    await change(exchange_import.import_bundled_content)
    for _ in range(20):
        arguments = CALLS["open_negotiation"]({})
        await full_mcp_client.done("open_negotiation", **{**arguments, "idempotency_key": None})
    for name in ("list_tactics", "search_tools", "list_negotiations"):
        text = (await full_mcp_client.call(name)).json()["result"]["content"][0]["text"]
        assert text.count('"id"') == 20
        assert len(text) < 12_000, name


@pytest.mark.asyncio
@pytest.mark.parametrize("version", [NEWEST, *OLDER])
async def test_the_text_of_a_result_is_its_structured_content(mcp_client: McpClient, version: str) -> None:
    mcp_client.version = version
    result = (await mcp_client.call("list_negotiations")).json()["result"]
    assert result["structuredContent"] == {"items": [], "next_cursor": None}
    assert [part["text"] for part in result["content"]] == ['{"items":[],"next_cursor":null}']
    assert (result.get("resultType") == "complete") is (version == NEWEST)


@pytest.mark.asyncio
async def test_a_tool_and_its_operation_answer_the_same(mcp_client: McpClient) -> None:
    opened = await mcp_client.done("open_negotiation", **CALLS["open_negotiation"]({}))
    path = f"/api/negotiations/{opened['id']}"
    over_http = await mcp_client.client.get(path, headers=mcp_client.headers)
    assert await mcp_client.done("get_negotiation", id=opened["id"]) == over_http.json() == opened


@pytest.mark.asyncio
async def test_a_key_in_the_arguments_makes_a_call_repeatable(mcp_client: McpClient) -> None:
    body = CALLS["open_negotiation"]({})
    first, again = [await mcp_client.done("open_negotiation", **body) for _ in range(2)]
    assert first == again
    other = (await mcp_client.call("open_negotiation", **{**body, "title": "Another"})).json()["result"]
    assert other["isError"] is True
    assert '"validation_failed"' in other["content"][0]["text"]
    assert len((await mcp_client.done("list_negotiations"))["items"]) == 1


@pytest.mark.asyncio
async def test_a_revision_in_the_arguments_guards_a_change(mcp_client: McpClient) -> None:
    opened = await mcp_client.done("open_negotiation", **CALLS["open_negotiation"]({}))
    stale = await mcp_client.call("edit_negotiation", id=opened["id"], title="New", if_revision=7)
    assert '"precondition_failed"' in stale.json()["result"]["content"][0]["text"]
    edited = await mcp_client.done("edit_negotiation", id=opened["id"], title="New", if_revision=1)
    assert (edited["title"], edited["revision"]) == ("New", 2)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("beside", "pointer"), [({"if_revision": "1"}, "/if_revision"), ({"if_revision": True}, "/if_revision")]
)
async def test_what_stands_beside_the_input_is_checked_too(
    mcp_client: McpClient, beside: dict[str, Any], pointer: str
) -> None:
    result = (await mcp_client.call("edit_negotiation", id="neg_x", **beside)).json()["result"]
    assert result["isError"] is True
    assert f'"{pointer}"' in result["content"][0]["text"]
