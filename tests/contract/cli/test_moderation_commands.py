"""The moderators' commands: the queue, the reports, what becomes of a tool, and who is vetted or ended."""

import httpx2
import pytest

from tests.conftest import Change
from tests.contract.requirements import covers
from tests.helpers.directory_agents import add_tool, join_directory, tool
from tests.helpers.directory_identity import CHALLENGE, StatementSigner, is_accepted, key_header, register_account
from tests.helpers.operator_commands import Operator
from tests.helpers.operator_commands import operator as _operator

operator = _operator
_QUEUE = ("directory", "submissions")


@covers("5.2:directory")
@pytest.mark.asyncio
@covers("5.2:submissions")
async def test_the_queue_is_listed_shown_and_decided(
    operator: Operator, client: httpx2.AsyncClient, change: Change
) -> None:
    agent = await join_directory(client, change)
    keys = [(await agent.post("/tools", tool(f"Tool {place}", f"t{place}.example"))).json()["id"] for place in range(3)]
    rows = (await operator.json(*_QUEUE, "list")).value
    assert [row["id"] for row in rows] == keys
    assert rows[0]["look_at"] == ["publisher"]
    shown = (await operator.json(*_QUEUE, "show", keys[0])).value
    assert (shown["agent"], shown["proposed"]["name"]) == (agent.id, "Tool 0")
    assert "Tool 0" in (await operator(*_QUEUE, "show", keys[0])).out
    approved = (await operator.json(*_QUEUE, "approve", keys[0], "--note", "Nice.")).value
    assert approved["tool"].startswith("tool_")
    assert (await operator.refused(*_QUEUE, "approve", keys[0])).endswith("is approved.")
    line = await operator(*_QUEUE, "reject", keys[1], "--reason", "spam")
    assert (line.exit_code, line.out.strip()) == (0, f"{keys[1]} is rejected: spam.")
    await operator.json(*_QUEUE, "request-changes", keys[2], "--note", "Say more.")
    assert (await operator.json(*_QUEUE, "list")).value == []
    sent_back = (await operator.json(*_QUEUE, "list", "--status", "changes_requested")).value
    assert [row["id"] for row in sent_back] == [keys[2]]
    await operator.refused(*_QUEUE, "show", "sub_nothing")
    assert (await operator(*_QUEUE, "reject", keys[2], "--reason", "ugly")).exit_code == 2
    assert (await operator(*_QUEUE, "list", "--status", "odd")).exit_code == 2


@pytest.mark.asyncio
async def test_reports_are_listed_and_a_tool_is_withheld_shown_and_deleted(
    operator: Operator, client: httpx2.AsyncClient, change: Change
) -> None:
    key, agent = await add_tool(change, "Acme"), await join_directory(client, change)
    await agent.post(f"/tools/{key}/reports", {"reason": "malware", "details": "[red]bad[/red]"})
    (row,) = (await operator.json("directory", "reports", "list")).value
    assert (row["tool"], row["reason"], row["weight"]) == (key, "malware", 0)
    assert "malware" in (await operator("directory", "reports", "list")).out
    commands = ("directory", "tools")
    await operator.refused(*commands, "release", key)
    withheld = (await operator.json(*commands, "quarantine", "acme")).value
    assert withheld == {"id": key, "slug": "acme", "status": "quarantined"}
    assert (await operator(*commands, "release", key)).out.strip() == f"{key} is shown again."
    assert (await operator.json("directory", "reports", "list")).value == []
    assert len((await operator.json("directory", "reports", "list", "--all")).value) == 1
    assert (await operator.json(*commands, "delete", key)).value["status"] == "deleted"
    await operator.refused(*commands, "quarantine", key)


@pytest.mark.asyncio
@covers("5.2:directory-agents")
async def test_agents_are_listed_vetted_and_revoked_while_the_server_runs(
    operator: Operator, client: httpx2.AsyncClient
) -> None:
    agents = ("directory", "agents")
    assert (await operator(*agents, "list")).out == "No agents.\n"
    record = await register_account(client, "did", StatementSigner().did)
    agent = record["client_id"]
    (listed,) = (await operator.json(*agents, "list")).value
    assert (listed["client_id"], listed["trust_level"], listed["verified"]) == (agent, 1, False)
    assert (await operator.json(*agents, "vet", agent)).value == {"client_id": agent, "vetted": True}
    asked = await client.post(CHALLENGE, headers=key_header(record))
    assert asked.json()["identity"]["trust_level"] == 3
    assert (await operator(*agents, "vet", agent, "--undo")).out == f"{agent} is not vetted any more.\n"
    assert (await operator(*agents, "revoke", agent)).out == f"{agent} is revoked.\n"
    assert not await is_accepted(client, record["api_key"])
    for words in (("vet", agent), ("revoke", agent), ("revoke", "agt_nobody")):
        assert (await operator.refused(*agents, *words)).startswith("negotiator: There is no agent ")
