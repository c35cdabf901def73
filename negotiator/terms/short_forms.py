"""Short forms of a negotiation's members, made into the long ones before anything checks them (docs/contract 6.11).

`"issues": ["price"]`, `"target": 45`, `"batna": "€49"`, `"their_estimate": 52` and values such as `12 months` become
the members that the schemas describe. HTTP and MCP take them alike, and every answer shows what they were taken for.
What has two readings is refused with both. Numbers, amounts and days are read by `written_values`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import Any, Final, cast

import orjson

from negotiator.base.errors import FieldError
from negotiator.base.values import MINOR_UNITS
from negotiator.numbers.read import CURRENCY_WORDS
from negotiator.numbers.written import (
    PERIODS,
    SCALES,
    AmountReader,
    Point,
    decimal_text,
    is_machine_number,
    read_amount,
    read_currency,
    read_day,
    read_number,
    read_percentage,
    read_with_unit,
)
from negotiator.terms.issues import ISSUE_TYPES, Issue, IssueType, Package, Scalar
from negotiator.terms.plain_text import singular, word_set
from negotiator.terms.terms import Terms
from negotiator.terms.unit_price import read_unit_price
from negotiator.terms.utility import escape_pointer

SPREAD: Final = Decimal("0.1")
"""How far low and high lie from the one figure that is given of an estimate, as a share of it."""
_LARGEST: Final = Decimal(10) ** 16
SPREAD_WORDS: Final = "One figure was given; low and high are taken as 10 % below and above it."
_WORTH: Final = frozenset(["package", "utility", "override_reason", "amount"])
_BATNA: Final = frozenset(["description", "value", "probability", "cost", "available_until", "override_reason"])
_ENDS: Final = frozenset(["low", "likely", "high", "unit"])
_ESTIMATE: Final = frozenset(["walk_away", "target", "batna", "deadline", "priorities", "confidence", "source"])
_NAME_WORD: Final = re.compile(r"[a-z]+|%")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_TWO_FIGURES: Final = re.compile(r"\s*([0-9][0-9.,]*)\s*(?:-|–|to)\s*([0-9][0-9.,]*)\s*")
_TRUTHS: Final = {"yes": True, "true": True, "no": False, "false": False}
_TIMES: Final = ({"day": 1, "week": 7, "fortnight": 14}, {"month": 1, "quarter": 3, "year": 12})
"""Units of time of which one is a whole number of the other, always."""
_TYPES_BY_WORD: Final[Sequence[tuple[IssueType, frozenset[str]]]] = (
    ("percent", word_set("% percent percentage discount margin cap uplift increase commission")),
    ("date", word_set("date deadline")),
    ("integer", word_set("term months weeks years hours quantity seats users licences licenses units volume")),
    ("money", word_set("price cost costs salary fee fees rate budget rent wage pay bonus deposit amount total fare")),
)
"""What kind of value an issue has whose name is all that is known of it, by a word of the name; the first that fits."""
_PERIODS: Final = frozenset(["months", "weeks", "years", "hours", "days"])


def issue_from_name(name: str) -> dict[str, Any]:
    """An issue of which only the name is known: its type by a word of the name; `ValueError` where no word tells."""
    words = _NAME_WORD.findall(_HUMP.sub(" ", name[:200]).lower())
    if "days" in words:
        waits = {"payment", "notice", "delivery", "lead", "delay"} & {*words}
        return {"name": name, "type": "duration_days"} if waits else {"name": name, "type": "integer", "unit": "days"}
    for kind, known in _TYPES_BY_WORD:
        if not known.isdisjoint(words):
            unit = next((word for word in words if word in _PERIODS), None)
            return {"name": name, "type": kind} | ({"unit": unit} if unit and kind == "integer" else {})
    raise ValueError(
        "The name alone does not say what kind of value it has: send an object, such as "
        '{"name": "support", "type": "enum", "options": ["basic", "premium"]}'
    )


def range_from_list(value: Any) -> Any:
    """`[38, 65]` as an object with min and max; anything else as it is."""
    if not isinstance(value, list) or len(cast("list[Any]", value)) != 2:
        return cast("Any", value)
    low, high = cast("list[Any]", value)
    return {"min": low, "max": high}


@dataclass(slots=True)
class IssueForm:
    """What decides how a value of an issue is read. A unit that is said first is the issue's, where that is None."""

    name: str
    type: str
    unit: str | None = None
    options: tuple[Any, ...] = ()
    label: str | None = None

    @property
    def per(self) -> tuple[str, ...]:
        """What a price is for, as nouns: month, seat."""
        said = (self.label or self.name)[:200].translate({ord(mark): " " for mark in "()_"})
        return read_unit_price(" ".join(said.split()), self.unit).per


