"""Limits of single issues, what a unit price is multiplied by, and trades that the user allows beyond a limit."""

from typing import Any

import pytest

from tests.contract.requirements import covers
from tests.helpers.negotiation_client import PRICE, TERM, NegotiationClient, negotiation_body, pointers

MONTHS: dict[str, Any] = {"name": "months", "type": "integer", "direction": "lower", "range": {"min": 6, "max": 60}}
START: dict[str, Any] = {
    "name": "start",
    "type": "date",
    "direction": "lower",
    "range": {"min": "2027-01-01", "max": "2027-12-31"},
}
WALK_AWAY: dict[str, Any] = {"package": {"price": "1100", "months": 24}}
TARGET: dict[str, Any] = {"package": {"price": "900", "months": 12}}


def issue_members(view: dict[str, Any], member: str) -> dict[str, Any]:
    """One member of each issue, by the issue's name."""
    return {issue["name"]: issue[member] for issue in view["issues"]}


@pytest.mark.asyncio
@covers("6.3:limit")
async def test_the_walk_away_package_gives_each_issue_its_limit(negotiation_client: NegotiationClient) -> None:
    view = await negotiation_client.opened(issues=[PRICE, MONTHS, TERM], walk_away=WALK_AWAY)
    assert issue_members(view, "limit") == {"price": "1100.00", "months": 24, "term": None}
    nearer = {"walk_away": {"package": {"months": 18}}}
    edited = await negotiation_client.patch(view["id"], nearer)
    assert issue_members(edited.json(), "limit")["months"] == 18
    again = await negotiation_client.get(f"/negotiations/{view['id']}")
    assert again.json() == edited.json()


@pytest.mark.asyncio
@covers("6.3:limit")
async def test_a_limit_that_is_sent_goes_before_that_of_the_walk_away(negotiation_client: NegotiationClient) -> None:
    issues = [{**PRICE, "limit": 1150}, {**MONTHS, "limit": "30"}, {**TERM, "limit": "2 years"}]
    view = await negotiation_client.opened(issues=issues, walk_away=WALK_AWAY, target=TARGET)
    limits = {"price": "1150.00", "months": 30, "term": "2 years"}
    assert issue_members(view, "limit") == limits
    issues[1] = MONTHS
    edited = await negotiation_client.patch(view["id"], {"issues": issues})
    assert issue_members(edited.json(), "limit")["months"] == 24


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("issues", "pointer"),
    [
        ([{**PRICE, "limit": 1300}], "/issues/0/limit"),
        ([{**PRICE, "limit": "dear"}], "/issues/0/limit"),
        ([{**PRICE, "limit": True}], "/issues/0/limit"),
        ([{**PRICE, "limit": [1100]}], "/issues/0/limit"),
        ([{**PRICE, "limit": "1e30"}], "/issues/0/limit"),
        ([{**PRICE, "limit": "1e-400"}], "/issues/0/limit"),
        ([{**PRICE, "limit": "NaN"}], "/issues/0/limit"),
        ([{**PRICE, "limit": "-Infinity"}], "/issues/0/limit"),
        ([{**PRICE, "range": None, "limit": "1e31"}], "/issues/0/limit"),
        ([PRICE, {**MONTHS, "limit": 12.5}], "/issues/1/limit"),
        ([PRICE, {**MONTHS, "limit": 2**60}], "/issues/1/limit"),
        ([PRICE, {**START, "limit": "9999-12-31"}], "/issues/1/limit"),
        ([PRICE, {**START, "limit": "1.2.2027"}], "/issues/1/limit"),
        ([PRICE, {**TERM, "limit": "4 years"}], "/issues/1/limit"),
        ([PRICE, {"name": "tax", "type": "boolean", "limit": 0}], "/issues/1/limit"),
    ],
)
async def test_a_limit_is_a_value_of_its_issue(
    negotiation_client: NegotiationClient, issues: list[dict[str, Any]], pointer: str
) -> None:
    answer = await negotiation_client.post("/negotiations", negotiation_body(issues=issues))
    assert pointer in pointers(answer)


