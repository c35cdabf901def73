"""Leverage and the next move through the application."""

import math
from typing import Any

import pytest

from tests.contract.requirements import covers
from tests.helpers.negotiation_client import PRICE, TERM, NegotiationClient, negotiation_body

LEVERAGE = {"summary", "position", "power", "points", "expected", "levels", "assumptions", "approximate"}
MOVE = {
    "action",
    "offer",
    "my_utility",
    "alternatives",
    "acceptance_probability",
    "cost",
    "reasons",
    "say",
    "worded_by",
    "opponent_utility",
    "floor",
    "counterpart",
    "summary",
    "acceptance_interval",
    "assumptions",
    "ask",
    "trade",
    "path",
    "expected",
}
ESTIMATE = {"walk_away": {"low": "850", "likely": "900", "high": "950"}}
TURN: dict[str, Any] = {
    "issues": [{"name": "price", "values": [1, 2, 3]}, {"name": "gift", "values": [True, False]}],
    "my_preferences": {
        "reservation_utility": 0.4,
        "constant": 0.0,
        "part_worths": {"price": [[1, 0.6], [2, 0.3], [3, 0.0]], "gift": [[True, 0.4], [False, 0.0]]},
    },
    "progress": {"step": 0, "n_steps": 10, "relative_time": 0.0},
    "history": [],
    "on_table": None,
}


@pytest.mark.asyncio
@covers("6.6:leverage")
async def test_leverage_of_a_stored_talk_is_in_money_and_adds_up(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened(their_estimate=ESTIMATE))["id"]
    answer = await negotiation_client.post(f"/negotiations/{key}/leverage", {})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert set(found) == LEVERAGE
    assert found["position"]["my_walk_away"] == "1100.00"
    assert found["position"]["their_walk_away"] == {"low": "850.00", "likely": "900.00", "high": "950.00"}
    assert found["position"]["zopa"]["probability"] == 1.0
    power = found["power"]
    logit = math.log(power["alpha"] / (1 - power["alpha"]))
    parts = math.fsum(factor["contribution"] for factor in power["factors"])
    assert parts == pytest.approx(logit, abs=1e-12)
    assert 900 <= float(found["expected"]["price"]) <= 1100
    assert isinstance(found["expected"]["price"], str)
    assert set(found["points"]) >= {"nash", "kalai", "kalai_smorodinsky", "max_welfare", "asymmetric_nash", "pareto"}


@pytest.mark.asyncio
@covers("6.6:described")
async def test_a_described_talk_has_the_leverage_of_a_stored_one(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened(their_estimate=ESTIMATE))["id"]
    stored = (await negotiation_client.post(f"/negotiations/{key}/leverage", {})).json()
    described = (await negotiation_client.post("/leverage", negotiation_body(their_estimate=ESTIMATE))).json()
    assert stored == described


@pytest.mark.asyncio
@covers("6.6:summary")
async def test_leverage_is_told_in_words_beside_the_numbers(negotiation_client: NegotiationClient) -> None:
    key = (
        await negotiation_client.opened(
            their_estimate=ESTIMATE, facts={"me": {"rivals": 2}}, counterparty={"organisation": "Nordic Supplies"}
        )
    )["id"]
    found = (await negotiation_client.post(f"/negotiations/{key}/leverage", {})).json()
    summary = found["summary"]
    assert set(summary) == {"text", "who_needs_it_more", "room", "expected", "would_shift_most", "find_out_next"}
    assert summary["who_needs_it_more"].startswith("Nordic Supplies seems to need this deal")
    assert "€1,100" in summary["room"]
    assert "Finding a good second offer would strengthen your side" in summary["would_shift_most"]
    asked = summary["find_out_next"]
    assert 1 <= len(asked) <= 5
    assert all(set(one) == set(asked[0]) for one in asked)
    assert asked[0]["question"] in summary["text"]
    assert found["power"]["unknown"][0].keys() == {"factor", "side", "low", "high"}


