"""Refused members in plain words: what is wanted there, an example of it, and the name that a misspelt one comes near.

Pydantic's own messages name Python classes, so none of them is sent; only the sentences of validators are. A refused
value is never repeated, since it may be a secret.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from negotiator.base.errors import FieldError
from negotiator.base.schema_examples import Place, example_at, forms_at, schema_at

MOST_NAMES: Final = 20
"""How many known names a sentence lists."""
MOST_ERRORS: Final = 20
"""How many refused members an answer names."""
_EMPTY: Final = "Must not be empty"
_LONGEST_NAME: Final = 60
_LONGEST_PART: Final = 200
"""Characters of a member's name that a pointer repeats; no member that there is has so long a name."""
_NEAR: Final = 0.7
_OWN_MESSAGES: Final = frozenset({"value_error", "assertion_error", "refused"})
"""Types of errors whose messages are those of a validator of this package."""
_ABSENT: Final = frozenset({"missing", "refused"})
"""Types of errors that may be about a member which was not sent."""
_WHOLE: Final = frozenset({"int_type", "int_parsing", "int_from_float", "int_parsing_size", "finite_number"})

_BOUNDS: Final[dict[str, Callable[[Mapping[str, Any]], str]]] = {
    "greater_than": lambda found: f"Must be more than {_figure(found['gt'])}",
    "greater_than_equal": lambda found: f"Must be at least {_figure(found['ge'])}",
    "less_than": lambda found: f"Must be less than {_figure(found['lt'])}",
    "less_than_equal": lambda found: f"Must be at most {_figure(found['le'])}",
    "string_too_short": lambda found: _shortest(found["min_length"], "characters"),
    "string_too_long": lambda found: f"Must have at most {found['max_length']} characters",
    "too_short": lambda found: _shortest(found["min_length"], "entries"),
    "too_long": lambda found: f"Must have at most {found['max_length']} entries",
}


def field_errors(model: type[BaseModel], members: Mapping[str, Any], invalid: ValidationError) -> list[FieldError]:
    """One error for each refused member of `members`, which the model did not take, in the order of the model.

    Of several alternatives that all refuse a value only the first is told, with its parts if it has any. After twenty
    errors comes one that says that there are more: a body of 64 KiB can have thousands, and each takes a search.
    """
    found: dict[str, FieldError] = {}
    around: set[Place] = set()
    for fault in invalid.errors(include_url=False, include_input=False):
        place, sent = _sent_place(members, fault["loc"], absent=fault["type"] in _ABSENT)
        pointer = "/" + "/".join(_escape(part) for part in place)
        if pointer in found or tuple(place) in around:
            continue
        if len(found) == MOST_ERRORS:
            found[""] = FieldError("", f"There are more errors than these {MOST_ERRORS}; mend these first.")
            break
        around.update(tuple(place[:end]) for end in range(1, len(place)))
        sentence = _sentence(model, members, place, sent, cast("Mapping[str, Any]", fault))
        found[pointer] = FieldError(pointer, sentence)
    return list(found.values())


def nearest_name(name: object, known: Iterable[str]) -> str | None:
    """The known name that a misspelt one comes near, if there is one; `Price ` and `pricee` come near `price`."""
    names = {one.casefold(): one for one in known if len(one) <= _LONGEST_NAME}
    plain = str(name)[: _LONGEST_NAME + 1].strip().casefold().replace("-", "_").replace(" ", "_")
    if plain in names:
        return names[plain]
    near = difflib.get_close_matches(plain, names, n=1, cutoff=_NEAR)
    return names[near[0]] if near else None


def _sent_place(members: Mapping[str, Any], loc: tuple[int | str, ...], *, absent: bool) -> tuple[list[int | str], Any]:
    """The place of a fault in what was sent, as deep as that goes, and the value there.

    A location also names alternatives of a type, and members of an object that a short form stood for.
    """
    place: list[int | str] = []
    current: Any = members
    for number, part in enumerate(loc):
        inside = _part(current, part)
        if inside is not None:
            current = inside[0]
        elif absent and number == len(loc) - 1 and isinstance(current, Mapping):
            return [*place, part], None
        else:
            continue
        place.append(part)
    return place, current


def _part(value: Any, part: int | str) -> tuple[Any] | None:
    """The part of an object or a list, in a tuple; None where it has no such part."""
    if isinstance(value, Mapping):
        members = cast("Mapping[int | str, Any]", value)
        return (members[part],) if part in members else None
    if isinstance(value, list | tuple) and isinstance(part, int):
        entries = cast("list[Any]", value)
        return (entries[part],) if part < len(entries) else None
    return None


