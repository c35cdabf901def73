"""Forms of pages and the members of operations: one table of fields fills a form, reads it and places faults; pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from negotiator.base.errors import Refusal, ValidationFailed

FieldKind = Literal["text", "tags", "lines", "tick", "truth"]
_FIRST: Final = "0"
_TRUTHS: Final = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class FormField:
    """Where a field stands in the members, as in `packages/0/registry`, and how its text is written.

    An empty field is sent as `blank`, and so is the text `unknown`, which shows that there is nothing.
    """

    path: str
    kind: FieldKind = "text"
    blank: str | None = None
    unknown: str = ""

    def read(self, text: str) -> Any:
        """The value of what was typed."""
        said = text.replace("\r\n", "\n").strip()
        match self.kind:
            case "tags":
                return list(dict.fromkeys(tag for part in said.split(",") if (tag := part.strip())))
            case "lines":
                return [line for each in said.split("\n") if (line := each.strip())]
            case "tick":
                return bool(said)
            case "truth":
                return _TRUTHS.get(said)
            case "text":
                return self.blank if said in {"", self.unknown} else said

    def text(self, value: Any) -> str:
        """A value as it would have been typed."""
        if value is None or (self.kind == "tick" and not value):
            return self.unknown
        if self.kind in {"tags", "lines"}:
            parts = [_line(one) for one in cast("list[Any]", value)]
            return ("\n" if self.kind == "lines" else ", ").join(parts)
        return str(value).lower() if isinstance(value, bool) else str(value)


def _line(one: Any) -> str:
    return str(cast("Mapping[str, Any]", one)["text"]) if isinstance(one, Mapping) else str(one)


FormTable = Mapping[str, FormField]
"""The fields of a form by name. A fault of a whole member stands at the last field of it."""


def read_fields(form: Mapping[str, str], table: FormTable) -> dict[str, Any]:
    """The members that the form states; an object of which nothing is stated is null."""
    found: dict[str, Any] = {}
    for name, field in table.items():
        *parts, last = field.path.split("/")
        place = found
        for part in parts:
            place = place.setdefault(part, {})
        place[last] = field.read(form.get(name, ""))
    return {name: _stated(value) for name, value in found.items()}


def _stated(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    inner = {name: _stated(one) for name, one in cast("dict[str, Any]", value).items()}
    if not any(one not in (None, "", []) for one in inner.values()):
        return None
    return [inner[_FIRST]] if _FIRST in inner else inner


def fill_fields(members: Mapping[str, Any], table: FormTable) -> dict[str, str]:
    """The form of these members; of a list of objects it shows the first."""
    return {name: field.text(_member(members, field.path)) for name, field in table.items()}


def _member(members: Mapping[str, Any], path: str) -> Any:
    value: Any = members
    for part in path.split("/"):
        if isinstance(value, list):
            value = next(iter(cast("list[Any]", value)), None)
        else:
            value = cast("Mapping[str, Any]", value).get(part) if isinstance(value, Mapping) else None
    return value


def field_faults(refusal: Refusal | None, table: FormTable) -> dict[str, str]:
    """The sentences of a refused form by field; one of no field stands under its member."""
    faults: dict[str, str] = {}
    for fault in refusal.errors if isinstance(refusal, ValidationFailed) else ():
        faults.setdefault(_field_of(fault.pointer.removeprefix("/"), table), fault.description)
    return faults


def _field_of(pointer: str, table: FormTable) -> str:
    exact = next((name for name, field in table.items() if field.path == pointer), None)
    if exact is not None:
        return exact
    member = pointer.partition("/")[0]
    return next((name for name in reversed([*table]) if table[name].path.partition("/")[0] == member), member)
