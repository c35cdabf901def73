"""The words for the members of a tool, and how clients install it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from negotiator.console.negotiation_words import table
from negotiator.console.page_calls import Members
from negotiator.directory.catalogue_pages import KIND_NAMES
from negotiator.directory.taxonomy import TAXONOMY

KINDS: Final[Mapping[str, str]] = {**KIND_NAMES}
SIGN_IN: Final = table("tool_sign_ins")
PRICES: Final = table("tool_prices")
INTERFACES: Final = table("tool_interfaces")
_NEEDS_ADDRESS: Final = frozenset({"streamable-http", "sse"})
CATEGORIES: Final[Mapping[str, str]] = {slug: each.name for slug, each in TAXONOMY.items()}
FACT_NAMES: Final = table("tool_members")
"""The members of a record."""


def part_name(category: str, slug: str) -> str:
    """The name of a subcategory."""
    return TAXONOMY[category].subcategories.get(slug, slug.replace("-", " "))


def way_to_call(kind: str, url: str | None) -> str:
    """A type of interface in words; one that nobody can call without an address says that it has none."""
    return f"{INTERFACES[kind]}{'' if url or kind not in _NEEDS_ADDRESS else ' (no address given)'}"


_FACTS: Final = (
    *("kind", "category", "subcategories", "publisher", "auth", "pricing", "open_source", "licence", "version"),
    *("interfaces", "packages"),
)
"""The facts of a tool's page, in their order."""
_NAME: Final = re.compile(r"[^a-z0-9-]+")
_RUNNERS: Final = ("npx", "uvx", "docker")
"""Commands that run a server; others only install it."""
_HELLO: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "curl", "version": "1"}},
}


@dataclass(frozen=True, slots=True)
class InstallText:
    """What to paste into a client; `place` says where."""

    client: str
    place: str
    text: str


def value_text(member: str, value: Any) -> str:
    """A member of a record as text; empty for an unknown one."""
    if value in (None, "", [], (), {}):
        return ""
    match member:
        case "kind":
            return KINDS.get(value, str(value))
        case "category":
            return CATEGORIES.get(value, str(value))
        case "auth":
            return SIGN_IN.get(value["type"], "")
        case "pricing":
            return PRICES.get(value["model"], "")
        case "open_source":
            return "Yes" if value else "No"
        case "interfaces":
            ways = [(way_to_call(one["type"], one.get("url")), one.get("url")) for one in value]
            return ", ".join(f"{way} at {url}" if url else way for way, url in ways)
        case "packages":
            return ", ".join(f"{one['registry']}: {one['identifier']}" for one in value)
        case "subcategories" | "tags":
            return ", ".join(str(one).replace("-", " ") for one in value)
        case "publisher":
            return " ".join(filter(None, (value.get("name"), value.get("domain"))))
        case "repository":
            return str(value["url"])
        case "external_ids":
            return ", ".join(str(one) for one in value.values() if one)
        case _:
            return str(value)


def tool_facts(tool: Members) -> dict[str, str]:
    """The facts that the page shows, by member of the record; an unknown one is empty."""
    publisher: Members = tool["publisher"] or {"name": None, "domain": None, "verified": False}
    named = publisher["name"] or publisher["domain"] or ""
    said = {
        "subcategories": ", ".join(part_name(tool["category"], part) for part in tool["subcategories"]),
        "publisher": f"{named} – verified as {publisher['domain']}" if publisher["verified"] else named,
        "interfaces": ", ".join(dict.fromkeys(way_to_call(each["type"], each["url"]) for each in tool["interfaces"])),
    }
    return {name: said[name] if name in said else value_text(name, tool[name]) for name in _FACTS}


def install_texts(tool: Members) -> list[InstallText]:
    """What each client needs to use the tool, from its recorded endpoint or package; empty when there is neither."""
    name = _NAME.sub("-", tool["slug"].lower()).strip("-")
    remote = _remote(tool)
    if tool["kind"] == "mcp_server" and remote:
        return _remote_texts(name, *remote)
    command: str = tool["use"]["install"]["value"] if tool["use"]["install"] else ""
    words = command.split(" ")
    if tool["kind"] == "mcp_server" and words[0] in _RUNNERS:
        return _command_texts(name, words)
    texts = [InstallText("Terminal", "Paste into a terminal.", command)] if command else []
    base: str = tool["use"]["rest_base"]["value"] if tool["use"]["rest_base"] else ""
    if base and "{" not in base:
        place = "Shows whether the address answers; what to ask for is in its documentation."
        texts.append(InstallText("curl", place, f"curl -i {base}"))
    return texts


def install_basis(tool: Members) -> tuple[str, str]:
    """What the install texts are made of, and the member of the record that has its evidence."""
    endpoint = _remote(tool) or (tool["use"]["rest_base"] and not tool["use"]["install"])
    return ("address", "interfaces") if endpoint else ("package", "packages")


def _remote(tool: Members) -> tuple[str, str] | None:
    """The transport and address of the server's endpoint."""
    for kind, transport in (("streamable-http", "http"), ("sse", "sse")):
        for each in tool["interfaces"]:
            if each["type"] == kind and each["url"] and "{" not in each["url"]:
                return transport, each["url"]
    return None


def _remote_texts(name: str, transport: str, url: str) -> list[InstallText]:
    texts = [
        InstallText("Claude", "In Claude: Settings, Connectors, Add custom connector.", url),
        InstallText("Claude Code", "Paste into a terminal.", f"claude mcp add --transport {transport} {name} {url}"),
        InstallText("Cursor", "In ~/.cursor/mcp.json.", _json({"mcpServers": {name: {"url": url}}})),
        InstallText(
            "VS Code", "In .vscode/mcp.json of a folder.", _json({"servers": {name: {"type": transport, "url": url}}})
        ),
    ]
    if transport == "http":
        hello = orjson.dumps(_HELLO).decode()
        accept = "-H 'Accept: application/json, text/event-stream'"
        kind = "-H 'Content-Type: application/json'"
        text = f"curl -sS {url} {kind} {accept} \\\n  -d '{hello}'"
        texts.append(InstallText("curl", "Says hello to the server.", text))
    return texts


def _command_texts(name: str, words: list[str]) -> list[InstallText]:
    server = {"command": words[0], "args": words[1:]}
    return [
        InstallText(
            "Claude",
            "In claude_desktop_config.json (Settings, Developer, Edit config).",
            _json({"mcpServers": {name: server}}),
        ),
        InstallText("Claude Code", "Paste into a terminal.", f"claude mcp add {name} -- {' '.join(words)}"),
        InstallText("Cursor", "In ~/.cursor/mcp.json.", _json({"mcpServers": {name: server}})),
        InstallText(
            "VS Code", "In .vscode/mcp.json of a folder.", _json({"servers": {name: {"type": "stdio", **server}}})
        ),
        InstallText("Terminal", "Starts the server.", " ".join(words)),
    ]


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
