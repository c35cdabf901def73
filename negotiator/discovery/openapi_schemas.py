"""The component schemas of the OpenAPI document: those of inputs, answers and their parts, each under one name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import JsonSchemaValue

from negotiator.base.schema import JsonSchema, MergePatch, takes_null
from negotiator.http.operation import Operation

Schema = dict[str, Any]
_PREFIX: Final = "#/components/schemas/"


@dataclass(frozen=True, slots=True)
class SchemaComponents:
    """The schemas of a set of operations by component name, and the names of the components of each operation."""

    schemas: dict[str, Schema]
    inputs: Mapping[str, Schema]
    outputs: Mapping[str, Schema]

    def resolved(self, schema: Schema) -> Schema:
        """The component that a schema refers to, or the schema itself."""
        name = schema.get("$ref", "").removeprefix(_PREFIX)
        return self.schemas[name] if name else schema

    def reached(self, document: object) -> dict[str, Schema]:
        """The components that the document refers to, directly or through others."""
        found: dict[str, Schema] = {}
        waiting = [document]
        while waiting:
            part = waiting.pop()
            if isinstance(part, list):
                waiting += cast("list[object]", part)
            elif isinstance(part, dict):
                members = cast("dict[str, object]", part)
                reference = members.get("$ref")
                if isinstance(reference, str):
                    name = reference.removeprefix(_PREFIX)
                    if name not in found:
                        found[name] = self.schemas[name]
                        waiting.append(found[name])
                waiting += members.values()
        return {name: found[name] for name in sorted(found)}


def input_schema(model: type[BaseModel]) -> JsonSchemaValue:
    """The JSON Schema of an operation's whole input, without references to other documents."""
    return model.model_json_schema(schema_generator=JsonSchema)


def schema_components(operations: Iterable[Operation]) -> SchemaComponents:
    """The schemas of all inputs and answers; that of a body lacks the members that belong in the path."""
    listed = list(operations)
    generator = JsonSchema(ref_template=f"{_PREFIX}{{model}}")
    made, definitions = generator.generate_definitions(
        [
            *((("input", each.name), "validation", _core(each.input)) for each in listed),
            *((("output", each.name), "serialization", _core(each.output)) for each in listed),
            *((("patched", each.name), "validation", _core(_patched(each))) for each in listed),
        ]
    )
    references = {key[0]: made[key] for key in made}
    schemas = {str(name): schema for name, schema in definitions.items()}
    found = SchemaComponents(
        schemas,
        {each.name: references["input", each.name] for each in listed},
        {each.name: references["output", each.name] for each in listed},
    )
    for operation in listed:
        if operation.reads_query:
            continue
        body = found.resolved(found.inputs[operation.name])
        if issubclass(operation.input, MergePatch):
            target = found.resolved(references["patched", operation.name])
            _PatchSchemas(schemas).describe(body, target)
        _take_out(body, operation.path_parameters)
    return found


def _core(model: Any) -> Any:
    return TypeAdapter(model).core_schema


def _patched(operation: Operation) -> Any:
    return operation.input.patched if issubclass(operation.input, MergePatch) else None


def _take_out(schema: Schema, names: Iterable[str]) -> None:
    properties: dict[str, Schema] = schema.get("properties", {})
    required = [name for name in schema.get("required", []) if name not in names]
    schema["properties"] = {name: properties[name] for name in properties if name not in names}
    schema["required"] = required
    if not required:
        del schema["required"]


@dataclass(frozen=True, slots=True)
class _PatchSchemas:
    """Makes the schemas of merge patches (RFC 7396 §2) from those of the merged results.

    No member is required. Null removes a member that the result can lack. Objects are patched member by member, so each
    becomes another component; arrays are replaced as a whole.
    """

    schemas: dict[str, Schema]

    def describe(self, patch: Schema, target: Schema) -> None:
        """Give the members of a patch the schemas that they have in its target."""
        described = self._members(target)
        own: dict[str, Schema] = patch["properties"]
        patch["properties"] = {name: {**described.get(name, schema), **_words(schema)} for name, schema in own.items()}
        for schema in patch["properties"].values():
            schema.pop("default", None)

    def _members(self, target: Schema) -> dict[str, Schema]:
        required = target.get("required", ())
        properties: dict[str, Schema] = target["properties"]
        return {name: self._member(schema, removable=name not in required) for name, schema in properties.items()}

    def _member(self, schema: Schema, *, removable: bool) -> Schema:
        words = _words(schema)
        rest = {name: part for name, part in schema.items() if name not in {*words, "default"}}
        patch = self._patch(rest)
        if removable and not takes_null(patch):
            options = patch["anyOf"] if patch.keys() == {"anyOf"} else [patch]
            patch = {"anyOf": [*options, {"type": "null"}]}
        return {**patch, **words}

    def _patch(self, schema: Schema) -> Schema:
        if reference := schema.get("$ref"):
            name = reference.removeprefix(_PREFIX)
            return {**schema, "$ref": f"{_PREFIX}{self._object(name)}"}
        for name in ("anyOf", "oneOf"):
            if name in schema:
                return {**schema, name: [self._patch(option) for option in schema[name]]}
        if isinstance(entries := schema.get("additionalProperties"), dict):
            entry = self._member(cast("Schema", entries), removable=True)
            return {**schema, "additionalProperties": entry}
        return schema

    def _object(self, name: str) -> str:
        """The component of a patch of the named one; the named one itself when it is not an object with members."""
        target = self.schemas[name]
        if "properties" not in target:
            return name
        patch = f"{name}Patch"
        if patch not in self.schemas:
            kept = ("type", "description", "additionalProperties")
            made = {key: target[key] for key in kept if key in target}
            self.schemas[patch] = {**made, "title": patch}
            self.schemas[patch]["properties"] = self._members(target)
        return patch


def _words(schema: Schema) -> Schema:
    """The description and the examples of a schema."""
    return {name: schema[name] for name in ("description", "examples") if name in schema}
