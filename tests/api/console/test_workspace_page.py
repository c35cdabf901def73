"""The page of a negotiation: what it shows equals what the API answers, and its forms change the same data."""

import json
import re
from html import unescape

import httpx2
import pytest

from tests.conftest import Browsers
from tests.helpers.form_browser import FormBrowser


@pytest.mark.asyncio
async def test_the_page_says_the_advice_of_the_api_and_records_what_was_said(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str], golf: str
) -> None:
    recorded = await browser.send(f"{golf}/offers", on=golf, by="them", **{"issue:price": "14900"})
    assert recorded.status_code == 303
    move = (await client.post(f"/api{golf}/next-move", json={}, headers=headers)).json()
    shown = unescape((await browser.open(golf)).text)
    assert move["say"] in shown
    assert f"Propose: €{float(move['offer']['price']):,.0f}" in shown
    assert all(reason in shown for reason in move["reasons"][:3])
    [offer] = (await client.get(f"/api{golf}/offers", headers=headers)).json()["items"]
    assert (offer["by"], offer["package"], offer["status"]) == ("them", {"price": "14900.00"}, "live")
    [event, *_] = (await client.get(f"/api{golf}/events", headers=headers)).json()["items"]
    assert event["actor"]["kind"] == "user"


@pytest.mark.asyncio
async def test_a_refused_offer_keeps_what_was_typed(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str], golf: str
) -> None:
    refused = await browser.send(f"{golf}/offers", on=golf, by="me", **{"issue:price": "14800"})
    assert refused.status_code == 409
    assert 'value="14800"' in refused.text
    assert "This is €800 worse than your limit." in refused.text
    assert not (await client.get(f"/api{golf}/offers", headers=headers)).json()["items"]
    offer = {"by": "me", "issue:price": "14.8k"}
    unexplained = await browser.send(f"{golf}/offers", on=golf, override="yes", reason="", **offer)
    assert unexplained.status_code == 422
    assert "needs a reason" in unexplained.text
    insisted = {**offer, "override": "yes", "reason": "It has winter tyres."}
    assert (await browser.send(f"{golf}/offers", on=golf, **insisted)).status_code == 303
    [row] = (await client.get(f"/api{golf}/offers", headers=headers)).json()["items"]
    assert (row["package"], row["override"]["reason"]) == ({"price": "14800.00"}, "It has winter tyres.")
    events = (await client.get(f"/api{golf}/events", headers=headers)).json()["items"]
    assert "override" in [event["kind"] for event in events]
    assert "Beyond your limit on purpose: It has winter tyres." in (await browser.open(golf)).text


@pytest.mark.asyncio
async def test_a_plan_is_made_and_read_on_the_page(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str], golf: str
) -> None:
    assert (await browser.send(f"{golf}/plan", on=golf)).status_code == 303
    shown = (await browser.open(golf)).text
    assert "At a glance" in shown
    assert "Make a new plan" in shown
    assert not re.search(r"engine:|utility|undominated", shown)
    plans = (await client.get(f"/api{golf}/battle-plans", headers=headers)).json()["items"]
    assert len(plans) == 1


@pytest.mark.asyncio
async def test_each_fault_of_an_offer_stands_at_its_field(browser: FormBrowser, golf: str) -> None:
    sent = {"by": "them", "issue:price": "quite a lot", "conditions": "Only if paid in cash"}
    unread = await browser.send(f"{golf}/offers", on=golf, **sent)
    assert unread.status_code == 422
    assert 'value="quite a lot"' in unread.text
    assert 'id="answer-0-fault">Write an amount of money' in unread.text
    assert "Only if paid in cash</textarea>" in unread.text
    past = {"by": "them", "issue:price": "14900", "valid_until": "2020-01-01"}
    late = await browser.send(f"{golf}/offers", on=golf, **past)
    assert 'id="fault-valid_until">' in late.text
    nobody = await browser.send(f"{golf}/offers", on=golf, by="them", kind="acceptance")
    assert "You have no offer that stands" in nobody.text


@pytest.mark.asyncio
async def test_an_answer_is_recorded_with_what_came_with_it(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str], golf: str
) -> None:
    offer = {
        "by": "them",
        "kind": "final",
        "issue:price": "14,300",
        "conditions": "Cash only\nPicked up by Friday",
        "valid_until": "2099-12-31",
        "rationale": "Two others are coming to see it.",
    }
    assert (await browser.send(f"{golf}/offers", on=golf, **offer)).status_code == 303
    [row] = (await client.get(f"/api{golf}/offers", headers=headers)).json()["items"]
    assert (row["kind"], row["conditions"]) == ("final", ["Cash only", "Picked up by Friday"])
    assert (row["valid_until"][:10], row["claimed_final"]) == ("2099-12-31", True)
    shown = (await browser.open(golf)).text
    assert "Condition: Cash only" in shown
    assert "Holds until 31 December 2099" in shown
    taken_back = {"by": "them", "kind": "withdrawal", "live_them": row["id"]}
    assert (await browser.send(f"{golf}/offers", on=golf, **taken_back)).status_code == 303
    rows = (await client.get(f"/api{golf}/offers", headers=headers)).json()["items"]
    assert [one["status"] for one in rows] == ["recorded", "withdrawn"]


