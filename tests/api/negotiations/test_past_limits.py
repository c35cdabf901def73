"""Offers past the limit of one issue by the user themself, and the advice after an offer that they allowed."""

from typing import Any

import pytest

from tests.contract.requirements import covers
from tests.helpers.negotiation_client import PRICE, NegotiationClient

MONTHS: dict[str, Any] = {
    "name": "months",
    "type": "integer",
    "direction": "lower",
    "weight": 1,
    "range": {"min": 12, "max": 36},
}
TWO: dict[str, Any] = {
    "issues": [{**PRICE, "weight": 3}, MONTHS],
    "target": {"package": {"price": 900, "months": 12}},
    "walk_away": {"package": {"price": 1000, "months": 24}},
}
PASSED: list[dict[str, Any]] = [{"issue": "price", "limit": "1000.00", "value": "1030.00"}]


@pytest.mark.asyncio
@covers("6.5:past_limits")
async def test_the_user_s_own_offer_and_agreement_past_a_limit_say_so(negotiation_client: NegotiationClient) -> None:
    view = await negotiation_client.opened(**TWO)
    offers = f"/negotiations/{view['id']}/offers"
    kept = await negotiation_client.offered(view["id"], 1000, "me", package={"price": 950})
    assert kept["past_limits"] == []
    past = {"price": 1030, "months": 12}
    mine = await negotiation_client.post(offers, {"by": "me", "package": past})
    assert (mine.status_code, mine.json()["status"]) == (201, "live")
    assert mine.json()["past_limits"] == PASSED
    theirs = await negotiation_client.post(offers, {"by": "them", "package": past})
    assert theirs.json()["past_limits"] == []
    acceptance = {"by": "me", "kind": "acceptance", "in_reply_to": theirs.json()["id"]}
    taken = await negotiation_client.post(offers, acceptance)
    assert (taken.status_code, taken.json()["past_limits"]) == (201, PASSED)
    agreed = (await negotiation_client.get(f"/negotiations/{view['id']}")).json()
    assert agreed["outcome"]["past_limits"] == PASSED
    listed = (await negotiation_client.get(offers)).json()["items"]
    assert [one["past_limits"] for one in listed] == [PASSED, [], PASSED, []]


@pytest.mark.asyncio
async def test_the_principal_changes_limits_and_the_history_has_both_figures(
    negotiation_client: NegotiationClient,
) -> None:
    view = await negotiation_client.opened(**TWO)
    walk_away = {"package": {"price": 1100}}
    edit: dict[str, Any] = {"walk_away": walk_away, "constraints": [], "title": "More laptops"}
    assert (await negotiation_client.patch(view["id"], edit)).status_code == 200
    events = (await negotiation_client.get(f"/negotiations/{view['id']}/events")).json()["items"]
    assert events[0]["detail"] == {
        "changed": ["title", "walk_away"],
        "limits": [{"limit": "issues/price/limit", "name": "limit on price", "was": "€1,000", "now": "€1,100"}],
    }
    assert (await negotiation_client.patch(view["id"], {"walk_away": None})).status_code == 200


@pytest.mark.asyncio
@covers("6.7:decided")
@pytest.mark.parametrize(
    ("members", "package", "better"),
    [
        ({"target": {"package": {"price": 900}}}, {"price": 1120}, {"price": 1150}),
        (TWO, {"price": 1030, "months": 12}, {"price": 1050, "months": 12}),
        (TWO, {"price": 1150, "months": 36}, {"price": 1160, "months": 36}),
    ],
)
async def test_advice_takes_nothing_back_that_the_user_decided(
    negotiation_client: NegotiationClient, members: dict[str, Any], package: dict[str, Any], better: dict[str, Any]
) -> None:
    batna = {"value": {"utility": 0.05}}
    view = await negotiation_client.opened(**members, batna=batna)
    offers, move = (f"/negotiations/{view['id']}/{part}" for part in ("offers", "next-move"))
    await negotiation_client.post(offers, {"by": "them", "package": {**package, "price": 1200}})
    why = {"override": True, "reason": "I need them today."}
    made = await negotiation_client.post(offers, {"by": "me", "package": package, **why})
    assert made.json()["status"] == "live", made.text
    for theirs in ({**package, "price": 1190}, better):
        await negotiation_client.post(offers, {"by": "them", "package": theirs})
        answer = (await negotiation_client.post(move, {})).json()
        assert "orrect" not in answer["say"] + answer["summary"]
        assert answer["action"] == "counter", answer
        assert float(answer["offer"]["price"]) == package["price"], answer
        assert "better than your limit" not in answer["cost"]
    plan = await negotiation_client.post(f"/negotiations/{view['id']}/battle-plans", {})
    assert plan.status_code == 201, plan.text
    await negotiation_client.post(offers, {"by": "me", "kind": "withdrawal"})
    after = (await negotiation_client.post(move, {})).json()
    assert after["offer"] is None or float(after["offer"]["price"]) < package["price"]
