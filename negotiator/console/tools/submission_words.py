"""A submission in words: its state, its checks, and the differences that it proposes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from negotiator.console.negotiation_words import time_text
from negotiator.console.tools import submission_form, tool_words

Record = Mapping[str, Any]
NOTHING: Final = "not known"
_TOOL_ID: Final = re.compile(r"tool_[a-z0-9]{26}")


@dataclass(frozen=True, slots=True)
class ProposedFact:
    """A member that a submission states: its name, its value now and before; `before` is empty for a new tool."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ShownCheck:
    """A check and its outcome in words, with what was found."""

    question: str
    answer: str
    good: bool
    found: list[str]


@dataclass(frozen=True, slots=True)
class ShownSubmission:
    """A submission for its page."""

    id: str
    title: str
    kind: str
    state: str
    open: bool
    bad: bool
    made: str
    changed: str


def shown_submission(
    view: Record, name: str = "", states: Mapping[str, str] = submission_form.STATES
) -> ShownSubmission:
    """The words of a submission; `name` is that of the tool that it changes, `states` the words for its reader."""
    listed: str = view["tool"]["slug"] if view["tool"] else "A tool"
    title: str = view["proposed"].get("name") or name or listed
    return ShownSubmission(
        view["id"],
        title,
        "New tool" if view["type"] == "create" else "Correction",
        states[view["status"]],
        view["status"] in ("pending", "changes_requested"),
        view["status"] in ("rejected", "changes_requested"),
        time_text(view["created_at"]),
        time_text(view["updated_at"]),
    )


def shown_checks(view: Record) -> list[ShownCheck]:
    """The checks of a submission."""
    return [
        ShownCheck(
            submission_form.CHECKS.get(check["name"], check["name"]),
            submission_form.OUTCOMES[check["outcome"]],
            check["outcome"] == "passed",
            [_finding(each, view["similar_to"]) for each in check["fields"]],
        )
        for check in view["checks"]
    ]


def proposed_facts(view: Record, current: Record | None) -> list[ProposedFact]:
    """What the submission states, beside what the directory has now."""
    before = current or {}
    return [
        ProposedFact(
            tool_words.FACT_NAMES.get(name, name.replace("_", " ")),
            value_text(name, before.get(name)),
            value_text(name, value),
        )
        for name, value in view["proposed"].items()
        if current or value_text(name, value) != NOTHING
    ]


def value_text(member: str, value: Any) -> str:
    """A member of a record as text; `NOTHING` for an empty one."""
    if value in (None, "", [], (), {}):
        return NOTHING
    match member:
        case "kind":
            return tool_words.KINDS.get(value, value)
        case "category":
            return tool_words.CATEGORIES.get(value, value)
        case "auth":
            return tool_words.SIGN_IN.get(value["type"], NOTHING)
        case "pricing":
            return tool_words.PRICES.get(value["model"], NOTHING)
        case "open_source":
            return "Yes" if value else "No"
        case "interfaces":
            return ", ".join(
                _joined(tool_words.way_to_call(one["type"], one.get("url")), one.get("url")) for one in value
            )
        case "packages":
            return ", ".join(f"{one['registry']}: {one['identifier']}" for one in value)
        case "subcategories" | "tags":
            return ", ".join(str(one).replace("-", " ") for one in value)
        case "publisher":
            return " ".join(filter(None, (value.get("name"), value.get("domain"))))
        case "repository":
            return str(value["url"])
        case "external_ids":
            return ", ".join(str(one) for one in value.values() if one) or NOTHING
        case _:
            return str(value)


def _joined(kind: str, url: str | None) -> str:
    return f"{kind} at {url}" if url else kind


def _finding(found: Record, similar: Sequence[Record]) -> str:
    """What a check found; a tool is called by its address on the pages, never by its id."""
    member = str(found["pointer"]).removeprefix("/").partition("/")[0]
    said = str(found["description"])
    for tool in similar:
        said = said.replace(tool["id"], str(tool["slug"]).replace("-", " "))
    return f"{tool_words.FACT_NAMES.get(member, member)}: {_TOOL_ID.sub('another tool', said)}"
