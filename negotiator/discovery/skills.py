"""Agent skills: whole tasks as instructions whose commands work, with an index of digests.

The form is that of Agent Skills Discovery 0.2.0: the index names each `SKILL.md` with the SHA-256 of the bytes served.
A skill is offered only where every operation it calls is offered. The MCP endpoint serves the same texts (docs/contract
10.5).
"""

import hashlib
import re
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

from negotiator.http.operation import ServiceDescription

SKILLS_PATH: Final = "/.well-known/agent-skills"
SKILLS_INDEX_PATH: Final = f"{SKILLS_PATH}/index.json"
_SCHEMA: Final = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
_HEAD: Final = re.compile(r"---\nname: (?P<name>.+)\ndescription: (?P<description>.+)\n---\n")
_NEEDS: Final = {
    "get-a-token": ("register_agent",),
    "run-a-negotiation": ("register_agent", "open_negotiation", "record_offer", "next_move", "make_battle_plan"),
    "rehearse": (
        "register_agent",
        "open_negotiation",
        "start_rehearsal",
        "play_turn",
        "get_debrief",
        "delete_rehearsal",
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

    @property
    def content(self) -> bytes:
        """The bytes of the file, the same wherever it is served."""
        return self.text.encode()

    @property
    def digest(self) -> str:
        """`sha256:` and 64 hexadecimal digits."""
        return f"sha256:{hashlib.sha256(self.content).hexdigest()}"


def offered_skills(service: ServiceDescription) -> tuple[AgentSkill, ...]:
    """The skills whose operations this service offers."""
    return tuple(_read(name, service.base) for name, needs in _NEEDS.items() if all(map(service.find, needs)))


def skills_index(service: ServiceDescription) -> dict[str, Any]:
    return {
        "$schema": _SCHEMA,
        "skills": [
            {
                "name": skill.name,
                "type": "skill-md",
                "description": skill.description,
                "url": f"{service.base}{skill.path}",
                "digest": skill.digest,
            }
            for skill in offered_skills(service)
        ],
    }


def _read(name: str, base: str) -> AgentSkill:
    folder = resources.files("negotiator.discovery") / "skill_texts"
    text = (folder / f"{name}.md").read_text("utf-8").replace("{base}", base)
    head = _HEAD.match(text)
    if head is None or head["name"] != name:
        raise ValueError(f"{name}.md has no head of its own name")
    return AgentSkill(name, head["description"], text)
