"""What every shape is read into: a record, and what its source says of its state."""

from dataclasses import dataclass
from typing import Any, Literal

from negotiator.directory.record.tool import Record


@dataclass(frozen=True, slots=True)
class Incoming:
    """An entry of another catalogue. `wanted_slug` is taken when it is free; `message` belongs to the state."""

    record: Record
    wanted_slug: str = ""
    status: Literal["active", "deprecated", "deleted"] = "active"
    message: str = ""


class Unreadable(ValueError):
    """An entry that cannot be a tool; the text says why."""


def text(value: Any, limit: int) -> str | None:
    """A text cut to a limit at a word's end; None for anything else."""
    if not isinstance(value, str) or not (trimmed := " ".join(value.split())):
        return None
    if len(trimmed) <= limit:
        return trimmed
    return trimmed[: limit - 1].rsplit(" ", 1)[0] + "…"
