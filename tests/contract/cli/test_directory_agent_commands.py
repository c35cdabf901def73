"""`negotiator directory agents`: the operator sees, vets and ends agents, beside a running server."""

import asyncio

import httpx2
import pytest

from negotiator.config.settings import Settings
from tests.conftest import PEPPER
from tests.contract.requirements import covers
from tests.helpers.command_line import CommandLine, CommandResult
from tests.helpers.directory_identity import CHALLENGE, StatementSigner, is_accepted, key_header, register_account
from tests.helpers.form_browser import BASE

pytestmark = pytest.mark.asyncio


@covers("5.2:directory-agents")
async def test_agents_are_listed_vetted_and_revoked_while_the_server_runs(
    client: httpx2.AsyncClient, settings: Settings
) -> None:
    machine = CommandLine(
        {
            "NEGOTIATOR_BASE_URL": BASE,
            "NEGOTIATOR_DATA_DIR": str(settings.data_dir),
            "NEGOTIATOR_KEYS_DIR": str(settings.keys_dir),
            "NEGOTIATOR_SECRET": PEPPER,
        }
    )

    async def run(*words: str) -> CommandResult:
        return await asyncio.to_thread(machine.run, "directory", "agents", *words)

    assert (await run("list")).out == "No agents.\n"
    record = await register_account(client, "did", StatementSigner().did)
    agent = record["client_id"]
    (listed,) = (await run("list", "--json")).value
    assert (listed["client_id"], listed["trust_level"], listed["verified"]) == (agent, 1, False)
    assert (await run("vet", agent, "--json")).value == {"client_id": agent, "vetted": True}
    asked = await client.post(CHALLENGE, headers=key_header(record))
    assert asked.json()["identity"]["trust_level"] == 3
    assert (await run("vet", agent, "--undo")).out == f"{agent} is not vetted any more.\n"
    assert (await run("revoke", agent)).out == f"{agent} is revoked.\n"
    assert not await is_accepted(client, record["api_key"])
    for words in (("vet", agent), ("revoke", agent), ("revoke", "agt_nobody")):
        said = await run(*words)
        assert said.exit_code == 1
        assert said.err.startswith("negotiator: There is no agent ")
