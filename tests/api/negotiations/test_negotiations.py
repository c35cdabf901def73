"""Negotiations through the application: fields, validation, revisions, lists, ownership."""

from typing import Any

import pytest

from tests.conftest import Clock, Mint
from tests.contract.requirements import covers
from tests.helpers.negotiation_client import PRICE, TERM, NegotiationClient, negotiation_body, pointers

MEMBERS = set(
    "id title category kind role counterparty currency issues target walk_away batna their_estimate "  # noqa: SIM905
    "deadline max_rounds constraints authority baseline state outcome missing revision created_at updated_at".split()
)


@pytest.mark.asyncio
@covers("6.2:missing")
async def test_a_title_a_role_and_one_issue_are_enough(negotiation_client: NegotiationClient) -> None:
    body = {"title": "Rent", "role": "tenant", "issues": [{"name": "rent", "type": "money"}]}
    answer = await negotiation_client.post("/negotiations", body)
    assert answer.status_code == 201
    view = answer.json()
    assert set(view) >= MEMBERS
    assert view["state"] == "draft"
    assert view["revision"] == 1
    assert view["constraints"] == []
    assert view["walk_away"] is view["batna"] is view["deadline"] is view["outcome"] is None
    assert {"walk_away", "batna", "target", "their_estimate", "currency", "issues/0/range"} <= set(view["missing"])
    assert answer.headers["etag"] == '"1"'


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("issues", "figures", "unit"),
    [
        ([PRICE], (0.4, 0.5, 0.9), "money"),
        ([PRICE, TERM], (0.1, 0.2, 1), "utility"),
        ([PRICE, TERM], (0.9, 900, 950), "money"),
    ],
)
async def test_an_estimate_without_a_unit_is_money_where_it_cannot_be_a_utility(
    negotiation_client: NegotiationClient, issues: list[dict[str, Any]], figures: tuple[float, float, float], unit: str
) -> None:
    low, likely, high = figures
    view = await negotiation_client.opened(
        issues=issues, their_estimate={"walk_away": {"low": low, "likely": likely, "high": high}}
    )
    assert view["their_estimate"]["walk_away"]["unit"] == unit


@pytest.mark.asyncio
@covers("6.3:members")
async def test_every_member_comes_back_with_money_as_decimal_strings(negotiation_client: NegotiationClient) -> None:
    view = await negotiation_client.opened(
        issues=[{**PRICE, "weight": 3}, {**TERM, "weight": 1, "their_weight": 2}],
        counterparty="Acme",
        target={"package": {"price": 850.5, "term": "1 year"}},
        walk_away={"utility": 0.2},
        batna={"description": "Other shop", "value": {"utility": 0.1}, "cost": 20},
        their_estimate={"walk_away": {"low": 0.1, "likely": 0.2, "high": 0.3}},
        deadline="2099-01-01T00:00:00+01:00",
        max_rounds=5,
        constraints=[{"issue": "price", "op": "<=", "value": 1150}],
        authority={"limit": 1000, "approver": "Ada"},
        baseline={"kind": "list_price", "value": "1200", "evidence": "catalogue"},
        facts={"me": {"rivals": 2}},
    )
    price, term = view["issues"]
    assert (price["weight"], price["weight_given"], term["weight"]) == (0.75, 3, 0.25)
    assert price["direction"] == "lower"
    assert price["range"] == {"min": "800.00", "max": "1200.00", "step": None}
    assert view["counterparty"]["name"] == "Acme"
    assert view["target"] == {"package": {"price": "850.50", "term": "1 year"}}
    assert view["batna"]["cost"] == "20.00"
    assert view["their_estimate"]["walk_away"]["unit"] == "utility"
    assert view["deadline"] == "2098-12-31T23:00:00.000Z"
    assert view["constraints"][0]["value"] == "1150.00"
    assert view["authority"]["limit"] == "1000.00"
    assert view["baseline"]["value"] == "1200.00"
    assert view["facts"] == {"me": {"rivals": 2}}
    assert "issues/0/their_weight" in view["missing"]
    assert "walk_away" not in view["missing"]
    again = await negotiation_client.get(f"/negotiations/{view['id']}")
    assert again.json() == view


