"""What somebody is told who calls an operation for the first time and gets it wrong (docs/contract 1.3)."""

import re
from typing import Any, Final

import httpx2
import pytest
import pytest_asyncio
from starlette.applications import Starlette

from negotiator.advice.tactics.tactic import ROLES
from negotiator.base.schema_examples import example_input
from negotiator.http.operation import Operation
from tests.contract.requirements import covers
from tests.helpers.mcp_client import McpClient, told
from tests.helpers.mcp_client import full_mcp_client as full_mcp_client
from tests.helpers.negotiation_client import negotiation_body
from tests.helpers.openapi_transport import operations_of

INNER_WORDS: Final = re.compile(
    r"instance of|valid dict|valid list|valid string|Input should|Field required|Extra inputs|BaseModel|pydantic"
    r"|str_type|_parsing|\bdict\b|\bstr\b|\bint\b|\bfloat\b|\bNone\b|\b[A-Z][a-z]+[A-Z]\w+|after validation|Value error"
)
"""Words of Python and pydantic, and class names such as `IssueBody`."""
WRONG: Final[tuple[Any, ...]] = (None, 5, "x\u2028", True, [], {}, [7], ["x"], {"x": 1}, -1.5, "€500")
CALLS: Final = (
    "open_negotiation",
    "check_negotiation",
    "record_offer",
    "move_negotiation",
    "next_move",
    "calculate_next_move",
    "calculate_leverage",
    "make_battle_plan",
    "suggest_tactics",
    "match_tactics",
    "add_tactic",
    "remember",
    "search_memories",
    "record_win",
    "open_teleprompter_session",
    "hear_utterance",
    "rehearse",
    "start_rehearsal",
    "submit_tool",
    "save_collection",
    "register_agent",
    "claim_agent",
    "register_directory_agent",
)


@pytest.fixture
def operations(application: Starlette) -> dict[str, Operation]:
    """What the application offers, by name."""
    return {operation.name: operation for operation in operations_of(application)}


@pytest_asyncio.fixture
async def negotiation(full_mcp_client: McpClient) -> str:
    """The id of a negotiation about one price."""
    answer = await full_mcp_client.client.post(
        "/api/negotiations", json=negotiation_body(), headers=full_mcp_client.headers
    )
    key: str = answer.json()["id"]
    return key


def mistakes(operation: Operation) -> list[dict[str, Any]]:
    """Bodies with one mistake for each member at once, and the two that are no mistake of a member's value."""
    members = [name for name in operation.input.model_fields if name not in operation.path_parameters]
    good = {name: value for name, value in example_input(operation.input).items() if name in members}
    return [
        {},
        {**good, "tittle": 1, "pakage": {}},
        *({**good, **dict.fromkeys(members, wrong)} for wrong in WRONG),
        *({**good, name: {**value, "colour": "red"}} for name, value in good.items() if isinstance(value, dict)),
        *(
            {**good, name: [{}]}
            for name, value in good.items()
            if isinstance(value, list) and value and isinstance(value[0], dict)
        ),
    ]


def is_told_well(error: dict[str, str], sent: dict[str, Any]) -> None:
    """The error names a member, says what is wanted in plain words, and has an example, a choice or a name."""
    pointer, text = error["pointer"], error["description"]
    assert not INNER_WORDS.search(text), error
    assert text[0].isupper() or text[0] in "`0123456789", error
    assert text.endswith((".", "?", "*")), error
    if not pointer:
        assert text.startswith("There are more errors"), error
        return
    found: Any = sent
    *parents, _ = pointer.split("/")[1:]
    for part in parents:
        found = found[int(part) if part.isdigit() else part]
    if text.startswith(("Must be text", "Must be a", "Is missing")):
        assert re.search(r"such as |one of |Did you mean|: [A-Z`]", text), error


@pytest.mark.asyncio
@covers("1.3:plain")
async def test_each_mistake_of_a_first_call_is_told_in_plain_words_at_its_member(
    full_mcp_client: McpClient, operations: dict[str, Operation], negotiation: str
) -> None:
    told_errors = 0
    for name in CALLS:
        operation = operations[name]
        path = operation.path.replace("{id}", negotiation)
        for sent in mistakes(operation):
            answer = await full_mcp_client.client.post(path, json=sent, headers=full_mcp_client.headers)
            body = answer.json()
            assert answer.status_code < 500, (name, sent, body)
            if answer.status_code not in {400, 422}:
                continue
            assert not INNER_WORDS.search(body["error_description"]), body
            for error in body.get("errors", []):
                is_told_well(error, sent)
                told_errors += 1
    assert told_errors > 400


