"""WebMCP: a small script by which the home page offers the browser's agent the tools that need no credential."""

import json
from importlib import resources
from typing import Any, Final

from negotiator.discovery import openapi_schemas
from negotiator.discovery.site import SiteDescription

WEBMCP_PATH: Final = "/webmcp.js"
JAVASCRIPT_TYPE: Final = "text/javascript; charset=utf-8"
_NOTHING: Final[dict[str, Any]] = {"type": "object", "properties": {}}
_NAMED: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "agent_name": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100,
            "description": "What a person would know you by.",
        }
    },
    "required": ["agent_name"],
}


def webmcp_js(site: SiteDescription) -> str:
    """The script with the tools of this site."""
    script = resources.files("negotiator.discovery").joinpath("templates/webmcp.js").read_text("utf-8")
    return script.replace("__TOOLS__", json.dumps(webmcp_tools(site), indent=2))


def webmcp_tools(site: SiteDescription) -> list[dict[str, Any]]:
    """The tools: read the instructions for registration, register anonymously, and every public read operation."""
    found = [_tool(site, "read_access_guide", "Read how an agent gets a token here", "/auth.md")]
    for each in site.api:
        if each.access == "public" and each.method == "GET":
            schema: dict[str, Any] = {"type": "object", "properties": {}, **openapi_schemas.input_schema(each.input)}
            found.append({**_tool(site, each.name, each.summary, each.path), "inputSchema": schema})
    if register := site.service.find("register_agent"):
        what = "Register this agent anonymously; the answer carries a bearer token, which is a secret"
        fixed = {"identity_type": "anonymous"}
        place = {"method": "POST", "readOnly": False, "inputSchema": _NAMED, "fixed": fixed}
        found.append({**_tool(site, "register_agent", what, register.path), **place})
    return found


def _tool(site: SiteDescription, name: str, description: str, path: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "method": "GET",
        "path": f"{site.root}{path}",
        "readOnly": True,
        "inputSchema": _NOTHING,
        "fixed": {},
    }
