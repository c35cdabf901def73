"""Filters over memories: `{"kind": "fact"}`, `{"trust": {"gte": 2}}`, `AND`, `OR`, `NOT`.

A mapping is a conjunction. A field's value is what it must equal, or a mapping of operators: eq ne in gt gte lt lte
exists. `tags` holds when any tag does. Fields inside `attributes` are written `attributes.name`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final, cast

from negotiator.errors import FieldError, ValidationFailed
from negotiator.schema import SchemaKeyword

FILTER_FIELDS: Final = (
    "kind",
    "category",
    "counterparty",
    "negotiation_id",
    "tags",
    "trust",
    "status",
    "pinned",
    "created_at",
    "expires_at",
    "source.type",
    "source.client_id",
)
FILTER_OPERATORS: Final = ("eq", "ne", "in", "gt", "gte", "lt", "lte", "exists")
_MOST_VALUES: Final = 100
_DEEPEST: Final = 6
_MOST: Final = 50

_KEYS: Final = "|".join(("AND", "OR", "NOT", *FILTER_FIELDS)).replace(".", r"\.")

SearchFilters = Annotated[
    dict[str, Any],
    SchemaKeyword("propertyNames", {"pattern": rf"^(({_KEYS})$|attributes\.)"}),
    SchemaKeyword("maxProperties", _MOST),
]
"""Filters as they come; the schema says which keys the uppermost level has."""
MemoryPredicate = Callable[[Mapping[str, Any]], bool]


def compile_filters(filters: Mapping[str, Any]) -> MemoryPredicate:
    """The filter as a predicate over a memory's facts; 422 with a pointer for what it cannot be."""
    budget = [_MOST]
    return _all_of(filters, "/filters", budget, _DEEPEST)


def _all_of(
    filters: Mapping[str, Any], where: str, budget: list[int], depth: int
) -> MemoryPredicate:
    parts = [
        _part(name, value, f"{where}/{name}", budget, depth) for name, value in filters.items()
    ]
    return lambda facts: all(part(facts) for part in parts)


def _part(name: str, value: Any, where: str, budget: list[int], depth: int) -> MemoryPredicate:
    budget[0] -= 1
    if budget[0] < 0 or depth == 0:
        raise _fault(where, f"A filter has at most {_MOST} conditions, {_DEEPEST} levels deep.")
    match name:
        case "AND" | "OR":
            if not isinstance(value, Sequence) or isinstance(value, str) or not value:
                raise _fault(where, "Takes a list of filters.")
            listed = cast(Sequence[Any], value)
            parts = [
                _all_of(_object(one, f"{where}/{place}"), f"{where}/{place}", budget, depth - 1)
                for place, one in enumerate(listed)
            ]
            if name == "AND":
                return lambda facts: all(part(facts) for part in parts)
            return lambda facts: any(part(facts) for part in parts)
        case "NOT":
            inner = _all_of(_object(value, where), where, budget, depth - 1)
            return lambda facts: not inner(facts)
        case _:
            return _field(name, value, where)


def _field(name: str, value: Any, where: str) -> MemoryPredicate:
    if name not in FILTER_FIELDS and not name.startswith("attributes."):
        raise _fault(
            where, f"There is no such field; there are {', '.join(FILTER_FIELDS)}, attributes.*"
        )
    tests = cast(Mapping[str, Any], value) if isinstance(value, Mapping) else {"eq": value}
    checks: list[tuple[str, Any]] = []
    for operator, wanted in tests.items():
        if operator not in FILTER_OPERATORS:
            raise _fault(f"{where}/{operator}", f"There are {', '.join(FILTER_OPERATORS)}.")
        if operator == "in" and not _is_short_list(wanted):
            raise _fault(f"{where}/in", f"Takes a list of at most {_MOST_VALUES} values.")
        checks.append((operator, wanted))
    path = name.split(".", 1)
    return lambda facts: all(_holds(_at(facts, path), *check) for check in checks)


def _at(facts: Mapping[str, Any], path: Sequence[str]) -> Any:
    found: Any = facts
    for step in path:
        found = cast(Mapping[str, Any], found).get(step) if isinstance(found, Mapping) else None
    return found


def _holds(found: Any, operator: str, wanted: Any) -> bool:
    if operator == "exists":
        return (found is not None and found != []) is bool(wanted)
    if operator == "ne":
        return not _holds(found, "eq", wanted)
    if isinstance(found, list):
        return any(_holds(one, operator, wanted) for one in cast(list[Any], found))
    if operator == "eq":
        return (type(found) is type(wanted) and found == wanted) or _numbers_equal(found, wanted)
    if operator == "in":
        return any(_holds(found, "eq", one) for one in wanted)
    return _ordered(found, operator, wanted)


def _ordered(found: Any, operator: str, wanted: Any) -> bool:
    both_text = isinstance(found, str) and isinstance(wanted, str)
    if not both_text and not (_is_number(found) and _is_number(wanted)):
        return False
    match operator:
        case "gt":
            return found > wanted
        case "gte":
            return found >= wanted
        case "lt":
            return found < wanted
        case _:
            return found <= wanted


def _numbers_equal(found: Any, wanted: Any) -> bool:
    return _is_number(found) and _is_number(wanted) and found == wanted


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_short_list(value: Any) -> bool:
    return isinstance(value, list) and len(cast(list[Any], value)) <= _MOST_VALUES


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _fault(where, "Takes a filter, an object.")
    return cast(Mapping[str, Any], value)


def _fault(where: str, description: str) -> ValidationFailed:
    return ValidationFailed([FieldError(where, description)])
