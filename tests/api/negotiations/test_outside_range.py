"""Offers of the other side whose numbers lie outside an issue's range: recorded, marked, and stood by all advice."""

from typing import Any

import pytest

from tests.contract.requirements import covers
from tests.helpers.negotiation_client import PRICE, TERM, NegotiationClient, pointers

SHARE: dict[str, Any] = {
    "name": "share",
    "type": "percent",
    "direction": "higher",
    "range": {"min": 0, "max": 20, "step": 10},
}
START: dict[str, Any] = {
    "name": "start",
    "type": "date",
    "direction": "lower",
    "range": {"min": "2027-01-01", "max": "2027-12-31", "step": 91},
}
DAYS: dict[str, Any] = {
    "name": "days",
    "type": "duration_days",
    "direction": "higher",
    "range": {"min": 0, "max": 60, "step": 30},
}
STEPPED: dict[str, Any] = {**PRICE, "range": {"min": "800", "max": "1200", "step": "50"}}
MIXED: dict[str, Any] = {
    "issues": [STEPPED, SHARE, START, DAYS, TERM],
    "walk_away": {"utility": 0.3},
    "target": {"utility": 0.8},
    "their_estimate": {"walk_away": {"low": 0.1, "likely": 0.2, "high": 0.3}},
}
INSIDE: dict[str, Any] = {"price": "1000.00", "share": 10, "start": "2027-07-02", "days": 30, "term": "2 years"}


async def acceptance(
    client: NegotiationClient, key: str, offer: dict[str, Any], **members: Any
) -> tuple[int, dict[str, Any]]:
    """The answer to accepting an offer."""
    body = {"by": "me", "kind": "acceptance", "in_reply_to": offer["id"], **members}
    answer = await client.post(f"/negotiations/{key}/offers", body)
    return answer.status_code, answer.json()


async def advised(client: NegotiationClient, key: str) -> dict[str, Any]:
    """Every kind of advice on the negotiation, each of which must be given; the move with a person is returned."""
    for advice in ("leverage", "suggestions", "battle-plans"):
        body = {"utterance": "That is my final offer."} if advice == "suggestions" else {}
        answer = await client.post(f"/negotiations/{key}/{advice}", body)
        assert answer.status_code in {200, 201}, answer.text
        if advice == "battle-plans":
            path = f"/negotiations/{key}/battle-plans/{answer.json()['id']}"
            printed = await client.get(path, Accept="text/markdown")
            assert printed.status_code == 200, printed.text
    with_person, with_agent = [await next_move(client, key, who) for who in ("person", "agent")]
    for move in (with_person, with_agent):
        assert move["action"] == "walk_away" or move["my_utility"] >= move["floor"]
    return with_person


async def next_move(client: NegotiationClient, key: str, counterpart: str) -> dict[str, Any]:
    """The next move with a person or an agent."""
    body = {"counterpart": counterpart}
    answer = await client.post(f"/negotiations/{key}/next-move", body)
    assert answer.status_code == 200, answer.text
    move: dict[str, Any] = answer.json()
    assert move["counterpart"] == counterpart
    return move


@pytest.mark.asyncio
@covers("6.5:outside_range")
async def test_an_anchor_outside_the_range_is_recorded_and_marked(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened())["id"]
    anchor = await negotiation_client.offered(key, 2500, "them")
    assert (anchor["outside_range"], anchor["package"]) == (True, {"price": "2500.00"})
    assert anchor["utility_me"] == {"low": 0.0, "high": 0.0}
    assert anchor["utility_them_estimate"] == 1.0
    nearer = await negotiation_client.offered(key, 1150, "them")
    assert nearer["outside_range"] is False
    assert nearer["concession_them"] == pytest.approx(0.125)
    mine = await negotiation_client.offered(key, 900)
    assert mine["outside_range"] is False
    rows = (await negotiation_client.get(f"/negotiations/{key}/offers")).json()["items"]
    assert [row["outside_range"] for row in rows] == [False, False, True]


@pytest.mark.asyncio
@covers("6.5:outside")
async def test_only_a_number_of_theirs_may_lie_outside(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened(**MIXED))["id"]
    path = f"/negotiations/{key}/offers"
    for name, value in [("price", 2500), ("share", 21), ("start", "2028-01-01"), ("days", 61), ("term", "4 years")]:
        mine = await negotiation_client.post(path, {"by": "me", "package": {name: value}})
        assert pointers(mine) == {f"/package/{name}"}
    wrong = [
        *(("price", value) for value in ("dear", True, "NaN", "Infinity", "-inf", "1e31", 2**60)),
        *(("days", value) for value in (30.5, "soon")),
        *(("start", value) for value in ("10000-01-01", "2027-02-30", 20270101)),
        ("term", "4 years"),
        ("colour", "red"),
    ]
    for name, value in wrong:
        theirs = await negotiation_client.post(path, {"by": "them", "package": {name: value}})
        assert pointers(theirs) == {f"/package/{name}"}, (name, value)
    listed = {**PRICE, "range": None, "options": [{"value": 900}, {"value": 1000}]}
    fixed = (await negotiation_client.opened(issues=[listed], walk_away=None))["id"]
    refused = await negotiation_client.offer(fixed, 1100, "them")
    assert pointers(refused) == {"/package/price"}


