"""How often one address may register: one setting, told where an agent's developer looks, and in the refusal."""

import re
from pathlib import Path

import pytest

from negotiator.config.settings import Settings
from tests.conftest import connect, running
from tests.helpers.answer_checks import refused

GUIDES = Path(__file__).parents[3] / "negotiator" / "console" / "guides"
ANONYMOUS = {"agent_name": "a", "identity_type": "anonymous"}
DIRECTORY = {"agent_name": "a", "identity_type": "agent_id", "identity_value": "a-1"}


@pytest.mark.asyncio
async def test_documents_and_refusals_say_the_limits_of_the_settings(settings: Settings) -> None:
    chosen = {"register_limit_anonymous": 1, "register_limit_directory": 2}
    async with running(settings.model_copy(update=chosen)) as started, connect(started) as client:
        page = (await client.get("/auth.md")).text
        assert "at most 1 anonymous agents an hour" in page
        assert "at most 2 agents an hour and 8 a day" in page
        metadata = (await client.get("/.well-known/oauth-authorization-server")).json()
        block = metadata["agent_auth"]
        assert block["anonymous"]["registrations_per_hour"] == 1
        for method in ("did", "agent_id", "email"):
            assert block[method]["registrations_per_hour"] == 2
            assert block[method]["registrations_per_day"] == 8
        assert (await client.post("/api/agent/register", json=ANONYMOUS)).status_code == 201
        body = refused(await client.post("/api/agent/register", json=ANONYMOUS), 429, "rate_limit_exceeded")
        assert "at most 1 registrations from one address an hour" in body["error_description"]
        for _ in range(2):
            assert (await client.post("/api/auth/register", json=DIRECTORY)).status_code == 201
        body = refused(await client.post("/api/auth/register", json=DIRECTORY), 429, "rate_limit_exceeded")
        assert "at most 2 registrations from one address an hour" in body["error_description"]


@pytest.mark.parametrize("guide", ["directory-agents", "publish-a-tool"])
def test_the_guides_say_the_limits_that_hold_unless_the_operator_chose_others(guide: str, tmp_path: Path) -> None:
    text = " ".join((GUIDES / f"{guide}.md").read_text().split())
    found = re.search(r"(\d+) registrations an hour and (\d+) a day from one address", text)
    assert found, guide
    settings = Settings.model_validate({"data_dir": tmp_path, "keys_dir": tmp_path})
    said = tuple(map(int, found.groups()))
    assert said == (settings.register_limit_directory, settings.register_limit_directory_daily)
