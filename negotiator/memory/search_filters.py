"""Filters over memories: `{"kind": "fact"}`, `{"trust": {"gte": 2}}`, `AND`, `OR`, `NOT`.

All members of a filter must hold. A member's value is the value the field must equal, or an object of operators: eq ne
in gt gte lt lte exists. `tags` holds when any tag does. Fields inside `attributes` are written `attributes.name`.
"""

from collections.abc import Callable, Mapping, Sequence
from operator import ge, gt, le, lt
from typing import Annotated, Any, Final, cast

from negotiator.base.errors import FieldError, ValidationFailed
from negotiator.base.schema import SchemaKeyword

FILTER_FIELDS: Final = (
    *("kind", "category", "counterparty", "negotiation_id", "tags", "trust", "status", "pinned"),
    *("created_at", "expires_at", "source.type", "source.client_id"),
)
_ORDERS: Final[dict[str, Callable[[Any, Any], bool]]] = {"gt": gt, "gte": ge, "lt": lt, "lte": le}
FILTER_OPERATORS: Final = ("eq", "ne", "in", *_ORDERS, "exists")
_MOST_VALUES: Final = 100
_DEEPEST: Final = 6
_MOST: Final = 50

_KEYS: Final = "|".join(("AND", "OR", "NOT", *FILTER_FIELDS)).replace(".", r"\.")

SearchFilters = Annotated[
    dict[str, Any],
    SchemaKeyword("propertyNames", {"pattern": rf"^(({_KEYS})$|attributes\.)"}),
    SchemaKeyword("maxProperties", _MOST),
]
"""Filters of a request; the schema lists the keys of the top level."""
MemoryPredicate = Callable[[Mapping[str, Any]], bool]


def compile_filters(filters: Mapping[str, Any]) -> MemoryPredicate:
    """The filter as a predicate over a memory's view; 422 with a JSON pointer when it is invalid."""
    return _all_of(filters, "/filters", [_MOST], _DEEPEST)


def _all_of(filters: Mapping[str, Any], pointer: str, budget: list[int], depth: int) -> MemoryPredicate:
    parts = [_part(name, value, f"{pointer}/{name}", budget, depth) for name, value in filters.items()]
    return lambda facts: all(part(facts) for part in parts)


def _part(name: str, value: Any, pointer: str, budget: list[int], depth: int) -> MemoryPredicate:
    budget[0] -= 1
    if budget[0] < 0 or depth == 0:
        raise _fault(pointer, f"A filter has at most {_MOST} conditions, {_DEEPEST} levels deep.")
    match name:
        case "AND" | "OR":
            if not isinstance(value, Sequence) or isinstance(value, str) or not value:
                raise _fault(pointer, "Takes a list of filters.")
            listed = cast(Sequence[Any], value)
            parts = [
                _all_of(_object(one, f"{pointer}/{place}"), f"{pointer}/{place}", budget, depth - 1)
                for place, one in enumerate(listed)
            ]
            if name == "AND":
                return lambda facts: all(part(facts) for part in parts)
            return lambda facts: any(part(facts) for part in parts)
        case "NOT":
            inner = _all_of(_object(value, pointer), pointer, budget, depth - 1)
            return lambda facts: not inner(facts)
        case _:
            return _field(name, value, pointer)


def _field(name: str, value: Any, pointer: str) -> MemoryPredicate:
    if name not in FILTER_FIELDS and not name.startswith("attributes."):
        raise _fault(pointer, f"There is no such field; there are {', '.join(FILTER_FIELDS)}, attributes.*")
    tests = cast(Mapping[str, Any], value) if isinstance(value, Mapping) else {"eq": value}
    checks: list[tuple[str, Any]] = []
    for operator, expected in tests.items():
        if operator not in FILTER_OPERATORS:
            raise _fault(f"{pointer}/{operator}", f"There are {', '.join(FILTER_OPERATORS)}.")
        if operator == "in" and not _is_short_list(expected):
            raise _fault(f"{pointer}/in", f"Takes a list of at most {_MOST_VALUES} values.")
        checks.append((operator, expected))
    path = name.split(".", 1)
    return lambda facts: all(_matches(_at(facts, path), *check) for check in checks)


def _at(facts: Mapping[str, Any], path: Sequence[str]) -> Any:
    found: Any = facts
    for step in path:
        found = cast(Mapping[str, Any], found).get(step) if isinstance(found, Mapping) else None
    return found


def _matches(found: Any, operator: str, expected: Any) -> bool:
    if operator == "exists":
        return (found is not None and found != []) is bool(expected)
    if operator == "ne":
        return not _matches(found, "eq", expected)
    if isinstance(found, list):
        return any(_matches(one, operator, expected) for one in cast(list[Any], found))
    if operator == "eq":
        both_numbers = _is_number(found) and _is_number(expected)
        return (type(found) is type(expected) or both_numbers) and found == expected
    if operator == "in":
        return any(_matches(found, "eq", one) for one in expected)
    return _ordered(found, operator, expected)


def _ordered(found: Any, operator: str, expected: Any) -> bool:
    both_text = isinstance(found, str) and isinstance(expected, str)
    return (both_text or (_is_number(found) and _is_number(expected))) and _ORDERS[operator](found, expected)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_short_list(value: Any) -> bool:
    return isinstance(value, list) and len(cast(list[Any], value)) <= _MOST_VALUES


def _object(value: Any, pointer: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _fault(pointer, "Takes a filter, an object.")
    return cast(Mapping[str, Any], value)


def _fault(pointer: str, description: str) -> ValidationFailed:
    return ValidationFailed([FieldError(pointer, description)])
