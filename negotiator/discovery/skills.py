"""Agent skills: whole tasks as instructions whose commands work, with an index of digests.

The form is that of Agent Skills Discovery 0.2.0: the index names each `SKILL.md` with the SHA-256 of the bytes served.
A skill is offered only where every operation it calls is offered.
"""

import hashlib
import re
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

from negotiator.discovery.site import SiteDescription

SKILLS_PATH: Final = "/.well-known/agent-skills"
SKILLS_INDEX_PATH: Final = f"{SKILLS_PATH}/index.json"
_SCHEMA: Final = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
_HEAD: Final = re.compile(r"---\nname: (?P<name>.+)\ndescription: (?P<description>.+)\n---\n")
_NEEDS: Final = {
    "get-a-token": ("register_agent",),
    "run-a-negotiation": (
        "register_agent",
        "open_negotiation",
        "record_offer",
        "next_move",
        "make_battle_plan",
    ),
    "search-the-tools-directory": ("list_tools", "list_categories"),
}


@dataclass(frozen=True, slots=True)
class AgentSkill:
    """One skill as it is served; name and description are those of its front matter."""

    name: str
    description: str
    text: str

    @property
    def path(self) -> str:
        """The path at which it is served."""
        return f"{SKILLS_PATH}/{self.name}/SKILL.md"


def offered_skills(site: SiteDescription) -> tuple[AgentSkill, ...]:
    """The skills whose operations this site offers."""
    return tuple(
        _read(name, site.base) for name, needs in _NEEDS.items() if all(map(site.offers, needs))
    )


def skills_index(site: SiteDescription) -> dict[str, Any]:
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
            for skill in offered_skills(site)
        ],
    }


def _read(name: str, base: str) -> AgentSkill:
    folder = resources.files("negotiator.discovery") / "skill_texts"
    text = (folder / f"{name}.md").read_text("utf-8").replace("{base}", base)
    head = _HEAD.match(text)
    if head is None or head["name"] != name:
        raise ValueError(f"{name}.md has no head of its own name")
    return AgentSkill(name, head["description"], text)
