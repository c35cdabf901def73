"""The schemas of tools, made from those of their operations, and the conversion of arguments to the operation's input.

A tool's schema is simpler than its operation's, in a form that OpenAI's strict mode converts
(docs/decisions/0012-mcp.md):

- Members that the tool leaves out are not listed; they are still accepted.
- There are no references. Of alternatives the first is listed, or all of them if they are plain values.
- An object with free names, such as a package, is a list of `{name, value}`.
- An object of which one member is left is replaced by that member.
- Null means that a member is not given, and so does an empty text or list where null would be valid.
- A schema has one type or `anyOf`, never a list of types: clients map a list onto its first type, or refuse it. What
  can be said as text is a text; a number is accepted in its place.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Final, cast

from pydantic import BaseModel, TypeAdapter

from negotiator.base.errors import FieldError, ValidationFailed
from negotiator.base.schema import JsonSchema, MergePatch

Schema = dict[str, Any]

_NAME, _VALUE = "name", "value"
_PAIR: Final = '{"name": "price", "value": "45.00"}'
_SCALARS: Final = ("string", "number", "integer", "boolean")
_NULL: Final[Schema] = {"type": "null"}
_LARGEST_BOUND: Final = 100_000
"""Larger bounds only protect the server and are not listed; neither are lower bounds, which are 0 or 1."""

_DEEPEST: Final = 3
"""Levels of an answer that an outline lists; deeper members have their type only."""


@dataclass(frozen=True, slots=True)
class ArgumentShape:
    """How a tool's arguments differ from the operation's input.

    `members` are those of an object, by name; `items` is the shape of a list's entries. `is_map`: an object with free
    names, given as pairs. `only`: the member that replaces the whole object. `absent` is the value that means, as null
    does, that the member is not given: an empty list or text.
    """

    members: Mapping[str, "ArgumentShape"] = field(default_factory=dict[str, "ArgumentShape"])
    items: "ArgumentShape | None" = None
    is_map: bool = False
    only: str | None = None
    is_text: bool = False
    absent: str | list[Any] | None = None


_ANY: Final = ArgumentShape()
_TEXT: Final = ArgumentShape(is_text=True)


class ToolInput:
    """The input schema of one operation's tool, and the shape by which its arguments are read."""

    def __init__(self, model: type[BaseModel], leave_out: Sequence[str] = ()) -> None:
        self._is_patch = issubclass(model, MergePatch)
        self._leave_out = leave_out
        self._left_out: set[str] = set()
        whole = _described(model)
        self._reader = _Reader(whole)
        self.shape = ArgumentShape(self._shapes(whole, ""))
        self.schema = self._object(whole, "")
        if unknown := set(leave_out) - self._left_out:
            raise ValueError(f"{model.__name__} has no {', '.join(sorted(unknown))}")

    def _object(self, schema: Schema, place: str) -> Schema:
        members = self._shown(schema, place)
        required = [name for name in schema.get("required", []) if name in members]
        shown: Schema = {
            "type": "object",
            "properties": {
                name: self._member(member, f"{place}{name}", required=name in required)
                for name, member in members.items()
            },
        }
        return {**shown, "required": required} if required else shown

    def _member(self, schema: Schema, place: str, *, required: bool) -> Schema:
        shown = self._form(schema, place)
        # In a merge patch null removes a member; a tool does that by `clear`, so its null can mean "not given".
        if self._is_optional(schema, required=required) and not _has_empty(shown):
            shown = nullable(shown)
        # The tool that creates the resource describes these parts.
        omitted = self._is_patch and "." in place
        sentences = [schema["description"]] if "description" in schema and not omitted else []
        default = schema.get("default")
        if isinstance(default, bool):
            sentences.append(f"Default {str(default).lower()}.")
        elif isinstance(default, str | int | float) and default != "":
            sentences.append(f"Default {default}.")
        if sentences:
            shown["description"] = " ".join(sentences)
        return shown

    def _is_optional(self, schema: Schema, *, required: bool) -> bool:
        default = schema.get("default")
        free = default == "" or (self._is_patch and default is None)
        return not required and (free or self._reader.takes_null(schema))

    def _form(self, schema: Schema, place: str) -> Schema:
        form = self._reader.form(schema)
        kind = form.get("type")
        if kind == "array":
            return {"type": "array", "items": self._form(form.get("items", {}), place)}
        if kind != "object":
            return _plain(form)
        if "properties" in form:
            only = self._only(form, place)
            if only:
                return self._form(self._shown(form, f"{place}.")[only], f"{place}.{only}")
            return self._object(form, f"{place}.")
        free: Any = form.get("additionalProperties")
        if not free:
            raise ValueError(f"{place} is an object with any members, which no tool can list")
        value = self._form(cast("Schema", free) if isinstance(free, dict) else {}, place)
        pair = {_NAME: {"type": "string"}, _VALUE: value}
        entry = {"type": "object", "properties": pair, "required": [_NAME, _VALUE]}
        return {"type": "array", "items": entry}

    def _shown(self, schema: Schema, place: str) -> dict[str, Schema]:
        """The members of an object that the tool's schema lists."""
        members = self._reader.members(schema)
        return {name: each for name, each in members.items() if self._shows(f"{place}{name}")}

    def _shows(self, place: str) -> bool:
        matching = {pattern for pattern in self._leave_out if fnmatchcase(place, pattern)}
        self._left_out |= matching
        return not matching

    def _only(self, form: Schema, place: str) -> str | None:
        """The single listed member of an object that has more, unless that member is an object itself."""
        shown = self._shown(form, f"{place}.")
        if len(shown) != 1 or len(form["properties"]) == 1:
            return None
        ((name, member),) = shown.items()
        return None if "properties" in self._reader.form(member) else name

    def _shapes(self, form: Schema, place: str) -> dict[str, ArgumentShape]:
        members, shapes = self._reader.members(form), dict[str, ArgumentShape]()
        for name, member in members.items():
            shape = self._shape(member, f"{place}{name}")
            if self._is_optional(member, required=name in form.get("required", [])):
                shape = replace(shape, absent=_absent(shape))
            shapes[name] = shape
        return shapes

    def _shape(self, schema: Schema, place: str) -> ArgumentShape:
        form = self._reader.form(schema)
        if form.get("type") == "array":
            return ArgumentShape(items=self._shape(form.get("items", {}), place))
        if form.get("type") != "object":
            return _TEXT if _has_empty(_plain(form)) else _ANY
        if "properties" not in form:
            return ArgumentShape(is_map=True)
        return ArgumentShape(self._shapes(form, f"{place}."), only=self._only(form, place))


