"""JSON Schema 2020-12 of pydantic models, without the generator's known slips."""

from dataclasses import dataclass, field
from typing import Any, Final, cast

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

_KEYWORDS: Final = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}


class JsonSchema(GenerateJsonSchema):
    """Schemas whose bounds are JSON Schema's keywords, whose defaults are values, and whose members have no titles,
    which only repeat their names.

    A bound on a type behind a validator (`Annotated[float, BeforeValidator(…), Field(ge=0)]`) leaves pydantic 2.14
    under its Python name, `ge`, which no schema reader knows.
    """

    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        """The schema of a part, in JSON Schema's own keywords."""
        found = super().generate_inner(schema)
        for name in _KEYWORDS.keys() & found.keys():
            found[_KEYWORDS[name]] = found.pop(name)
        return found

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """The schema with its default, unless that is null: it says no more than that the member may be left out."""
        found = super().default_schema(schema)
        if found.get("default", "") is None:
            del found["default"]
        return found

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        """The schema of a mapping, with a pattern of its keys where client generators look: beside the values."""
        found = super().dict_schema(schema)
        for pattern, values in found.pop("patternProperties", {}).items():
            found["additionalProperties"] = values
            found["propertyNames"] = {**found.get("propertyNames", {}), "pattern": pattern}
        return found

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Never: a member's title would only repeat its name."""
        return False


GIVEN: Final[JsonSchemaValue] = {"not": {"type": "null"}}
ABSENT: Final[JsonSchemaValue] = {"type": "null"}


@dataclass(frozen=True, slots=True)
class Declared:
    """An annotation that adds a keyword to a type's schema: what a validator enforces and pydantic cannot know."""

    keyword: str
    value: Any = field(hash=False)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> JsonSchemaValue:
        return {**handler(schema), self.keyword: self.value}


def exactly_one(first: str, second: str) -> JsonSchemaValue:
    """Keywords of an object that has one of two members, and not both; null stands for absence."""
    return {
        "if": needing(first),
        "then": {"properties": {second: ABSENT}},
        "else": needing(second),
    }


def needing(*names: str) -> JsonSchemaValue:
    """Keywords of an object that has these members, none of them null."""
    return {"required": list(names), "properties": dict.fromkeys(names, GIVEN)}


def one_of_these(*options: JsonSchemaValue) -> JsonSchemaValue:
    """Keywords of a value that fits at least one of the options.

    They are nested conditions, since generators of clients take `anyOf` for alternative types.
    """
    *others, rule = options
    for option in reversed(others):
        rule = {"if": option, "else": rule}
    return rule


def takes_null(schema: JsonSchemaValue) -> bool:
    """Whether null fits the schema, as far as it says so itself; one without a type takes anything."""
    if "type" in schema:
        kinds: Any = schema["type"]
        return "null" in (cast("list[str]", kinds) if isinstance(kinds, list) else [kinds])
    if "const" in schema or "enum" in schema:
        return None in schema.get("enum", [schema.get("const")])
    for name in ("anyOf", "oneOf"):
        if name in schema:
            return any(takes_null(option) for option in schema[name])
    return "$ref" not in schema and "allOf" not in schema
