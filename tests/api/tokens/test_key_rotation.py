"""Keys rotate under live tokens, and no request fails."""

from pathlib import Path

import httpx2
import jwt
import pytest

from negotiator.keys import Keyring
from negotiator.settings import Settings
from tests.conftest import bearer, connect, make_settings, running


async def fresh(client: httpx2.AsyncClient) -> dict[str, str]:
    """A new agent."""
    body = {"agent_name": "a", "identity_type": "anonymous"}
    made: dict[str, str] = (await client.post("/api/agent/register", json=body)).json()
    return made


def signer(agent: dict[str, str]) -> str:
    """The key that signed an agent's token."""
    kid: str = jwt.get_unverified_header(agent["access_token"])["kid"]
    return kid


@pytest.mark.asyncio
async def test_tokens_of_every_key_live_on_through_rotations(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("negotiator.keys._LOOK_EVERY", -1.0)
    keys = tmp_path / "own keys"
    strict = make_settings(settings.data_dir, keys)
    async with running(strict) as application, connect(application) as client:
        agents = [await fresh(client)]
        for _ in range(3):
            published = (await client.get("/.well-known/jwks.json")).json()["keys"]
            following = Keyring(keys).rotate().kid
            assert following in {key["kid"] for key in published}, "published before it signs"
            agents.append(await fresh(client))
            assert signer(agents[-1]) == following
        assert len({signer(agent) for agent in agents}) == 4
        for agent in agents:
            answer = await client.get("/api/negotiations", headers=bearer(agent))
            assert answer.status_code == 200
        published = (await client.get("/.well-known/jwks.json")).json()["keys"]
        assert {signer(agent) for agent in agents} < {key["kid"] for key in published}
