"""The judged queries of `queries.toml`, the entries they are asked over, and the gain of an answer."""

import tomllib
from math import log2
from pathlib import Path
from typing import Any, Final

import orjson

from negotiator.base import values
from negotiator.directory import exchange_import
from negotiator.directory.search.request import IndexEntry
from negotiator.directory.tool_record import ToolView

FILE: Final = Path(__file__).with_name("queries.toml")


QUERIES: Final[list[dict[str, Any]]] = tomllib.loads(FILE.read_text())["query"]
AT: Final = 1_800_000_000_000
GRADES: Final = {"perfect": 3, "good": 2, "related": 1}


def entries() -> list[IndexEntry]:
    """The content as the catalogue keeps it."""
    moment, made = values.timestamp(AT), list[IndexEntry]()
    for incoming in exchange_import.read_content():
        ours = {"id": values.new_id("tool"), "slug": incoming.wanted_slug, "revision": 1}
        times = {"status_changed_at": moment, "created_at": moment, "updated_at": moment}
        view = ToolView.model_validate({**incoming.record.model_dump(exclude={"id", "slug"}), **ours, **times})
        made.append(IndexEntry(view.id, orjson.loads(view.document()), 0, AT, AT))
    return made


ENTRIES: Final = entries()


def gain(grades: list[int]) -> float:
    """Discounted cumulative gain."""
    return sum((2**grade - 1) / log2(place + 2) for place, grade in enumerate(grades))
