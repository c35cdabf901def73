"""Reads files of entries: a JSON array, `{"servers": […]}`, or NDJSON; entries are numbered from 1."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from negotiator.base.errors import InvalidRequest
from negotiator.base.strict_json import is_array, is_object, read_object
from negotiator.directory import exchange_entries, mcp_server_json
from negotiator.directory.exchange_entries import ImportedEntry, UnreadableEntry

MAX_ENTRY_BYTES: Final = 256 * 1024
MAX_BATCH_LINES: Final = 1_000
MAX_BATCH_BYTES: Final = 5 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ImportLine:
    """An entry of a file: the parsed entry, or why it is invalid; both None for one to skip."""

    number: int
    incoming: ImportedEntry | None = None
    fault: str | None = None
    size: int = 0


def read_file(path: Path) -> Iterator[ImportLine]:
    """The entries of a file. Raises `InvalidRequest` when it has none of the three forms."""
    try:
        with path.open("rb") as file:
            first = file.read(4096).lstrip()[:1]
            file.seek(0)
            if first == b"[" or (first == b"{" and _is_document(file.readline())):
                yield from _document_entries(path.read_bytes())
                return
            file.seek(0)
            for number, text in enumerate(file, 1):
                if text.strip():
                    yield _line(number, text)
    except OSError as fault:
        raise InvalidRequest(f"{path.name} cannot be read.", detail=str(fault)) from None


def batches(lines: Iterator[ImportLine]) -> Iterator[list[ImportLine]]:
    """Batches of at most 1,000 lines and 5 MiB, one transaction each."""
    batch: list[ImportLine] = []
    size = 0
    for line in lines:
        if batch and (len(batch) >= MAX_BATCH_LINES or size + line.size > MAX_BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(line)
        size += line.size
    if batch:
        yield batch


def read_entry(number: int, entry: Any, size: int) -> ImportLine:
    """Parse an entry of any known form."""
    if not is_object(entry):
        return ImportLine(number, fault="not a JSON object", size=size)
    try:
        if exchange_entries.is_facts(entry):
            return ImportLine(number, exchange_entries.read_facts(entry), size=size)
        if not mcp_server_json.is_server(entry):
            return ImportLine(number, fault="neither a server.json nor a line of facts", size=size)
        if mcp_server_json.is_older(entry):
            return ImportLine(number, size=size)
        return ImportLine(number, mcp_server_json.read_server(entry), size=size)
    except UnreadableEntry as fault:
        return ImportLine(number, fault=str(fault), size=size)
    except (AttributeError, KeyError, TypeError, ValueError):
        return ImportLine(number, fault="a member has the wrong type", size=size)


def _line(number: int, text: bytes) -> ImportLine:
    if len(text) > MAX_ENTRY_BYTES:
        return ImportLine(number, fault=f"longer than {MAX_ENTRY_BYTES} bytes", size=0)
    try:
        return read_entry(number, read_object(text.strip()), len(text))
    except ValueError as fault:
        return ImportLine(number, fault=f"not JSON: {fault}", size=len(text))


def _is_document(first_line: bytes) -> bool:
    """Whether a file that starts with a brace is one document, not NDJSON."""
    try:
        line = orjson.loads(first_line)
    except orjson.JSONDecodeError:
        return True
    return is_object(line) and isinstance(line.get("servers"), list)


def _document_entries(text: bytes) -> Iterator[ImportLine]:
    try:
        document: Any = orjson.loads(text)
    except orjson.JSONDecodeError as fault:
        raise InvalidRequest(f"The file is not JSON: {fault}.") from None
    entries: Any = document.get("servers") if is_object(document) else document
    if not is_array(entries):
        raise InvalidRequest("The file is neither a JSON array, nor an object with `servers`, nor NDJSON.")
    average_size = max(1, len(text) // max(1, len(entries)))
    for number, entry in enumerate(entries, 1):
        yield read_entry(number, entry, average_size)
