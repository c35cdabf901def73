"""The form of a tool, and what pages say of a submission: its state, its checks, and what it states anew."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from negotiator.base.errors import Refusal, ValidationFailed
from negotiator.console.form_fields import FormField, FormTable, field_faults, fill_fields, read_fields
from negotiator.console.negotiation_words import time_text
from negotiator.console.tools import tool_view
from negotiator.directory.schemas_submissions import REJECTION_REASONS

Typed = Mapping[str, str]
CHOICES: Final[Mapping[str, Mapping[str, str]]] = {
    "kind": tool_view.KINDS,
    "category": tool_view.CATEGORIES,
    "auth": {"unknown": "I do not know", **tool_view.SIGN_IN},
    "pricing": {"unknown": "I do not know", **tool_view.PRICES},
    "open_source": {"": "I do not know", "true": "Yes", "false": "No"},
    "interface_type": {"": "None that I know", **tool_view.INTERFACES},
    "registry": {
        "": "None that I know",
        "npm": "npm",
        "pypi": "PyPI",
        "oci": "Container image",
        "cargo": "Cargo",
        "nuget": "NuGet",
        "mcpb": "MCP bundle",
    },
}
FIELDS: Final[FormTable] = {
    **{
        name: FormField(name)
        for name in (
            *("name", "summary", "description", "homepage_url", "docs_url", "licence", "version"),
            *("kind", "category"),
        )
    },
    "tags": FormField("tags", "tags"),
    "repository": FormField("repository/url"),
    "auth": FormField("auth/type", unknown="unknown"),
    "pricing": FormField("pricing/model", unknown="unknown"),
    "open_source": FormField("open_source", "truth"),
    "publisher_name": FormField("publisher/name"),
    "publisher_domain": FormField("publisher/domain"),
    "interface_type": FormField("interfaces/0/type"),
    "interface_url": FormField("interfaces/0/url"),
    "registry": FormField("packages/0/registry", blank=""),
    "package": FormField("packages/0/identifier", blank=""),
}


def typed_of(draft: Mapping[str, Any]) -> dict[str, str]:
    """A draft or a record as the fields of the form; of several interfaces and packages the first."""
    return fill_fields(draft, FIELDS)


def members_of(typed: Typed) -> dict[str, Any]:
    """The members of a draft that the form states; empty fields are left out."""
    members = {name: value for name, value in read_fields(typed, FIELDS).items() if value not in (None, [])}
    for interface in members.get("interfaces", ()):
        interface["type"] = interface["type"] or _likely_type(interface["url"] or "")
    return members


def _likely_type(address: str) -> str:
    """The type of interface that an address without one suggests."""
    parts = urlsplit(address)
    if parts.path.rstrip("/").endswith("/sse"):
        return "sse"
    return "streamable-http" if re.search(r"\bmcp\b", f"{parts.netloc}{parts.path}") else "rest"


def changed_members(before: Mapping[str, Any], typed: Typed) -> dict[str, Any]:
    """A merge patch: the members that the form states differently from the draft that it was filled with.

    A field that the form shows only a part of, such as the first of three packages, is named only when it was changed.
    """
    shown, stated = members_of(typed_of(before)), members_of(typed)
    return {name: stated.get(name) for name in shown.keys() | stated.keys() if shown.get(name) != stated.get(name)}


def faults_of(refusal: Refusal) -> dict[str, str]:
    """What a refusal says, by the field of the form; under the empty name what belongs to none."""
    return field_faults(refusal, FIELDS) if isinstance(refusal, ValidationFailed) else {"": refusal.description}


STATES: Final[Mapping[str, str]] = {
    "pending": "A person looks at it",
    "approved": "Listed",
    "rejected": "Not listed",
    "changes_requested": "Waits for your change",
    "withdrawn": "Withdrawn",
    "expired": "Closed after 90 days",
}
DECISIONS: Final[Mapping[str, str]] = {
    **STATES,
    "pending": "To decide",
    "changes_requested": "Waits for its sender",
    "withdrawn": "Taken back",
}
"""The states as a moderator reads them."""
WHAT_NEXT: Final[Mapping[str, str]] = {
    "pending": "You can still change it or take it back.",
    "approved": "It is in the directory and is found in the search.",
    "rejected": "You may say once, within 30 days, why that was wrong; a person looks again.",
    "changes_requested": "Read what is asked, mend it, and send it again.",
    "withdrawn": "You took it back. You can submit the tool again.",
    "expired": "Nobody answered in time. You can submit the tool again.",
}
REASONS: Final[Mapping[str, str]] = dict(
    zip(
        REJECTION_REASONS,
        (
            "The directory has this tool already",
            "It reads like advertising",
            "A link does not work",
            "Its name is misleading",
            "Too little is said about it",
            "It breaks a rule of the directory",
            "It does harm",
            "It is no AI tool",
        ),
        strict=True,
    )
)
CHECKS: Final[Mapping[str, str]] = {
    "schema": "The form is complete",
    "links": "The addresses may be listed",
    "duplicate": "It is not in the directory yet",
    "text": "The texts speak to people, not to machines",
    "name": "The name is not taken for another's",
    "publisher": "It was sent by its publisher",
}
OUTCOMES: Final[Mapping[str, str]] = {"passed": "Yes", "flagged": "A person looks at this", "unproven": "Not proven"}


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


def shown_submission(view: Record, name: str = "", states: Mapping[str, str] = STATES) -> ShownSubmission:
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
            CHECKS.get(name := str(check["name"]), name),
            OUTCOMES[check["outcome"]],
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
            tool_view.FACT_NAMES.get(name, name.replace("_", " ")),
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
            return tool_view.KINDS.get(value, value)
        case "category":
            return tool_view.CATEGORIES.get(value, value)
        case "auth":
            return tool_view.SIGN_IN.get(value["type"], NOTHING)
        case "pricing":
            return tool_view.PRICES.get(value["model"], NOTHING)
        case "open_source":
            return "Yes" if value else "No"
        case "interfaces":
            return ", ".join(
                _joined(tool_view.way_to_call(one["type"], one.get("url")), one.get("url")) for one in value
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
    return f"{tool_view.FACT_NAMES.get(member, member)}: {_TOOL_ID.sub('another tool', said)}"