@pytest.mark.asyncio
@covers("6.6:forecast")
async def test_leverage_forecasts_the_price_between_the_standing_offers(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened())["id"]
    before = (await negotiation_client.post(f"/negotiations/{key}/leverage", {})).json()["expected"]
    assert before["deal_probability"] is None
    for price, side in ((1190, "them"), (960, "me"), (1150, "them")):
        await negotiation_client.offered(key, price, side)
    found = (await negotiation_client.post(f"/negotiations/{key}/leverage", {})).json()
    expected = found["expected"]
    assert expected["issue"] == "price"
    assert 960 <= float(expected["low"]) <= float(expected["price"]) <= float(expected["high"])
    assert float(expected["high"]) <= 1100
    assert expected["level"] == 0.8
    assert "your limit" in expected["rests_on"]
    assert expected["text"] == found["summary"]["expected"]
    assert expected["text"] in found["summary"]["text"]
    assert expected != before


@pytest.mark.asyncio
@covers("6.7:forecast")
async def test_a_move_with_a_person_carries_the_forecast_for_the_user_alone(
    negotiation_client: NegotiationClient,
) -> None:
    key = (await negotiation_client.opened())["id"]
    await negotiation_client.offered(key, 1190, "them")
    move = (await negotiation_client.post(f"/negotiations/{key}/next-move", {})).json()
    leverage = (await negotiation_client.post(f"/negotiations/{key}/leverage", {})).json()
    assert move["expected"] == leverage["expected"]
    assert move["expected"]["text"] in move["summary"]
    assert "expect about" not in move["say"].lower()
    agent = {"counterpart": "agent"}
    answer = await negotiation_client.post(f"/negotiations/{key}/next-move", agent)
    assert answer.json()["expected"] is None


@pytest.mark.asyncio
@covers("6.8:forecast")
async def test_a_plan_shows_the_forecast(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened())["id"]
    plan = (await negotiation_client.post(f"/negotiations/{key}/battle-plans", {})).json()
    leverage = (await negotiation_client.post(f"/negotiations/{key}/leverage", {})).json()
    assert plan["expected"]["words"] == leverage["expected"]["text"]
    assert plan["expected"]["price"]["value"] == leverage["expected"]["price"]
    assert plan["expected"]["price"]["source"] in plan["sources"]


@pytest.mark.asyncio
async def test_a_ledger_brings_concessions_and_signals(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened(their_estimate=ESTIMATE))["id"]
    for price in (1190, 1150):
        await negotiation_client.offered(key, price, "them", claimed_final=True)
    found = (await negotiation_client.post(f"/negotiations/{key}/leverage", {})).json()
    assert set(found) == LEVERAGE | {"concessions", "signals"}
    assert found["signals"][0]["name"] == "moved_after_final"


@pytest.mark.asyncio
@covers("6.6:points")
async def test_full_preferences_of_both_sides_give_the_solution_points(negotiation_client: NegotiationClient) -> None:
    mine = {"a": [["x", 0.7], ["y", 0.0]], "b": [["x", 0.3], ["y", 0.0]]}
    theirs = {"a": [["x", 0.0], ["y", 0.2]], "b": [["x", 0.0], ["y", 0.8]]}
    body = {
        "my_preferences": {"part_worths": mine, "reservation_utility": 0.1},
        "their_preferences": {"part_worths": theirs, "reservation_utility": 0.1},
    }
    answer = await negotiation_client.post("/leverage", body)
    assert answer.status_code == 200, answer.text
    points = answer.json()["points"]
    assert points["nash"]["package"] == {"a": "x", "b": "y"}
    assert (points["nash"]["utility_me"], points["nash"]["utility_them"]) == (0.7, 0.8)
    stubborn = {**body["their_preferences"], "reservation_utility": 0.9}
    closed = (await negotiation_client.post("/leverage", {**body, "their_preferences": stubborn})).json()
    assert closed["points"]["nash"] is None
    assert "walk-away" in closed["points"]["reason"]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/issues"),
        ({"my_preferences": {}}, "/my_preferences"),
        ({"my_preferences": {"part_worths": {"a": [["x", "y"]]}}}, "/my_preferences/part_worths/a/0/1"),
        ({"my_preferences": {"part_worths": {"a": [["x", 1], ["x", 0]]}}}, "/my_preferences/part_worths/a"),
        (
            {"issues": [PRICE], "their_preferences": {"issues": [{"name": "price"}]}},
            "/their_preferences/issues/0/range",
        ),
        ({"issues": [{"name": "price"}]}, "/issues/0/range"),
        ({"issues": [PRICE], "judgements": {"luck": 1}}, "/judgements/luck"),
    ],
)
async def test_leverage_refuses_what_it_cannot_read(
    negotiation_client: NegotiationClient, body: dict[str, Any], pointer: str
) -> None:
    answer = await negotiation_client.post("/leverage", body)
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["pointer"] == pointer