@pytest.mark.asyncio
async def test_what_was_said_is_recorded_once_and_then_waits(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str], golf: str
) -> None:
    move = (await client.post(f"/api{golf}/next-move", json={}, headers=headers)).json()
    shown = unescape((await browser.open(golf)).text)
    sent = re.search(r'name="package" value=\'?"?(\{[^}]*\})', shown)
    assert sent
    assert json.loads(sent[1]) == move["offer"]
    said = {"by": "me", "kind": "offer", "package": sent[1], "revision": "1"}
    for _ in range(2):
        assert (await browser.send(f"{golf}/offers", on=golf, **said)).status_code == 303
    rows = (await client.get(f"/api{golf}/offers", headers=headers)).json()["items"]
    assert [row["package"] for row in rows] == [move["offer"]]
    waiting = unescape((await browser.open(golf)).text)
    assert "Wait for their answer to your offer" in waiting
    move = (await client.post(f"/api{golf}/next-move", json={}, headers=headers)).json()
    assert move["cost"]
    assert move["cost"] in waiting
    refused = {"by": "them", "kind": "rejection"}
    assert (await client.post(f"/api{golf}/offers", json=refused, headers=headers)).is_success
    asking = unescape((await browser.open(golf)).text)
    assert "Ask what stands in the way of your offer" in asking
    assert "Wait for their answer" not in asking
    assert ">I said this</button>" not in asking


@pytest.mark.asyncio
async def test_a_figure_heard_on_a_call_is_confirmed_or_not_so(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str], golf: str
) -> None:
    heard: list[str] = []
    for price in (14500, 14200):
        body = {"by": "them", "package": {"price": price}, "source": "detected_in_speech"}
        answer = await client.post(f"/api{golf}/offers", json=body, headers=headers)
        heard.append(answer.json()["id"])
    assert (await browser.open(golf)).text.count(">Not so</button>") == 2
    for offer, said in zip(heard, ("no", "yes"), strict=True):
        sent = await browser.send(f"{golf}/heard", on=golf, offer=offer, answer=said)
        assert sent.status_code == 303
    rows = (await client.get(f"/api{golf}/offers", headers=headers)).json()["items"]
    assert [row["status"] for row in rows] == ["live", "recorded", "confirmed", "dismissed"]
    assert ">Not so</button>" not in (await browser.open(golf)).text


@pytest.mark.asyncio
async def test_a_question_is_put_away_and_asked_again(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str], golf: str
) -> None:
    move = (await client.post(f"/api{golf}/next-move", json={}, headers=headers)).json()
    first = move["ask"][0]
    assert first["ask"] in unescape((await browser.open(golf)).text)
    assert (await browser.send(f"{golf}/later", on=golf, question=first["missing"])).status_code == 303
    shown = unescape((await browser.open(golf)).text)
    assert first["ask"] not in shown
    assert "1 put away in this browser." in shown
    await browser.send(f"{golf}/later", on=golf, question="")
    assert first["ask"] in unescape((await browser.open(golf)).text)


@pytest.mark.asyncio
async def test_an_answer_about_power_moves_the_bar(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str], golf: str
) -> None:
    for factor, side, value in (
        ("competition", "me", "3"),
        ("authority", "them", "0.1"),
        ("time", "them", "2099-01-31"),
        ("alternatives", "them", "0.35"),
    ):
        sent = {f"{factor}.{side}": value}
        assert (await browser.send(f"{golf}/facts", on=golf, **sent)).status_code == 303
    priced = {"alternatives.me": "14,200", "alternatives.me.text": "The Golf in Ulm"}
    assert (await browser.send(f"{golf}/facts", on=golf, **priced)).status_code == 303
    view = (await client.get(f"/api{golf}", headers=headers)).json()
    assert view["facts"] == {"me": {"rivals": 3}, "them": {"authority": 0.1}}
    assert view["their_estimate"]["deadline"].startswith("2099-01-31")
    assert view["batna"]["value"] == {"package": {"price": "14200.00"}}
    standing = (await client.post(f"/api{golf}/leverage", json={}, headers=headers)).json()
    shown = unescape((await browser.open(golf)).text)
    mine = round(standing["power"]["alpha"] * 100)
    assert standing["summary"]["who_needs_it_more"] in shown
    assert f"{mine} : {100 - mine}" not in shown
    assert f"{mine}:{100 - mine}" not in shown
    assert standing["summary"]["would_shift_most"] in shown
    assert all(factor["explanation"] in shown for factor in standing["power"]["factors"] if factor["contribution"])
    wrong = {"competition.me": "a few", "dependency.them": "0.9"}
    refused = await browser.send(f"{golf}/facts", on=golf, **wrong)
    assert refused.status_code == 422
    assert 'id="fact-competition-me-fault">' in refused.text
    unknown = [f"fact-{one['factor']}-{one['side']}" for one in standing["power"]["unknown"]]
    assert sum(f'id="{one}"' in shown for one in unknown) == 3
    everything = (await browser.open(f"{golf}?questions=all")).text
    assert all(f'id="{one}"' in everything for one in unknown)


