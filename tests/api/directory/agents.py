"""Agents of the directory at work, of any level, and tools for them to work on."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx2

from negotiator import values
from negotiator.caller import Caller
from negotiator.directory.accounts import registered
from negotiator.directory.accounts.tables import DirectoryAgent, Proof
from negotiator.directory.catalogue import tools
from negotiator.scopes import DIRECTORY
from negotiator.store.statement import Statement, Transaction, insertion
from tests.api.directory.conftest import record
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


class Credentials:
    """Who is behind which of the tests' own credentials."""

    def __init__(self) -> None:
        self.callers: dict[str, Caller] = {}

    def admit(self, agent: str, level: int, scopes: frozenset[str]) -> dict[str, str]:
        """A credential for this agent, as the header that presents it."""
        credential = f"test-{len(self.callers)}"
        self.callers[credential] = Caller(
            "agent", agent, credential, scopes, client_id=agent, level=level
        )
        return {"Authorization": f"Bearer {credential}"}


async def join(
    client: httpx2.AsyncClient,
    change: Change,
    credentials: Credentials,
    *,
    level: int = 1,
    scopes: frozenset[str] = frozenset(DIRECTORY),
    domain: str = "",
) -> Agent:
    """A new agent; from level 2 it has proven a did:web, of `domain` where one is named."""
    agent, now = values.new_id("agt"), values.now()
    did = f"did:web:{domain or agent.replace('_', '-') + '.example'}"

    def unit(tx: Transaction) -> None:
        registered.add(
            tx,
            DirectoryAgent(
                id=agent,
                name="tester",
                identity_type="did",
                identity_value=did,
                contact_email=None,
                scope=" ".join(scopes),
                created_at=now,
                vetted_at=now if level > 2 else None,
                revoked_at=None,
                once_key=None,
                once_request=None,
            ),
        )
        if level > 1:
            proof = Proof(
                type="did",
                value=did,
                agent_id=agent,
                thumbprint="x",
                proven_at=now,
                checked_at=now,
                failures=0,
            )
            tx.run(_PROVE, **proof.model_dump())

    await change(unit)
    return Agent(client, agent, credentials.admit(agent, level, scopes))


async def listed(change: Change, name: str, **members: Any) -> str:
    """A tool in the catalogue; answers its id."""
    made: tools.Tool = await change(
        lambda tx: tools.put(tx, record(name, **members), actor="operator")
    )
    return made.id