def _sentence(
    model: type[BaseModel], members: Mapping[str, Any], place: Place, sent: Any, fault: Mapping[str, Any]
) -> str:
    kind: str = fault["type"]
    if kind == "extra_forbidden":
        return _unknown_member(model, members, place)
    if kind in _OWN_MESSAGES:
        text = str(fault["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ")
        own = f"{text[:1].upper()}{text[1:]}".removesuffix(".")
        return f"{own}." if kind == "refused" else _with_example(own, model, place)
    schema = schema_at(model, place) or {}
    forms = forms_at(model, schema) if schema else []
    wanted = _wanted(forms)
    told = _description(schema)
    if kind == "missing":
        return _with_example(f"Is missing{f': {told}' if told else ''}. Send {wanted}", model, place)
    if kind in _BOUNDS:
        said = _BOUNDS[kind](fault["ctx"])
        said = f"{said}; send {wanted}" if said == _EMPTY else said
        return f"{said}." if kind.endswith("too_long") else _with_example(said, model, place)
    choices = _choices(forms)
    if choices and isinstance(sent, str):
        near = nearest_name(sent, choices)
        return f"Must be {_one_of(choices)}." + (f" Did you mean {near}?" if near else "")
    if kind == "string_pattern_mismatch":
        form = f"Has another form than is wanted{f' ({told})' if told else ''}"
        return _with_example(form, model, place)
    said = f"Must be {wanted}, not {_kind(sent)}"
    if kind in _WHOLE and isinstance(sent, float | str):
        said = "Must be a whole number"
    text = f"{said}." if choices else _with_example(said, model, place)
    optional = sent is None and place[-1:] and _is_optional(model, place)
    return f"{text} Leave it out if there is none." if optional else text


def _description(schema: Mapping[str, Any] | None) -> str:
    return str((schema or {}).get("description", "")).strip().removesuffix(".")


def _with_example(text: str, model: type[BaseModel], place: Place) -> str:
    """The sentence with one example, or with the member's description where no example says more."""
    schema = schema_at(model, place)
    listed = schema is not None and len(_choices(forms_at(model, schema))) > 1
    example = "" if listed or not place else example_at(model, place)
    if example and "such as " in text:
        return f"{text}."
    if example:
        return f"{text}, such as {example}."
    told = "" if not place else _description(schema) or _description(schema_at(model, place[:-1]))
    return f"{text}: {told}." if told and told not in text else f"{text}."


def _unknown_member(model: type[BaseModel], members: Mapping[str, Any], place: Place) -> str:
    around = schema_at(model, place[:-1])
    known = [name for form in (forms_at(model, around) if around else []) for name in form.get("properties", {})]
    near = nearest_name(place[-1], known)
    if near:
        return f"There is no such member. Did you mean {near}?"
    left = [name for name in known if name not in members] if len(place) == 1 else known
    listed = ", ".join(left[:MOST_NAMES])
    more = " and others" if len(left) > MOST_NAMES else ""
    return f"There is no such member; {f'there are {listed}{more}' if left else 'leave it out'}."


def _is_optional(model: type[BaseModel], place: Place) -> bool:
    around = schema_at(model, place[:-1]) if place else None
    return any(
        place[-1] in form.get("properties", {}) and place[-1] not in form.get("required", [])
        for form in (forms_at(model, around) if around else [])
    )


def _choices(forms: Iterable[Mapping[str, Any]]) -> list[str]:
    found = [choice for form in forms for choice in form.get("enum", [form.get("const")])]
    return [choice for choice in found if isinstance(choice, str)]


def _one_of(choices: list[str]) -> str:
    if len(choices) == 1:
        return choices[0]
    listed = choices[:MOST_NAMES]
    return f"one of {', '.join(listed)}{' and others' if len(choices) > len(listed) else ''}"


_WANTED: Final = {
    "object": "an object",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
}
_FORMATS: Final = {"date-time": "a moment with its date, time and offset", "date": "a date", "uri": "an address"}


def _wanted(forms: list[dict[str, Any]]) -> str:
    """The alternatives in words: `text or a number`."""
    if choices := _choices(forms):
        return _one_of(choices)
    said: list[str] = []
    for form in forms:
        kinds: Any = form.get("type", "")
        for kind in cast("list[str]", kinds) if isinstance(kinds, list) else [kinds]:
            word = _FORMATS.get(form.get("format", ""), _WANTED.get(kind, ""))
            if word and word not in said:
                said.append(word)
    if not said:
        return "another value"
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} or {said[-1]}"


def _kind(sent: Any) -> str:
    match sent:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "text"
        case int() | float():
            return "a number"
        case list() | tuple():
            return "a list"
        case _:
            return "an object"


def _figure(bound: Any) -> str:
    return f"{bound:g}" if isinstance(bound, float) else str(bound)


def _shortest(least: int, what: str) -> str:
    return _EMPTY if least == 1 else f"Must have at least {least} {what}"


def _escape(part: int | str) -> str:
    return str(part)[:_LONGEST_PART].replace("~", "~0").replace("/", "~1")


def pointed_error(errors: Iterable[FieldError]) -> ValidationError:
    """Pydantic's error for these field errors; raised in a validator, it counts from the validated part on."""
    return ValidationError.from_exception_data(
        "input", [refused_at(pointer_place(error.pointer), error.description) for error in errors]
    )


def refused_at(place: tuple[str | int, ...], text: str) -> InitErrorDetails:
    """A fault at a place, in the words of a validator."""
    kind = PydanticCustomError("refused", "{text}", {"text": text})
    return InitErrorDetails(type=kind, loc=place, input=None)


def pointer_place(pointer: str) -> tuple[str | int, ...]:
    """The parts of a pointer; a number is a place in a list."""
    return tuple(
        int(part) if part.isdigit() else part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]
    )