@pytest.mark.asyncio
@covers("6.7:members")
async def test_a_described_turn_gets_the_contracts_members(negotiation_client: NegotiationClient) -> None:
    answer = await negotiation_client.post("/next-move", {**TURN, "session_id": "s", "protocol": "sao"})
    assert answer.status_code == 200, answer.text
    move = answer.json()
    assert set(move) == MOVE
    assert move["action"] == "counter"
    assert move["my_utility"] >= move["floor"] == 0.4
    assert set(move["opponent_utility"]) == {"price", "gift"}
    again = {**TURN, "counterpart": "agent"}
    assert (await negotiation_client.post("/next-move", again)).json() == move


@pytest.mark.asyncio
async def test_a_claimed_utility_cannot_lift_an_offer_over_the_floor(negotiation_client: NegotiationClient) -> None:
    table = {"offer": {"price": 3, "gift": False}, "my_utility": 1.0}
    last = {"step": 9, "n_steps": 10, "relative_time": 0.95}
    answer = await negotiation_client.post("/next-move", {**TURN, "on_table": table, "progress": last})
    assert answer.json()["action"] != "accept"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"on_table": {"offer": {"price": 1}}}, "/on_table/offer/gift"),
        ({"on_table": {"offer": {"price": 9, "gift": True}}}, "/on_table/offer/price"),
        ({"on_table": {"offer": {"price": True, "gift": True}}}, "/on_table/offer/price"),
        ({"issues": [{"name": "price", "values": [1, 2, 3]}]}, "/my_preferences/part_worths/gift"),
        ({"style": "rude"}, "/style"),
        ({"surprise": 1}, "/surprise"),
    ],
)
async def test_a_turn_that_cannot_be_read_is_refused_where_it_is_wrong(
    negotiation_client: NegotiationClient, members: dict[str, Any], pointer: str
) -> None:
    answer = await negotiation_client.post("/next-move", {**TURN, **members})
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["pointer"] == pointer


@pytest.mark.asyncio
@pytest.mark.parametrize("style", ["balanced", "firm", "cooperative"])
@covers("6.7:floor")
async def test_advice_keeps_to_the_walk_away_and_the_constraints(
    negotiation_client: NegotiationClient, style: str
) -> None:
    rules = [{"issue": "term", "op": "!=", "value": "3 years"}]
    key = (
        await negotiation_client.opened(
            issues=[{**PRICE, "weight": 2}, {**TERM, "weight": 1}],
            walk_away={"package": {"price": 1000}},
            constraints=rules,
            max_rounds=4,
        )
    )["id"]
    for asked in (1200, 1150, 1100, 1050):
        move = await negotiation_client.post(f"/negotiations/{key}/next-move", {"style": style})
        assert move.status_code == 200, move.text
        advice = move.json()
        assert advice["action"] in {"counter", "walk_away"}
        if advice["action"] == "counter":
            package = advice["offer"]
            assert float(package["price"]) <= 1000
            assert package["term"] != "3 years"
            assert advice["my_utility"] >= advice["floor"]
            assert all(float(other["price"]) <= 1000 for other in advice["alternatives"])
            recorded = await negotiation_client.post(f"/negotiations/{key}/offers", {"by": "me", "package": package})
            assert recorded.status_code == 201, recorded.text
        theirs = {"by": "them", "package": {"price": asked, "term": "3 years"}}
        assert (await negotiation_client.post(f"/negotiations/{key}/offers", theirs)).status_code == 201


