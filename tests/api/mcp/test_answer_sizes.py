"""What answers cost a model that reads them on every turn, in tokens (docs/contract 10.2)."""

from typing import Any

import pytest

from tests.contract.requirements import covers
from tests.helpers.mcp_client import McpClient
from tests.helpers.token_count import tokens

DELIVERY: dict[str, Any] = {"name": "delivery", "type": "date", "range": {"min": "2027-01-01", "max": "2030-12-31"}}
WARRANTY: dict[str, Any] = {"name": "warranty", "type": "number", "range": {"min": "6", "max": "36"}}
Values = list[dict[str, str]]


def terms(count: int) -> tuple[dict[str, Any], Values]:
    """A purchase with so many issues, and an offer of the other side."""
    price: dict[str, Any] = {"name": "price", "type": "money", "range": {"min": "15000", "max": "22000"}}
    several: list[dict[str, Any]] = [WARRANTY, {"name": "tyres", "type": "boolean"}]
    several += [{**WARRANTY, "name": f"point_{number}"} for number in range(count)]
    delivery = {**DELIVERY, "direction": "lower"}
    issues: list[dict[str, Any]] = [price, delivery, *({**issue, "direction": "higher"} for issue in several)][:count]
    aims: dict[str, tuple[str, str]] = {
        "price": ("16000", "20000"),
        "delivery": ("2027-01-15", "2029-05-15"),
        "tyres": ("yes", "no"),
    }
    target, walk_away = (
        [{"name": one["name"], "value": aims.get(one["name"], ("30", "8"))[at]} for one in issues] for at in (0, 1)
    )
    talk: dict[str, Any] = {"title": "Car", "role": "buyer", "currency": "EUR", "issues": issues, "target": target}
    return {**talk, "walk_away": walk_away}, [{"name": "price", "value": "21000"}, *walk_away[1:]]


async def opened(client: McpClient, count: int) -> str:
    """The id of such a negotiation, in which the other side has made its offer."""
    talk, offer = terms(count)
    negotiation: str = (await client.done("open_negotiation", **talk))["id"]
    await client.done("record_offer", id=negotiation, by="them", kind="offer", package=offer)
    return negotiation


@pytest.mark.asyncio
@covers("10.2:answers")
@pytest.mark.parametrize(("count", "most"), [(1, 600), (4, 900), (10, 1800)])
async def test_a_next_move_is_affordable(mcp_client: McpClient, count: int, most: int) -> None:
    negotiation = await opened(mcp_client, count)
    told = await mcp_client.done("next_move", id=negotiation)
    assert tokens(told) <= most
    assert {"brief", "heard", "answer_first"} <= told.keys()
    by_program = await mcp_client.done("next_move", id=negotiation, counterpart="agent")
    assert by_program["opponent_utility"] == {}
    assert tokens(by_program) <= most
    heard = await mcp_client.done("next_move", id=negotiation, utterance="I would do 20,500. Why so low?")
    assert heard["heard"]["offers"]
    assert tokens(heard) <= most + 50, "with what their message says"


@pytest.mark.asyncio
@pytest.mark.parametrize("counterpart", ["person", "agent"])
async def test_the_scores_are_told_when_asked_for_and_only_where_the_line_bends(
    mcp_client: McpClient, counterpart: str
) -> None:
    negotiation = await opened(mcp_client, 4)
    told = await mcp_client.done("next_move", id=negotiation, counterpart=counterpart, scores=True)
    scores: dict[str, list[list[Any]]] = told["opponent_utility"]
    assert {name: [points[0][0], points[-1][0]] for name, points in scores.items()} == {
        "price": ["15000.00", "22000.00"],
        "delivery": ["2027-01-01", "2030-12-31"],
        "warranty": [6.0, 36.0],
        "tyres": [False, True],
    }
    for points in scores.values():
        assert 2 <= len(points) <= 5
        assert all(score == round(score, 3) for _, score in points)
    if counterpart == "person":
        assert all(len(points) == 2 for points in scores.values()), "straight lines"


@pytest.mark.asyncio
@covers("10.2:answers")
async def test_a_plan_is_the_page_of_markdown_and_the_categories_are_told_once(mcp_client: McpClient) -> None:
    negotiation = await opened(mcp_client, 4)
    (made,) = (await mcp_client.call("make_battle_plan", id=negotiation)).json()["result"]["content"]
    assert made["text"].startswith("# ")
    assert tokens(made["text"]) <= 2000
    over_http = {**mcp_client.headers, "accept": "text/markdown"}
    path = f"/api/negotiations/{negotiation}/battle-plans"
    again = await mcp_client.client.post(path, json={}, headers=over_http)
    assert (again.status_code, again.headers["vary"]) == (201, "Accept")
    assert again.text.splitlines()[0] == made["text"].splitlines()[0]
    told = await mcp_client.done("list_categories")
    assert told.keys() == {"items"}
    assert tokens(told) <= 1000
