"""A running house for generated requests: callers of every kind, and something at most paths."""

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, Literal, TypeVar, get_args

import httpx2
from starlette.applications import Starlette

from negotiator.agents.delegation import Delegations
from negotiator.base.scopes import ASSISTANT
from negotiator.users import user_queries
from tests.conftest import Change, bearer
from tests.helpers.directory_agents import add_tool, join_directory
from tests.helpers.request_bodies import CREATING, PRICED

CallerKind = Literal["nobody", "anonymous", "bound", "directory"]
Result = TypeVar("Result")

CALLER_KINDS: Final[tuple[CallerKind, ...]] = get_args(CallerKind)
_REST: Final = {"memories": ("/api/memories", "remember"), "wins": ("/api/wins", "record_win")}


@dataclass(slots=True)
class RequestMaterial:
    """What a test finds: a credential of every kind, and under each part of a path a value that follows it."""

    headers: dict[CallerKind, dict[str, str]]
    places: dict[str, str]

    def fill(self, path: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters of this path, with what is there in place of what was made up."""
        parts = path.split("/")
        there = {
            part[1:-1]: self.places[before]
            for before, part in pairwise(parts)
            if part.startswith("{") and before in self.places
        }
        return {**parameters, **{name: there[name] for name in parameters if name in there}}


@dataclass(slots=True)
class RequestRunner:
    """One application in one loop, which generated tests enter and leave for every request."""

    runner: asyncio.Runner
    client: httpx2.AsyncClient
    change: Change
    delegations: Delegations
    made: int = field(default=0)
    application: Starlette = field(default_factory=Starlette)

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """What the application does with this."""
        return self.runner.run(work)

    async def make_material(self) -> RequestMaterial:
        """New callers, and one of each thing that they can have."""
        self.made += 1
        email = f"ada{self.made}@example.com"

        def mint(tx: Any) -> str:
            user = user_queries.add(tx, email, actor="operator")
            return self.delegations.mint(tx, user, list(ASSISTANT)).code

        bound = await self._registered()
        claim = {"claim_token": await self.change(mint)}
        bound = bearer(await self._made("/api/agent/claim", claim, bound))
        agent = await join_directory(self.client, self.change, level=3)
        headers: dict[CallerKind, dict[str, str]] = {
            "nobody": {},
            "anonymous": await self._registered(),
            "bound": bound,
            "directory": agent.headers,
        }
        return RequestMaterial(headers, {**await self._talk(bound), **await self._shelf(agent.headers)})

    async def _talk(self, owner: dict[str, str]) -> dict[str, str]:
        talk = (await self._made("/api/negotiations", PRICED, owner))["id"]
        below = f"/api/negotiations/{talk}"
        await self._made(f"{below}/offers", CREATING["record_offer"], owner)
        plan = await self._made(f"{below}/battle-plans", {}, owner)
        tactic = await self._made("/api/tactics", CREATING["add_tactic"], owner)
        places = {"negotiations": talk, "battle-plans": plan["id"], "tactics": tactic["id"]}
        for part, (path, name) in _REST.items():
            if name in CREATING:
                places[part] = (await self._made(path, CREATING[name], owner))["id"]
        return places

    async def _shelf(self, owner: dict[str, str]) -> dict[str, str]:
        name = f"Acme {self.made}"
        server = f"acme-{self.made}"
        known = {"mcp_registry": f"io.example/{server}"}
        tool = await add_tool(self.change, name, kind="mcp_server", external_ids=known)
        draft = {**CREATING["submit_tool"], "name": f"Quiet {self.made}"}
        draft["homepage_url"] = f"https://quiet-{self.made}.example"
        submission = await self._made("/api/v1/tools", draft, owner)
        kept = {"name": "Tools", "visibility": "unlisted", "items": [{"tool_id": tool}]}
        collection = await self._made("/api/v1/bookmarks", kept, owner)
        return {
            "tools": tool,
            "items": tool,
            "submissions": submission["id"],
            "bookmarks": collection["id"],
            "shared": collection["share_url"].rpartition("/")[2],
            "servers": "io.example",
            "{namespace}": server,
            "versions": "latest",
        }

    async def _registered(self) -> dict[str, str]:
        body = {"agent_name": "tester", "identity_type": "anonymous"}
        return bearer(await self._made("/api/agent/register", body, {}))

    async def _made(self, path: str, body: dict[str, Any], owner: dict[str, str]) -> dict[str, Any]:
        answer = await self.client.post(path, json=body, headers=owner)
        assert answer.status_code in {200, 201, 202}, answer.text
        made: dict[str, Any] = answer.json()
        return made
