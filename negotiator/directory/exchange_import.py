"""Imports entries of other catalogues, one transaction a batch: existing tools are recognised and merged by evidence.

A file of entries is a JSON array, `{"servers": […]}`, or NDJSON; entries are numbered from 1.
"""

import hashlib
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import orjson
from pydantic import ValidationError

from negotiator.base.errors import InvalidRequest, Refusal
from negotiator.base.search_terms import split_words
from negotiator.base.strict_json import is_array, is_object, read_object
from negotiator.directory import catalogue_queries, tool_record
from negotiator.directory.catalogue_queries import CatalogueTool
from negotiator.directory.record_text import web_url
from negotiator.directory.taxonomy import TAXONOMY, category_of
from negotiator.directory.tool_record import ToolRecord
from negotiator.store import atomic_updates
from negotiator.store.statement import Transaction

JsonObject = dict[str, Any]
"""A part of an entry of another catalogue, of which nothing is known before it is read."""


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


def is_facts(line: JsonObject) -> bool:
    """Whether a line has the members of a line of facts."""
    return "summary_generated" in line and "source_licence" in line


def read_facts(line: JsonObject) -> ImportedEntry:
    """The tool of a line of facts. Raises `ValidationError`."""
    url, repository = line.get("url"), line.get("repository")
    transports: list[str] = line.get("transports") or []
    endpoint, tags = line.get("endpoint"), line.get("tags")
    tags = tags if is_array(tags) else []
    members: JsonObject = {
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
    return ImportedEntry(ToolRecord.model_validate(members), wanted_slug=str(line.get("slug") or ""))


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
    sources = tomllib.loads((CONTENT_FOLDER / "sources.toml").read_text("utf-8"))
    for category in TAXONOMY:
        for tool in tomllib.loads((CONTENT_FOLDER / f"{category}.toml").read_text("utf-8"))["tool"]:
            yield ImportedEntry(_content_record(tool, category, sources), wanted_slug=tool["slug"])


def _content_record(tool: JsonObject, category: str, sources: JsonObject) -> ToolRecord:
    rows: list[JsonObject] = tool.get("evidence", [])
    editors = {"field": "*", "source": _EDITORS, "url": tool["homepage_url"], "method": "content"}
    lines = [_evidence(row, field, sources) for row in rows for field in row["fields"]]
    members = {name: value for name, value in tool.items() if name not in {"slug", "evidence"}}
    return ToolRecord.model_validate({**members, "category": category, "evidence": [editors, *lines]})


def _evidence(row: JsonObject, field: str, sources: JsonObject) -> JsonObject:
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


OFFICIAL_NAMESPACE: Final = "io.modelcontextprotocol.registry/official"
_REGISTRIES: Final = frozenset({"npm", "pypi", "oci", "nuget", "mcpb", "cargo"})
_ALIASES: Final = {"docker": "oci", "crates": "cargo"}
_TRANSPORTS: Final = frozenset({"streamable-http", "sse", "stdio"})


def is_server(line: JsonObject) -> bool:
    """Whether an entry is a server.json, alone or in the registry's envelope."""
    bare = _server(line)
    return isinstance(bare.get("name"), str) and "/" in bare["name"] and "kind" not in bare


def read_server(line: JsonObject) -> ImportedEntry:
    """The tool of an entry. Raises `ValidationError`, `UnreadableEntry` with the reason."""
    server = _server(line)
    meta = _meta(line, server)
    status = meta.get("status") or server.get("status") or "active"
    if status not in {"active", "deprecated", "deleted"}:
        raise UnreadableEntry(f"/status: {shortened_text(str(status), 40)} is not a status")
    record = ToolRecord.model_validate(_members(server))
    message = shortened_text(meta.get("statusMessage"), 500) or ""
    return ImportedEntry(record, status=status, message=message)


def is_older(line: JsonObject) -> bool:
    """Whether an entry is marked as not the latest version; only the latest is imported."""
    server = _server(line)
    detail: Any = server.get("version_detail") or {}
    latest = _meta(line, server).get("isLatest", _meta(line, server).get("is_latest"))
    return latest is False or detail.get("is_latest") is False


def _server(line: JsonObject) -> JsonObject:
    """The server.json, taken out of the registry's envelope if it is in one."""
    inner = line.get("server")
    return inner if is_object(inner) else line


def _meta(line: JsonObject, server: JsonObject) -> JsonObject:
    for holder in (line, server):
        meta = holder.get("_meta")
        official = meta.get(OFFICIAL_NAMESPACE) if is_object(meta) else None
        if is_object(official):
            return official
    return {}


def _members(server: JsonObject) -> JsonObject:
    name: str = server["name"]
    namespace, _, last = name.partition("/")
    detail: Any = server.get("version_detail") or {}
    packages = [_package(each) for each in _dicts(server.get("packages"))]
    interfaces = [*_remotes(server), *_local(server)]
    title = shortened_text(server.get("title"), 100) or last.replace("-", " ").replace("_", " ").strip()
    description = shortened_text(server.get("description"), 200)
    repository = _repository(server.get("repository"))
    homepage = _url(server.get("websiteUrl")) or (repository or {}).get("url")
    return {
        "name": title or name,
        "summary": description or f"MCP server {name}"[:200],
        "kind": "mcp_server",
        "category": category_of(f"{title} {description or ''}"),
        "homepage_url": homepage,
        "repository": repository,
        "interfaces": list({str(each): each for each in interfaces}.values())[:20],
        "packages": [each for each in packages if each][:20],
        "auth": {"type": "api_key" if _has_secret(server) else "unknown"},
        "publisher": _publisher(namespace),
        "external_ids": {"mcp_registry": name},
        "version": shortened_text(str(server.get("version") or detail.get("version") or ""), 100),
        "evidence": [{"source": "MCP registry", "method": "registry"}],
    }


def _package(package: JsonObject) -> JsonObject | None:
    registry = package.get("registryType") or package.get("registry_type")
    registry = str(registry or package.get("registry_name") or "").lower()
    registry = _ALIASES.get(registry, registry)
    identifier = package.get("identifier") or package.get("name")
    if registry not in _REGISTRIES or not identifier:
        return None
    digest = package.get("fileSha256") or package.get("file_sha256")
    version = shortened_text(package.get("version"), 100)
    return {"registry": registry, "identifier": identifier, "version": version, "sha256": digest}


def _remotes(server: JsonObject) -> list[JsonObject]:
    found: list[JsonObject] = []
    for remote in _dicts(server.get("remotes")):
        kind = str(remote.get("type") or remote.get("transport_type") or "")
        kind = {"streamable": "streamable-http", "http": "streamable-http"}.get(kind, kind)
        if kind in _TRANSPORTS:
            found.append({"type": kind, "url": remote.get("url")})
    return found


def _local(server: JsonObject) -> list[JsonObject]:
    """The transports of its packages; stdio by default."""
    found: list[JsonObject] = []
    for package in _dicts(server.get("packages")):
        transport = package.get("transport")
        kind = transport.get("type") if is_object(transport) else "stdio"
        if kind in _TRANSPORTS:
            found.append({"type": kind, "url": None})
    return found


def _has_secret(server: JsonObject) -> bool:
    variables = [
        variable
        for holder in (*_dicts(server.get("packages")), *_dicts(server.get("remotes")))
        for key in ("environmentVariables", "environment_variables", "headers")
        for variable in _dicts(holder.get(key))
    ]
    return any(each.get("isSecret") or each.get("is_secret") for each in variables)


def _repository(value: Any) -> JsonObject | None:
    if not is_object(value) or (url := _url(value.get("url"))) is None:
        return None
    fields = {name: shortened_text(value.get(name), 100) for name in ("source", "id", "subfolder")}
    return {"url": url, **{name: value for name, value in fields.items() if value}}


def _publisher(namespace: str) -> JsonObject:
    """The publisher from the namespace: a GitHub account, or a reversed domain."""
    labels = namespace.split(".")
    if namespace.lower().startswith("io.github.") and len(labels) == 3:
        return {"name": labels[2]}
    domain = ".".join(reversed(labels)).lower()
    try:
        web_url(f"https://{domain}/")
    except ValueError:
        return {"name": namespace[:100]}
    return {"domain": domain}


def _url(value: Any) -> str | None:
    """The URL if it is valid, else None: an invalid link does not make the entry invalid."""
    try:
        return web_url(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _dicts(value: Any) -> list[JsonObject]:
    return [each for each in value if is_object(each)] if is_array(value) else []


MAX_ENTRY_BYTES: Final = 256 * 1024
BATCH_LINES: Final = 1_000
"""Entries of one transaction."""


@dataclass(frozen=True, slots=True)
class ImportLine:
    """An entry of a file: the parsed entry, or why it is invalid; both None for one to skip."""

    number: int
    incoming: ImportedEntry | None = None
    fault: str | None = None


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


def read_entry(number: int, entry: Any) -> ImportLine:
    """Parse an entry of any known form."""
    if not is_object(entry):
        return ImportLine(number, fault="not a JSON object")
    try:
        if is_facts(entry):
            return ImportLine(number, read_facts(entry))
        if not is_server(entry):
            return ImportLine(number, fault="neither a server.json nor a line of facts")
        if is_older(entry):
            return ImportLine(number)
        return ImportLine(number, read_server(entry))
    except ValidationError as fault:
        return ImportLine(number, fault=first_fault(fault))
    except UnreadableEntry as fault:
        return ImportLine(number, fault=str(fault))
    except (AttributeError, KeyError, TypeError, ValueError):
        return ImportLine(number, fault="a member has the wrong type")


def _line(number: int, text: bytes) -> ImportLine:
    if len(text) > MAX_ENTRY_BYTES:
        return ImportLine(number, fault=f"longer than {MAX_ENTRY_BYTES} bytes")
    try:
        return read_entry(number, read_object(text.strip()))
    except ValueError as fault:
        return ImportLine(number, fault=f"not JSON: {fault}")


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
    for number, entry in enumerate(entries, 1):
        yield read_entry(number, entry)


ImportAction = Literal["created", "updated", "unchanged", "removed", "skipped", "refused"]
IMPORT_ACTOR: Final = "import"
_FOREVER: Final = 2**53


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """The result of a line; `reason` says why it was skipped or refused."""

    line: int
    action: ImportAction
    tool: str | None = None
    slug: str | None = None
    reason: str | None = None


class DryRunRollback(Exception):
    """Raised at the end of a dry run to roll the transaction back; `outcomes` holds the results."""

    def __init__(self, outcomes: list[ImportOutcome]) -> None:
        super().__init__("a dry run")
        self.outcomes = outcomes


def import_batch(tx: Transaction, lines: Sequence[ImportLine], *, dry: bool = False) -> list[ImportOutcome]:
    """Import a batch, line by line; a refused line does not affect the others. A dry run raises `DryRunRollback`."""
    outcomes = [_import_line(tx, line) for line in lines]
    if dry:
        raise DryRunRollback(outcomes)
    return outcomes


def import_bundled_content(tx: Transaction, version: str = "") -> int:
    """Import the project's own content once per version, by one of all processes; returns how many entries."""
    if not atomic_updates.spend(tx, "content", version or content_version(), expires_at=_FOREVER):
        return 0
    return len([import_entry(tx, each, actor="content") for each in read_content()])


def import_entry(tx: Transaction, incoming: ImportedEntry, *, actor: str) -> tuple[ImportAction, CatalogueTool | None]:
    """Import one entry: a new tool, or missing and better evidenced values of an existing one."""
    current = find_existing(tx, incoming)
    if current is not None and current.status == "deleted":
        return ("skipped", current)
    if incoming.status == "deleted":
        if current is None:
            return ("skipped", None)
        message = incoming.message or "Removed at its source."
        removed = catalogue_queries.withdraw(tx, current.id, "deleted", message=message, actor=actor)
        return ("removed", removed)
    if current is None:
        slug = catalogue_queries.free_slug(tx, incoming.wanted_slug or incoming.record.name)
        record = incoming.record.model_copy(update={"slug": slug})
        return ("created", _state(tx, catalogue_queries.put(tx, record, actor=actor), incoming, actor=actor))
    merged = tool_record.merge_records(current.view.record, incoming.record)
    stored = _state(tx, catalogue_queries.put(tx, merged, actor=actor), incoming, actor=actor)
    return ("unchanged" if stored.seq == current.seq else "updated", stored)


def find_existing(tx: Transaction, incoming: ImportedEntry) -> CatalogueTool | None:
    """The tool that an entry is about: by its registry name, else by a shared key.

    Packages and endpoints identify a tool. Several tools may share a page or repository, so there the names must agree
    too. Two different registry names are two tools.
    """
    record = incoming.record
    name = record.external_ids.mcp_registry
    if name and (found := catalogue_queries.by_external(tx, name)):
        return found
    for (kind, _), holder in catalogue_queries.duplicates(tx, record).items():
        tool = catalogue_queries.find(tx, holder)
        if tool is None:
            continue
        view = tool.view
        if name and view.external_ids.mcp_registry not in (None, name):
            continue
        if kind in {"package", "endpoint"} or _has_same_name(record, view.name, view.slug):
            return tool
    return None


def _has_same_name(record: ToolRecord, name: str, slug: str) -> bool:
    known_names = {_joined(name), _joined(slug)}
    return _joined(record.name) in known_names


def _joined(text: str) -> str:
    """The name without words that names of servers commonly add."""
    return "".join(word for word in split_words(text) if word not in {"mcp", "server", "official"})


def _state(tx: Transaction, tool: CatalogueTool, incoming: ImportedEntry, *, actor: str) -> CatalogueTool:
    """Deprecate the tool when its source does; a quarantined tool stays quarantined."""
    if incoming.status != "deprecated" or tool.status != "active":
        return tool
    return catalogue_queries.withdraw(tx, tool.id, "deprecated", message=incoming.message, actor=actor)


def _import_line(tx: Transaction, line: ImportLine) -> ImportOutcome:
    if line.fault is not None:
        return ImportOutcome(line.number, "refused", reason=line.fault)
    if line.incoming is None:
        return ImportOutcome(line.number, "skipped", reason="not the latest version")
    try:
        action, tool = import_entry(tx, line.incoming, actor=IMPORT_ACTOR)
    except Refusal as refusal:
        return ImportOutcome(line.number, "refused", reason=refusal.description)
    except ValidationError as fault:
        return ImportOutcome(line.number, "refused", reason=first_fault(fault))
    reason = None
    if action == "skipped":
        reason = "deleted here" if tool else "deleted at its source, and not listed here"
    named: dict[str, Any] = {"tool": tool.id, "slug": tool.slug} if tool else {}
    return ImportOutcome(line.number, action, reason=reason, **named)
