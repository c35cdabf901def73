"""What the tools cost a model and how they are described: `make check` holds both."""

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from docs.generate import service
from negotiator.mcp import tools
from tests.contract.requirements import covers
from tests.helpers.token_count import ALL_TOOLS, ONE_TOOL, cost, tokens

ALL_OUTPUTS: Final = 12_000
DEEPEST: Final = 10
"""Levels of objects that OpenAI's strict mode takes (Structured Outputs, Supported schemas)."""

KEYWORDS: Final = {*("type", "anyOf", "enum", "properties", "required", "items", "description", "format", "maximum")}
HTTP: Final = re.compile(
    r"\b(HTTP|Accept|GET|POST|PUT|PATCH|DELETE|If-Match|ETag|Idempotency-Key|JSON|[Mm]erge patch|[Ee]vent stream"
    r"|[Qq]uery string|[Ss]tatus \d+|with \d{3}|[Hh]eaders?|[Rr]equest body|Needs a token)\b"
)
ORDERS: Final = re.compile(
    r"\b(?:never|always|must|yourself|do not|don't)\b|(?:^|[.:;,] |\b(?:and|then|or) )(?:then )?"
    r"(?:ask|tell|read|show|send|pass|state|mend|keep|record|look|fill|invent|make|put|give|call|wait)\b",
    re.IGNORECASE,
)
Schema = dict[str, Any]


@pytest.fixture(scope="module")
def listed() -> dict[str, Schema]:
    """Every tool as `tools/list` shows it."""
    return {
        name: tools.tool_definition(name, operation) for name, operation in tools.tool_operations(service()).items()
    }


def parts(schema: Schema, place: str = "", level: int = 1) -> Iterator[tuple[str, int, Schema]]:
    """Every schema inside a schema, with its place and how many objects it is inside of."""
    yield place, level, schema
    for name, member in schema.get("properties", {}).items():
        yield from parts(member, f"{place}/{name}", level + 1)
    for inner in [*schema.get("anyOf", []), *([schema["items"]] if "items" in schema else [])]:
        yield from parts(inner, place, level)


def test_the_tokens_are_those_of_o200k() -> None:
    assert tokens("hello world") == 4, "two words and the quotes around them"


def test_the_tools_are_affordable(listed: dict[str, Schema]) -> None:
    costs = {name: cost(tool) for name, tool in listed.items()}
    dear = {name: spent for name, spent in costs.items() if spent > ONE_TOOL}
    assert not dear, f"more than {ONE_TOOL} tokens; leave members out with Tool(leave_out=…)"
    assert sum(costs.values()) <= ALL_TOOLS, sorted(costs.items(), key=lambda one: -one[1])


def test_the_output_schemas_are_affordable_and_sound(listed: dict[str, Schema]) -> None:
    outputs = [tool["outputSchema"] for tool in listed.values() if "outputSchema" in tool]
    for output in outputs:
        Draft202012Validator.check_schema(output)
        listing = [place for place, _, part in parts(output) if isinstance(part.get("type"), list)]
        assert not listing, "some clients do not know a list of types: the Inspector's --strict warns of it"
    assert sum(map(tokens, outputs)) <= ALL_OUTPUTS


def test_every_parameter_is_described(listed: dict[str, Schema]) -> None:
    silent = [
        f"{name}.{parameter}"
        for name, tool in listed.items()
        for parameter, schema in tool["inputSchema"]["properties"].items()
        if not schema.get("description", "").endswith((".", "…"))
    ]
    assert not silent


def test_every_description_says_when_to_use_the_tool(listed: dict[str, Schema]) -> None:
    assert not [name for name, tool in listed.items() if "Use it " not in tool["description"]]


def test_no_description_tells_the_model_how_to_behave(listed: dict[str, Schema]) -> None:
    """Stores of clients refuse it. The first sentence says what the tool does, "Use it" says when."""
    found = {
        name: told
        for name, tool in listed.items()
        for said in [tool["description"].partition(". ")[2]]
        if (told := ORDERS.findall(said))
    }
    assert not found


@covers("10.2:hints")
def test_every_tool_says_that_it_only_reads_or_that_it_may_destroy(listed: dict[str, Schema]) -> None:
    """Stores of clients want one of the two. The world of a tool is open where the public publishes."""
    hints = {name: tool["annotations"] for name, tool in listed.items()}
    assert not [name for name, said in hints.items() if said["readOnlyHint"] is said["destructiveHint"]]
    published = ["search_tools", "get_tool", "submit_tool"]
    assert [name for name, said in hints.items() if said["openWorldHint"]] == published


def test_no_description_speaks_of_http(listed: dict[str, Schema]) -> None:
    found = [
        (name, place, HTTP.findall(said))
        for name, tool in listed.items()
        for place, said in [
            ("", tool["description"]),
            *((place, each.get("description", "")) for place, _, each in parts(tool["inputSchema"])),
        ]
        if HTTP.search(said)
    ]
    assert not found


def test_a_description_names_only_tools_that_exist(listed: dict[str, Schema]) -> None:
    verbs = {name.split("_")[0] for name in listed}
    strange = {
        word
        for tool in listed.values()
        for word in re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", tool["description"])
        if word.split("_")[0] in verbs and word not in listed
    }
    assert not strange


def test_openai_s_strict_mode_takes_every_tool(listed: dict[str, Schema]) -> None:
    faults: list[tuple[str, str, str]] = []
    for name, tool in listed.items():
        assert tool["inputSchema"]["type"] == "object"
        for place, level, part in parts(tool["inputSchema"]):
            if isinstance(part.get("type"), list):
                faults.append((name, place, "a list of types"))
            if strange := part.keys() - KEYWORDS:
                faults.append((name, place, f"keywords {sorted(strange)}"))
            if not part.keys() & {"type", "anyOf"}:
                faults.append((name, place, "no type"))
            if part.get("type") == "array" and "items" not in part:
                faults.append((name, place, "a list of anything"))
            if part.get("type") == "object" and place and not part.get("properties"):
                faults.append((name, place, "an object of anything"))
            if level > DEEPEST:
                faults.append((name, place, "too deep"))
    assert not faults


def test_a_member_that_need_not_be_given_can_be_said_not_to_be(listed: dict[str, Schema]) -> None:
    """Strict mode makes every member required: null, an empty text or list, or the default must be there to send."""
    faults = [
        f"{name}{place}/{member}"
        for name, tool in listed.items()
        for place, _, part in parts(tool["inputSchema"])
        for member, schema in part.get("properties", {}).items()
        if member not in part.get("required", []) and not _can_be_nothing(schema)
    ]
    assert not faults


def _can_be_nothing(schema: Schema) -> bool:
    forms: list[Schema] = schema.get("anyOf", [schema])
    empty = any(
        form["type"] in {"null", "array"} or (form["type"] == "string" and "enum" not in form) for form in forms
    )
    return empty or "Default " in schema.get("description", "")
