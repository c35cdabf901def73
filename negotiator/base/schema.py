"""The base models of request bodies, their JSON Schema (2020-12), and JSON merge patch (RFC 7396)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, cast

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic.config import JsonDict
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import InitErrorDetails, PydanticCustomError, core_schema

_KEYWORDS: Final = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}


class JsonSchema(GenerateJsonSchema):
    """Pydantic's schemas with corrected bounds, without null defaults and without the members' titles.

    Pydantic 2.14 writes a bound on a type behind a validator (`Annotated[float, BeforeValidator(…), Field(ge=0)]`)
    under its Python name, `ge`, which is not a JSON Schema keyword.
    """

    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        """The schema with bounds under JSON Schema's keywords."""
        found = super().generate_inner(schema)
        for name in _KEYWORDS.keys() & found.keys():
            found[_KEYWORDS[name]] = found.pop(name)
        return found

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """The schema without a default of null, which only repeats that the member is optional."""
        found = super().default_schema(schema)
        if found.get("default", "") is None:
            del found["default"]
        return found

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        """The schema of a mapping, with the pattern of its keys in `propertyNames`, which client generators read."""
        found = super().dict_schema(schema)
        for pattern, values in found.pop("patternProperties", {}).items():
            found["additionalProperties"] = values
            found["propertyNames"] = {**found.get("propertyNames", {}), "pattern": pattern}
        return found

    def field_title_should_be_set(self, schema: Any) -> bool:
        """False: a member's title would only repeat its name."""
        return False


NOT_NULL: Final[JsonSchemaValue] = {"not": {"type": "null"}}
IS_NULL: Final[JsonSchemaValue] = {"type": "null"}


@dataclass(frozen=True, slots=True)
class SchemaKeyword:
    """An annotation that adds a keyword to a type's schema, for what a validator enforces."""

    keyword: str
    value: Any = field(hash=False)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> JsonSchemaValue:
        return {**handler(schema), self.keyword: self.value}


def exactly_one(first: str, second: str) -> JsonSchemaValue:
    """Keywords of an object that has exactly one of two members; null counts as absent."""
    return {
        "if": requires_non_null(first),
        "then": {"properties": {second: IS_NULL}},
        "else": requires_non_null(second),
    }


def requires_non_null(*names: str) -> JsonSchemaValue:
    """Keywords of an object that has all of these members, none of them null."""
    return {"required": list(names), "properties": dict.fromkeys(names, NOT_NULL)}


def any_of_schemas(*options: JsonSchemaValue) -> JsonSchemaValue:
    """Keywords of a value that matches at least one of the options.

    They are nested conditions, since client generators take `anyOf` for alternative types.
    """
    *others, rule = options
    for option in reversed(others):
        rule = {"if": option, "else": rule}
    return rule


def takes_null(schema: JsonSchemaValue) -> bool:
    """Whether null matches the schema, without following references; a schema without a type accepts null."""
    if "type" in schema:
        kinds: Any = schema["type"]
        return "null" in (cast("list[str]", kinds) if isinstance(kinds, list) else [kinds])
    if "const" in schema or "enum" in schema:
        return None in schema.get("enum", [schema.get("const")])
    for name in ("anyOf", "oneOf"):
        if name in schema:
            return any(takes_null(option) for option in schema[name])
    return "$ref" not in schema and "allOf" not in schema


def apply_merge_patch(target: object, patch: object) -> Any:
    """The target with the patch applied: objects merge, null removes, anything else replaces (RFC 7396 §2)."""
    if not isinstance(patch, Mapping):
        return patch
    changes = cast(Mapping[str, object], patch)
    result = dict(cast(Mapping[str, object], target)) if isinstance(target, Mapping) else {}
    for name, value in changes.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = apply_merge_patch(result.get(name), value)
    return result


def missing_members(*names: str) -> ValidationError:
    """The error of a model's validator that these members are missing."""
    return ValidationError.from_exception_data(
        "input", [InitErrorDetails(type="missing", loc=(name,), input=None) for name in names]
    )


def member_error(name: str, text: str) -> ValidationError:
    """The error of a model's validator about one of its members."""
    kind = PydanticCustomError("value_error", "{text}", {"text": text})
    return ValidationError.from_exception_data("input", [InitErrorDetails(type=kind, loc=(name,), input=None)])


class Strict(BaseModel):
    """An input whose unknown members are refused (docs/contract 1.2)."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class MergePatch(Strict):
    """A JSON merge patch (RFC 7396): absent members stay, null removes one; the merged result is validated.

    `patched` is the model of the merged result, from which OpenAPI describes the patch. The members are not validated
    before they are merged.
    """

    patched: ClassVar[type[BaseModel]]

    @property
    def patch(self) -> dict[str, Any]:
        """The members that were sent, without `id`, which is in the path."""
        return {name: getattr(self, name) for name in self.model_fields_set if name != "id"}


def merge_patch(patched: type[BaseModel]) -> type[MergePatch]:
    """The base class of a patch of this model, with its members."""
    members: dict[str, Any] = dict.fromkeys(patched.model_fields, (Any, None))
    patch = create_model(f"{patched.__name__}Patch", __base__=MergePatch, **members)
    patch.patched = patched
    return patch


def example_schema(example: JsonDict) -> JsonDict:
    """The extra schema of a model with this example."""
    return {"examples": [example]}


class Lenient(BaseModel):
    """An input whose unknown members are ignored (docs/contract 1.2)."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


class NoInput(Strict):
    """The input of an operation without input."""
