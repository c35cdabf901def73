"""A plan as Markdown. Text that comes from users is escaped, so it has no formatting, links or HTML."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

MarkdownSection = tuple[str, list[str]]

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&-])")


def plan_markdown(view: Mapping[str, Any]) -> str:
    """The Markdown of a plan's JSON view."""
    state = "stale: the negotiation has moved on" if view["stale"] else "current"
    parts = [
        "# Battle plan",
        f"Version {view['version']}, made from revision {view['made_from_revision']}, "
        f"{view['created_at']} ({state}). Private.",
        escape_markdown(view["summary"]["text"]),
        *(_section(title, lines) for title, lines in (*_figures(view), *_words(view))),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _figures(view: Mapping[str, Any]) -> Iterator[MarkdownSection]:
    """The sections that are mostly numbers."""
    yield "Assumptions", _lines(view["summary"]["assumptions"])
    yield "Objectives", _lines(view["objectives"], "objective", "measure")
    yield "Room for a deal", _zopa(view["zopa"])
    yield "Leverage", _leverage(view["leverage"])
    yield "Opening offer", _opening(view["opening_offer"])
    yield "Target", _limit(view["target"])
    yield "Floor (never said)", _limit(view["floor"])
    yield "Concessions", [_concession(row) for row in view["concession_schedule"]]
    yield "Trades", _lines(view["trades"], "why", "say")
    yield "Red lines", [_red(row) for row in view["red_lines"]]


def _words(view: Mapping[str, Any]) -> Iterator[MarkdownSection]:
    """The sections that are mostly words."""
    yield "Questions", _lines(view["questions"], "question", "reveals")
    yield "Tactics", _lines(view["tactics"], "name", "why", "when", "line")
    yield "Objections", _lines(view["objections"], "objection", "reply", "fallback")
    yield "What they may try", [_theirs(row) for row in view["their_tactics"]]
    yield "Approvals", _lines(view["approvals"], "what", "approver")
    yield "Not known yet", _lines(view["information_gaps"], "missing", "ask")
    yield "Alternatives", _lines(view["alternatives"], "name", "why", "link", "source")
    yield (
        "Script",
        [f"{name.capitalize()}: {escape_markdown(text)}" for name, text in view["script"].items()],
    )
    yield "To leave", [escape_markdown(view["walk_away_script"])]
    yield "If, then", _lines(view["branches"], "if", "then")
    yield "Next", _lines(view["next_actions"], "action")
    sources = view["sources"].items()
    yield (
        "Where the numbers come from",
        [f"{escape_markdown(rule)}: {escape_markdown(text)}" for rule, text in sources],
    )


def _lines(rows: Iterable[Any], *members: str) -> list[str]:
    """One line per row with the named members that it has; without names the rows are texts."""
    if not members:
        return [escape_markdown(row) for row in rows]
    return [
        " · ".join(escape_markdown(row[name]) for name in members if row.get(name)) for row in rows
    ]


def escape_markdown(value: object) -> str:
    """A text as one line, with every character that is special in Markdown or HTML escaped."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(value).split()))


def _section(title: str, lines: Iterable[str]) -> str:
    rows = [f"- {line}" for line in lines if line]
    return "\n".join([f"## {title}", "", *rows]) if rows else ""


def _figure(one: Mapping[str, Any] | None) -> str:
    return (
        "unknown"
        if one is None
        else f"{escape_markdown(one['value'])} [{escape_markdown(one['source'])}]"
    )


def _package(package: Mapping[str, Any]) -> str:
    return ", ".join(f"{escape_markdown(name)} {_figure(one)}" for name, one in package.items())


def _zopa(zopa: Mapping[str, Any]) -> list[str]:
    if zopa["probability"] is None:
        return [escape_markdown(zopa["method"])]
    ends = f"from {_figure(zopa['low'])} to {_figure(zopa['high'])} ({escape_markdown(zopa.get('unit', ''))})"
    return [
        f"Probability {_figure(zopa['probability'])}, {ends}. {escape_markdown(zopa['method'])}"
    ]


def _leverage(leverage: Mapping[str, Any] | None) -> list[str]:
    if leverage is None:
        return []
    rows = [
        f"Your share of the power {_figure(leverage['alpha'])}, between {_figure(leverage['low'])} "
        f"and {_figure(leverage['high'])}.",
        escape_markdown(leverage["most_movable"]["advice"]),
    ]
    known = [row for row in leverage["factors"] if row["contribution"]["value"]]
    return rows + [escape_markdown(row["explanation"]) for row in known]


def _opening(offer: Mapping[str, Any] | None) -> list[str]:
    if offer is None:
        return []
    rows = [
        f"{_package(offer['package'])}; utility {_figure(offer['utility'])}.",
        f"Aggressiveness: {escape_markdown(offer['aggressiveness']['level'])}.",
        f"First or wait: {escape_markdown(offer['first_or_wait']['advice'])}."
        f" {escape_markdown(offer['first_or_wait']['why'])}",
    ]
    rows += [escape_markdown(row["text"]) for row in offer["justification"]]
    return rows + [f"Or: {_package(row['package'])}" for row in offer["alternatives"]]


def _limit(limit: Mapping[str, Any] | None) -> list[str]:
    if limit is None:
        return []
    package = cast("Mapping[str, Any]", limit.get("package", {}))
    given = [_package(package)] if package else []
    return [*given, f"Utility {_figure(limit['utility'])}."]


def _concession(row: Mapping[str, Any]) -> str:
    return (
        f"{escape_markdown(row['trigger'])} {_package(row['package'])}; utility {_figure(row['utility'])}. "
        f"In return: {escape_markdown(row['ask_in_return'])}"
    )


def _theirs(row: Mapping[str, Any]) -> str:
    answers = "; ".join(
        f"{escape_markdown(one['name'])}: {escape_markdown(one['how'])}" for one in row["counters"]
    )
    return f"**{escape_markdown(row['name'])}** ({escape_markdown(row['why'])}) {answers}"


def _red(row: Mapping[str, Any]) -> str:
    wanted = ", ".join(_figure(one) for one in row["values"])
    kind = "" if row["hard"] else " (wish)"
    return f"{escape_markdown(row['issue'] or 'the package')} {escape_markdown(row['op'])} {wanted}{kind}"
