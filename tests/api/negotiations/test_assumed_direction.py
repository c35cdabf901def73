"""Which values are better for the user, where they did not say so, and what else advice takes for granted."""

from typing import Any, Final

import pytest

from tests.helpers.mcp_client import McpClient
from tests.helpers.mcp_client import mcp_client as mcp_client
from tests.helpers.negotiation_client import NegotiationClient, pointers

PAYMENT: Final[dict[str, Any]] = {
    "title": "Payment",
    "role": "seller",
    "issues": [{"name": "payment", "type": "duration_days", "range": {"min": 14, "max": 60}}],
    "target": {"package": {"payment": 30}},
    "walk_away": {"package": {"payment": 45}},
}
PRICE: Final[dict[str, Any]] = {"name": "price", "type": "money", "range": ["80", "120"]}
TERM: Final[dict[str, Any]] = {"name": "term", "type": "integer", "range": [6, 36]}


async def opened(client: NegotiationClient, **members: Any) -> dict[str, Any]:
    answer = await client.post("/negotiations", {**PAYMENT, **members})
    assert answer.status_code == 201, answer.text
    view: dict[str, Any] = answer.json()
    return view


async def advised(client: NegotiationClient, negotiation: str, **offer: Any) -> dict[str, Any]:
    """The next move, after an offer of theirs if one is given."""
    if offer:
        sent = await client.post(f"/negotiations/{negotiation}/offers", {"by": "them", **offer})
        assert sent.status_code == 201, sent.text
    answer = await client.post(f"/negotiations/{negotiation}/next-move", {})
    assert answer.status_code == 200, answer.text
    move: dict[str, Any] = answer.json()
    return move


@pytest.mark.asyncio
async def test_a_target_below_the_walk_away_says_that_lower_is_better(negotiation_client: NegotiationClient) -> None:
    view = await opened(negotiation_client)
    assert (view["issues"][0]["direction"], view["issues"][0]["limit"]) == ("lower", 45)
    assert "issues/0/direction" not in view["missing"]
    first = await advised(negotiation_client, view["id"])
    assert first["offer"]["payment"] <= 30
    assert any("lower value is taken as better" in one for one in first["assumptions"])
    move = await advised(negotiation_client, view["id"], package={"payment": 60})
    assert (move["action"], move["offer"]["payment"] <= 45) == ("counter", True)


@pytest.mark.asyncio
async def test_the_direction_follows_a_patch_of_the_limits(negotiation_client: NegotiationClient) -> None:
    view = await opened(negotiation_client)
    patch = {"target": {"package": {"payment": 45}}, "walk_away": {"package": {"payment": 30}}}
    changed = await negotiation_client.patch(view["id"], patch)
    assert changed.json()["issues"][0]["direction"] == "higher"


@pytest.mark.asyncio
async def test_the_limit_of_an_issue_and_the_worths_of_values_say_it_too(negotiation_client: NegotiationClient) -> None:
    issue = PAYMENT["issues"][0]
    limited = await opened(negotiation_client, walk_away=None, issues=[{**issue, "limit": 45}])
    assert limited["issues"][0]["direction"] == "lower"
    bent = {**issue, "value_points": [[14, 1], [30, 0.8], [60, 0]]}
    valued = await opened(negotiation_client, target=None, walk_away=None, issues=[bent])
    assert valued["issues"][0]["direction"] == "lower"


@pytest.mark.asyncio
async def test_mcp_and_a_described_negotiation_take_the_same_direction(
    negotiation_client: NegotiationClient, mcp_client: McpClient
) -> None:
    made = await mcp_client.done("open_negotiation", **PAYMENT)
    assert made["issues"][0]["direction"] == "lower"
    body = {"negotiation": {**PAYMENT, "their_estimate": None}, "offers": [{"by": "them", "package": {"payment": 60}}]}
    move = (await negotiation_client.post("/next-move", body)).json()
    assert move["action"] == "counter", move
    assert move["offer"]["payment"] <= 45


@pytest.mark.asyncio
@pytest.mark.parametrize("target", [None, {"package": {"payment": 45}}])
async def test_a_limit_that_no_direction_belongs_to_is_asked_about_before_any_advice(
    negotiation_client: NegotiationClient, target: Any
) -> None:
    body = {**PAYMENT, "target": target}
    checked = (await negotiation_client.post("/negotiations/check", body)).json()
    assert checked["ask"][0]["missing"] == "issues/0/direction"
    view = await opened(negotiation_client, target=target)
    refused = await negotiation_client.post(f"/negotiations/{view['id']}/next-move", {})
    assert (refused.status_code, refused.json()["missing"]) == (409, ["issues/0/direction"])


@pytest.mark.asyncio
async def test_a_target_that_a_direction_makes_worse_names_the_direction(negotiation_client: NegotiationClient) -> None:
    issues = [{**PAYMENT["issues"][0], "direction": "higher"}]
    refused = await negotiation_client.post("/negotiations", {**PAYMENT, "issues": issues})
    assert pointers(refused) == {"/target"}
    assert "send `direction` lower" in refused.text


@pytest.mark.asyncio
async def test_a_weight_on_one_of_several_issues_is_said_to_change_nothing(
    negotiation_client: NegotiationClient,
) -> None:
    view = await opened(
        negotiation_client,
        issues=[{**PRICE, "weight": 6}, {**TERM, "direction": "higher"}],
        currency="EUR",
        target={"package": {"price": "110", "term": 24}},
        walk_away={"package": {"price": "95", "term": 12}},
    )
    move = await advised(negotiation_client, view["id"])
    assert any("weight for price only" in one for one in move["assumptions"])


@pytest.mark.asyncio
async def test_a_partial_offer_says_what_it_was_completed_with(negotiation_client: NegotiationClient) -> None:
    view = await opened(
        negotiation_client,
        issues=[PRICE, {**TERM, "direction": "higher"}],
        currency="EUR",
        target={"package": {"price": "110", "term": 24}},
        walk_away={"package": {"price": "95", "term": 12}},
    )
    await advised(negotiation_client, view["id"], package={"price": "90", "term": 18})
    move = await advised(negotiation_client, view["id"], package={"price": "115"})
    said = [one for one in move["assumptions"] if "leaves out" in one]
    assert "term" in said[0]
    assert "18" in said[0]


@pytest.mark.asyncio
async def test_an_object_in_a_text_a_year_of_months_and_two_figures_are_read(
    negotiation_client: NegotiationClient,
) -> None:
    view = await opened(
        negotiation_client,
        issues=[PRICE, {**TERM, "unit": "months"}],
        currency="EUR",
        target='{"price": "110", "term": "2 years"}',
        walk_away={"package": {"price": "95", "term": "1 year"}},
        their_estimate="100-110",
    )
    assert view["target"] == {"package": {"price": "110.00", "term": 24}}
    assert view["walk_away"]["package"]["term"] == 12
    assert view["their_estimate"]["walk_away"]["low"] == "100.00"


@pytest.mark.asyncio
async def test_a_revision_without_quotes_is_told_how_to_be_sent(negotiation_client: NegotiationClient) -> None:
    view = await opened(negotiation_client)
    refused = await negotiation_client.client.patch(
        f"/api/negotiations/{view['id']}",
        json={"title": "Other"},
        headers={**negotiation_client.headers, "If-Match": "1"},
    )
    assert refused.status_code == 412
    assert 'If-Match: "1"' in refused.json()["error_description"]