@pytest.mark.asyncio
@pytest.mark.parametrize("limit", ["1e30", "-1e30", "1e-400", 2**53, -(2**53), "9" * 30])
@pytest.mark.parametrize("kind", ["money", "number", "integer", "percent", "duration_days"])
async def test_a_limit_without_a_range_may_be_any_number_in_reach(
    negotiation_client: NegotiationClient, kind: str, limit: Any
) -> None:
    issue = {"name": "price", "type": kind, "direction": "lower", "limit": limit}
    answer = await negotiation_client.post(
        "/negotiations", negotiation_body(issues=[issue], walk_away={"package": {"price": limit}})
    )
    assert answer.status_code == 201, answer.text
    key = answer.json()["id"]
    assert (await negotiation_client.get(f"/negotiations/{key}")).status_code == 200
    assert (await negotiation_client.patch(key, {"title": "Again"})).status_code == 200


@pytest.mark.asyncio
async def test_a_limit_better_than_the_target_is_refused_in_words(negotiation_client: NegotiationClient) -> None:
    body = negotiation_body(issues=[{**PRICE, "limit": 850}], target={"package": {"price": 900}})
    answer = await negotiation_client.post("/negotiations", body)
    assert pointers(answer) == {"/issues/0/limit"}
    assert answer.json()["errors"][0]["description"] == (
        "Better for you than your target of 900: a limit is the worst value that you take."
    )
    selling = {**body, "role": "seller", "walk_away": {"utility": 0.1}}
    assert (await negotiation_client.post("/negotiations", selling)).status_code == 201


@pytest.mark.asyncio
@covers("6.3:multiples")
async def test_a_unit_price_names_what_it_is_multiplied_by(negotiation_client: NegotiationClient) -> None:
    multiples = [{"count": 80, "of": "seats"}, {"count": 0.5, "of": "years"}, {"issue": "months", "of": "months"}]
    view = await negotiation_client.opened(issues=[{**PRICE, "multiples": multiples}, MONTHS])
    assert issue_members(view, "multiples") == {"price": multiples, "months": []}
    edited = await negotiation_client.patch(view["id"], {"issues": view["issues"]})
    assert edited.status_code == 200, edited.text
    assert issue_members(edited.json(), "multiples") == issue_members(view, "multiples")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("multiples", "pointer"),
    [
        ([{"of": "seats"}], "/issues/0/multiples/0"),
        ([{"count": 2, "issue": "months", "of": "seats"}], "/issues/0/multiples/0"),
        ([{"count": 2}], "/issues/0/multiples/0/of"),
        ([{"count": 0, "of": "seats"}], "/issues/0/multiples/0/count"),
        ([{"count": -1, "of": "seats"}], "/issues/0/multiples/0/count"),
        ([{"count": 1e300, "of": "seats"}], "/issues/0/multiples/0/count"),
        ([{"count": "80", "of": "seats"}], "/issues/0/multiples/0/count"),
        ([{"count": True, "of": "seats"}], "/issues/0/multiples/0/count"),
        ([{"issue": "years", "of": "years"}], "/issues/0/multiples/0/issue"),
        ([{"issue": "price", "of": "prices"}], "/issues/0/multiples/0/issue"),
        ([{"issue": "term", "of": "terms"}], "/issues/0/multiples/0/issue"),
        ([{"issue": "start", "of": "days"}], "/issues/0/multiples/0/issue"),
        ([{"issue": "months", "of": "months"}] * 2, "/issues/0/multiples/1/issue"),
        ([{"count": 2, "of": "seats"}] * 5, "/issues/0/multiples"),
        ("seats", "/issues/0/multiples"),
    ],
)
async def test_a_multiple_is_one_number_or_one_other_issue(
    negotiation_client: NegotiationClient, multiples: Any, pointer: str
) -> None:
    issues = [{**PRICE, "multiples": multiples}, MONTHS, TERM, START]
    for path in ("/negotiations", "/leverage"):
        answer = await negotiation_client.post(path, negotiation_body(issues=issues))
        assert pointer in pointers(answer)


@pytest.mark.asyncio
async def test_only_a_price_has_multiples(negotiation_client: NegotiationClient) -> None:
    months = {**MONTHS, "multiples": [{"count": 2, "of": "seats"}]}
    answer = await negotiation_client.post("/negotiations", negotiation_body(issues=[PRICE, months]))
    assert pointers(answer) == {"/issues/1/multiples"}


