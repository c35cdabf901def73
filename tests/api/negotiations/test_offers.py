"""The ledger through the application: what it takes, what it adds, what it refuses."""

from typing import Any

import pytest

from tests.conftest import Clock
from tests.contract.requirements import covers
from tests.helpers.negotiation_client import PRICE, TERM, NegotiationClient

BOTH: dict[str, Any] = {"issues": [{**PRICE, "weight": 3}, {**TERM, "weight": 1}], "walk_away": {"utility": 0.3}}


@pytest.mark.asyncio
@covers("6.5:utility")
async def test_a_row_says_what_it_is_worth_and_what_was_given_up(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened())["id"]
    first = await negotiation_client.offered(key, 900)
    assert (first["seq"], first["status"], first["complete"]) == (1, "live", True)
    assert first["utility_me"] == {"low": 0.75, "high": 0.75}
    assert first["utility_them_estimate"] == 0.25
    assert first["concession_me"] is None
    theirs = await negotiation_client.offered(key, "1150.5", "them", kind="counter", in_reply_to=first["id"])
    assert theirs["package"] == {"price": "1150.50"}
    second = await negotiation_client.offered(key, 940)
    assert second["concession_me"] == pytest.approx(0.1)
    assert second["concession_them"] == pytest.approx(-0.1)
    closer = await negotiation_client.offered(key, 1110.5, "them")
    assert closer["concession_them"] == pytest.approx(0.1)
    assert await negotiation_client.state(key) == "active"
    ledger = (await negotiation_client.get(f"/negotiations/{key}/offers")).json()["items"]
    assert [row["status"] for row in ledger] == ["live", "live", "superseded", "superseded"]


@pytest.mark.asyncio
async def test_a_partial_package_is_worth_a_range(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened(**BOTH))["id"]
    row = await negotiation_client.offered(key, 800)
    assert (row["complete"], row["utility_me"]) == (False, {"low": 0.75, "high": 1.0})


@pytest.mark.asyncio
@covers("6.5:outside")
async def test_values_outside_their_issue_are_refused_each(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened(**BOTH))["id"]
    body = {"by": "me", "package": {"price": 5000, "term": "4 years", "colour": "red"}}
    refused = await negotiation_client.post(f"/negotiations/{key}/offers", body)
    assert refused.status_code == 422
    assert {error["pointer"] for error in refused.json()["errors"]} == {
        "/package/price",
        "/package/term",
        "/package/colour",
    }
    bodies: list[dict[str, Any]] = [{"by": "me"}, {"by": "me", "package": {}}]
    for bad in bodies:
        answer = await negotiation_client.post(f"/negotiations/{key}/offers", bad)
        assert answer.json()["errors"][0]["pointer"] == "/package"


@pytest.mark.asyncio
@covers("6.5:below_walk_away")
async def test_my_offer_below_the_walk_away_needs_an_override_that_is_written_down(
    negotiation_client: NegotiationClient,
) -> None:
    key = (await negotiation_client.opened())["id"]
    refused = await negotiation_client.offer(key, 1101)
    assert (refused.status_code, refused.json()["error"]) == (409, "below_walk_away")
    assert (await negotiation_client.get(f"/negotiations/{key}/offers")).json()["items"] == []
    assert refused.json()["shortfall"] == "€1"
    assert "by €1." in refused.json()["error_description"]
    unexplained = await negotiation_client.offer(key, 1101, override=True)
    assert unexplained.json()["errors"][0]["pointer"] == "/reason"
    meant = await negotiation_client.offered(key, 1101, override=True, reason="Last units.")
    assert meant["override"] == {"reason": "Last units.", "against": ["walk_away"]}
    events = (await negotiation_client.get(f"/negotiations/{key}/events")).json()["items"]
    told = next(event for event in events if event["kind"] == "override")
    assert (told["reason"], told["detail"]["offer_id"]) == ("Last units.", meant["id"])
    assert (await negotiation_client.offer(key, 1100)).status_code == 201
    assert (await negotiation_client.offer(key, 1199, "them")).status_code == 201


@pytest.mark.asyncio
async def test_the_walk_away_holds_without_a_range(negotiation_client: NegotiationClient) -> None:
    issue = {"name": "price", "type": "money"}
    key = (await negotiation_client.opened(issues=[issue], role="seller"))["id"]
    assert (await negotiation_client.offer(key, 1099.99)).json()["error"] == "below_walk_away"
    assert (await negotiation_client.offer(key, 1100)).status_code == 201


@pytest.mark.asyncio
async def test_a_walk_away_price_holds_whatever_else_is_offered(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened(**{**BOTH, "walk_away": {"package": {"price": 1000}}}))["id"]
    package = {"price": 1001, "term": "1 year"}
    refused = await negotiation_client.post(f"/negotiations/{key}/offers", {"by": "me", "package": package})
    assert refused.json()["error"] == "below_walk_away"


