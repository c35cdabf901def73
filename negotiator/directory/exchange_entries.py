"""Entries to import: from lines of facts in public lists, from this project's own content, and from server.json of the
MCP registry in its past and present forms, which is written too.

Every imported field carries its evidence.
"""

import hashlib
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import ValidationError

from negotiator.base.strict_json import is_array, is_object
from negotiator.directory.record_text import web_url
from negotiator.directory.taxonomy import TAXONOMY, category_of
from negotiator.directory.tool_record import ToolRecord, ToolView

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
    """The tool of a line of facts. Raises `UnreadableEntry` with the first invalid field."""
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
SERVER_JSON_SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_REGISTRIES: Final = frozenset({"npm", "pypi", "oci", "nuget", "mcpb", "cargo"})
_ALIASES: Final = {"docker": "oci", "crates": "cargo"}
_TRANSPORTS: Final = frozenset({"streamable-http", "sse", "stdio"})


def is_server(line: JsonObject) -> bool:
    """Whether an entry is a server.json, alone or in the registry's envelope."""
    bare = _server(line)
    return isinstance(bare.get("name"), str) and "/" in bare["name"] and "kind" not in bare


def read_server(line: JsonObject) -> ImportedEntry:
    """The tool of an entry. Raises `UnreadableEntry` with the reason."""
    server = _server(line)
    meta = _meta(line, server)
    status = meta.get("status") or server.get("status") or "active"
    if status not in {"active", "deprecated", "deleted"}:
        raise UnreadableEntry(f"/status: {shortened_text(str(status), 40)} is not a status")
    try:
        record = ToolRecord.model_validate(_members(server))
    except ValidationError as fault:
        raise UnreadableEntry(first_fault(fault)) from None
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


def is_registered(view: ToolView) -> bool:
    """Whether the tool has a registry name and a version, neither of which is invented."""
    return bool(view.external_ids.mcp_registry and view.version)


def own_namespace(base: str) -> str:
    """The reversed host name of this server, as a namespace."""
    return ".".join(reversed((urlsplit(base).hostname or "localhost").split(".")))


def render_server(view: ToolView, base: str) -> JsonObject:
    """The tool as an entry of the registry's answers: server.json, the registry's metadata and our own."""
    server: JsonObject = {
        "$schema": SERVER_JSON_SCHEMA,
        "name": view.external_ids.mcp_registry,
        "title": view.name,
        "description": shortened_text(view.summary, 100),
        "version": view.version,
        "websiteUrl": view.homepage_url,
        "repository": view.repository and view.repository.model_dump(exclude_none=True),
        "packages": _packages(view),
        "remotes": [
            {"type": each.type, "url": each.url}
            for each in view.interfaces
            if each.type in {"streamable-http", "sse"} and each.url
        ],
    }
    official = {
        "status": "deleted" if view.status == "quarantined" else view.status,
        "statusChangedAt": view.status_changed_at,
        "statusMessage": view.status_message,
        "publishedAt": view.created_at,
        "updatedAt": view.updated_at,
        "isLatest": True,
    }
    own = {"id": view.id, "url": f"{base}/api/v1/tools/{view.slug}", "category": view.category}
    return {
        "server": {name: value for name, value in server.items() if value},
        "_meta": {
            OFFICIAL_NAMESPACE: {name: value for name, value in official.items() if value is not None},
            f"{own_namespace(base)}/directory": own,
        },
    }


def _packages(view: ToolView) -> list[JsonObject]:
    return [
        {
            "registryType": package.registry,
            "identifier": package.identifier,
            **({"version": package.version} if package.version else {}),
            **({"fileSha256": package.sha256} if package.sha256 else {}),
            "transport": {"type": "stdio"},
        }
        for package in view.packages
        if package.registry != "cargo"
    ]
