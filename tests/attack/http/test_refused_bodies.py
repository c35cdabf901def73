"""A body of the greatest size whose every member is refused costs time in proportion, and has a short answer."""

import difflib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

import pytest
from pydantic import BaseModel
from starlette.applications import Starlette

from negotiator.base.errors import FieldError, Refusal, ValidationFailed
from negotiator.base.field_errors import MOST_ERRORS
from negotiator.base.schema_examples import example_input, forms_at, schema_at
from negotiator.base.strict_json import is_array, is_object
from negotiator.http.input import validate
from negotiator.http.operation import Operation
from negotiator.mcp.tool_schemas import read_arguments
from negotiator.mcp.tools import tool_input
from tests.conftest import Register, bearer, connect
from tests.helpers.linear_time import is_linear
from tests.helpers.mcp_client import McpClient, mcp_client, told
from tests.helpers.openapi_transport import operations_of

__all__ = ["mcp_client"]
MANY: Final = 6000
"""About as many members as a body has room for."""
_MORE: Final = 3 * MOST_ERRORS
_DEEP: Final = 4
_ENTRIES: Final[tuple[object, ...]] = ({}, {"k": 1}, None, [], "\x7f", -1.5)
_ANSWER: Final = 16 * 1024

Fill = Callable[[int], Any]


def test_no_input_is_searched_for_more_errors_than_are_told(
    application: Starlette, monkeypatch: pytest.MonkeyPatch
) -> None:
    searches: list[object] = []
    whole: Any = difflib.get_close_matches

    def counted(*given: Any, **more: Any) -> Any:
        searches.append(given)
        return whole(*given, **more)

    monkeypatch.setattr(difflib, "get_close_matches", counted)
    seen = 0
    for operation in operations_of(application):
        for place, body in _bodies(operation.input):
            for named, read in _readers(operation):
                searches.clear()
                errors = _errors(read, body(_MORE))
                length = sum(len(one.pointer) + len(one.description) for one in errors)
                assert len(errors) <= MOST_ERRORS + 1, (operation.name, place, named)
                assert len(searches) <= MOST_ERRORS, (operation.name, place, named)
                assert length < _ANSWER, (operation.name, place, named)
                seen += len(errors) > MOST_ERRORS
    assert seen > 100


def test_refused_members_cost_time_in_proportion(application: Starlette) -> None:
    (opens,) = (each for each in operations_of(application) if each.name == "open_negotiation")
    slow = [
        (place, named)
        for place, body in dict(_bodies(opens.input)).items()
        if place in {"", "issues/0/options"}
        for named, read in _readers(opens)
        if not is_linear(lambda size, read=read, body=body: _errors(read, body(size)), MANY)
    ]
    assert slow == []


def test_a_pointer_does_not_repeat_a_name_of_any_length() -> None:
    class Named(BaseModel, extra="forbid"):
        kept: int

    ((first, *rest),) = [_errors(lambda members: validate(Named, members), {"k" * 60_000: 1, "kept": 1})]
    assert rest == []
    assert len(first.pointer) < 300


@pytest.mark.asyncio
async def test_an_answer_names_twenty_errors_and_says_that_there_are_more(
    application: Starlette, register: Register, mcp_client: McpClient
) -> None:
    agent = bearer(await register())
    many = {f"k{number}": 1 for number in range(5000)}
    async with connect(application) as client:
        answer = await client.post("/api/negotiations", json=many, headers=agent)
        assert answer.status_code == 422
        errors = answer.json()["errors"]
        pointers = [one["pointer"] for one in errors]
        assert pointers[:4] == ["/title", "/role", "/issues", "/k0"]
        assert pointers[-2:] == ["/k16", ""]
        assert errors[-1]["description"] == "There are more errors than these 20; mend these first."
        few = await client.post(
            "/api/negotiations",
            json={"title": "x", "role": "buyer", "issues": ["price"], "k": 1, "l": 1},
            headers=agent,
        )
        assert [one["pointer"] for one in few.json()["errors"]] == ["/k", "/l"]
    called = await mcp_client.call("open_negotiation", **many)
    assert told(called)["errors"][-1]["pointer"] == ""
    assert len(called.text) < _ANSWER


def _readers(operation: Operation) -> Iterator[tuple[str, Callable[[Mapping[str, Any]], Any]]]:
    yield "http", lambda members: validate(operation.input, members)
    if operation.tool is not None:
        shape = tool_input(operation).shape
        yield "mcp", lambda members: validate(operation.input, read_arguments(shape, members))


def _errors(read: Callable[[Mapping[str, Any]], Any], members: Mapping[str, Any]) -> tuple[FieldError, ...]:
    try:
        read(members)
    except ValidationFailed as refused:
        return refused.errors
    except Refusal:
        return ()
    return ()


def _bodies(model: type[BaseModel]) -> Iterator[tuple[str, Callable[[int], dict[str, Any]]]]:
    """Inputs with so many refused members at one place: at the top, in each object and in each list."""
    example = example_input(model)
    yield "", lambda size: {**example, **_unknown(size)}
    for path, fill in _places(model, ()):
        yield "/".join(map(str, path)), lambda size, path=path, fill=fill: _at(example, path, fill(size))


def _places(model: type[BaseModel], path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Fill]]:
    for form in forms_at(model, schema_at(model, path) or {}):
        is_list = form.get("type") == "array"
        if is_list:
            yield from ((path, partial(_repeated, entry)) for entry in _ENTRIES)
        elif form.get("type") == "object":
            yield path, _unknown
            yield path, partial(_unknown, value={"k": 1})
        if len(path) < _DEEP:
            for part in [0] if is_list else form.get("properties", {}):
                yield from _places(model, (*path, part))


def _unknown(size: int, value: object = 1) -> dict[str, Any]:
    return {f"k{number}": value for number in range(size)}


def _repeated(entry: object, size: int) -> list[object]:
    return [entry] * size


def _at(whole: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """The example with this value at the place, and objects and lists of one entry around it."""
    if not path:
        return {**whole, **value} if is_object(whole) and is_object(value) else value
    part, *rest = path
    if isinstance(part, int):
        return [_at(whole[0] if is_array(whole) and whole else None, tuple(rest), value)]
    members = whole if is_object(whole) else {}
    return {**members, part: _at(members.get(part), tuple(rest), value)}