@pytest.mark.asyncio
@covers("6.5:constraint_violated")
async def test_a_hard_constraint_binds_me_and_not_them(negotiation_client: NegotiationClient) -> None:
    rules = [
        {"issue": "term", "op": "in", "value": ["1 year", "2 years"]},
        {"issue": "price", "op": "<", "value": 1000, "hard": False},
    ]
    key = (await negotiation_client.opened(**BOTH, constraints=rules))["id"]
    package = {"price": 800, "term": "3 years"}
    refused = await negotiation_client.post(f"/negotiations/{key}/offers", {"by": "me", "package": package})
    assert (refused.status_code, refused.json()["error"]) == (409, "constraint_violated")
    theirs = await negotiation_client.post(f"/negotiations/{key}/offers", {"by": "them", "package": package})
    assert theirs.status_code == 201
    body = {"by": "me", "kind": "acceptance", "in_reply_to": theirs.json()["id"]}
    accepting = await negotiation_client.post(f"/negotiations/{key}/offers", body)
    assert accepting.json()["error"] == "constraint_violated"
    meant = {**body, "override": True, "reason": "Fine."}
    accepted = await negotiation_client.post(f"/negotiations/{key}/offers", meant)
    assert accepted.json()["override"]["against"] == ["constraints/0"]
    assert await negotiation_client.state(key) == "agreed"


@pytest.mark.asyncio
async def test_an_acceptance_below_the_walk_away_is_refused(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened())["id"]
    theirs = await negotiation_client.offered(key, 1150, "them")
    body = {"by": "me", "kind": "acceptance", "in_reply_to": theirs["id"]}
    refused = await negotiation_client.post(f"/negotiations/{key}/offers", body)
    assert refused.json()["error"] == "below_walk_away"
    assert await negotiation_client.state(key) == "active"


@pytest.mark.asyncio
@covers("6.5:acceptance")
async def test_an_acceptance_names_a_live_offer_of_the_other_side(
    clock: Clock, negotiation_client: NegotiationClient
) -> None:
    key = (await negotiation_client.opened())["id"]
    path = f"/negotiations/{key}/offers"
    old = await negotiation_client.offered(key, 1080, "them")
    brief = await negotiation_client.offered(key, 1000, "them", valid_until="2027-01-15T08:10:00Z")
    mine = await negotiation_client.offered(key, 900)
    accept: dict[str, Any] = {"by": "me", "kind": "acceptance"}
    assert (await negotiation_client.post(path, accept)).json()["errors"][0]["pointer"] == "/in_reply_to"
    for wrong in (mine["id"], "off_nothing"):
        answer = await negotiation_client.post(path, {**accept, "in_reply_to": wrong})
        assert answer.status_code == 422
    superseded = await negotiation_client.post(path, {**accept, "in_reply_to": old["id"]})
    assert superseded.json()["error"] == "offer_not_live"
    assert superseded.json()["status"] == "superseded"
    other = {**accept, "in_reply_to": brief["id"], "package": {"price": 990}}
    assert (await negotiation_client.post(path, other)).json()["errors"][0]["pointer"] == "/package"
    clock.advance(601)
    expired = await negotiation_client.post(path, {**accept, "in_reply_to": brief["id"]})
    assert expired.json()["status"] == "expired"
    theirs = await negotiation_client.post(path, {"by": "them", "kind": "acceptance", "in_reply_to": mine["id"]})
    assert theirs.status_code == 201
    assert await negotiation_client.state(key) == "agreed"
    assert (await negotiation_client.offer(key, 900)).json()["error"] == "not_active"


@pytest.mark.asyncio
async def test_an_offer_is_withdrawn_by_its_maker_before_acceptance(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened())["id"]
    path = f"/negotiations/{key}/offers"
    mine = await negotiation_client.offered(key, 900)
    theirs = await negotiation_client.post(path, {"by": "them", "kind": "withdrawal", "in_reply_to": mine["id"]})
    assert theirs.status_code == 422
    withdrawn = await negotiation_client.post(path, {"by": "me", "kind": "withdrawal"})
    assert withdrawn.json()["in_reply_to"] == mine["id"]
    again = await negotiation_client.post(path, {"by": "me", "kind": "withdrawal"})
    assert again.json()["error"] == "offer_not_live"
    accept = {"by": "them", "kind": "acceptance", "in_reply_to": mine["id"]}
    assert (await negotiation_client.post(path, accept)).json()["status"] == "withdrawn"


@pytest.mark.asyncio
@covers("6.5:unconfirmed")
async def test_a_detected_offer_counts_once_it_is_confirmed(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened())["id"]
    heard = await negotiation_client.offered(key, 1000, "them", source="detected_in_speech")
    assert heard["status"] == "unconfirmed"
    assert await negotiation_client.state(key) == "draft"
    accept = {"by": "me", "kind": "acceptance", "in_reply_to": heard["id"]}
    assert (await negotiation_client.post(f"/negotiations/{key}/offers", accept)).status_code == 409
    await negotiation_client.offered(key, 1000, "them", confirms=heard["id"])
    ledger = (await negotiation_client.get(f"/negotiations/{key}/offers")).json()["items"]
    assert [row["status"] for row in ledger] == ["live", "confirmed"]
    assert await negotiation_client.state(key) == "active"


