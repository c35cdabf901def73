"""What a tool shows of an input, and how its arguments are read back."""

from typing import Annotated, Any, ClassVar, Literal

import pytest
from pydantic import BaseModel, Field

from negotiator.base.errors import ValidationFailed
from negotiator.base.schema import MergePatch, Strict
from negotiator.mcp.tool_schemas import ToolInput, clear_members, read_arguments


class Part(Strict):
    """A part."""

    size: int = Field(ge=1, le=9)
    note: str | None = None


class Made(Strict):
    """A thing of parts."""

    name: str = Field(description="Its name.")
    kind: Literal["a", "b"] | None = None
    count: int = Field(3, description="How many.")
    values: dict[str, int] | None = Field(None, description="By name.")
    part: Part | str | None = None
    parts: list[Part] | None = None


class Edit(MergePatch):
    """A patch of it."""

    patched: ClassVar[type[BaseModel]] = Made

    name: Any = Field(None, description="A new name.")
    part: Any = None


def test_a_view_has_no_references_and_says_what_absence_is() -> None:
    shown = ToolInput(Made).schema
    assert shown["required"] == ["name"]
    members = shown["properties"]
    assert members["kind"] == {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}]}
    assert members["count"] == {"type": "integer", "description": "How many. Default 3."}
    pair = members["values"]["items"]
    assert pair["properties"] == {"name": {"type": "string"}, "value": {"type": "integer"}}
    size = {"type": "integer", "maximum": 9}
    note = {"type": "string"}
    part = {"type": "object", "properties": {"size": size, "note": note}, "required": ["size"]}
    assert members["part"] == {"anyOf": [part, {"type": "null"}]}
    assert members["parts"] == {"type": "array", "items": part}


def test_what_is_left_out_is_not_shown_and_what_is_not_there_cannot_be_left_out() -> None:
    view = ToolInput(Made, ("kind", "*.note"))
    assert "kind" not in view.schema["properties"]
    assert view.schema["properties"]["parts"]["items"] == {"type": "integer", "maximum": 9}
    with pytest.raises(ValueError, match="colour"):
        ToolInput(Made, ("colour",))


def test_arguments_are_read_as_the_operation_takes_them() -> None:
    view = ToolInput(Made, ("*.note",))
    told: dict[str, Any] = {
        "name": "x",
        "kind": None,
        "values": [{"name": "n", "value": 1}],
        "part": 2,
        "parts": [3, {"size": 4, "note": None}],
    }
    wire = {"name": "x", "values": {"n": 1}, "part": {"size": 2}, "parts": [{"size": 3}, {"size": 4}]}
    assert read_arguments(view.shape, told) == wire
    assert read_arguments(view.shape, wire) == wire, "the form of HTTP is taken too"
    assert read_arguments(view.shape, {"name": "x", "values": [], "parts": []}) == {"name": "x"}


def test_a_patch_is_described_by_what_it_patches_and_null_means_nothing() -> None:
    view = ToolInput(Edit)
    members = view.schema["properties"]
    assert members["name"] == {"type": "string", "description": "A new name."}
    assert members["part"]["anyOf"][0]["properties"].keys() == {"size", "note"}
    for nothing in (None, ""):
        told = {"name": nothing, "part": {"size": 1, "note": nothing}}
        assert read_arguments(view.shape, told) == {"part": {"size": 1}}
    assert clear_members({"part": {"size": 1}}, ["name", "part.note"]) == {
        "name": None,
        "part": {"size": 1, "note": None},
    }


def test_an_object_of_anything_is_no_tool_s_parameter() -> None:
    class Loose(Strict):
        """Anything."""

        rest: Annotated[Any, Field(json_schema_extra={"type": "object"})] = None

    with pytest.raises(ValueError, match="rest"):
        ToolInput(Loose)


@pytest.mark.parametrize("pairs", [["n"], [{"name": "n"}], [{"name": "n", "value": None}]])
def test_pairs_that_are_none_are_refused(pairs: list[Any]) -> None:
    with pytest.raises(ValidationFailed):
        read_arguments(ToolInput(Made).shape, {"name": "x", "values": pairs})