@pytest.mark.asyncio
async def test_what_is_advised_to_accept_can_be_accepted(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened(max_rounds=2))["id"]
    await negotiation_client.offered(key, 850)
    theirs = await negotiation_client.offered(key, 801, "them")
    advice = (await negotiation_client.post(f"/negotiations/{key}/next-move", {})).json()
    assert advice["action"] == "accept"
    assert advice["offer"] == {"price": "801.00"}
    body = {"by": "me", "kind": "acceptance", "in_reply_to": theirs["id"]}
    assert (await negotiation_client.post(f"/negotiations/{key}/offers", body)).status_code == 201
    closed = await negotiation_client.post(f"/negotiations/{key}/next-move", {})
    assert closed.json()["error"] == "not_active"


@pytest.mark.asyncio
async def test_a_target_and_a_walk_away_are_enough_for_every_advice_to_a_person(
    negotiation_client: NegotiationClient,
) -> None:
    members = {"issues": ["price"], "target": 13500, "walk_away": 14200, "batna": None, "their_estimate": None}
    body = {"title": "A used car", "role": "buyer", "currency": "EUR", **members}
    key = (await negotiation_client.post("/negotiations", body)).json()["id"]
    at = f"/negotiations/{key}"
    opening = (await negotiation_client.post(f"{at}/next-move", {})).json()
    assert opening["action"] == "counter"
    assert float(opening["offer"]["price"]) <= 13500
    assert any("You gave no range for price" in one for one in opening["assumptions"])
    await negotiation_client.post(f"{at}/offers", {"by": "them", "package": {"price": 14900}})
    for _ in range(2):
        move = (await negotiation_client.post(f"{at}/next-move", {"utterance": "14,900 and not less."})).json()
        assert move["action"] == "counter"
        assert float(move["offer"]["price"]) <= 14200
        made = await negotiation_client.post(f"{at}/offers", {"by": "me", "package": move["offer"]})
        assert made.status_code == 201, made.text
        await negotiation_client.post(f"{at}/offers", {"by": "them", "package": {"price": 14600}})
    checked = await negotiation_client.post(f"{at}/check-reply", {"draft": "I can do €13,600."})
    assert checked.status_code == 200, checked.text
    assert (await negotiation_client.post(f"{at}/battle-plans", {})).status_code == 201
    assert (await negotiation_client.post(f"{at}/leverage", {})).status_code == 200


@pytest.mark.asyncio
@covers("6.7:missing")
async def test_advice_names_what_it_cannot_do_without(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened(issues=[{"name": "price"}], walk_away=None))["id"]
    refused = await negotiation_client.post(f"/negotiations/{key}/next-move", {})
    assert (refused.status_code, refused.json()["error"]) == (409, "missing_inputs")
    assert refused.json()["missing"] == ["issues/0/range", "walk_away"]
    assert (await negotiation_client.post(f"/negotiations/{key}/leverage", {})).json()["missing"] == ["issues/0/range"]


@pytest.mark.asyncio
async def test_what_is_said_to_the_other_side_holds_nothing_private(negotiation_client: NegotiationClient) -> None:
    key = (
        await negotiation_client.opened(
            walk_away={"package": {"price": "1077.77"}},
            batna={"description": "Nordic Supplies", "value": {"package": {"price": "1078.88"}}},
            target={"package": {"price": "866.66"}},
        )
    )["id"]
    await negotiation_client.offered(key, 1150, "them")
    said = (await negotiation_client.post(f"/negotiations/{key}/next-move", {})).json()["say"]
    for private in ("1077.77", "1078.88", "866.66", "Nordic", "walk", "floor", "alternative"):
        assert private not in said


@pytest.mark.asyncio
async def test_advice_beyond_the_authority_says_so(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened(authority={"limit": "800"}, max_rounds=1))["id"]
    await negotiation_client.offered(key, 1000, "them")
    advice = (await negotiation_client.post(f"/negotiations/{key}/next-move", {})).json()
    assert advice["offer"]["price"] != "800.00"
    assert "approval" in advice["reasons"][-1]
