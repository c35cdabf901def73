"""Short forms of a negotiation over HTTP and MCP, and what the answer shows that they were taken for."""

from typing import Any, Final

import pytest

from tests.contract.requirements import covers
from tests.helpers.mcp_client import McpClient
from tests.helpers.mcp_client import mcp_client as mcp_client
from tests.helpers.negotiation_client import NegotiationClient, pointers

CAR: Final[dict[str, Any]] = {"title": "Car", "role": "buyer", "issues": ["price"]}
TWO: Final[list[dict[str, Any]]] = [
    {"name": "price", "range": [38, 65]},
    {"name": "term", "type": "integer", "direction": "lower", "range": ["12 months", "36 months"]},
]


async def opened(client: NegotiationClient, **members: Any) -> dict[str, Any]:
    answer = await client.post("/negotiations", {**CAR, **members})
    assert answer.status_code == 201, answer.text
    view: dict[str, Any] = answer.json()
    return view


@pytest.mark.asyncio
@covers("6.11:shown")
async def test_a_negotiation_about_one_price_is_opened_in_five_words(negotiation_client: NegotiationClient) -> None:
    view = await opened(negotiation_client, target="€45", walk_away=56, batna=54)
    assert view["target"] == {"package": {"price": "45.00"}}
    assert view["walk_away"] == {"package": {"price": "56.00"}}
    assert view["batna"]["value"] == {"package": {"price": "54.00"}}
    assert (view["currency"], view["issues"][0]["type"]) == ("EUR", "money")
    assert view["issues"][0]["direction"] == "lower"
    assert "issues/0/range" in view["missing"], "an unknown range stays unknown"


@pytest.mark.asyncio
@covers("6.11:shown")
async def test_listed_values_say_of_what_type_an_issue_is(negotiation_client: NegotiationClient) -> None:
    issues = ["price", {"name": "start", "options": ["March", "June"]}, {"name": "weeks", "options": [4, 8]}]
    view = await opened(negotiation_client, issues=issues)
    assert [(one["type"], one["unit"]) for one in view["issues"]] == [
        ("money", None),
        ("enum", None),
        ("integer", "weeks"),
    ]


@pytest.mark.asyncio
@covers("6.11:shown")
async def test_one_figure_of_an_estimate_says_what_was_assumed(negotiation_client: NegotiationClient) -> None:
    estimate = (await opened(negotiation_client, their_estimate=52))["their_estimate"]
    assert estimate["walk_away"] == {"low": "46.80", "likely": "52.00", "high": "57.20", "unit": "money"}
    assert "10 % below and above" in estimate["source"]


@pytest.mark.asyncio
@covers("6.11:shown")
async def test_values_of_each_type_are_read_as_people_write_them(negotiation_client: NegotiationClient) -> None:
    issues: list[Any] = [
        *TWO,
        "delivery date",
        "payment_days",
        {"name": "cap", "type": "percent", "direction": "lower"},
        {"name": "pay", "type": "enum", "options": ["Monthly", "Yearly"]},
    ]
    said = {
        "price": "45 EUR",
        "term": "12 months",
        "delivery date": "1 March 2027",
        "payment_days": "2 weeks",
        "cap": "3 %",
        "pay": "monthly",
    }
    view = await opened(negotiation_client, issues=issues, target=said)
    assert view["target"]["package"] == {
        "price": "45.00",
        "term": 12,
        "delivery date": "2027-03-01",
        "payment_days": 14,
        "cap": 3.0,
        "pay": "Monthly",
    }
    assert view["issues"][1]["unit"] == "months"
    assert view["issues"][1]["range"] == {"min": 12, "max": 36, "step": None}


@pytest.mark.asyncio
@covers("6.11:two_readings")
@pytest.mark.parametrize(
    ("members", "pointer", "words"),
    [
        ({"target": "1.500"}, "/target", "1,500 or 1.5"),
        ({"target": 0.8}, "/target", "a value of price or a utility"),
        ({"target": "$45"}, "/target", "several countries"),
        ({"currency": "EUR", "target": "45 USD"}, "/target", "nothing is converted"),
        ({"issues": ["price", "fee"], "target": 45}, "/target", "there are price, fee"),
        ({"issues": ["price", "support"]}, "/issues/1", "what kind of value"),
        ({"their_estimate": 0.5}, "/their_estimate", "money or a utility"),
        ({"deadline": "03/04/2027"}, "/deadline", "3 April 2027 or 4 March 2027"),
        ({"issues": TWO, "target": {"term": "3 weeks"}}, "/target/term", "counted in months"),
    ],
)
async def test_what_has_two_readings_is_refused_with_both(
    negotiation_client: NegotiationClient, members: dict[str, Any], pointer: str, words: str
) -> None:
    answer = await negotiation_client.post("/negotiations", {**CAR, **members})
    assert pointers(answer) == {pointer}
    assert words in answer.json()["errors"][0]["description"]


