"""Rules between the members of a body: the schema refuses what the reader refuses, and takes what it takes."""

from typing import Any, Final

import pytest
from jsonschema_rs import Draft202012Validator

from negotiator.discovery.openapi import openapi_document
from tests.contract.requirements import covers
from tests.helpers.generated_requests import SERVICE
from tests.helpers.request_stage import CallerKind, RequestStage
from tests.house.test_operations import CREATING

_DOCUMENT: Final = openapi_document(SERVICE, "0")
_ISSUE: Final = {"name": "price", "type": "money", "range": {"min": "90", "max": "120"}}
_WORTHS: Final = {"price": [[90, 1], [120, 0]]}
_TACTIC: Final = CREATING["add_tactic"]
_TOOL: Final = {
    key: CREATING["submit_tool"][key] for key in ("name", "summary", "kind", "category")
}
_LEVERAGE: Final = "calculate_leverage"
_MATCH: Final = "match_tactics"
_TURN: Final = {
    "issues": [{"name": "price", "values": [10, 11]}],
    "my_preferences": {"reservation_utility": 0, "part_worths": {"price": [[10, 1], [11, 0]]}},
}


def _when(**test: Any) -> dict[str, Any]:
    return {**_TACTIC, "preconditions": [test]}


def _clause(**test: Any) -> dict[str, Any]:
    return {**_TACTIC, "use_when": [{"text": "They are in a hurry", **test}]}


def _recall(filters: Any) -> dict[str, Any]:
    return {"query": "discounts", "filters": filters}


def _turn(worth: Any) -> dict[str, Any]:
    worths = {"price": [[10, 1], [11, worth]]}
    return {**_TURN, "my_preferences": {"reservation_utility": 0, "part_worths": worths}}


TAKEN: Final[list[tuple[str, dict[str, Any]]]] = [
    (_LEVERAGE, {"issues": [_ISSUE]}),
    (_LEVERAGE, {"my_preferences": {"part_worths": _WORTHS}}),
    (_LEVERAGE, {"my_preferences": {"part_worths": _WORTHS, "issues": None}}),
    (_LEVERAGE, {"my_preferences": {"issues": [_ISSUE]}, "issues": []}),
    (_LEVERAGE, {"issues": [_ISSUE], "judgements": {"time": 1, "market": -1}}),
    (_MATCH, {"utterance": "That is our last word."}),
    (_MATCH, {"my_preferences": {"part_worths": _WORTHS}}),
    ("calculate_next_move", _turn(0)),
    ("add_tactic", _when(fact="has_batna", **{"is": True})),
    ("add_tactic", _when(fact="gap", at_least=0.5)),
    ("add_tactic", _when(fact="gap", at_least=None, at_most=0.5)),
    ("add_tactic", _when(fact="phase", **{"in": ["open", "close"]})),
    ("add_tactic", _when(fact="category", **{"in": ["software"]})),
    ("add_tactic", _clause()),
    ("add_tactic", {**_TACTIC, "use_when": ["They are in a hurry"]}),
    (_LEVERAGE, {"issues": [{"name": "colour", "type": "enum", "options": ["red", "blue"]}]}),
    ("add_tactic", _clause(fact=None)),
    ("add_tactic", _clause(fact="facing", **{"in": ["tac_nibble"]})),
    ("search_memories", _recall({"kind": "fact", "trust": {"gte": 2}})),
    ("search_memories", _recall({"OR": [{"attributes.floor": 2}, {"NOT": {"pinned": True}}]})),
    ("submit_tool", {**_TOOL, "homepage_url": "https://one.example"}),
    ("submit_tool", {**_TOOL, "repository": {"url": "https://github.com/acme/two"}}),
    ("submit_tool", {**_TOOL, "packages": [{"registry": "pypi", "identifier": "acme-three"}]}),
    (
        "submit_tool",
        {**_TOOL, "interfaces": [{"type": "streamable-http", "url": "https://four.example/mcp"}]},
    ),
]
REFUSED: Final[list[tuple[str, dict[str, Any]]]] = [
    (_LEVERAGE, {}),
    (_LEVERAGE, {"issues": []}),
    (_LEVERAGE, {"my_preferences": None}),
    (_LEVERAGE, {"my_preferences": {}}),
    (_LEVERAGE, {"my_preferences": {"part_worths": {}}}),
    (_LEVERAGE, {"my_preferences": {"part_worths": _WORTHS, "issues": [_ISSUE]}}),
    (_LEVERAGE, {"my_preferences": {"part_worths": {"price": [[90, "much"]]}}}),
    (_LEVERAGE, {"issues": [_ISSUE], "judgements": {"luck": 1}}),
    (_LEVERAGE, {"issues": [_ISSUE], "judgements": {"time": 1.5}}),
    (_MATCH, {"my_preferences": {}}),
    (_MATCH, {"my_preferences": {"part_worths": _WORTHS, "issues": [_ISSUE]}}),
    ("calculate_next_move", _turn(True)),
    ("calculate_next_move", _turn("much")),
    ("add_tactic", _when(fact="has_batna")),
    ("add_tactic", _when(fact="luck", **{"is": True})),
    ("add_tactic", _when(fact="has_batna", at_least=1)),
    ("add_tactic", _when(fact="gap", at_least=0.2, at_most=0.5)),
    ("add_tactic", _when(fact="gap", **{"is": True})),
    ("add_tactic", _when(fact="phase", **{"in": ["later"]})),
    ("add_tactic", _when(fact="category", **{"is": True})),
    ("add_tactic", _clause(fact="gap")),
    ("add_tactic", _clause(at_least=1)),
    ("add_tactic", {**_TACTIC, "use_when": [""]}),
    (_LEVERAGE, {"issues": [{"name": "colour", "type": "enum", "options": ["red", ""]}]}),
    ("search_memories", _recall({"colour": "red"})),
    ("search_memories", _recall({"and": []})),
    ("submit_tool", _TOOL),
    ("submit_tool", {**_TOOL, "homepage_url": None, "packages": []}),
    ("submit_tool", {**_TOOL, "interfaces": [{"type": "cli"}]}),
]


