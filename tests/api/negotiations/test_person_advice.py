"""The next move with a person through the application."""

from itertools import pairwise
from typing import Any, Final

import pytest

from tests.contract.requirements import covers
from tests.helpers.negotiation_client import NegotiationClient

CAR: Final[dict[str, Any]] = {
    "title": "Used Golf",
    "role": "buyer",
    "currency": "EUR",
    "issues": [{"name": "price", "label": "Price", "type": "money", "range": {"min": "5000", "max": "16000"}}],
    "target": {"package": {"price": "12500"}},
    "walk_away": {"package": {"price": "14000"}},
}
LEASE: Final[dict[str, Any]] = {
    **CAR,
    "title": "Van lease",
    "issues": [
        *CAR["issues"],
        {
            "name": "term",
            "label": "Contract term",
            "type": "integer",
            "unit": "months",
            "direction": "lower",
            "range": {"min": 12, "max": 48},
        },
    ],
    "target": {"package": {"price": "12500", "term": 12}},
    "walk_away": {"package": {"price": "14000", "term": 24}},
}
TURN: Final[dict[str, Any]] = {
    "issues": [{"name": "price", "values": [*range(100, 151)]}],
    "my_preferences": {
        "reservation_utility": 0.2,
        "part_worths": {"price": [[v, (150 - v) / 50] for v in range(100, 151)]},
    },
}


async def advised(client: NegotiationClient, body: dict[str, Any]) -> dict[str, Any]:
    answer = await client.post("/next-move", body)
    assert answer.status_code == 200, answer.text
    move: dict[str, Any] = answer.json()
    return move


async def recorded(client: NegotiationClient, key: str, offer: dict[str, Any]) -> None:
    answer = await client.post(f"/negotiations/{key}/offers", offer)
    assert answer.status_code == 201, answer.text


async def stored(client: NegotiationClient, key: str, **more: Any) -> dict[str, Any]:
    answer = await client.post(f"/negotiations/{key}/next-move", more)
    assert answer.status_code == 200, answer.text
    move: dict[str, Any] = answer.json()
    return move


@pytest.mark.asyncio
@covers("6.7:counterpart")
async def test_a_described_turn_is_with_a_person_unless_it_says_otherwise(
    negotiation_client: NegotiationClient,
) -> None:
    assert (await advised(negotiation_client, TURN))["counterpart"] == "person"
    named = await advised(negotiation_client, {**TURN, "protocol": "sao"})
    assert named["counterpart"] == "agent"
    both = await advised(negotiation_client, {**TURN, "protocol": "sao", "counterpart": "person"})
    assert both["counterpart"] == "person"


@pytest.mark.asyncio
@covers("6.7:cost", "6.6:levels")
async def test_a_move_says_what_it_gives_up_in_money(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened(**CAR))["id"]
    for by, price in (("them", "14900"), ("me", "12300"), ("them", "14300")):
        await recorded(negotiation_client, key, {"by": by, "package": {"price": price}})
    move = await stored(negotiation_client, key)
    step = float(move["offer"]["price"])
    assert move["cost"] == (
        f"Compared with your last offer, it gives up €{step - 12_300:,.0f}. "
        f"It is €{step - 12_500:,.0f} worse for you than your target and €{14_000 - step:,.0f} better than your limit."
    )
    assert move["cost"] not in move["say"]
    levels = (await negotiation_client.post(f"/negotiations/{key}/leverage", {})).json()["levels"]
    assert levels["target"] == pytest.approx(3_500 / 11_000)
    assert levels["walk_away"] == pytest.approx(2_000 / 11_000)
    assert levels["room_low"] is levels["room_high"] is None
    lease = (await negotiation_client.opened(**LEASE))["id"]
    await recorded(negotiation_client, lease, {"by": "me", "package": {"price": 12500, "term": 12}})
    await recorded(negotiation_client, lease, {"by": "them", "package": {"price": 15000, "term": 36}})
    assert "gives up about €" in (await stored(negotiation_client, lease))["cost"]


@pytest.mark.asyncio
@covers("6.7:path")
async def test_a_talk_about_a_car_goes_down_one_path_in_round_figures(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened(**CAR))["id"]
    mine: list[int] = []
    for theirs in ("14900", "14300", "13900", "13700"):
        offer = {"by": "them", "kind": "offer", "package": {"price": theirs}}
        await recorded(negotiation_client, key, offer)
        move = await stored(negotiation_client, key)
        assert move["action"] == "counter", move
        mine.append(int(float(move["offer"]["price"])))
        await recorded(negotiation_client, key, {"by": "me", "kind": "counter", "package": move["offer"]})
    assert mine[0] == 12_300, "the path opens a little beyond the target, not at the end of the range"
    assert mine == sorted(mine)
    assert all(figure % 25 == 0 for figure in mine)
    steps = [b - a for a, b in pairwise(mine)]
    assert steps == sorted(steps, reverse=True)
    assert mine[-1] < 14_000


@pytest.mark.asyncio
@covers("6.7:path")
async def test_no_own_limit_is_passed_without_an_allowed_trade(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened(**LEASE))["id"]
    for theirs in ("14500", "14200", "14000", "13900", "13800"):
        package = {"price": theirs, "term": 36}
        await recorded(negotiation_client, key, {"by": "them", "kind": "offer", "package": package})
        move = await stored(negotiation_client, key)
        assert move["action"] == "counter"
        assert move["offer"]["term"] <= 24
        await recorded(negotiation_client, key, {"by": "me", "kind": "counter", "package": move["offer"]})


@pytest.mark.asyncio
@covers("6.7:path")
async def test_an_allowed_trade_passes_the_limit_for_its_price(negotiation_client: NegotiationClient) -> None:
    allow = [{"issue": "term", "to": 36, "in_return": {"price": "9500"}}]
    key = (await negotiation_client.opened(**LEASE, allow=allow))["id"]
    package = {"price": "14500", "term": 36}
    await recorded(negotiation_client, key, {"by": "them", "kind": "offer", "package": package})
    first = await stored(negotiation_client, key)
    await recorded(negotiation_client, key, {"by": "me", "kind": "counter", "package": first["offer"]})
    final = {"by": "them", "kind": "final", "package": package, "claimed_final": True}
    await recorded(negotiation_client, key, final)
    move = await stored(negotiation_client, key)
    assert move["offer"]["term"] == 36
    assert float(move["offer"]["price"]) <= 9_500
    assert move["trade"]["beyond_limit"] is True
    assert move["trade"]["cost"] is not None


@pytest.mark.asyncio
@covers("6.7:words")
async def test_a_move_is_said_as_a_person_says_it(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened(**CAR))["id"]
    offer = {"by": "them", "kind": "offer", "package": {"price": "14900"}}
    await recorded(negotiation_client, key, offer)
    move = await stored(negotiation_client, key)
    assert "€12,300" in move["say"]
    assert "price:" not in move["say"]
    assert move["summary"].startswith("Open with €12,300.")
    assert [one["missing"] for one in move["ask"]][:2] == ["their_estimate", "batna"]
    assert move["path"][0] == {"price": "12800.00"}
    assert move["acceptance_interval"]["low"] <= move["acceptance_probability"]
    assert move["acceptance_probability"] <= move["acceptance_interval"]["high"]