class ShortFormReader:
    """Reads the short forms of one body, whose issues have these forms."""

    def __init__(self, issues: Sequence[IssueForm], currency: str | None = None) -> None:
        self.issues = issues
        self.amounts = AmountReader(currency)
        self.errors = self.amounts.errors

    def refuse(self, pointer: str, text: str) -> None:
        """Add an error."""
        self.errors.append(FieldError(pointer, text))

    @property
    def currency(self) -> str | None:
        """The currency that was said."""
        return self.amounts.currency

    def amount(self, value: Any, pointer: str, form: IssueForm | None = None) -> Any:
        """An amount of money, of this issue or of the price, as a decimal string; anything else than a text stays."""
        of = form or self._single()
        return self.amounts.read(value, pointer, of.per if of is not None and of.type == "money" else ())

    def value(self, form: IssueForm, value: Any, pointer: str) -> Any:
        """A value of an issue; a text is read by the issue's type, anything else stays."""
        if not isinstance(value, str):
            return value
        if form.type == "money":
            return self.amount(value, pointer, form)
        try:
            return _read_value(form, value)
        except ValueError as fault:
            return self._refuse(value, pointer, fault)

    def package(self, value: Any, pointer: str) -> Any:
        """A package; one value alone is that of the only issue, or of the only money issue."""
        value = _parsed(value)
        if isinstance(value, Mapping):
            given = cast("Mapping[str, Any]", value)
            forms = {form.name: form for form in self.issues}
            return {
                name: self.value(forms[name], one, f"{pointer}/{escape_pointer(name)}") if name in forms else one
                for name, one in given.items()
            }
        if value is None or _is_list(value):
            return value
        form = self._single()
        if form is None:
            names = ", ".join(form.name for form in self.issues)
            text = f"Say of which issue this is the value: there are {names}." if names else "There is no issue."
            self.refuse(pointer, text)
            return value
        return {form.name: self.value(form, value, pointer)}

    def worth(self, value: Any, pointer: str) -> Any:
        """A target, walk-away or alternative as a package or a utility."""
        value = _parsed(value)
        if isinstance(value, Mapping):
            members = dict(cast("Mapping[str, Any]", value))
            named = self._named(members, _WORTH)
            if named and not {"package", "utility", "amount"} & members.keys():
                members = {**_without(members, named), "package": named}
                return {**members, "package": self.package(named, pointer)}
            if "package" in members:
                members["package"] = self.package(members["package"], f"{pointer}/package")
            if "amount" in members:
                members["amount"] = self.amount(members["amount"], f"{pointer}/amount")
            return members
        if value is None or _is_list(value) or not self.issues:
            return value
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
            return self._utility_or_value(value, pointer)
        return {"package": self.package(value, pointer)}

    def alternative(self, value: Any, pointer: str) -> Any:
        """The best alternative: a value, a description, or an object."""
        if isinstance(value, str):
            known = set(_LETTERS.findall(value.lower())) - CURRENCY_WORDS.keys()
            if any(word.upper() not in MINOR_UNITS and word not in SCALES for word in known):
                return {"description": value}
            return {"value": self.worth(value, pointer)} if self.issues else value
        if not isinstance(value, Mapping):
            return value if value is None or _is_list(value) else {"value": self.worth(value, pointer)}
        members = dict(cast("Mapping[str, Any]", value))
        named = self._named(members, _BATNA) or {
            name: members[name] for name in ("package", "utility") if name in members
        }
        if named and "value" not in members:
            members = {**_without(members, named), "value": self.worth(named, pointer)}
        elif "value" in members:
            members["value"] = self.worth(members["value"], f"{pointer}/value")
        if "cost" in members:
            members["cost"] = self.amount(members["cost"], f"{pointer}/cost")
        return members

    def estimate(self, value: Any, pointer: str) -> Any:
        """What is believed of the other side; one figure is their likely walk-away."""
        if value is None or _is_list(value) or isinstance(value, bool):
            return value
        members: dict[str, Any]
        if not isinstance(value, Mapping):
            members = {"walk_away": value}
        else:
            members = dict(cast("Mapping[str, Any]", value))
            if members and members.keys() <= _ENDS:
                members = {"walk_away": members}
            elif len(named := self._named(members, _ESTIMATE)) == 1 and "walk_away" not in members:
                ((name, figure),) = named.items()
                form = self._single()
                if form is not None and form.name == name:
                    members = {**_without(members, named), "walk_away": figure}
        for name in ("target", "batna"):
            if name in members:
                members[name] = self.worth(members[name], f"{pointer}/{name}")
        if members.get("walk_away") is not None:
            at = f"{pointer}/walk_away" if isinstance(value, Mapping) else pointer
            ends, spread = self._ends(members["walk_away"], at)
            members["walk_away"] = ends
            if spread and members.get("source") is None:
                members["source"] = SPREAD_WORDS
        return members

    def _ends(self, value: Any, pointer: str) -> tuple[Any, bool]:
        """Low, likely and high, and whether low and high were taken from likely."""
        form = self._single()
        if isinstance(value, Mapping) and form is not None:
            worth = cast("Mapping[str, Any]", value)
            inner: Any = worth.get("package", worth)
            if isinstance(inner, Mapping) and [*cast("Mapping[str, Any]", inner)] == [form.name]:
                value = cast("Any", inner[form.name])
        if _is_list(value) or isinstance(value, bool):
            return cast("Any", value), False
        if isinstance(value, str) and (two := _TWO_FIGURES.fullmatch(value)):
            value = {"low": two[1], "high": two[2]}
        ends: dict[str, Any] = (
            dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else {"likely": value}
        )
        for name in ("low", "likely", "high"):
            if name in ends:
                ends[name] = self.amount(ends[name], f"{pointer}/{name}" if isinstance(value, Mapping) else pointer)
        low, likely, high = (_decimal(ends.get(name)) for name in ("low", "likely", "high"))
        if likely is None and low is not None and high is not None and "likely" not in ends:
            return {**ends, "likely": decimal_text((low + high) / 2)}, False
        if likely is None or "low" in ends or "high" in ends:
            return ends, False
        if 0 <= likely <= 1:
            text = "Could be money or a utility from 0 to 1: send low, likely, high and unit."
            self.refuse(pointer, text)
            return ends, False
        spread = abs(likely) * SPREAD
        return {**ends, "low": _rounded(likely - spread), "high": _rounded(likely + spread)}, True

    def _utility_or_value(self, value: float, pointer: str) -> Any:
        form = self._single()
        if form is None:
            return {"utility": value}
        text = (
            f"Could be a value of {form.name} or a utility from 0 to 1: send "
            f'{{"package": {{"{form.name}": {value}}}}} or {{"utility": {value}}}.'
        )
        self.refuse(pointer, text)
        return value

    def _single(self) -> IssueForm | None:
        """The issue that a value alone belongs to."""
        if len(self.issues) == 1:
            return self.issues[0]
        prices = [form for form in self.issues if form.type == "money"]
        return prices[0] if len(prices) == 1 else None

    def _named(self, members: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
        """The members that are issues and no known member."""
        names = {form.name for form in self.issues}.difference(known)
        return {name: value for name, value in members.items() if name in names}

    def _refuse(self, value: Any, pointer: str, fault: ValueError) -> Any:
        self.refuse(pointer, f"{fault}.")
        return value


def expand_body(sent: Any) -> tuple[Any, list[FieldError]]:
    """A negotiation's body in long form, and what could not be read; what is no short form stays as it is."""
    if not isinstance(sent, Mapping):
        return sent, []
    body = dict(cast("Mapping[str, Any]", sent))
    rows = body.get("issues")
    if not isinstance(rows, list):
        return body, []
    reader = ShortFormReader([], _currency_of(body))
    issues = [_issue(row, f"/issues/{n}", reader) for n, row in enumerate(cast("list[Any]", rows))]
    forms = [_form(row) for row in issues]
    reader.issues = [form for form in forms if form is not None]
    issues = [
        _read_issue(row, form, reader, f"/issues/{n}") for n, (row, form) in enumerate(zip(issues, forms, strict=True))
    ]
    _expand_members(body, reader)
    units = {form.name: form.unit for form in reader.issues if form.unit}
    body["issues"] = [_with_unit(row, units) for row in issues]
    priced = any(form.type == "money" for form in reader.issues)
    if body.get("currency") is None and reader.currency and priced:
        body["currency"] = reader.currency
    return body, reader.errors


def expand_patch(request: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """A merge patch of a stored request with its short forms as the objects that they stand for.

    `"target": 45` then changes the price of a target and leaves its other values. What cannot be read stays, and is
    refused with the merged body.
    """
    rows: Any = patch.get("issues", request.get("issues"))
    if not isinstance(rows, list):
        return dict(patch)
    currency = patch.get("currency") or request.get("currency")
    reader = ShortFormReader([], currency if isinstance(currency, str) else None)
    issues = [_issue(row, f"/issues/{n}", reader) for n, row in enumerate(cast("list[Any]", rows))]
    reader.issues = [form for row in issues if (form := _form(row)) is not None]
    reader.errors.clear()
    changed = dict(patch)
    for name, read in _MEMBERS.items():
        if changed.get(name) is None:
            continue
        found = read(reader, changed[name], f"/{name}")
        if not reader.errors:
            changed[name] = _replacing(changed[name], found, request.get(name))
        reader.errors.clear()
    return changed


_MEMBERS: Final = {
    "target": ShortFormReader.worth,
    "walk_away": ShortFormReader.worth,
    "batna": ShortFormReader.alternative,
    "their_estimate": ShortFormReader.estimate,
}


def _replacing(sent: Any, found: Any, before: Any) -> Any:
    """The change with null for a utility that a package replaces."""
    if not isinstance(sent, Mapping) and isinstance(found, dict) and isinstance(before, Mapping):
        worth = cast("dict[str, Any]", found)
        if "package" in worth and "utility" in before:
            return {**worth, "utility": None}
    return cast("Any", found)


def read_package(terms: Terms, sent: Any, pointer: str = "/package") -> tuple[Package, list[FieldError]]:
    """A package of a stored negotiation, whose values or whole may be in short form, and what could not be read."""
    forms = [issue_form(issue) for issue in terms.issues]
    reader = ShortFormReader(forms, terms.currency)
    found = reader.package(sent, pointer)
    return (cast("Package", found) if isinstance(found, Mapping) else {}), reader.errors


def issue_form(issue: Issue) -> IssueForm:
    """How values of a parsed issue are read."""
    options = tuple(option.value for option in issue.options)
    return IssueForm(issue.name, issue.type, issue.unit, options, issue.label)


def _issue(row: Any, pointer: str, reader: ShortFormReader) -> Any:
    if isinstance(row, str) and row.strip():
        try:
            return issue_from_name(row)
        except ValueError as fault:
            reader.refuse(pointer, f"{fault}.")
            return row
    if not isinstance(row, Mapping):
        return row
    members = dict(cast("Mapping[str, Any]", row))
    if "range" in members:
        members["range"] = range_from_list(members["range"])
    if members.get("type") is None and (listed := _listed(members)):
        return {**_named_kind(members.get("name"), listed), **members}
    return members


def _named_kind(name: Any, listed: Sequence[Any]) -> dict[str, Any]:
    """The type of an issue that lists its values: an enum where one is a word, else as the name says."""
    if any(_is_plain_word(one) for one in listed):
        return {"type": "enum"}
    with suppress(ValueError):
        return issue_from_name(name) if isinstance(name, str) else {}
    return {}


def _is_plain_word(value: Any) -> bool:
    return isinstance(value, str) and not any(char.isnumeric() for char in value)


def _listed(members: Mapping[str, Any]) -> list[Any]:
    """The values of an issue's options."""
    listed: Any = members.get("options")
    return [
        cast("Mapping[str, Any]", option).get("value") if isinstance(option, Mapping) else option
        for option in (cast("list[Any]", listed) if isinstance(listed, list) else ())
    ]


def _form(row: Any) -> IssueForm | None:
    if not isinstance(row, Mapping):
        return None
    members = cast("Mapping[str, Any]", row)
    name, kind, unit = members.get("name"), members.get("type", "money"), members.get("unit")
    if not isinstance(name, str) or kind not in ISSUE_TYPES:
        return None
    unit, label = (text if isinstance(text, str) else None for text in (unit, members.get("label")))
    return IssueForm(name, kind, unit, tuple(_listed(members)), label)


def _read_issue(row: Any, form: IssueForm | None, reader: ShortFormReader, pointer: str) -> Any:
    """An issue with its own values in long form."""
    if form is None:
        return row
    members: dict[str, Any] = dict(row)
    whole = isinstance(members.get("range"), Mapping)
    if whole:
        ends = dict(cast("Mapping[str, Any]", members["range"]))
        for name in ("min", "max"):
            if name in ends:
                ends[name] = reader.value(form, ends[name], f"{pointer}/range/{name}")
        if form.type != "date" and "step" in ends:
            ends["step"] = reader.value(form, ends["step"], f"{pointer}/range/step")
        members["range"] = ends
    if members.get("limit") is not None:
        members["limit"] = reader.value(form, members["limit"], f"{pointer}/limit")
    if form.type not in {"enum", "boolean"} and isinstance(members.get("options"), list):
        members["options"] = [
            _read_option(option, form, reader, f"{pointer}/options/{n}")
            for n, option in enumerate(cast("list[Any]", members["options"]))
        ]
    return members


def _with_unit(row: Any, units: Mapping[str, str]) -> Any:
    """The issue with the unit that was said of its values, where it has none of its own."""
    if not isinstance(row, Mapping):
        return row
    members = dict(cast("Mapping[str, Any]", row))
    name = members.get("name")
    if isinstance(name, str) and name in units and members.get("unit") is None:
        members["unit"] = units[name]
    return members


def _read_option(option: Any, form: IssueForm, reader: ShortFormReader, pointer: str) -> Any:
    if not isinstance(option, Mapping):
        return reader.value(form, option, pointer)
    members = dict(cast("Mapping[str, Any]", option))
    if "value" in members:
        members["value"] = reader.value(form, members["value"], f"{pointer}/value")
    return members


def _expand_members(body: dict[str, Any], reader: ShortFormReader) -> None:
    for name, read in _MEMBERS.items():
        if body.get(name) is not None:
            body[name] = read(reader, body[name], f"/{name}")
    forms = {form.name: form for form in reader.issues}
    for name in ("constraints", "allow", "arguments", "offers"):
        rows = body.get(name)
        if isinstance(rows, list):
            body[name] = [
                _expand_row(row, forms, reader, f"/{name}/{n}") for n, row in enumerate(cast("list[Any]", rows))
            ]
    if isinstance(body.get("baseline"), str | int | float) and not isinstance(body["baseline"], bool):
        body["baseline"] = {"value": body["baseline"]}
    for name, amounts in (("baseline", ("value",)), ("authority", ("needs_approval_above",))):
        part = body.get(name)
        if isinstance(part, Mapping):
            members = dict(cast("Mapping[str, Any]", part))
            for one in amounts:
                if one in members:
                    members[one] = reader.amount(members[one], f"/{name}/{one}")
            limit: Any = members.get("limit")
            if isinstance(limit, str):
                members["limit"] = reader.amount(limit, f"/{name}/limit")
            elif isinstance(limit, Mapping):
                members["limit"] = reader.worth(limit, f"/{name}/limit")
            body[name] = members


def _expand_row(row: Any, forms: Mapping[str, IssueForm], reader: ShortFormReader, pointer: str) -> Any:
    """A constraint, an allowed trade, a fact that speaks for the user, or an offer."""
    if not isinstance(row, Mapping):
        return row
    members = dict(cast("Mapping[str, Any]", row))
    if "worth" in members:
        members["worth"] = reader.amount(members["worth"], f"{pointer}/worth")
    form = forms.get(members["issue"]) if isinstance(members.get("issue"), str) else None
    if form is not None:
        for name in ("value", "to"):
            value = members.get(name)
            if _is_list(value):
                members[name] = [
                    reader.value(form, one, f"{pointer}/{name}/{n}") for n, one in enumerate(cast("list[Any]", value))
                ]
            elif value is not None:
                members[name] = reader.value(form, value, f"{pointer}/{name}")
    for name in ("in_return", "package"):
        if members.get(name) is not None and reader.issues:
            members[name] = reader.package(members[name], f"{pointer}/{name}")
    return members


def _currency_of(body: dict[str, Any]) -> str | None:
    """The currency of the body, with its member as a code where it was written another way."""
    sent = body.get("currency")
    if not isinstance(sent, str):
        return None
    if sent in MINOR_UNITS:
        return sent
    try:
        body["currency"] = read_currency(sent)
    except ValueError:
        return None
    return body["currency"]


def _read_value(form: IssueForm, text: str) -> Scalar:
    plain = " ".join(text.split())
    if form.type == "enum" or (form.options and text in form.options):
        same = [one for one in form.options if isinstance(one, str) and one.casefold() == plain.casefold()]
        return same[0] if text not in form.options and len(same) == 1 else text
    if form.type == "boolean":
        return _TRUTHS.get(plain.casefold(), text)
    if form.type == "date":
        return text if _ISO_DAY.fullmatch(text) else read_day(text)
    return text if _stays(text) else decimal_text(read_figure(form, text))


_ISO_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _stays(text: str) -> bool:
    """Whether a text is a number as programs write it; `ValueError` where it has two readings."""
    if is_machine_number(text):
        read_number(text)
        return True
    return False


def read_figure(form: IssueForm, text: str, currency: str | None = None, point: Point | None = None) -> Decimal:
    """A number of an issue: an amount of money, a percentage or a count in the issue's unit; a duration is in days."""
    if form.type == "money":
        return read_amount(text, currency, per=form.per, point=point).value
    if form.type == "percent":
        return read_percentage(text, point)
    counted = "days" if form.type == "duration_days" else form.unit
    units = _LETTERS.findall((counted or form.label or form.name).lower())
    known = [singular(word) for word in units]
    value, said = read_with_unit(text, units, point)
    noun = singular(said)
    unit = noun if noun in known else PERIODS.get(said, noun)
    if unit and counted is None:
        form.unit = said
        return value
    if not unit or unit in known:
        return value
    for times in _TIMES:
        for one in known:
            if one in times and unit in times:
                found = Fraction(value) * times[unit] / times[one]
                if found.denominator == 1:
                    return Decimal(found.numerator)
    if not counted:
        raise ValueError(f"Must be one number, without “{said[:20]}”")
    raise ValueError(f"Is counted in {counted}, and this says {said[:20]}: write the {counted}")


def _parsed(value: Any) -> Any:
    """The object that a text holds as JSON; anything else as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value
    try:
        found = orjson.loads(value)
    except orjson.JSONDecodeError:
        return value
    return found if isinstance(found, dict) else value  # pyright: ignore[reportUnknownVariableType]


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _rounded(value: Decimal) -> str:
    return f"{value.quantize(Decimal('0.01'), rounding=ROUND_HALF_EVEN):f}"


def _decimal(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        return None
    text = str(value)
    number = Decimal(text) if is_machine_number(text) else None
    return None if number is None or abs(number) >= _LARGEST else number


def _without(members: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    out = {*names}
    return {name: value for name, value in members.items() if name not in out}