class _Reader:
    """Resolves references and alternatives in one schema."""

    def __init__(self, schema: Schema) -> None:
        self._definitions: Schema = schema.get("$defs", {})

    def resolved(self, schema: Schema) -> Schema:
        """The schema with its reference resolved; members beside the reference take precedence."""
        while (reference := schema.get("$ref")) is not None:
            beside = {name: value for name, value in schema.items() if name != "$ref"}
            schema = {**self._definitions[reference.rpartition("/")[2]], **beside}
        return schema

    def members(self, schema: Schema) -> dict[str, Schema]:
        """The members of an object, with references resolved."""
        return {name: self.resolved(each) for name, each in schema.get("properties", {}).items()}

    def takes_null(self, schema: Schema) -> bool:
        """Whether null is one of the alternatives."""
        return any(form.get("type") == "null" for form in self._forms(schema))

    def form(self, schema: Schema) -> Schema:
        """The alternative to list; of several plain ones a text, as which all can be said, else one of all types."""
        forms = [form for form in self._forms(schema) if form.get("type") != "null"]
        if not forms:
            return {"type": list(_SCALARS)}
        plain = [form for form in forms if form["type"] in _SCALARS]
        if forms[0] not in plain:
            return forms[0]
        types = list(dict.fromkeys(form["type"] for form in plain))
        return plain[0] if len(types) == 1 or types[0] == "string" else {"type": types}

    def _forms(self, schema: Schema) -> Iterator[Schema]:
        schema = self.resolved(schema)
        kinds: Any = schema.get("type")
        if kinds is None:
            # Beside a type, alternatives only state which members belong together.
            for keyword in ("anyOf", "oneOf", "allOf"):
                for option in schema.get(keyword, []):
                    yield from self._forms(option)
        if "const" in schema:
            yield {"type": kinds or "string", "enum": [schema["const"]]}
        elif isinstance(kinds, list):
            yield from ({**schema, "type": kind} for kind in cast("list[str]", kinds))
        elif kinds is not None:
            yield schema


