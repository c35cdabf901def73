"""A plan as a page of Markdown to print: two pages at most, in words, with the sources as notes at the end.

Text that comes from users is escaped, so it has no formatting, links or HTML.
"""

import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any, Final, cast

from jinja2 import Template

from negotiator.advice.words.sentences import sentence_templates
from negotiator.base.values import day_text
from negotiator.terms.plain_text import cut_at_word

MAX_LINES: Final = 110
MAX_COLUMNS: Final = 100
MAX_TABLE_ROWS: Final = 12
MAX_STEP_COLUMNS: Final = 5
_STEP_LABEL_COLUMNS: Final = 33
_LABEL_COLUMNS: Final = 38
_VALUE_COLUMNS: Final = 17
_SPECIAL: Final = re.compile(r"[\\`*\[\]<|~]|(?<=\])\(|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w{1,31};)")
_OPENS_A_BLOCK: Final = re.compile(r" (?=(?:[-+#>=:]+|\d{1,9}[.)])(?: |$))")
_GLUE: Final = "\ue000"
_MARKS: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_SOURCES: Final = {
    "session:/their_estimate/walk_away": "Your estimate of how far they can go",
    "session:/baseline/value": "The figure that you compare with",
    "benchmark": "Figures from comparable deals",
    "memory": "Your own note from an earlier talk",
    "session": "What you entered for this negotiation",
}
"""What a source is called in a note: by all of it, or by its kind."""
_DAY: Final = re.compile(r"\d{1,2} [A-Z][a-z]+ \d{4}")
_OWN_LIMITS: Final = frozenset({"no worse than", "utility >="})
"""Red lines that the table shows."""
_INDENTED: Final = re.compile(r"(?:- |> |\d+\. )?")


@dataclass(frozen=True, slots=True)
class PageSize:
    """How many rows of each list the page prints, and which additions."""

    interests: int = 4
    standards: int = 4
    objections: int = 6
    questions: int = 6
    open_points: int = 4
    steps: int = 8
    packages: int = 3
    has_how: bool = True
    has_reveals: bool = True
    has_fallbacks: bool = True
    has_step_table: bool = True
    has_closing_words: bool = True


REDUCTIONS: Final[tuple[dict[str, Any], ...]] = (
    {"questions": 5, "open_points": 3},
    {"has_fallbacks": False},
    {"interests": 3},
    {"has_how": False},
    {"objections": 5},
    {"has_reveals": False},
    {"standards": 3, "has_closing_words": False},
    {"objections": 4},
    {"questions": 4},
    {"has_step_table": False},
    {"interests": 2},
    {"open_points": 2, "standards": 2},
    {"questions": 3},
    {"interests": 1, "open_points": 1},
    {"objections": 3},
    {"packages": 0, "steps": 5},
    {"objections": 2, "questions": 2, "standards": 1},
    {"steps": 3},
)
"""What is left out of a page that has more than 110 lines, one after the other until it fits."""


def plan_markdown(view: Mapping[str, Any]) -> str:
    """The page of a plan's JSON view: at most 110 lines of at most 100 characters for a plan of ordinary size."""
    size = PageSize()
    page = _page(view, size)
    for less in REDUCTIONS:
        if len(page) <= MAX_LINES:
            break
        size = replace(size, **less)
        page = _page(view, size)
    return "\n".join(page) + "\n"


def escape_markdown(value: object) -> str:
    """A text as one line, with the characters escaped that would start formatting, a link or HTML."""
    return _SPECIAL.sub(r"\\\g<0>", " ".join(str(value).split()))


@cache
def _template() -> Template:
    templates = sentence_templates().overlay(trim_blocks=True, lstrip_blocks=True)
    filters = cast("dict[str, Any]", templates.filters)
    filters.update(cut_at_word=cut_at_word, fitting=_fitting, lower_first=_lower_first, plain=escape_markdown)
    return templates.get_template("battle_plan.jinja")


def _page(view: Mapping[str, Any], size: PageSize) -> list[str]:
    """The lines of the page; plans that were stored before there was a forecast have none."""
    notes: list[str] = []
    offer = view["opening_offer"]
    page = _template().render(
        {
            "expected": None,
            **view,
            "size": size,
            "day": day_text(datetime.fromisoformat(str(view["created_at"]))),
            "rules": [row["words"].rstrip(".") for row in view["red_lines"] if row["op"] not in _OWN_LIMITS],
            "grounds": [_ground(row, notes) for row in offer["justification"]] if offer is not None else [],
            "notes": [f"{_mark(place)} {text}" for place, text in enumerate(notes)],
            "COLUMNS": MAX_COLUMNS,
            "ROWS": MAX_TABLE_ROWS,
            "STEPS": MAX_STEP_COLUMNS,
            "LABEL": _LABEL_COLUMNS,
            "STEP_LABEL": _STEP_LABEL_COLUMNS,
            "VALUE": _VALUE_COLUMNS,
        }
    )
    title, *rest = page.strip("\n").split("\n")
    return [*_wrapped(title)[:1], *(line for one in rest for line in _wrapped(one))]


def _wrapped(line: str) -> list[str]:
    """A line in lines of at most 100 characters; none after the first begins like a list or a heading."""
    if not line or line.startswith(("|", "## ")):
        return [line]
    found = _INDENTED.match(line)
    indent = found.group() if found else ""
    lines = textwrap.wrap(
        _OPENS_A_BLOCK.sub(_GLUE, line.removeprefix(indent)),
        MAX_COLUMNS,
        initial_indent=indent,
        subsequent_indent=indent if indent == "> " else " " * len(indent),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [one.replace(_GLUE, " ") for one in lines]


def _ground(row: Mapping[str, Any], notes: list[str]) -> str:
    """A ground of the opening with the mark of its source, which is added to the notes."""
    source = row.get("source") or row.get("figure", {}).get("source") or ""
    note = _SOURCES.get(source) or _SOURCES.get(source.partition(":")[0])
    if note is None:
        return escape_markdown(row["text"])
    if note not in notes:
        notes.append(note)
    return escape_markdown(row["text"]) + _mark(notes.index(note))


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _mark(place: int) -> str:
    return "".join(_MARKS[int(digit)] for digit in str(place + 1))


def _fitting(cells: Iterable[str], width: int) -> list[str]:
    """The cells of a row, each at most so wide; days of one year lose it all together or not at all."""
    shown = [*cells]
    years = {one.rsplit(" ", 1)[-1] for one in shown if _DAY.fullmatch(one)}
    if len(years) == 1 and all(map(_DAY.fullmatch, shown)) and max(map(len, shown)) > width:
        shown = [one.rsplit(" ", 1)[0] for one in shown]
    return [cut_at_word(one, width) for one in shown]
