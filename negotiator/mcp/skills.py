"""Agent skills over MCP: `skills/list`, `skills/get`, and each file of a skill as a resource.

The source is the extension `io.modelcontextprotocol/skills`: SEP-2640 (final) and the specification of the repository
modelcontextprotocol/ext-skills, specification/stable/skills.mdx. The texts and their digests are those of the public
documents.
"""

from collections.abc import Iterable
from typing import Any, Final, Protocol

import orjson

from negotiator.http.operation import JSON, MARKDOWN

SKILLS_EXTENSION: Final = "io.modelcontextprotocol/skills"
_SCHEME: Final = "skill://"
_INDEX_URI: Final = f"{_SCHEME}index.json"
"""The list in drafts of SEP-2640, which hosts still read; the final text has `skills/list` instead."""
_INDEX_SCHEMA: Final = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"


class SkillFile(Protocol):
    """A skill that consists of its `SKILL.md`; `name` and `description` are its whole front matter."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def content(self) -> bytes: ...

    @property
    def digest(self) -> str:
        """`sha256:` and 64 hexadecimal digits, of `content`."""
        ...


class McpSkills:
    """The skills of the service, by the URI of their `SKILL.md`."""

    def __init__(self, skills: Iterable[SkillFile]) -> None:
        self._skills = {f"{_SCHEME}{skill.name}/SKILL.md": skill for skill in skills}

    def resources(self) -> list[dict[str, Any]]:
        """The entries of `resources/list`."""
        return [
            {
                "uri": uri,
                "name": skill.name,
                "title": skill.name.replace("-", " ").capitalize(),
                "description": skill.description,
                "mimeType": MARKDOWN,
                "size": len(skill.content),
            }
            for uri, skill in self._skills.items()
        ]

    def entries(self) -> dict[str, dict[str, Any]]:
        """The entries of `skills/list` by URI, each a complete list of the skill's files."""
        return {
            uri: {
                "uri": uri,
                "frontmatter": {"name": skill.name, "description": skill.description},
                "resources": [{"uri": uri, "digest": skill.digest, "size": len(skill.content)}],
            }
            for uri, skill in self._skills.items()
        }

    def read(self, uri: str) -> dict[str, Any] | None:
        """The resource's contents; None when there is no such resource."""
        if uri == _INDEX_URI and self._skills:
            return {"uri": uri, "mimeType": JSON, "text": orjson.dumps(self._index()).decode()}
        found = self._skills.get(uri)
        return {"uri": uri, "mimeType": MARKDOWN, "text": found.content.decode()} if found else None

    def _index(self) -> dict[str, Any]:
        listed = [
            {
                "name": skill.name,
                "type": "skill-md",
                "description": skill.description,
                "url": uri,
                "digest": skill.digest,
            }
            for uri, skill in self._skills.items()
        ]
        return {"$schema": _INDEX_SCHEMA, "skills": listed}
