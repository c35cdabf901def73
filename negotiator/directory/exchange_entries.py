"""Entries to import: from lines of facts in public lists, and from this project's own content.

Every imported field carries its evidence.
"""

import hashlib
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import ValidationError

from negotiator.base.strict_json import is_array
from negotiator.directory.taxonomy import TAXONOMY
from negotiator.directory.tool_record import ToolRecord


@dataclass(frozen=True, slots=True)
class ImportedEntry:
    """An entry of another catalogue. `wanted_slug` is used when it is free; `message` explains the status."""

    record: ToolRecord
    wanted_slug: str = ""
    status: Literal["active", "deprecated", "deleted"] = "active"
    message: str = ""


class UnreadableEntry(ValueError):
    """An entry that is not a valid tool; the message says why."""


def shortened_text(value: Any, limit: int) -> str | None:
    """The text cut to a limit at a word's end; None for anything but a non-empty string."""
    if not isinstance(value, str) or not (trimmed := " ".join(value.split())):
        return None
    if len(trimmed) <= limit:
        return trimmed
    return trimmed[: limit - 1].rsplit(" ", 1)[0] + "…"


_AUTH: Final = {"oauth": "oauth2", "api_key": "api_key"}
_SNAPSHOT: Final = "https://github.com/{source}/blob/{source_revision}/{source_path}"


def is_facts(line: dict[str, Any]) -> bool:
    """Whether a line has the members of a line of facts."""
    return "summary_generated" in line and "source_licence" in line


def read_facts(line: dict[str, Any]) -> ImportedEntry:
    """The tool of a line of facts. Raises `UnreadableEntry` with the first invalid field."""
    url, repository = line.get("url"), line.get("repository")
    transports: list[str] = line.get("transports") or []
    endpoint, tags = line.get("endpoint"), line.get("tags")
    tags = tags if is_array(tags) else []
    members: dict[str, Any] = {
        "name": line.get("name"),
        "summary": shortened_text(line.get("summary_generated"), 200),
        "kind": line.get("kind"),
        "category": line.get("category"),
        "tags": [tag for tag in tags if isinstance(tag, str) and 0 < len(tag) <= 32][:12],
        "homepage_url": url,
        "repository": {"url": repository} if repository else None,
        "interfaces": [{"type": each, "url": endpoint if each != "stdio" else None} for each in transports],
        "packages": line.get("packages") or [],
        "auth": {"type": _AUTH.get(line.get("auth") or "", "unknown")},
        "licence": line.get("software_licence"),
        "evidence": [
            {
                "source": line.get("source"),
                "url": _SNAPSHOT.format_map(line) if line.get("source_revision") else None,
                "licence": line.get("source_licence"),
                "method": "list",
            }
        ],
    }
    try:
        return ImportedEntry(ToolRecord.model_validate(members), wanted_slug=str(line.get("slug") or ""))
    except ValidationError as fault:
        raise UnreadableEntry(first_fault(fault)) from None


def first_fault(fault: ValidationError) -> str:
    """The first validation error in one line."""
    first = fault.errors(include_url=False, include_context=False, include_input=False)[0]
    return f"/{'/'.join(map(str, first['loc']))}: {first['msg'].removeprefix('Value error, ')}"


CONTENT_FOLDER: Final = Path(__file__).parent / "content"
_EDITORS: Final = "The editors of this directory"


def content_version() -> str:
    """A digest of all content files."""
    digest = hashlib.sha256()
    for path in sorted(CONTENT_FOLDER.glob("*.toml")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def read_content() -> Iterator[ImportedEntry]:
    """Every entry of the content files, in the order of the taxonomy and of the files."""
    sources = tomllib.loads((CONTENT_FOLDER / "sources.toml").read_text())
    for category in TAXONOMY:
        for tool in tomllib.loads((CONTENT_FOLDER / f"{category}.toml").read_text())["tool"]:
            yield ImportedEntry(_record(tool, category, sources), wanted_slug=tool["slug"])


def _record(tool: dict[str, Any], category: str, sources: dict[str, Any]) -> ToolRecord:
    rows: list[dict[str, Any]] = tool.get("evidence", [])
    editors = {"field": "*", "source": _EDITORS, "url": tool["homepage_url"], "method": "content"}
    lines = [_line(row, field, sources) for row in rows for field in row["fields"]]
    members = {name: value for name, value in tool.items() if name not in {"slug", "evidence"}}
    return ToolRecord.model_validate({**members, "category": category, "evidence": [editors, *lines]})


def _line(row: dict[str, Any], field: str, sources: dict[str, Any]) -> dict[str, Any]:
    """The evidence of one field, down to the file where the source is a snapshot."""
    source = sources[row["source"]]
    url = f"{source['url']}/blob/{source['revision']}/{row['path']}" if "url" in source else None
    return {
        "field": field,
        "source": source["name"],
        "url": url,
        "checked_at": source.get("checked_at"),
        "licence": source.get("licence"),
        "method": "content",
    }