@pytest.mark.asyncio
async def test_limits_are_changed_on_the_revision_that_the_page_showed(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str], golf: str
) -> None:
    typed = {
        "target:price": "12.3k",
        "limit:price": "13,800",
        "weight:price": "10",
        "deadline": "2099-06-30",
        "alternative": "The Golf in Ulm",
        "alternative_price": "13900",
        "revision": "1",
    }
    assert (await browser.send(f"{golf}/limits", on=golf, **typed)).status_code == 303
    view = (await client.get(f"/api{golf}", headers=headers)).json()
    assert view["target"] == {"package": {"price": "12300.00"}}
    assert view["walk_away"]["package"] == {"price": "13800.00"}
    assert (view["deadline"][:10], view["batna"]["description"]) == ("2099-06-30", "The Golf in Ulm")
    assert view["issues"][0]["limit"] == "13800.00"
    await client.patch(f"/api{golf}", json={"title": "Golf, 2019"}, headers=headers)
    late = {**typed, "limit:price": "13700", "revision": str(view["revision"])}
    refused = await browser.send(f"{golf}/limits", on=golf, **late)
    assert refused.status_code == 412
    assert "was changed while you typed" in refused.text
    assert 'value="13700"' in refused.text
    unread = await browser.send(f"{golf}/limits", on=golf, **{**late, "limit:price": "a lot"})
    assert unread.status_code == 422
    assert 'id="limit-price-fault">Write an amount of money' in unread.text
    after = (await client.get(f"/api{golf}", headers=headers)).json()
    assert after["walk_away"]["package"] == {"price": "13800.00"}


@pytest.mark.asyncio
async def test_a_weight_is_changed_and_nothing_else_with_it(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    choices = [{"value": "24/7", "utility": 1}, {"value": "e-mail", "utility": 0}]
    body = {
        "title": "CRM",
        "role": "buyer",
        "currency": "EUR",
        "issues": [
            {
                "name": "price",
                "type": "money",
                "weight": 6,
                "range": {"min": 38, "max": 65, "step": "0.50"},
                "multiples": [{"count": 80, "of": "seats"}],
            },
            {"name": "support", "type": "enum", "weight": 2, "options": choices},
            {"name": "training", "type": "boolean", "weight": 2},
        ],
        "target": {"package": {"price": 45, "support": "24/7", "training": True}},
        "walk_away": {"package": {"price": 54, "support": "e-mail", "training": False}},
    }
    before = (await client.post("/api/negotiations", json=body, headers=headers)).json()
    page = f"/negotiations/{before['id']}"
    sent = await browser.send(f"{page}/limits", on=page, revision="1", **{"weight:support": "4"})
    assert sent.status_code == 303, sent.text
    after = (await client.get(f"/api{page}", headers=headers)).json()
    assert [issue["weight_given"] for issue in after["issues"]] == [6, 4, 2]
    plain = [[{**issue, "weight": 0, "weight_given": 0} for issue in view["issues"]] for view in (before, after)]
    assert plain[0] == plain[1]
    assert (after["target"], after["walk_away"]) == (before["target"], before["walk_away"])


@pytest.mark.asyncio
async def test_an_open_page_learns_what_an_agent_changed(
    browser: FormBrowser, browsers: Browsers, client: httpx2.AsyncClient, headers: dict[str, str], golf: str
) -> None:
    view = (await client.get(f"/api{golf}", headers=headers)).json()
    watch = f"{golf}/changes?revision={view['revision']}&state={view['state']}"
    assert watch.replace("&", "&amp;") in (await browser.open(golf)).text
    unchanged = await browser.open(watch)
    assert (unchanged.status_code, unchanged.text) == (204, "")
    body = {"by": "them", "package": {"price": 14900}}
    await client.post(f"/api{golf}/offers", json=body, headers=headers)
    news = await browser.open(watch)
    assert news.status_code == 200
    assert "€14,900" in news.text
    assert "It is now: talking." in news.text
    assert "offered €14,900" in news.text
    assert 'id="answer"' not in news.text, "the form in which somebody types is left alone"
    assert (await browsers().open(watch)).status_code == 303


@pytest.mark.asyncio
async def test_the_worth_of_their_last_offer_is_said_beside_limit_and_alternative(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str], golf: str
) -> None:
    alternative = {"description": "the dealer", "value": {"package": {"price": 14200}}}
    changed = await client.patch(
        f"/api{golf}",
        json={"batna": alternative, "walk_away": {"override_reason": "It is the car I want."}},
        headers={**headers, "If-Match": '"1"'},
    )
    assert changed.status_code == 200, changed.text

    async def said() -> tuple[str, str, dict[str, float | None]]:
        shown = unescape((await browser.open(golf)).text)
        [worth] = re.findall(r'id="their-worth">([^<]*)<', shown)
        standing = await client.post(f"/api{golf}/leverage", json={}, headers=headers)
        return shown, worth, standing.json()["levels"]

    await browser.send(f"{golf}/offers", on=golf, by="them", **{"issue:price": "14900"})
    shown, worth, levels = await said()
    of_100 = {name: round(value * 100) for name, value in levels.items() if value is not None}
    assert f"beyond your limit ({of_100['walk_away']}), €900 above it" in worth
    assert f"short of your target ({of_100['target']})" in worth
    assert f"Your alternative (the dealer) is better for you: {of_100['alternative']}" in worth
    assert "Your limit is stricter than your alternative: without a deal you would pay €14,200" in shown
    await browser.send(f"{golf}/offers", on=golf, by="them", **{"issue:price": "13000"})
    [offer, *_] = (await client.get(f"/api{golf}/offers", headers=headers)).json()["items"]
    _, worth, _ = await said()
    assert f"is worth {round(offer['utility_me']['low'] * 100)} out of 100" in worth
    assert f"better than your limit ({of_100['walk_away']})" in worth
    assert "alternative" not in worth