@pytest.mark.asyncio
async def test_yen_have_no_cents(negotiation_client: NegotiationClient) -> None:
    issue = {"name": "price", "range": {"min": 1000, "max": 2000}}
    view = await negotiation_client.opened(issues=[issue], currency="JPY", walk_away=None)
    assert view["issues"][0]["range"]["max"] == "2000"


@pytest.mark.asyncio
async def test_one_answer_names_every_fault(negotiation_client: NegotiationClient) -> None:
    broken = {"name": "term", "type": "enum"}
    answer = await negotiation_client.post(
        "/negotiations", negotiation_body(issues=[PRICE, broken, PRICE], max_rounds=0, surprise=1)
    )
    assert {"/max_rounds", "/surprise", "/issues/1/options", "/issues/2/name"} <= pointers(answer)
    bare = {"title": "t", "role": "buyer", "issues": [{"name": "price"}], "surprise": 1}
    assert pointers(await negotiation_client.post("/negotiations", bare)) == {"/surprise"}


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"currency": "XXY"}, "/currency"),
        ({"issues": [{**PRICE, "unit": "USD"}]}, "/issues/0/unit"),
        ({"issues": [{**PRICE, "range": {"min": 2, "max": 1}}]}, "/issues/0/range/max"),
        ({"target": {"package": {"price": 700}}}, "/target/package/price"),
        ({"target": {"package": {"prize": 900}}}, "/target/package/prize"),
        ({"target": {}}, "/target"),
        ({"target": {"package": {"price": 1150}}}, "/target"),
        ({"batna": {"value": {"package": {"price": 1000}}}}, "/walk_away"),
        ({"their_estimate": {"walk_away": {"low": 3, "likely": 2, "high": 1}}}, "/their_estimate/walk_away"),
        ({"their_estimate": {"priorities": ["colour"]}}, "/their_estimate/priorities/0"),
        ({"deadline": "2001-01-01T00:00:00Z"}, "/deadline"),
        ({"deadline": "soon"}, "/deadline"),
        ({"constraints": [{"issue": "term", "op": "==", "value": 1}]}, "/constraints/0/issue"),
        ({"constraints": [{"issue": "price", "op": "in", "value": 1}]}, "/constraints/0/value"),
        ({"constraints": [{"issue": "price", "op": "<=", "value": "x"}]}, "/constraints/0/value"),
        ({"issues": [TERM], "walk_away": None, "authority": {"limit": 5}}, "/authority/limit"),
        ({"baseline": {"value": "1e99"}}, "/baseline/value"),
        ({"target": {"package": {"price": 2**60}}}, "/target/package/price"),
    ],
)
@covers("6.3:refused")
async def test_what_cannot_be_is_refused_where_it_is(
    negotiation_client: NegotiationClient, members: dict[str, Any], pointer: str
) -> None:
    assert pointer in pointers(await negotiation_client.post("/negotiations", negotiation_body(**members)))


@pytest.mark.asyncio
@covers("6.2:alternative")
async def test_a_walk_away_below_the_alternative_needs_a_reason(negotiation_client: NegotiationClient) -> None:
    batna = {"value": {"package": {"price": 1000}}}
    walk_away = {"package": {"price": 1100}, "override_reason": "The other shop is slow."}
    view = await negotiation_client.opened(batna=batna, walk_away=walk_away)
    assert view["walk_away"]["override_reason"] == "The other shop is slow."
    unsaid = await negotiation_client.post("/negotiations", negotiation_body(batna=batna))
    assert pointers(unsaid) == {"/walk_away"}
    text = unsaid.json()["errors"][0]["description"]
    assert "25.0 of 100 points, the alternative 50.0" in text
    assert '{"walk_away": {"override_reason": "why"}}' in text
    doubtful = await negotiation_client.opened(batna={**batna, "probability": 0.1})
    assert doubtful["batna"]["probability"] == 0.1


