"""Agents of the directory at work, of any level, and tools for them to work on."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

import httpx2

from negotiator import values
from negotiator.directory.accounts import registered
from negotiator.directory.accounts.tables import Proof
from negotiator.directory.catalogue import tools
from negotiator.directory.record.tool import Evidence, Record
from negotiator.scopes import DIRECTORY
from negotiator.store.statement import Statement, insertion
from tests.conftest import Change

_PROVE = Statement(insertion(Proof))


@dataclass
class Agent:
    """One registered agent with its credential."""

    client: httpx2.AsyncClient
    id: str
    headers: dict[str, str]

    async def call(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> httpx2.Response:
        """One call below /api/v1; a header's name is written with underscores."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.request(
            method, f"/api/v1{path}", json=body, headers={**self.headers, **sent}
        )

    async def get(self, path: str, **headers: str) -> httpx2.Response:
        """GET below /api/v1."""
        return await self.call("GET", path, **headers)

    async def post(self, path: str, body: Any, **headers: str) -> httpx2.Response:
        """POST below /api/v1."""
        return await self.call("POST", path, body, **headers)

    async def saved(self, **members: Any) -> dict[str, Any]:
        """A new collection."""
        answer = await self.post("/bookmarks", {"name": "Tools", **members})
        assert answer.status_code == 201, answer.text
        view: dict[str, Any] = answer.json()
        return view


Join = Callable[..., Awaitable[Agent]]


async def join(
    client: httpx2.AsyncClient,
    change: Change,
    *,
    level: int = 1,
    scopes: Iterable[str] = DIRECTORY,
    domain: str = "",
    did: str = "",
) -> Agent:
    """A new agent; from level 2 it has proven a DID: the did:web of `domain`, or of a domain that is nobody's."""
    identity = did or f"did:web:{domain or values.new_ulid() + '.example'}"
    body = {
        "agent_name": "tester",
        "identity_type": "did",
        "identity_value": identity,
        "requested_scopes": list(scopes),
    }
    answer = await client.post("/api/auth/register", json=body)
    assert answer.status_code == 201, answer.text
    found = answer.json()
    key, now = found["client_id"], values.now()
    if level > 1:
        proof = Proof(
            type="did",
            value=identity,
            agent_id=key,
            thumbprint=key,
            proven_at=now,
            checked_at=now,
            failures=0,
        )
        await change(lambda tx: tx.run(_PROVE, **proof.model_dump()))
    if level > 2:
        await change(lambda tx: registered.vet(tx, key, vetted=True))
    return Agent(client, key, {"Authorization": f"Bearer {found['api_key']}"})


async def listed(change: Change, name: str, **members: Any) -> str:
    """A tool in the catalogue; answers its id."""
    made: tools.Tool = await change(
        lambda tx: tools.put(tx, record(name, **members), actor="operator")
    )
    return made.id


def record(name: str = "Notion", **members: Any) -> Record:
    """A record by its name; everything else may be named, or is plain."""
    plain: dict[str, Any] = {
        "name": name,
        "summary": f"{name} does its work",
        "kind": "app",
        "category": "productivity",
        "homepage_url": f"https://{name.lower().replace(' ', '-')}.example/",
        "evidence": (Evidence(source="the tests", method="content"),),
    }
    return Record.model_validate({**plain, **members})