@pytest.mark.asyncio
@covers("6.2:allow")
async def test_a_step_beyond_a_limit_is_allowed_for_what_comes_in_return(negotiation_client: NegotiationClient) -> None:
    trade = {"issue": "months", "to": "36", "in_return": {"price": 1000, "term": "1 year"}}
    issues = [PRICE, MONTHS, TERM]
    view = await negotiation_client.opened(issues=issues, walk_away=WALK_AWAY, allow=[trade])
    shown = {"issue": "months", "to": 36, "in_return": {"price": "1000.00", "term": "1 year"}}
    assert view["allow"] == [shown]
    assert (await negotiation_client.get(f"/negotiations/{view['id']}")).json() == view
    edited = await negotiation_client.patch(view["id"], {"allow": [{**trade, "to": 30}]})
    assert edited.json()["allow"][0]["to"] == 30
    wider = await negotiation_client.patch(view["id"], {"walk_away": {"package": {"months": 30}}})
    assert pointers(wider) == {"/allow/0/to"}
    removed = await negotiation_client.patch(view["id"], {"allow": None})
    assert removed.json()["allow"] == []


@pytest.mark.asyncio
@covers("6.2:arguments")
async def test_the_facts_that_speak_for_the_user_are_kept(negotiation_client: NegotiationClient) -> None:
    pay = {"fact": "I can pay this week.", "kind": "give", "issue": "price", "worth": "€40"}
    terms: dict[str, Any] = {"issues": [PRICE, MONTHS, TERM], "walk_away": WALK_AWAY}
    view = await negotiation_client.opened(**terms, arguments=["Two tyres are worn.", pay])
    worn = {"fact": "Two tyres are worn.", "kind": "reason", "issue": None, "worth": None, "shareable": True}
    assert view["arguments"] == [worn, {**pay, "worth": "40.00", "shareable": True}]
    assert (await negotiation_client.get(f"/negotiations/{view['id']}")).json() == view
    same = await negotiation_client.patch(view["id"], {"arguments": view["arguments"], "title": "Lease"})
    assert same.json()["arguments"] == view["arguments"]
    most = f"I pay {WALK_AWAY['package']['price']} at most."
    changed = (await negotiation_client.patch(view["id"], {"arguments": [most]})).json()
    assert changed["arguments"] == [{**worn, "fact": most, "shareable": False}]
    told = await negotiation_client.patch(view["id"], {"arguments": [{"fact": most, "shareable": True}]})
    assert pointers(told) == {"/arguments/0/shareable"}
    events = (await negotiation_client.get(f"/negotiations/{view['id']}/events")).json()["items"]
    assert [event["detail"]["changed"] for event in events[:2]] == [["arguments"], ["title"]]
    cleared = await negotiation_client.patch(view["id"], {"arguments": None})
    assert cleared.json()["arguments"] == []
    body = negotiation_body(**terms, arguments=[{**pay, "issue": "years"}])
    checked = await negotiation_client.post("/negotiations/check", body)
    assert pointers(checked) == {"/arguments/0/issue"}
    described = await negotiation_client.post("/next-move", {"negotiation": body})
    assert pointers(described) == {"/negotiation/arguments/0/issue"}


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"issue": "years"}, "/allow/0/issue"),
        ({"issue": "term", "to": "3 years"}, "/allow/0/issue"),
        ({"issue": None}, "/allow/0/issue"),
        ({"to": 24}, "/allow/0/to"),
        ({"to": 18}, "/allow/0/to"),
        ({"to": 61}, "/allow/0/to"),
        ({"to": "1e30"}, "/allow/0/to"),
        ({"to": "long"}, "/allow/0/to"),
        ({"to": None}, "/allow/0/to"),
        ({"in_return": {}}, "/allow/0/in_return"),
        ({"in_return": None}, "/allow/0/in_return"),
        ({"in_return": {"months": 12}}, "/allow/0/in_return"),
        ({"in_return": {"price": 5}}, "/allow/0/in_return/price"),
        ({"in_return": {"prize": 1000}}, "/allow/0/in_return/prize"),
        ({"in_return": {"a/b": 1000}}, "/allow/0/in_return/a~1b"),
        ({"for": "nothing"}, "/allow/0/for"),
    ],
)
async def test_an_allowed_trade_names_a_limit_a_value_beyond_it_and_a_price(
    negotiation_client: NegotiationClient, change: dict[str, Any], pointer: str
) -> None:
    trade = {"issue": "months", "to": 36, "in_return": {"price": 1000}, **change}
    body = negotiation_body(issues=[PRICE, MONTHS, TERM], walk_away=WALK_AWAY, allow=[trade])
    for path in ("/negotiations", "/leverage"):
        assert pointer in pointers(await negotiation_client.post(path, body))
