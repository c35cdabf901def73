"""Reports: one open per reporter and tool, and a quarantine that a crowd of nobodies cannot call for."""

import asyncio

import pytest

from negotiator.directory import catalogue_queries, reports_queries
from tests.conftest import Change
from tests.helpers.answer_checks import refused
from tests.helpers.directory_agents import DirectoryAgent, JoinDirectory, add_tool

pytestmark = pytest.mark.asyncio

MALWARE = {"reason": "malware", "details": "It steals keys."}


async def status(change: Change, key: str) -> str:
    found: catalogue_queries.CatalogueTool = await change(lambda tx: catalogue_queries.find(tx, key))
    return found.status


async def test_a_report_is_taken_once_while_it_is_open(agent: DirectoryAgent, change: Change) -> None:
    key = await add_tool(change, "Acme")
    answer = await agent.post("/tools/acme/reports", MALWARE)
    view = answer.json()
    assert (answer.status_code, view["tool_id"], view["status"]) == (201, key, "open")
    refused(await agent.post(f"/tools/{key}/reports", MALWARE), 409, "already_reported")
    refused(await agent.post("/tools/nothing/reports", MALWARE), 404, "not_found")
    odd = await agent.post(f"/tools/{key}/reports", {"reason": "ugly"})
    refused(odd, 422, "validation_failed")


async def test_a_crowd_that_proved_nothing_weighs_nothing(new_directory_agent: JoinDirectory, change: Change) -> None:
    key = await add_tool(change, "Acme")
    crowd = [await new_directory_agent() for _ in range(12)]
    keys = [await new_directory_agent(level=2, did=f"did:key:z6Mk{place}") for place in range(5)]
    one_owner = [await new_directory_agent(level=2, domain=f"a{place}.crowd.example") for place in range(5)]
    for each in [*crowd, *keys, *one_owner]:
        assert (await each.post(f"/tools/{key}/reports", MALWARE)).status_code == 201
    assert await status(change, key) == "active"


async def test_three_domains_or_one_vetted_agent_withhold_a_tool(
    new_directory_agent: JoinDirectory, change: Change
) -> None:
    key = await add_tool(change, "Acme")
    for place in range(3):
        assert await status(change, key) == "active"
        await (await new_directory_agent(level=2)).post(f"/tools/{key}/reports", MALWARE)
        del place
    assert await status(change, key) == "quarantined"
    other = await add_tool(change, "Other")
    await (await new_directory_agent(level=3)).post(f"/tools/{other}/reports", MALWARE)
    assert await status(change, other) == "quarantined"


async def test_a_broken_link_is_no_reason_to_withhold(new_directory_agent: JoinDirectory, change: Change) -> None:
    key = await add_tool(change, "Acme")
    for _ in range(4):
        await (await new_directory_agent(level=2)).post(f"/tools/{key}/reports", {"reason": "broken_link"})
    assert await status(change, key) == "active"


async def test_a_verified_publisher_s_tool_needs_a_vetted_voice(
    new_directory_agent: JoinDirectory, change: Change
) -> None:
    owner = await new_directory_agent(level=2, domain="acme.example")
    key = await add_tool(change, "Acme", homepage_url="https://acme.example")
    await owner.call("PATCH", f"/tools/{key}", {}, if_match="*")
    for _ in range(4):
        await (await new_directory_agent(level=2)).post(f"/tools/{key}/reports", MALWARE)
    assert await status(change, key) == "active"
    await (await new_directory_agent(level=3)).post(f"/tools/{key}/reports", MALWARE)
    assert await status(change, key) == "quarantined"


async def test_what_a_moderator_dismissed_weighs_no_more(new_directory_agent: JoinDirectory, change: Change) -> None:
    key = await add_tool(change, "Acme")
    reporters = [await new_directory_agent(level=2) for _ in range(3)]
    for each in reporters:
        await each.post(f"/tools/{key}/reports", MALWARE)
    await change(lambda tx: reports_queries.release(tx, key))
    assert await status(change, key) == "active"
    for each in reporters:
        assert (await each.post(f"/tools/{key}/reports", MALWARE)).status_code == 201
    assert await status(change, key) == "active"
    await change(lambda tx: reports_queries.remove(tx, key, message="Malware."))
    assert await status(change, key) == "deleted"
    settled = await change(lambda tx: reports_queries.list_reports(tx, tool=key, status="upheld", limit=10))
    assert len(settled) == 3
    refused(await reporters[0].post(f"/tools/{key}/reports", MALWARE), 410, "gone")


async def test_reports_have_a_daily_quota_that_a_crowd_of_calls_does_not_pass(
    agent: DirectoryAgent, change: Change
) -> None:
    keys = [await add_tool(change, f"Tool {place}") for place in range(20)]
    answers = await asyncio.gather(*(agent.post(f"/tools/{key}/reports", {"reason": "spam"}) for key in keys))
    assert sorted(answer.status_code for answer in answers) == [201] * 10 + [429] * 10
