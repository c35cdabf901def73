"""Forms of pages and the members of operations: one table of fields fills a form, reads it and places faults; pure.

Numbers are read as the API reads them, but a point before three digits has one reading.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Literal, cast

from negotiator.numbers.read import normalise_text
from negotiator.terms.issues import WHOLE_TYPES, Issue, IssueType, Scalar
from negotiator.terms.short_forms import IssueForm, read_figure

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


def field_finder(table: FormTable) -> Callable[[str], str]:
    """Finds the field of the table that an API's pointer means; of no field it is the member that is named."""

    def field_of(pointer: str) -> str:
        path = pointer.removeprefix("/")
        exact = next((name for name, field in table.items() if field.path == path), None)
        if exact is not None:
            return exact
        member = path.partition("/")[0]
        return next((name for name in reversed([*table]) if table[name].path.partition("/")[0] == member), member)

    return field_of


LARGEST_ENTERED: Final = Decimal(10) ** 15


def read_entered(text: str, kind: IssueType, *, label: str = "", unit: str = "", currency: str = "") -> Decimal:
    """The number in the text; ValueError with a sentence for the user where there is not exactly one.

    A point before three digits parts thousands in an amount of money and in a whole number: `1.250` is 1,250. On a
    number or a percentage it is a decimal point.
    """
    point = "thousands" if kind == "money" or kind in WHOLE_TYPES else "decimal"
    is_folded = any(mark.isnumeric() and not mark.isdecimal() for mark in text)  # `2½` would become `21⁄2`
    try:
        value = read_figure(
            IssueForm(label, kind, unit), text if is_folded else normalise_text(text), currency or None, point
        )
    except ValueError as fault:
        raise ValueError(f"{fault}.".replace("Must be", "Write", 1)) from None
    if abs(value) > LARGEST_ENTERED:
        raise ValueError("This number is too large.")
    if kind in WHOLE_TYPES and value != value.to_integral_value():
        raise ValueError("Write a whole number.")
    return value


def read_entered_value(text: str, issue: Issue, currency: str | None) -> Scalar:
    """The value of the issue that the text or the choice of a field says, as JSON carries it: money as text."""
    if issue.type == "boolean":
        return text == "true"
    if issue.type == "enum" or issue.options:
        return next((option.value for option in issue.options if str(option.value) == text), text)
    if issue.type == "date":
        return text
    label, unit = issue.label or issue.name, issue.unit or ""
    number = read_entered(text, issue.type, label=label, unit=unit, currency=currency or "")
    return str(number) if issue.type == "money" else float(number) if number % 1 else int(number)