@pytest.mark.asyncio
@covers("6.5:bad_end")
async def test_a_value_beyond_the_bad_end_cannot_be_accepted_and_one_beyond_the_good_end_can(
    negotiation_client: NegotiationClient,
) -> None:
    lax = {"walk_away": {"utility": 0.0}}
    for members in ({}, lax, {**MIXED, **lax}):
        key = (await negotiation_client.opened(**members))["id"]
        package = {**INSIDE, "price": "1200.01"} if "issues" in members else {"price": "1200.01"}
        path = f"/negotiations/{key}/offers"
        dear = (await negotiation_client.post(path, {"by": "them", "package": package})).json()
        code, refused = await acceptance(negotiation_client, key, dear)
        assert (code, refused["error"]) == (409, "below_walk_away")
        agreed = await negotiation_client.move(key, "agreed")
        assert agreed.json()["error"] == "below_walk_away"
        cheap = (await negotiation_client.post(path, {"by": "them", "package": {**package, "price": "12.50"}})).json()
        assert cheap["outside_range"] is True
        code, row = await acceptance(negotiation_client, key, cheap, package=cheap["package"])
        assert (code, row["package"]["price"]) == (201, "12.50")
        assert await negotiation_client.state(key) == "agreed"


@pytest.mark.asyncio
async def test_a_walk_away_beyond_the_range_is_as_far_as_they_may_go(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened(walk_away={"package": {"price": 1300}}))["id"]
    dear = await negotiation_client.offered(key, 1300.01, "them")
    code, refused = await acceptance(negotiation_client, key, dear)
    assert (code, refused["error"]) == (409, "below_walk_away")
    code, meant = await acceptance(negotiation_client, key, dear, override=True, reason="Last units.")
    assert (code, meant["override"]["against"]) == (201, ["walk_away"])
    key = (await negotiation_client.opened(walk_away={"package": {"price": 1300}}))["id"]
    just = await negotiation_client.offered(key, 1300, "them")
    assert (await acceptance(negotiation_client, key, just))[0] == 201


@pytest.mark.asyncio
@covers("6.5:outside_range")
async def test_advice_says_how_a_value_outside_counts_and_never_proposes_it(
    negotiation_client: NegotiationClient,
) -> None:
    key = (await negotiation_client.opened(max_rounds=4))["id"]
    for asked in (2500, 1900, 1500):
        await negotiation_client.offered(key, asked, "them")
        move = await advised(negotiation_client, key)
        assert move["action"] == "counter"
        assert 800 <= float(move["offer"]["price"]) <= 1100
        said = "Their price is outside the range, so it counts as the nearest end of the range."
        with_agent = await next_move(negotiation_client, key, "agent")
        assert said in move["reasons"]
        assert said in with_agent["reasons"]
        assert 800 <= float(with_agent["offer"]["price"]) <= 1100
        await negotiation_client.offered(key, move["offer"]["price"])
    leverage = (await negotiation_client.post(f"/negotiations/{key}/leverage", {})).json()
    noted = "An offer outside the range of price counts as the nearest end of that range."
    assert leverage["assumptions"].count(noted) == 1


@pytest.mark.asyncio
async def test_an_offer_better_than_the_range_is_advised_to_be_accepted_as_it_is(
    negotiation_client: NegotiationClient,
) -> None:
    key = (await negotiation_client.opened(max_rounds=5))["id"]
    gift = await negotiation_client.offered(key, 640, "them")
    move = await advised(negotiation_client, key)
    with_agent = await next_move(negotiation_client, key, "agent")
    for advice in (move, with_agent):
        assert (advice["action"], advice["offer"]) == ("accept", {"price": "640.00"})
    assert (await acceptance(negotiation_client, key, gift, package=move["offer"]))[0] == 201


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "change",
    [
        {"price": "1e30"},
        {"price": "-1e30"},
        {"price": "1e-400"},
        {"price": -1},
        {"price": 2**53},
        {"price": "999999999999999999999999999999.999999999999"},
        {"share": 1e9},
        {"share": "-1e30"},
        {"share": "999999999999999999999999999999"},
        {"days": "1e30"},
        {"days": -(2**53)},
        {"days": "999999999999999999999999999999"},
        {"start": "9999-12-31"},
        {"start": "0001-01-01"},
        {"price": "1e30", "share": 1e9, "days": "-1e30", "start": "9999-12-31"},
    ],
)
async def test_advice_stands_any_value_that_they_can_name(
    negotiation_client: NegotiationClient, change: dict[str, Any]
) -> None:
    key = (await negotiation_client.opened(**MIXED, max_rounds=6))["id"]
    path = f"/negotiations/{key}/offers"
    for package in (INSIDE, {**INSIDE, **change}, {**INSIDE, **change}, change):
        row = await negotiation_client.post(path, {"by": "them", "package": package})
        assert row.status_code == 201, row.text
        assert row.json()["outside_range"] is (package is not INSIDE)
    for _ in range(2):
        move = await advised(negotiation_client, key)
        if move["action"] == "counter":
            made = await negotiation_client.post(path, {"by": "me", "package": move["offer"]})
            assert made.status_code == 201, made.text
    assert (await negotiation_client.get(path)).status_code == 200
    assert (await negotiation_client.patch(key, {"title": "Again"})).status_code == 200
    assert (await negotiation_client.move(key, "lost")).status_code == 200


@pytest.mark.asyncio
async def test_described_offers_of_theirs_may_lie_outside_the_range(negotiation_client: NegotiationClient) -> None:
    body = {"role": "buyer", "issues": [PRICE], "walk_away": {"package": {"price": 1100}}}
    theirs = [{"by": "them", "package": {"price": 5000}}]
    path = "/tactics/suggest"
    answer = await negotiation_client.post(path, {**body, "offers": theirs})
    assert answer.status_code == 200, answer.text
    mine = [{"by": "me", "package": {"price": 5000}}]
    refused = await negotiation_client.post(path, {**body, "offers": mine})
    assert pointers(refused) == {"/offers/0/package/price"}