@pytest.mark.parametrize(
    ("name", "body", "is_good"),
    [*((*each, True) for each in TAKEN), *((*each, False) for each in REFUSED)],
)
@covers("contract:0:openapi")
def test_the_schema_and_the_reader_agree(
    stage: RequestStage, name: str, body: dict[str, Any], *, is_good: bool
) -> None:
    operation = SERVICE.find(name)
    assert operation is not None
    described = _DOCUMENT["paths"][operation.path]["post"]["requestBody"]["content"]
    schema = described["application/json"]["schema"]
    who: CallerKind = "directory" if operation.path.startswith("/api/v1") else "bound"
    headers = stage.run(stage.furnish()).headers[who]
    answer = stage.run(stage.client.post(operation.path, json=body, headers=headers))
    assert answer.status_code == (operation.status if is_good else 422), answer.text
    fits = Draft202012Validator({**schema, "components": _DOCUMENT["components"]}).is_valid(body)
    assert fits == is_good


@pytest.mark.parametrize("cursor", ["x", "a b" * 10, "ä" * 40, "x" * 2001])
@covers("contract:0:openapi")
def test_the_schema_knows_what_no_cursor_is(stage: RequestStage, cursor: str) -> None:
    described = _DOCUMENT["paths"]["/api/negotiations"]["get"]["parameters"]
    schema = next(each["schema"] for each in described if each["name"] == "cursor")
    assert not Draft202012Validator(schema).is_valid(cursor)
    headers = stage.run(stage.furnish()).headers["bound"]
    asked = stage.client.get("/api/negotiations", params={"cursor": cursor}, headers=headers)
    assert stage.run(asked).status_code in {400, 422}


@covers("contract:0:openapi")
def test_a_cursor_of_ours_fits_the_schema(stage: RequestStage) -> None:
    headers = stage.run(stage.furnish()).headers["bound"]
    listed = stage.run(stage.client.get("/api/tactics?limit=1", headers=headers)).json()
    described = _DOCUMENT["paths"]["/api/tactics"]["get"]["parameters"]
    schema = next(each["schema"] for each in described if each["name"] == "cursor")
    assert Draft202012Validator(schema).is_valid(listed["next_cursor"])