@pytest.mark.asyncio
async def test_of_two_offers_in_the_words_the_page_says_which_one_is_recorded(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    body = {
        "title": "Salary",
        "role": "candidate",
        "currency": "EUR",
        "counterparty": "Nordlicht",
        "issues": [
            {"name": "salary", "label": "Salary a year", "type": "money", "direction": "higher", "weight": 7,
             "range": {"min": 65000, "max": 85000, "step": 250}},
            {"name": "days", "label": "Remote days", "type": "integer", "unit": "remote days",
             "direction": "higher", "weight": 3, "range": {"min": 0, "max": 5}},
        ],
        "target": {"package": {"salary": 80000, "days": 4}},
        "walk_away": {"package": {"salary": 71000, "days": 1}},
    }  # fmt: skip
    created = await client.post("/api/negotiations", json=body, headers=headers)
    assert created.status_code == 201, created.text
    page = f"/negotiations/{created.json()['id']}"
    for by, salary, days in (("them", 69000, 1), ("me", 83000, 5), ("them", 73500, 2)):
        offer = {"by": by, "package": {"salary": salary, "days": days}}
        sent = await client.post(f"/api{page}/offers", json=offer, headers=headers)
        assert sent.status_code == 201, sent.text
    move = (await client.post(f"/api{page}/next-move", json={}, headers=headers)).json()
    shown = unescape((await browser.open(page)).text)
    [note] = re.findall(r'id="said-note">([^<]*)<', shown)
    [other] = [one for one in move["alternatives"] if f"{float(one['salary']):,.0f}" in move["say"]]
    first, second = note.split(". ", 1)
    assert f"€{float(move['offer']['salary']):,.0f}" in first
    assert f"€{float(other['salary']):,.0f}" in second


@pytest.mark.asyncio
async def test_what_speaks_for_the_user_is_shown_and_changed_a_fact_a_line(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str], golf: str
) -> None:
    told = {"fact": "Others cost 13,700.", "kind": "reason", "issue": "price", "worth": "40.00", "shareable": True}
    asked = {**told, "fact": "It was serviced.", "kind": "fact"}
    await client.patch(f"/api{golf}", json={"arguments": [asked, told]}, headers=headers)
    assert ">Others cost 13,700.</textarea>" in (await browser.open(golf)).text
    typed = {"reasons": "The tyres are worn.\r\nOthers cost 13,700.", "revision": "2"}
    refused = await browser.send(f"{golf}/limits", on=golf, **typed, **{"limit:price": "13700"})
    assert refused.status_code == 422
    assert 'id="fault-reasons">To say this would tell your limit' in refused.text
    assert (await browser.send(f"{golf}/limits", on=golf, **typed, wishes="A full tank.")).status_code == 303
    after = (await client.get(f"/api{golf}", headers=headers)).json()["arguments"]
    assert [one["fact"] for one in after[::2]] == ["The tyres are worn.", "A full tank."]
    assert after[1::2] == [told, asked]