@pytest.mark.asyncio
async def test_a_merge_patch_changes_removes_and_is_checked_whole(negotiation_client: NegotiationClient) -> None:
    view = await negotiation_client.opened(counterparty={"name": "Acme", "role": "sales"}, max_rounds=5)
    changed = await negotiation_client.patch(
        view["id"], {"title": "Tablets", "max_rounds": None, "counterparty": {"role": None}}
    )
    assert changed.status_code == 200
    after = changed.json()
    assert (after["title"], after["max_rounds"]) == ("Tablets", None)
    assert (after["counterparty"]["name"], after["counterparty"]["role"]) == ("Acme", None)
    assert after["revision"] == 2
    assert changed.headers["etag"] == '"2"'
    refused = await negotiation_client.patch(view["id"], {"issues": [TERM]})
    assert "/walk_away/package/price" in pointers(refused)
    assert "/title" in pointers(await negotiation_client.patch(view["id"], {"title": None}))
    assert "/state" in pointers(await negotiation_client.patch(view["id"], {"state": "won"}))
    assert (await negotiation_client.get(f"/negotiations/{view['id']}")).json() == after


@pytest.mark.asyncio
async def test_what_is_cancelled_is_not_edited_any_more(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened())["id"]
    await negotiation_client.move(key, "cancelled")
    assert (await negotiation_client.patch(key, {"title": "B"})).json()["error"] == "closed"


@pytest.mark.asyncio
async def test_what_was_read_can_be_sent_back(negotiation_client: NegotiationClient) -> None:
    view = await negotiation_client.opened(issues=[{**PRICE, "weight": 2}, TERM])
    back = await negotiation_client.patch(view["id"], {"issues": view["issues"], "walk_away": view["walk_away"]})
    assert back.status_code == 200, back.text
    assert [i["weight"] for i in back.json()["issues"]] == [i["weight"] for i in view["issues"]]


@pytest.mark.asyncio
async def test_a_merge_patch_may_come_under_its_own_media_type(negotiation_client: NegotiationClient) -> None:
    view = await negotiation_client.opened()
    answer = await negotiation_client.client.patch(
        f"/api/negotiations/{view['id']}",
        content=b'{"category": "software"}',
        headers={**negotiation_client.headers, "content-type": "application/merge-patch+json"},
    )
    assert answer.json()["category"] == "software"


@pytest.mark.asyncio
async def test_an_old_baseline_is_kept(negotiation_client: NegotiationClient) -> None:
    view = await negotiation_client.opened(baseline={"kind": "budget", "value": 1000})
    await negotiation_client.offered(view["id"], 900)
    after = (await negotiation_client.patch(view["id"], {"baseline": {"value": 1050}})).json()
    assert after["baseline"]["value"] == "1050.00"
    assert [old["value"] for old in after["baseline_history"]] == ["1000.00"]
    events = (await negotiation_client.get(f"/negotiations/{view['id']}/events")).json()["items"]
    assert events[0]["kind"] == "baseline_changed"
    assert events[0]["detail"]["after_offers"] is True


@pytest.mark.asyncio
async def test_revisions_guard_against_lost_changes(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened())["id"]
    assert (await negotiation_client.patch(key, {"title": "B"}, **{"If-Match": '"1"'})).status_code == 200
    stale = await negotiation_client.patch(key, {"title": "C"}, **{"If-Match": '"1"'})
    assert stale.status_code == 412
    assert stale.json()["revision"] == 2
    assert (await negotiation_client.delete(key, **{"If-Match": '"1"'})).status_code == 412
    unchanged = await negotiation_client.get(f"/negotiations/{key}", **{"If-None-Match": '"2"'})
    assert unchanged.status_code == 304


@pytest.mark.asyncio
async def test_deleting_erases_offers_and_events(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened())["id"]
    await negotiation_client.offered(key, 900)
    assert (await negotiation_client.delete(key)).status_code == 204
    for path in ("", "/events", "/offers"):
        assert (await negotiation_client.get(f"/negotiations/{key}{path}")).status_code == 404