def _absent(shape: ArgumentShape) -> str | list[Any] | None:
    inner = shape.members[shape.only] if shape.only else shape
    if inner.is_map or inner.items is not None:
        return []
    return "" if inner.is_text else None


def _has_empty(shown: Schema) -> bool:
    """Whether a list or a text of any words is valid, so that an empty one can mean that nothing is given."""
    return any(
        form.get("type") == "array" or (form.get("type") == "string" and "enum" not in form)
        for form in shown.get("anyOf", [shown])
    )


def nullable(schema: Schema) -> Schema:
    """The schema with null allowed: in strict mode a model sends null for members that it does not give."""
    description = {"description": schema["description"]} if "description" in schema else {}
    rest = {name: value for name, value in schema.items() if name != "description"}
    return {"anyOf": [*rest.get("anyOf", [rest]), _NULL], **description}


def read_arguments(shape: ArgumentShape, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the operation's input; 422 for an entry that is not a `{name, value}` pair."""
    members: dict[str, Any] = _read(shape, dict(arguments), "")
    return members


def clear_members(members: dict[str, Any], names: Any) -> dict[str, Any]:
    """The merge patch, extended to remove these members, each named from the top: `batna.value`; 422 for a bad name."""
    if names is None:
        return members
    if not isinstance(names, list):
        raise _fault("/clear", 'Must be a list of names, such as ["deadline"].')
    for number, name in enumerate(cast("list[Any]", names)):
        if not isinstance(name, str):
            raise _fault(f"/clear/{number}", 'Must be text, such as "deadline".')
        *parents, last = name.split(".")
        inside = members
        for parent in parents[:_DEEPEST]:
            found = inside.setdefault(parent, {})
            if not isinstance(found, dict):
                raise _fault(f"/clear/{number}", f"Is in {parent}, which the same call sets.")
            inside = cast("dict[str, Any]", found)
        if len(parents) > _DEEPEST or inside.get(last) is not None:
            raise _fault(f"/clear/{number}", "Is too deep, or the same call sets and removes it.")
        inside[last] = None
    return members


def outline_output(output: Any, brief: Sequence[str] = ()) -> Schema:
    """A schema with only the names and types of an answer, or of its `brief` members if there are any."""
    whole = TypeAdapter[Any](output).json_schema(mode="serialization", schema_generator=JsonSchema)
    return _outlined(_Reader(whole), whole, _DEEPEST, kept_members(brief))


class Kept(dict[str, "Kept"]):
    """The members of an object that are kept, each with those kept of it; all of them where none is named."""


@cache
def kept_members(names: Sequence[str]) -> Kept:
    """The tree of dotted names."""
    kept = Kept()
    for name in names:
        inside = kept
        for part in name.split("."):
            inside = inside.setdefault(part, Kept())
    return kept


def keep(value: Any, kept: Kept) -> Any:
    """The JSON value with only these members, or each entry of a list with only these."""
    if isinstance(value, list):
        return [keep(entry, kept) for entry in cast("list[Any]", value)]
    if not kept or not isinstance(value, dict):
        return value
    members = cast("dict[str, Any]", value)
    return {name: keep(member, kept[name]) for name, member in members.items() if name in kept}


def _described(model: type[BaseModel]) -> Schema:
    """The model's schema; members of a merge patch take their descriptions from the patched model."""
    whole = model.model_json_schema(schema_generator=JsonSchema)
    if not issubclass(model, MergePatch):
        return whole
    meant = model.patched.model_json_schema(schema_generator=JsonSchema)
    members: dict[str, Schema] = {}
    for name, member in whole["properties"].items():
        found: Schema = meant["properties"].get(name, member)
        said = {"description": member["description"]} if "description" in member else {}
        members[name] = {key: each for key, each in found.items() if key != "default"} | said
    return {**whole, "properties": members, "$defs": meant.get("$defs", {})}


def _plain(form: Schema) -> Schema:
    """The schema of a value that is neither list nor object."""
    shown = _typed(form["type"])
    for name in ("enum", "format"):
        if name in form:
            shown[name] = form[name]
    if form.get("maximum", _LARGEST_BOUND) < _LARGEST_BOUND:
        shown["maximum"] = form["maximum"]
    return shown


def _read(shape: ArgumentShape, value: Any, place: str) -> Any:
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        if shape.is_map:
            return members
        known = {name: shape.members.get(name, _ANY) for name in members}
        return {
            name: _read(known[name], member, f"{place}/{name}")
            for name, member in members.items()
            if member not in (None, known[name].absent)
        }
    if shape.only is not None and value is not None:
        return {shape.only: _read(shape.members[shape.only], value, place)}
    if isinstance(value, list):
        entries = cast("list[Any]", value)
        if shape.is_map:
            return _mapped(entries, place)
        inner = shape.items or _ANY
        return [_read(inner, entry, f"{place}/{n}") for n, entry in enumerate(entries)]
    return value


def _mapped(entries: list[Any], place: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict) or entry.keys() != {_NAME, _VALUE}:
            raise _fault(f"{place}/{number}", f"Must be an object, such as {_PAIR}.")
        pair = cast("dict[str, Any]", entry)
        name = pair[_NAME]
        if not isinstance(name, str):
            raise _fault(f"{place}/{number}/{_NAME}", 'Must be text, such as "price".')
        if pair[_VALUE] is None:
            raise _fault(f"{place}/{number}/{_VALUE}", f"Is missing. Send a pair, such as {_PAIR}.")
        if name in found:
            raise _fault(f"{place}/{number}/{_NAME}", "Is repeated.")
        found[name] = pair[_VALUE]
    return found


def _fault(pointer: str, description: str) -> ValidationFailed:
    return ValidationFailed([FieldError(pointer, description)])


def _typed(kinds: str | list[str]) -> Schema:
    return {"type": kinds} if isinstance(kinds, str) else {"anyOf": [{"type": kind} for kind in kinds]}


def _outlined(reader: _Reader, schema: Schema, levels: int, kept: Kept) -> Schema:
    schema = reader.resolved(schema)
    options: list[Schema] = schema.get("anyOf") or schema.get("oneOf") or []
    if options and "type" not in schema:
        shown = [_outlined(reader, option, levels, kept) for option in options]
        return {"anyOf": shown}
    found = _typed(schema["type"]) if "type" in schema else {}
    if levels == 0:
        return found
    if "properties" in schema:
        members = {name: member for name, member in schema["properties"].items() if not kept or name in kept}
        found["properties"] = {
            name: _outlined(reader, member, levels - 1, kept.get(name, Kept())) for name, member in members.items()
        }
        if "required" in schema:
            found["required"] = [name for name in schema["required"] if name in members]
    if isinstance(schema.get("items"), dict):
        found["items"] = _outlined(reader, schema["items"], levels - 1, kept)
    return found
