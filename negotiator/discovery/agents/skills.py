"""Agent skills: whole jobs as instructions whose commands work, with an index of digests.

The form is that of Agent Skills Discovery 0.2.0: the index names each `SKILL.md` with the SHA-256 of the bytes served.
A skill is offered only where everything it calls is.
"""

import hashlib
import re
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

from negotiator.discovery.site import CATEGORIES, NEGOTIATIONS, REGISTER, TOOLS, Site

FOLDER: Final = "/.well-known/agent-skills"
INDEX: Final = f"{FOLDER}/index.json"
_SCHEMA: Final = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
_HEAD: Final = re.compile(r"---\nname: (?P<name>.+)\ndescription: (?P<description>.+)\n---\n")
_NEEDS: Final = {
    "get-a-token": ((REGISTER, "POST"),),
    "run-a-negotiation": (
        (REGISTER, "POST"),
        (NEGOTIATIONS, "POST"),
        (f"{NEGOTIATIONS}/{{id}}/offers", "POST"),
        (f"{NEGOTIATIONS}/{{id}}/next-move", "POST"),
        (f"{NEGOTIATIONS}/{{id}}/battle-plans", "POST"),
    ),
    "search-the-tools-directory": ((TOOLS, "GET"), (CATEGORIES, "GET")),
}


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill as it is served; name and description are those in its own head."""

    name: str
    description: str
    text: str

    @property
    def path(self) -> str:
        """Where it is served."""
        return f"{FOLDER}/{self.name}/SKILL.md"


def skills(site: Site) -> tuple[Skill, ...]:
    """The skills that an agent can carry out here."""
    return tuple(
        _read(name, site.base)
        for name, needs in _NEEDS.items()
        if all(site.service.at(path, method) for path, method in needs)
    )


def index(site: Site) -> dict[str, Any]:
    """The index of the skills."""
    return {
        "$schema": _SCHEMA,
        "skills": [
            {
                "name": skill.name,
                "type": "skill-md",
                "description": skill.description,
                "url": f"{site.base}{skill.path}",
                "digest": f"sha256:{hashlib.sha256(skill.text.encode()).hexdigest()}",
            }
            for skill in skills(site)
        ],
    }


def _read(name: str, base: str) -> Skill:
    folder = resources.files("negotiator.discovery.agents") / "shelf"
    text = (folder / f"{name}.md").read_text("utf-8").replace("{base}", base)
    head = _HEAD.match(text)
    if head is None or head["name"] != name:
        raise ValueError(f"{name}.md has no head of its own name")
    return Skill(name, head["description"], text)
