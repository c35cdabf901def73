"""The form of a tool, and what a submission states and its checks found, in words."""

import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from negotiator.base.errors import Refusal, ValidationFailed
from negotiator.console.form_fields import FormField, FormTable, field_faults, fill_fields, read_fields
from negotiator.console.page_calls import Members
from negotiator.console.tools import tool_view
from negotiator.directory.schemas_submissions import REJECTION_REASONS, SubmissionView

Typed = Mapping[str, str]
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


def typed_of(draft: Members) -> dict[str, str]:
    """A draft or a record as the fields of the form; of several interfaces and packages the first."""
    return fill_fields(draft, FIELDS)


def members_of(typed: Typed) -> Members:
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


def changed_members(before: Members, typed: Typed) -> Members:
    """A merge patch: the members that the form states differently from the draft that it was filled with.

    A field that the form shows only a part of, such as the first of three packages, is named only when it was changed.
    """
    shown, stated = members_of(typed_of(before)), members_of(typed)
    return {name: stated.get(name) for name in shown.keys() | stated.keys() if shown.get(name) != stated.get(name)}


def faults_of(refusal: Refusal) -> dict[str, str]:
    """What a refusal says, by the field of the form; under the empty name what belongs to none."""
    return field_faults(refusal, FIELDS) if isinstance(refusal, ValidationFailed) else {"": refusal.description}


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
NOTHING: Final = "not known"
_TOOL_ID: Final = re.compile(r"tool_[a-z0-9]{26}")


def proposed_facts(view: SubmissionView, current: Members | None) -> list[tuple[str, str, str]]:
    """What the submission states: the name of each member, its value in the directory now, and the proposed one."""
    before = current or {}
    return [
        (
            tool_view.FACT_NAMES.get(name, name.replace("_", " ")),
            tool_view.value_text(name, before.get(name)) or NOTHING,
            tool_view.value_text(name, value) or NOTHING,
        )
        for name, value in view["proposed"].items()
        if current or tool_view.value_text(name, value)
    ]


def finding(found: Members, similar: Sequence[Members]) -> str:
    """What a check found; a tool is called by its address on the pages, never by its id."""
    member, said = found["pointer"].removeprefix("/").partition("/")[0], found["description"]
    for tool in similar:
        said = said.replace(tool["id"], tool["slug"].replace("-", " "))
    return f"{tool_view.FACT_NAMES.get(member, member)}: {_TOOL_ID.sub('another tool', said)}"
