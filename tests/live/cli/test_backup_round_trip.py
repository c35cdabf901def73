"""A backup of a real server goes round: kill the machine, restore on a new one, serve, and everybody is let in."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from tests.helpers.backup_keys import BACKUP_KEY
from tests.helpers.live_server import Server


@pytest.mark.asyncio
@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
async def test_a_lost_machine_comes_back_from_its_backup(
    tmp_path: Path, engine: str, request: pytest.FixtureRequest
) -> None:
    places = [tmp_path / name for name in ("old", "new")]
    for place in places:
        place.mkdir()
    key = {"backup_key": BACKUP_KEY, "register_limit_anonymous": "1000000"}
    databases: list[dict[str, str]] = [{}, {}]
    if engine == "postgresql":
        make: Callable[[], str] = request.getfixturevalue("postgres")
        databases = [{"database_url": make()} for _ in places]
    file = str(tmp_path / "a.backup")
    old = Server(places[0], workers=2, settings=key | databases[0])
    old.start()
    try:
        async with old.connect() as client:
            agent = await register(client)
            writing = asyncio.create_task(registered_on(client))
            await asyncio.to_thread(old.run, "backup", file)
            writing.cancel()
            later = await register(client)
    finally:
        old.kill()
    base = {"base_url": old.base}
    new = Server(places[1], workers=2, settings=key | base | databases[1])
    assert "can be restored" in new.run("verify", file)
    # A new database on PostgreSQL has empty tables already.
    new.run("restore", file, "--keep-tokens", *(["--replace"] if engine == "postgresql" else []))
    new.start()
    try:
        async with new.connect() as client:
            assert await status(client, agent) == 200
            assert await status(client, later) == 401, "what came after the backup is gone"
            assert await register(client)
    finally:
        new.stop()


async def register(client: httpx2.AsyncClient) -> str:
    body = {"agent_name": "a", "identity_type": "anonymous"}
    answer = await client.post("/api/agent/register", json=body)
    token: str = answer.json()["access_token"]
    return token


async def registered_on(client: httpx2.AsyncClient) -> None:
    """Registers agents without end."""
    while (
        "access_token"
        in (await client.post("/api/agent/register", json={"agent_name": "b", "identity_type": "anonymous"})).text
    ):
        pass


async def status(client: httpx2.AsyncClient, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    return (await client.get("/api/negotiations", headers=headers)).status_code
