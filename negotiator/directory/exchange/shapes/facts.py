"""A line of a public list's facts, composed from snapshots, as a record whose every field is that list's."""

from typing import Any, Final

from pydantic import ValidationError

from negotiator.directory.exchange.shapes.incoming import Incoming, Unreadable, text
from negotiator.directory.record.tool import Record
from negotiator.strict import is_array

_AUTH: Final = {"oauth": "oauth2", "api_key": "api_key"}
_SNAPSHOT: Final = "https://github.com/{source}/blob/{source_revision}/{source_path}"


def is_facts(line: dict[str, Any]) -> bool:
    """Whether a line has this shape."""
    return "summary_generated" in line and "source_licence" in line


def read(line: dict[str, Any]) -> Incoming:
    """The tool that a line describes; `Unreadable` says which field is wrong."""
    url, repository = line.get("url"), line.get("repository")
    transports: list[str] = line.get("transports") or []
    endpoint, tags = line.get("endpoint"), line.get("tags")
    tags = tags if is_array(tags) else []
    members: dict[str, Any] = {
        "name": line.get("name"),
        "summary": text(line.get("summary_generated"), 200),
        "kind": line.get("kind"),
        "category": line.get("category"),
        "tags": [tag for tag in tags if isinstance(tag, str) and 0 < len(tag) <= 32][:12],
        "homepage_url": url,
        "repository": {"url": repository} if repository else None,
        "interfaces": [
            {"type": each, "url": endpoint if each != "stdio" else None} for each in transports
        ],
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
        return Incoming(Record.model_validate(members), wanted_slug=str(line.get("slug") or ""))
    except ValidationError as fault:
        raise Unreadable(said(fault)) from None


def said(fault: ValidationError) -> str:
    """The first fault of a record in one line."""
    first = fault.errors(include_url=False, include_context=False, include_input=False)[0]
    return f"/{'/'.join(map(str, first['loc']))}: {first['msg'].removeprefix('Value error, ')}"