@pytest.mark.asyncio
async def test_lists_filter_and_page(negotiation_client: NegotiationClient) -> None:
    for place in range(5):
        name = f"Übersee {place}" if place % 2 else f"Laptops {place}"
        await negotiation_client.opened(title=name, category="freight" if place % 2 else "hardware")
    first = (await negotiation_client.get("/negotiations?limit=2")).json()
    assert [item["title"] for item in first["items"]] == ["Laptops 4", "Übersee 3"]
    rest = (await negotiation_client.get(f"/negotiations?limit=3&cursor={first['next_cursor']}")).json()
    assert [item["title"] for item in rest["items"]] == ["Laptops 2", "Übersee 1", "Laptops 0"]
    assert rest["next_cursor"] is None
    freight = (await negotiation_client.get("/negotiations?category=freight")).json()["items"]
    assert len(freight) == 2
    found = (await negotiation_client.get("/negotiations?query=üBERSEE 3")).json()["items"]
    assert [item["title"] for item in found] == ["Übersee 3"]
    await negotiation_client.move(found[0]["id"], "cancelled")
    gone = (await negotiation_client.get("/negotiations?state=cancelled")).json()["items"]
    assert [item["id"] for item in gone] == [found[0]["id"]]
    foreign = await negotiation_client.get(f"/negotiations?state=draft&cursor={first['next_cursor']}")
    assert foreign.json()["error"] == "invalid_cursor"


@pytest.mark.asyncio
async def test_the_same_key_opens_one_negotiation(negotiation_client: NegotiationClient) -> None:
    key = {"Idempotency-Key": "once"}
    first = await negotiation_client.post("/negotiations", negotiation_body(), **key)
    second = await negotiation_client.post("/negotiations", negotiation_body(), **key)
    assert first.json() == second.json()
    assert len((await negotiation_client.get("/negotiations")).json()["items"]) == 1


@pytest.mark.asyncio
async def test_claiming_moves_everything_to_the_user(negotiation_client: NegotiationClient, mint: Mint) -> None:
    key = (await negotiation_client.opened())["id"]
    await negotiation_client.offered(key, 900)
    _, code = await mint()
    claimed = await negotiation_client.post("/agent/claim", {"claim_token": code})
    assert claimed.status_code == 200, claimed.text
    negotiation_client.headers = {"Authorization": f"Bearer {claimed.json()['access_token']}"}
    assert (await negotiation_client.get(f"/negotiations/{key}")).json()["state"] == "active"
    assert len((await negotiation_client.get(f"/negotiations/{key}/offers")).json()["items"]) == 1
    events = (await negotiation_client.get(f"/negotiations/{key}/events")).json()["items"]
    assert events[0]["kind"] == "claimed"
    assert len(events) == 4


@pytest.mark.asyncio
async def test_the_clock_expires_what_is_overdue(clock: Clock, negotiation_client: NegotiationClient) -> None:
    view = await negotiation_client.opened(deadline="2027-01-15T08:10:00Z")
    assert view["deadline"] == "2027-01-15T08:10:00.000Z"
    clock.advance(601)
    listed = (await negotiation_client.get("/negotiations?state=expired")).json()["items"]
    assert [item["id"] for item in listed] == [view["id"]]
    after = (await negotiation_client.get(f"/negotiations/{view['id']}")).json()
    assert (after["state"], after["outcome"]["result"]) == ("expired", "expired")
    assert (await negotiation_client.offer(view["id"], 900)).status_code == 409
    event = (await negotiation_client.get(f"/negotiations/{view['id']}/events")).json()["items"][0]
    assert event["actor"]["kind"] == "clock"
    reopened = await negotiation_client.move(view["id"], "active", reason="They called again.")
    assert reopened.json()["state"] == "active"
    assert await negotiation_client.state(view["id"]) == "active"
