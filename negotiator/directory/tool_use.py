"""What an agent needs to use a tool, each fact with its evidence: read from a record, never stated by a submitter."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

_PACKAGE: Final = re.compile(r"[A-Za-z0-9@][A-Za-z0-9@/._:+-]*")
"""Package names that a shell takes as one word; no other gets a command."""
_LIBRARY_COMMANDS: Final[Mapping[str, str]] = {
    "pypi": "pip install {}",
    "npm": "npm install {}",
    "oci": "docker pull {}",
    "nuget": "dotnet add package {}",
    "cargo": "cargo add {}",
}
_SERVER_COMMANDS: Final[Mapping[str, str]] = {
    **_LIBRARY_COMMANDS,
    "pypi": "uvx {}",
    "npm": "npx -y {}",
    "oci": "docker run -i --rm {}",
    "cargo": "cargo install {}",
}


class UseFact(BaseModel, frozen=True, extra="forbid"):
    """A fact, its source, and the day it was checked; null when nobody checked it."""

    value: str
    source: str | None = None
    source_url: str | None = None
    checked_at: str | None = None


class ToolUse(BaseModel, frozen=True, extra="forbid"):
    """What is needed to use a tool; null is unknown."""

    documentation: Annotated[UseFact | None, Field(description="Address of the documentation.")] = None
    sign_in: Annotated[
        UseFact | None, Field(description="How callers sign in: `none`, `api_key`, `oauth2` or `other`.")
    ] = None
    rest_base: Annotated[UseFact | None, Field(description="Base address of the REST API.")] = None
    pricing: Annotated[UseFact | None, Field(description="How it is priced.")] = None
    licence: Annotated[UseFact | None, Field(description="Its licence.")] = None
    install: Annotated[
        UseFact | None, Field(description="Command that installs its first package, or runs an MCP server.")
    ] = None


def describe_use(record: Mapping[str, Any]) -> ToolUse:
    """The facts of a record, as JSON, that an agent acts on."""
    rest = [each["url"] for each in record["interfaces"] if each["type"] == "rest" and each["url"]]
    auth, pricing = record["auth"]["type"], record["pricing"]["model"]
    return ToolUse(
        documentation=_fact(record, "docs_url", record["docs_url"]),
        sign_in=_fact(record, "auth", None if auth == "unknown" else auth),
        rest_base=_fact(record, "interfaces", rest[0] if rest else None),
        pricing=_fact(record, "pricing", None if pricing == "unknown" else pricing),
        licence=_fact(record, "licence", record["licence"]),
        install=_fact(record, "packages", install_command(record)),
    )


def install_command(record: Mapping[str, Any]) -> str | None:
    """The command for the first package that has one; None when there is none."""
    commands = _SERVER_COMMANDS if record["kind"] == "mcp_server" else _LIBRARY_COMMANDS
    for package in record["packages"]:
        command = commands.get(package["registry"])
        if command and _PACKAGE.fullmatch(package["identifier"]):
            return command.format(package["identifier"])
    return None


def _fact(record: Mapping[str, Any], field: str, value: str | None) -> UseFact | None:
    if value is None:
        return None
    lines: dict[str, dict[str, Any]] = {line["field"]: line for line in record["evidence"]}
    line = lines.get(field, lines.get("*"))
    if line is None:
        return UseFact(value=value)
    return UseFact(value=value, source=line["source"], source_url=line["url"], checked_at=line["checked_at"])
