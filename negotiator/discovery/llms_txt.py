"""`/llms.txt`, a short map of the origin for language models, and `/llms-full.txt`, everything in one file."""

from typing import Final

from negotiator.base.scopes import ordered
from negotiator.discovery import operation_examples
from negotiator.discovery.public_pages import MANUAL_PATH, PUBLISH_GUIDE_PATH
from negotiator.discovery.site import SiteDescription
from negotiator.discovery.skills import offered_skills
from negotiator.http.operation import Operation

LLMS_PATH: Final = "/llms.txt"
LLMS_FULL_PATH: Final = "/llms-full.txt"
_OPTIONAL: Final = {
    "/tools": ("Tools", "every tool of the directory, page by page"),
    "/about/data": ("About the data", "sources and licences of what the directory says"),
    "/llms-full.txt": ("Everything", "this map, the skills and every operation in one file"),
}


def llms_txt(site: SiteDescription) -> str:
    """The map: a heading, a summary, and sections of links (llmstxt.org); every link works."""
    base = site.base
    jobs = "\n".join(
        f"- [{skill.name}]({base}{skill.path}): {skill.description}" for skill in offered_skills(site.service)
    )
    mcp = f"- [MCP server card]({base}/mcp/server-card): the operations as MCP tools, at {base}{site.mcp}\n"
    submit = (
        f"- [Submit a tool]({base}{PUBLISH_GUIDE_PATH}): list an app, an API, an MCP server, an agent or a library "
        f"in the directory, by `POST {site.service.url('submit_tool')}` with a key of auth.md\n"
    )
    optional = "\n".join(
        f"- [{title}]({base}{path}): {what}" for path, (title, what) in _OPTIONAL.items() if site.has(path)
    )
    operations = "\n".join(_line(site, operation) for operation in site.api)
    return f"""# Negotiator

> {_summary(site)}

## Start here

- [auth.md]({base}/auth.md): how to get a token; a client of the code flow uses a client ID metadata document
- [OpenAPI]({base}/openapi.json): every operation with its schemas
- [API catalogue]({base}/.well-known/api-catalog): the same as a linkset
- [Documentation]({base}{MANUAL_PATH}): guides by job, as markdown to `Accept: text/markdown`
{mcp if site.has("/mcp/server-card") else ""}{submit if site.offers("submit_tool") else ""}
## Skills

{jobs}

## Operations

{operations}

## Optional

{optional}
"""


def llms_full_txt(site: SiteDescription, auth_md: str) -> str:
    """Everything an agent needs in one file: `auth_md`, the skills, and every operation with an example."""
    taught = "\n".join(skill.text.partition("\n---\n")[2].strip() + "\n" for skill in offered_skills(site.service))
    sections = "\n".join(_section(site, operation) for operation in site.api)
    return f"# Negotiator, in full\n\n> {_summary(site)}\n\n{auth_md}\n{taught}\n# Every operation\n\n{sections}"


def _summary(site: SiteDescription) -> str:
    return f"{site.title} that any agent can use: register, get a token, begin."


def _line(site: SiteDescription, operation: Operation) -> str:
    needs = f" (needs {' '.join(ordered(operation.scopes))})" if operation.scopes else ""
    return f"- `{operation.method} {site.base}{operation.path}`: {operation.summary}{needs}"


def _section(site: SiteDescription, operation: Operation) -> str:
    scopes = " ".join(ordered(operation.scopes))
    needs = f"Needs {scopes or 'no scope'}. Answers {operation.status}."
    shown = f"\n```sh\n{operation_examples.curl_command(operation, site.base)}\n```\n"
    return f"## {operation.method} {site.base}{operation.path}\n\n{operation.summary}. {needs}\n{shown}"
