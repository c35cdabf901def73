"""Results of the engines in their JSON form."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, cast

from negotiator.negotiations.terms.view import plain


def wire(value: object, currency: str | None = None) -> Any:
    """Dataclasses as objects, tuples as lists, decimals as strings; anything else as it is."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: wire(getattr(value, one.name), currency) for one in fields(value)}
    if isinstance(value, Mapping):
        members = cast(Mapping[str, object], value)
        return {name: wire(member, currency) for name, member in members.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [wire(member, currency) for member in cast(Sequence[object], value)]
    if isinstance(value, datetime):
        return value.isoformat()
    return plain(value, currency) if isinstance(value, Decimal | int) else value