@pytest.mark.asyncio
@covers("6.5:heard_order")
async def test_detected_offers_count_in_the_order_in_which_they_were_heard(
    negotiation_client: NegotiationClient,
) -> None:
    key = (await negotiation_client.opened())["id"]
    first = await negotiation_client.offered(key, 1000, "them", source="detected_in_speech")
    later = await negotiation_client.offered(key, 950, "them", source="detected_in_speech")
    newest = await negotiation_client.offered(key, 950, "them", confirms=later["id"])
    oldest = await negotiation_client.offered(key, 1000, "them", confirms=first["id"])
    assert (newest["status"], oldest["status"]) == ("live", "superseded")
    assert oldest["concession_them"] is None
    listed = (await negotiation_client.get("/negotiations?latest=true")).json()["items"]
    last = next(one for one in listed if one["id"] == key)["latest"]["theirs"]
    assert last["id"] == newest["id"]


@pytest.mark.asyncio
@covers("6.5:dismissed")
async def test_a_detected_offer_that_was_not_made_is_dismissed(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened())["id"]
    heard = await negotiation_client.offered(key, 1000, "them", source="detected_in_speech")
    dismissal = {"by": "them", "kind": "withdrawal", "in_reply_to": heard["id"]}
    path = f"/negotiations/{key}/offers"
    assert (await negotiation_client.post(path, {**dismissal, "by": "me"})).status_code == 422
    assert (await negotiation_client.post(path, dismissal)).status_code == 201
    ledger = (await negotiation_client.get(path)).json()["items"]
    assert [row["status"] for row in ledger] == ["recorded", "dismissed"]
    assert await negotiation_client.state(key) == "draft"
    assert (await negotiation_client.post(path, dismissal)).status_code == 409


@pytest.mark.asyncio
async def test_the_ledger_only_grows(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened())["id"]
    row = await negotiation_client.offered(key, 900)
    for method in ("PATCH", "DELETE", "PUT"):
        for path in ("", f"/{row['id']}"):
            answer = await negotiation_client.client.request(
                method, f"/api/negotiations/{key}/offers{path}", headers=negotiation_client.headers
            )
            assert answer.status_code in {404, 405}


@pytest.mark.asyncio
async def test_the_same_key_records_one_row_and_lists_page(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened())["id"]
    once = {"Idempotency-Key": "a"}
    body = {"by": "me", "kind": "final", "package": {"price": 900}}
    path = f"/negotiations/{key}/offers"
    first, second = [await negotiation_client.post(path, body, **once) for _ in range(2)]
    assert first.json() == second.json()
    assert first.json()["claimed_final"] is True
    reused = await negotiation_client.post(path, {**body, "kind": "offer"}, **once)
    assert reused.status_code == 422
    for price in (910, 920):
        await negotiation_client.offered(key, price)
    page = (await negotiation_client.get(f"{path}?limit=2")).json()
    assert [row["seq"] for row in page["items"]] == [3, 2]
    rest = (await negotiation_client.get(f"{path}?cursor={page['next_cursor']}")).json()
    assert ([row["seq"] for row in rest["items"]], rest["next_cursor"]) == ([1], None)


@pytest.mark.asyncio
async def test_a_key_is_for_one_negotiation(negotiation_client: NegotiationClient) -> None:
    one, other = [(await negotiation_client.opened())["id"] for _ in range(2)]
    body, once = {"by": "me", "package": {"price": 900}}, {"Idempotency-Key": "a"}
    assert (await negotiation_client.post(f"/negotiations/{one}/offers", body, **once)).status_code == 201
    assert (await negotiation_client.post(f"/negotiations/{other}/offers", body, **once)).status_code == 422
    assert (await negotiation_client.get(f"/negotiations/{other}/offers")).json()["items"] == []


@pytest.mark.asyncio
async def test_a_revision_guards_a_recorded_offer(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened())["id"]
    body = {"by": "me", "package": {"price": 900}}
    stale = await negotiation_client.post(f"/negotiations/{key}/offers", body, **{"If-Match": '"7"'})
    assert stale.status_code == 412


@pytest.mark.asyncio
@covers("6.5:below_walk_away")
async def test_an_open_issue_counts_at_its_best_in_an_offer_and_at_its_worst_in_an_acceptance(
    negotiation_client: NegotiationClient,
) -> None:
    key = (await negotiation_client.opened(**BOTH))["id"]
    mine = await negotiation_client.offered(key, 1100)
    assert mine["utility_me"] == {"low": 0.1875, "high": 0.4375}, "around the walk-away of 0.3"
    theirs = await negotiation_client.offered(key, 1100, "them")
    body = {"by": "me", "kind": "acceptance", "in_reply_to": theirs["id"]}
    refused = await negotiation_client.post(f"/negotiations/{key}/offers", body)
    assert (refused.status_code, refused.json()["error"]) == (409, "below_walk_away")
