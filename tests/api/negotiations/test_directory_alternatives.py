"""Alternatives out of the directory in a battle plan: real tools, only where one is clearly meant."""

from typing import Any

import httpx2
import pytest

from negotiator.directory import exchange_import
from tests.conftest import Change, Register, bearer

pytestmark = pytest.mark.asyncio
SEAT: dict[str, Any] = {
    "name": "price", "label": "Price per seat", "type": "money",
    "range": {"min": "5", "max": "20", "step": "1"},
}  # fmt: skip


async def plan(
    client: httpx2.AsyncClient, register: Register, accept: str = "application/json", **body: Any
) -> httpx2.Response:
    """The plan of a new negotiation."""
    owner = bearer(await register())
    opening = {"role": "buyer", "issues": [SEAT], **body}
    opened = await client.post("/api/negotiations", json=opening, headers=owner)
    assert opened.status_code == 201, opened.text
    path = f"/api/negotiations/{opened.json()['id']}/battle-plans"
    made = await client.post(path, json={}, headers=owner)
    assert made.status_code == 201, made.text
    return await client.get(f"{path}/{made.json()['id']}", headers={**owner, "accept": accept})


async def test_a_plan_for_software_names_real_tools_that_do_the_same_job(
    client: httpx2.AsyncClient, register: Register, change: Change
) -> None:
    await change(exchange_import.import_bundled_content)
    answer = await plan(client, register, title="Slack renewal, 200 seats", counterparty={"organisation": "Slack"})
    leads = answer.json()["alternatives"]
    assert 1 <= len(leads) <= 5
    for lead in leads:
        kind, _, tool_id = lead["source"].partition(":")
        assert kind == "tool"
        tool = (await client.get(f"/api/v1/tools/{tool_id}")).json()
        assert (tool["name"], tool["homepage_url"]) == (lead["name"], lead["link"])
        assert tool["category"] == "communication-support"
        assert tool["name"] != "Slack"
        assert "Slack" in lead["why"]
    printed = await plan(client, register, "text/markdown", title="Slack renewal", counterparty={"name": "Slack"})
    assert "as an alternative." in printed.text
    assert leads[0]["name"].split()[0] in printed.text


@pytest.mark.parametrize(
    "body",
    [
        {"title": "Office rent", "counterparty": {"organisation": "Slack"}, "issues": [
            {**SEAT, "label": "Rent"}]},
        {"title": "Cloud hosting for the linear accelerator"},
        {"title": "Software maintenance of the old mainframe"},
        {"title": "Slack licences", "role": "seller"},
    ],
)  # fmt: skip
async def test_nothing_is_named_when_no_tool_is_clearly_bought(
    client: httpx2.AsyncClient, register: Register, change: Change, body: dict[str, Any]
) -> None:
    await change(exchange_import.import_bundled_content)
    assert (await plan(client, register, **body)).json()["alternatives"] == []