@pytest.mark.asyncio
@covers("6.11:patch")
async def test_a_change_of_one_value_leaves_the_others(negotiation_client: NegotiationClient) -> None:
    view = await opened(
        negotiation_client,
        issues=TWO,
        target={"price": 45, "term": 12},
        batna={"description": "Nimbus", "value": {"price": 50, "term": 24}},
    )
    change = {"target": "€46", "batna": 52}
    changed = (await negotiation_client.patch(view["id"], change)).json()
    assert changed["target"] == {"package": {"price": "46.00", "term": 12}}
    assert changed["batna"]["description"] == "Nimbus"
    assert changed["batna"]["value"] == {"package": {"price": "52.00", "term": 24}}


@pytest.mark.asyncio
@covers("6.11:patch")
async def test_what_the_server_answers_is_taken_back_unchanged(negotiation_client: NegotiationClient) -> None:
    view = await opened(negotiation_client, target=45.125, walk_away="56k", their_estimate="60k")
    same = {name: view[name] for name in ("target", "walk_away", "their_estimate", "currency")}
    changed = await negotiation_client.patch(view["id"], same)
    assert changed.status_code == 200, changed.text
    assert {name: changed.json()[name] for name in same} == same


@pytest.mark.asyncio
@covers("6.11:offers")
@pytest.mark.parametrize("package", [54, "€54", {"price": "54 EUR"}])
async def test_an_offer_is_one_value_where_one_price_is_negotiated(
    negotiation_client: NegotiationClient, package: Any
) -> None:
    key = (await opened(negotiation_client, currency="EUR"))["id"]
    path = f"/negotiations/{key}/offers"
    answer = await negotiation_client.post(path, {"by": "them", "package": package})
    assert answer.status_code == 201, answer.text
    assert answer.json()["package"] == {"price": "54.00"}
    wrong = await negotiation_client.post(path, {"by": "them", "package": "54 USD"})
    assert pointers(wrong) == {"/package"}


@pytest.mark.asyncio
@covers("6.11:shown")
async def test_tools_take_the_same_short_forms(mcp_client: McpClient) -> None:
    view = await mcp_client.done("open_negotiation", **CAR, target="€45", walk_away=56)
    assert view["target"] == {"package": {"price": "45.00"}}
    offer = await mcp_client.done("record_offer", id=view["id"], by="them", package="€60")
    assert offer["package"] == {"price": "60.00"}
    changed = await mcp_client.done("edit_negotiation", id=view["id"], their_estimate=52)
    assert changed["their_estimate"]["walk_away"]["likely"] == "52.00"


@pytest.mark.asyncio
@covers("6.11:leverage")
async def test_leverage_of_a_described_price_takes_short_forms(negotiation_client: NegotiationClient) -> None:
    body = {
        "role": "buyer",
        "issues": [{"name": "price", "range": [38, 65]}],
        "target": "€45",
        "walk_away": 56,
        "their_estimate": 50,
    }
    answer = await negotiation_client.post("/leverage", body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["position"]["their_walk_away"]["likely"] is not None


@pytest.mark.asyncio
@covers("6.11:shown")
async def test_an_amount_may_say_what_the_price_is_for(negotiation_client: NegotiationClient) -> None:
    rent = {"issues": [{"name": "rent", "label": "Rent per week"}], "role": "tenant", "currency": "GBP"}
    weekly = await opened(negotiation_client, **rent, target="£390 pw", walk_away="£0.4k a week", baseline="£410/week")
    assert weekly["target"]["package"] == {"rent": "390.00"}
    assert weekly["walk_away"]["package"] == {"rent": "400.00"}
    assert weekly["baseline"]["value"] == "410.00"
    refused = await negotiation_client.post("/negotiations", {**CAR, **rent, "target": "£1,690 pcm"})
    assert refused.status_code == 422
    assert "Amounts here are per week, and this says per month: write the amount alone." in refused.text
