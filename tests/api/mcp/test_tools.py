"""Every tool, called by the official client at every revision we promise; answers fit the schemas shown."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from negotiator.directory.exchange import importing
from tests.api.mcp.calls import CALLS
from tests.api.mcp.conftest import NEWEST, OLDER, Line, official
from tests.conftest import Change


@pytest.mark.asyncio
async def test_the_directory_is_searched_with_any_token(change: Change, line: Line) -> None:
    await change(importing.stock_with_content)
    found = await line.done("search_tools", query="database", limit=2)
    assert len(found["items"]) == 2
    tool = await line.done("get_tool", id=found["items"][0]["slug"])
    assert tool["id"] == found["items"][0]["id"]
    assert len((await line.done("list_categories"))["items"]) == 19


def valid(instance: Any, schema: dict[str, Any]) -> None:
    """The instance fits the schema, which is itself a sound one."""
    kind: Any = Draft202012Validator
    kind.check_schema(schema)
    kind(schema).validate(instance)


@pytest.mark.asyncio
@pytest.mark.parametrize("version", [NEWEST, OLDER[0]])
async def test_the_official_client_calls_every_tool(
    full: Line, change: Change, version: str
) -> None:
    await change(importing.stock_with_content)
    known: dict[str, Any] = {}
    async with official(full, version) as client:
        assert client.protocol_version == version
        shown = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert shown.keys() == CALLS.keys(), "tests/api/mcp/calls.py has one line for every tool"
        for name, arguments in CALLS.items():
            sent = arguments(known)
            valid(sent, shown[name].input_schema)
            result = await client.call_tool(name, sent)
            assert result.is_error is False, result
            known[name] = result.structured_content
            assert isinstance(known[name], dict)
            if schema := shown[name].output_schema:
                valid(known[name], schema)


@pytest.mark.asyncio
@pytest.mark.parametrize("version", [NEWEST, *OLDER])
async def test_the_text_of_a_result_is_its_structured_content(line: Line, version: str) -> None:
    line.version = version
    result = (await line.call("list_negotiations")).json()["result"]
    assert result["structuredContent"] == {"items": [], "next_cursor": None}
    assert [part["text"] for part in result["content"]] == ['{"items":[],"next_cursor":null}']
    assert (result.get("resultType") == "complete") is (version == NEWEST)


@pytest.mark.asyncio
async def test_a_tool_and_its_operation_answer_the_same(line: Line) -> None:
    opened = await line.done("open_negotiation", **CALLS["open_negotiation"]({}))
    path = f"/api/negotiations/{opened['id']}"
    over_http = await line.client.get(path, headers=line.headers)
    assert await line.done("get_negotiation", id=opened["id"]) == over_http.json() == opened


@pytest.mark.asyncio
async def test_a_key_in_the_arguments_makes_a_call_repeatable(line: Line) -> None:
    body = CALLS["open_negotiation"]({})
    first, again = [await line.done("open_negotiation", **body) for _ in range(2)]
    assert first == again
    other = (await line.call("open_negotiation", **{**body, "title": "Another"})).json()["result"]
    assert other["isError"] is True
    assert '"validation_failed"' in other["content"][0]["text"]
    assert len((await line.done("list_negotiations"))["items"]) == 1


@pytest.mark.asyncio
async def test_a_revision_in_the_arguments_guards_a_change(line: Line) -> None:
    opened = await line.done("open_negotiation", **CALLS["open_negotiation"]({}))
    stale = await line.call("edit_negotiation", id=opened["id"], title="New", if_revision=7)
    assert '"precondition_failed"' in stale.json()["result"]["content"][0]["text"]
    edited = await line.done("edit_negotiation", id=opened["id"], title="New", if_revision=1)
    assert (edited["title"], edited["revision"]) == ("New", 2)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("beside", "pointer"),
    [({"if_revision": "1"}, "/if_revision"), ({"if_revision": True}, "/if_revision")],
)
async def test_what_stands_beside_the_input_is_checked_too(
    line: Line, beside: dict[str, Any], pointer: str
) -> None:
    result = (await line.call("edit_negotiation", id="neg_x", **beside)).json()["result"]
    assert result["isError"] is True
    assert f'"{pointer}"' in result["content"][0]["text"]