@pytest.mark.asyncio
@covers("1.3:plain")
async def test_a_tool_tells_the_same(full_mcp_client: McpClient, negotiation: str) -> None:
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"title": "Car", "role": "buyer"}, "/issues", "Is missing"),
        ({"title": "Car", "role": "buyr", "issues": []}, "/role", "Did you mean buyer?"),
        ({"title": "Car", "role": "buyer", "isues": []}, "/isues", "Did you mean issues?"),
    ]
    for arguments, pointer, words in cases:
        errors = told(await full_mcp_client.call("open_negotiation", **arguments))["errors"]
        for error in errors:
            is_told_well(error, arguments)
        assert words in {error["pointer"]: error["description"] for error in errors}[pointer]
    pairs = {"id": negotiation, "by": "me", "package": [{"price": 1000}]}
    found = told(await full_mcp_client.call("record_offer", **pairs))["errors"]
    assert found[0]["description"] == ('Must be an object, such as {"name": "price", "value": "45.00"}.')


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("member", "value", "description"),
    [
        ("titel", "Car", "There is no such member. Did you mean title?"),
        ("walk-away", 5, "There is no such member. Did you mean walk_away?"),
        ("currency", "XXX", 'Must be an active ISO 4217 code, such as "EUR".'),
        ("title", None, 'Must be text, not null, such as "Laptops for the Berlin office".'),
        ("title", "", 'Must not be empty; send text, such as "Laptops for the Berlin office".'),
        ("max_rounds", 0, "Must be at least 1, such as 1."),
        ("category", None, 'Must be text, not null, such as "other". Leave it out if there is none.'),
        ("role", "Buyer ", f"Must be one of {', '.join(ROLES)}. Did you mean buyer?"),
    ],
)  # fmt: skip
async def test_a_member_is_refused_in_these_words(
    client: httpx2.AsyncClient, full_mcp_client: McpClient, member: str, value: Any, description: str
) -> None:
    body = {"title": "Car", "role": "buyer", "issues": [{"name": "price"}], member: value}
    answer = await client.post("/api/negotiations", json=body, headers=full_mcp_client.headers)
    assert answer.json()["errors"] == [{"pointer": f"/{member}", "description": description}]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("content", "media_type", "status", "words"),
    [
        (b"title=Car", "application/x-www-form-urlencoded", 415, "curl -d sends without"),
        (b'{"title": "Car"}', "text/plain", 415, "Content-Type: application/json"),
        (b'{"title": "Car",}', "application/json", 400, "goes wrong at line 1, column 17"),
        (b'[{"title": "Car"}]', "application/json", 400, "one object in curly brackets"),
        (b'{"a": 1, "a": 2}', "application/json", 400, "names a member twice"),
        (b"", "application/json", 400, "it is empty"),
    ],
)
async def test_a_body_that_is_no_json_is_told_what_is_wrong_with_it(
    full_mcp_client: McpClient, content: bytes, media_type: str, status: int, words: str
) -> None:
    headers = {**full_mcp_client.headers, "content-type": media_type}
    answer = await full_mcp_client.client.post("/api/negotiations", content=content, headers=headers)
    assert answer.status_code == status
    assert words in answer.json()["error_description"]


@pytest.mark.asyncio
@pytest.mark.parametrize("member", ["counterparty", "category", "kind"])
async def test_a_win_with_an_invisible_name_is_refused(full_mcp_client: McpClient, member: str) -> None:
    body = {"currency": "EUR", "baseline": {"amount": 120}, "achieved": {"amount": 105}}
    answer = await full_mcp_client.client.post(
        "/api/wins", json={**body, member: "\u202e"}, headers=full_mcp_client.headers
    )
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == f"/{member}"


@pytest.mark.asyncio
@covers("6.11:wins")
async def test_a_win_takes_amounts_as_people_write_them(full_mcp_client: McpClient) -> None:
    answer = await full_mcp_client.client.post(
        "/api/wins", json={"baseline": "€1,200", "achieved": "1.1k"}, headers=full_mcp_client.headers
    )
    assert answer.status_code == 201, answer.text
    win = answer.json()
    assert (win["currency"], win["baseline"]["amount"]) == ("EUR", "1200.00")
    assert (win["achieved"]["amount"], win["savings_total"]) == ("1100.00", "100.00")
