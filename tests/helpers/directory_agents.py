"""Agents of the directory at work, of any level, and tools for them to work on."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

import httpx2

from negotiator.base import values
from negotiator.base.scopes import DIRECTORY
from negotiator.directory import accounts_queries, catalogue_queries
from negotiator.directory.tables import IdentityProof
from negotiator.directory.tool_record import FieldEvidence, ToolRecord
from negotiator.store.statement import RowInsertion
from tests.conftest import Change

_PROVE = RowInsertion(IdentityProof)


@dataclass
class DirectoryAgent:
    """One registered agent with its credential."""

    client: httpx2.AsyncClient
    id: str
    headers: dict[str, str]

    async def call(self, method: str, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        """One call below /api/v1; a header's name is written with underscores."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.request(method, f"/api/v1{path}", json=body, headers={**self.headers, **sent})

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


JoinDirectory = Callable[..., Awaitable[DirectoryAgent]]


async def join_directory(
    client: httpx2.AsyncClient,
    change: Change,
    *,
    level: int = 1,
    scopes: Iterable[str] = DIRECTORY,
    domain: str = "",
    did: str = "",
) -> DirectoryAgent:
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
        proof = IdentityProof(
            type="did", value=identity, agent_id=key, thumbprint=key, proven_at=now, checked_at=now, failures=0
        )
        await change(lambda tx: tx.run(_PROVE, **proof.model_dump()))
    if level > 2:
        await change(lambda tx: accounts_queries.vet(tx, key, vetted=True))
    return DirectoryAgent(client, key, {"Authorization": f"Bearer {found['api_key']}"})


async def add_tool(change: Change, name: str, **members: Any) -> str:
    """A tool in the catalogue; answers its id."""
    made: catalogue_queries.CatalogueTool = await change(
        lambda tx: catalogue_queries.put(tx, record(name, **members), actor="operator")
    )
    return made.id


def record(name: str = "Notion", **members: Any) -> ToolRecord:
    """A record by its name; everything else may be named, or is plain."""
    plain: dict[str, Any] = {
        "name": name,
        "summary": f"{name} does its work",
        "kind": "app",
        "category": "productivity",
        "homepage_url": f"https://{name.lower().replace(' ', '-')}.example/",
        "evidence": (FieldEvidence(source="the tests", method="content"),),
    }
    return ToolRecord.model_validate({**plain, **members})


SHELF = (
    record("Notion", tags=["notes"], summary="Notes and wikis for teams"),
    record("Notion AI", summary="An assistant inside Notion"),
    record("Qdrant", category="databases-storage", subcategories=["vector-databases"], kind="api",
           summary="A vector database", tags=["vector", "open-source"], open_source=True,
           licence="Apache-2.0"),
    record("Pinecone", category="databases-storage", subcategories=["vector-databases"], kind="api",
           summary="A managed vector database", tags=["vector"], open_source=False),
    record("Whisper", category="audio-video", kind="model", summary="Turns speech into text"),
    record("Postgres MCP", category="databases-storage", kind="mcp_server",
           summary="Query PostgreSQL from an agent", interfaces=[{"type": "stdio"}]),
)  # fmt: skip


async def keep(change: Change, *records: ToolRecord) -> list[catalogue_queries.CatalogueTool]:
    """Put records, in their order."""
    kept: list[catalogue_queries.CatalogueTool] = await change(
        lambda tx: [catalogue_queries.put(tx, each, actor="t") for each in records or SHELF]
    )
    return kept


async def names(client: httpx2.AsyncClient, **params: Any) -> list[str]:
    """The names that a list answers."""
    answer = await client.get("/api/v1/tools", params=params)
    assert answer.status_code == 200, answer.text
    return [item["name"] for item in answer.json()["items"]]


def tool(name: str = "Quiet Search", host: str = "quiet-search.example", **members: Any) -> Any:
    """A tool whose page is at this host."""
    plain = {
        "name": name,
        "summary": "Full-text search over your notes",
        "kind": "app",
        "category": "search-web",
        "homepage_url": f"https://{host}",
    }
    return {**plain, **members}


def outcomes(view: dict[str, Any]) -> dict[str, str]:
    return {check["name"]: check["outcome"] for check in view["checks"]}
