"""The project's own entries (`negotiator/directory/content`) as records, each fact with where it is from."""

import hashlib
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from negotiator.directory.exchange.shapes.incoming import Incoming
from negotiator.directory.record.taxonomy import TAXONOMY
from negotiator.directory.record.tool import Record

FOLDER: Final = Path(__file__).parents[2] / "content"
_EDITORS: Final = "The editors of this directory"


def version(folder: Path = FOLDER) -> str:
    """What the content says, as a digest of all its files."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.toml")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def read(folder: Path = FOLDER) -> Iterator[Incoming]:
    """Every entry, in the order of the taxonomy and of the files."""
    sources = tomllib.loads((folder / "sources.toml").read_text())
    for category in TAXONOMY:
        for tool in tomllib.loads((folder / f"{category}.toml").read_text())["tool"]:
            yield Incoming(_record(tool, category, sources), wanted_slug=tool["slug"])


def _record(tool: dict[str, Any], category: str, sources: dict[str, Any]) -> Record:
    rows: list[dict[str, Any]] = tool.get("evidence", [])
    editors = {"field": "*", "source": _EDITORS, "url": tool["homepage_url"], "method": "content"}
    lines = [_line(row, field, sources) for row in rows for field in row["fields"]]
    said = {name: value for name, value in tool.items() if name not in {"slug", "evidence"}}
    return Record.model_validate({**said, "category": category, "evidence": [editors, *lines]})


def _line(row: dict[str, Any], field: str, sources: dict[str, Any]) -> dict[str, Any]:
    """A fact's line of evidence; where it is from a snapshot, down to the file in it."""
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
