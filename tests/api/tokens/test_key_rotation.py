"""Keys rotate under live tokens, and no request fails."""

import asyncio
from pathlib import Path

import httpx2
import pytest

from negotiator.config.settings import Settings
from tests.conftest import bearer, connect, make_settings, running
from tests.helpers.signing_keys import rotate, signer


async def fresh(client: httpx2.AsyncClient) -> dict[str, str]:
    """A new agent."""
    body = {"agent_name": "a", "identity_type": "anonymous"}
    made: dict[str, str] = (await client.post("/api/agent/register", json=body)).json()
    return made


@pytest.mark.parametrize("place", ["files", "database"])
@pytest.mark.asyncio
async def test_tokens_of_every_key_live_on_through_rotations(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr("negotiator.keys.keyring._LOOK_EVERY", 0.001)
    monkeypatch.setattr("negotiator.keys.database_keys._POLL", 0.001)
    monkeypatch.setattr("negotiator.keys.database_keys.LEAD", 0)
    strict = make_settings(settings.data_dir, tmp_path / "own keys", keys_in=place, keys_secret="s" * 32)
    async with running(strict) as application, connect(application) as client:
        agents = [await fresh(client)]
        for _ in range(3):
            published = (await client.get("/.well-known/jwks.json")).json()["keys"]
            following = await rotate(strict)
            await asyncio.sleep(0.05)
            assert following in {key["kid"] for key in published}, "published before it signs"
            agents.append(await fresh(client))
            assert signer(agents[-1]) == following
        assert len({signer(agent) for agent in agents}) == 4
        for agent in agents:
            answer = await client.get("/api/negotiations", headers=bearer(agent))
            assert answer.status_code == 200
        published = (await client.get("/.well-known/jwks.json")).json()["keys"]
        assert {signer(agent) for agent in agents} < {key["kid"] for key in published}
