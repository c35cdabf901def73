"""Approvals, history, plan and end on a negotiation's page: what is decided there is what the API shows."""

import re
from typing import Any

import httpx2
import pytest

from tests.contract.requirements import covers
from tests.helpers.form_browser import FormBrowser, redirect_path, text_of
from tests.helpers.negotiating_agent import offer_price, open_golf


async def read(client: httpx2.AsyncClient, path: str, headers: dict[str, str]) -> dict[str, Any]:
    answer = await client.get(f"/api{path}", headers=headers)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def asked(client: httpx2.AsyncClient, headers: dict[str, str], price: int = 14300) -> str:
    """The page of a negotiation in which the agent asks to pass the limit of 14,000."""
    view = await open_golf(client, headers)
    await offer_price(client, headers, view["id"], 14900)
    held = await offer_price(
        client, headers, view["id"], price, by="me", override=True, reason="Jens has another buyer on Friday."
    )
    assert held["status"] == "awaiting_approval"
    return f"/negotiations/{view['id']}"


@pytest.mark.asyncio
@covers("6.5:user_decides")
async def test_an_agent_that_wants_to_pass_the_limit_waits_for_its_user(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    page = await asked(client, headers)
    held = (await read(client, page, headers))["pending_approval"]
    assert held["beyond"] == [{"limit": "walk_away", "amount": "300.00", "words": "€300", "side": "above"}]
    assert held["reason"] == "Jens has another buyer on Friday."
    own = {"to": "active", "approved": True, "package_sha256": held["package_sha256"]}
    refused = await client.post(f"/api{page}/state", json=own, headers=headers)
    assert (refused.status_code, refused.json()["error"]) == (403, "user_decides")
    for shown in (text_of(await browser.open(page)), text_of(await browser.open("/"))):
        assert "wants to offer €14,300" in shown
        assert "That is €300 above your limit." in shown
        assert "Jens has another buyer on Friday." in shown
    unsaid = await browser.send(f"{page}/approval", on=page, decision="refuse")
    assert unsaid.status_code == 422
    decided = await browser.send(f"{page}/approval", on=page, decision="refuse", reason="Not above 14,000.")
    assert decided.status_code == 303
    view = await read(client, page, headers)
    assert (view["state"], view["pending_approval"]) == ("active", None)
    ledger = (await read(client, f"{page}/offers", headers))["items"]
    assert ledger[0]["status"] == "not_approved"
    shown = text_of(await browser.open(page))
    assert "You refused: €14,300." in shown
    assert "Not above 14,000." in shown
    assert "asked for your approval: €14,300." in shown


@pytest.mark.asyncio
async def test_what_is_allowed_once_is_on_the_table(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    page = await asked(client, headers)
    held = (await read(client, page, headers))["pending_approval"]
    fields = {"decision": "allow", "package_sha256": held["package_sha256"]}
    assert (await browser.send(f"{page}/approval", on=page, **fields)).status_code == 303
    assert (await read(client, f"{page}/offers", headers))["items"][0]["status"] == "live"
    assert "You allowed once: €14,300." in text_of(await browser.open(page))


@pytest.mark.asyncio
async def test_an_agreement_becomes_a_win_with_the_figures_that_were_shown(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    view = await open_golf(client, headers)
    page = f"/negotiations/{view['id']}"
    first = await offer_price(client, headers, view["id"], 14900)
    assert first["status"] == "live"
    last = await offer_price(client, headers, view["id"], 13100)
    sent = {"by": "me", "kind": "acceptance", "in_reply_to": last["id"]}
    await client.post(f"/api{page}/offers", json=sent, headers=headers)
    shown = await browser.open(page)
    assert 'value="14900"' in shown.text
    assert 'value="13100"' in shown.text
    assert "€1,800 saved, 12.1%" in text_of(shown)
    figures = {
        "baseline_kind": "list_price",
        "baseline": "15,500",
        "achieved": "13100",
        "quantity": "1",
        "lesson": "Jens gives way when he hears of a second car.",
    }
    looked = await browser.send(f"{page}/win", on=page, do="look", **figures)
    assert "€2,400 saved, 15.5%" in text_of(looked)
    assert (await read(client, "/wins", headers))["items"] == []
    wrong = await browser.send(f"{page}/win", on=page, do="save", **{**figures, "baseline": "x"})
    assert wrong.status_code == 422
    assert "Write an amount of money" in text_of(wrong)
    saved = await browser.send(f"{page}/win", on=page, do="save", **figures)
    assert redirect_path(saved) == f"{page}#end"
    [win] = (await read(client, "/wins", headers))["items"]
    assert (win["savings_total"], win["baseline"]["kind"], win["negotiation_id"]) == (
        "2400.00",
        "list_price",
        view["id"],
    )
    assert (await read(client, page, headers))["state"] == "won"
    [lesson] = (await read(client, "/memories?kind=lesson", headers))["items"]
    assert lesson["text"] == figures["lesson"]
    shown = await browser.open(page)
    assert "€2,400" in text_of(shown)
    assert "What you learned" in text_of(shown)
    assert "€2,400 saved in 1 deal" in text_of(await browser.open("/"))


@pytest.mark.asyncio
async def test_no_deal_has_a_reason_and_is_opened_again_with_one(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    view = await open_golf(client, headers)
    page = f"/negotiations/{view['id']}"
    await offer_price(client, headers, view["id"], 14900)
    fields = {"to": "lost", "reason": "Sold to somebody else.", "lesson": "Ask earlier."}
    assert (await browser.send(f"{page}/state", on=page, **fields)).status_code == 303
    shown = text_of(await browser.open(page))
    assert "No deal" in shown
    assert "Sold to somebody else." in shown
    assert (await read(client, "/memories?kind=lesson", headers))["items"][0]["text"] == "Ask earlier."
    assert (await browser.send(f"{page}/state", on=page, to="active")).status_code == 422
    again = {"to": "active", "reason": "The buyer stepped back."}
    assert (await browser.send(f"{page}/state", on=page, **again)).status_code == 303
    assert (await read(client, page, headers))["state"] == "active"
    assert "You opened the talks again." in text_of(await browser.open(page))


@pytest.mark.asyncio
async def test_a_stale_plan_says_what_happened_since_and_its_versions_are_compared(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    view = await open_golf(client, headers)
    page = f"/negotiations/{view['id']}"
    assert (await browser.open(f"{page}/plan")).status_code == 404
    await browser.send(f"{page}/plan", on=page)
    assert "moved on since" not in text_of(await browser.open(page))
    await offer_price(client, headers, view["id"], 14900)
    await client.patch(f"/api{page}", json={"target": {"package": {"price": 12200}}}, headers=headers)
    shown = await browser.open(page)
    assert "changed since this plan was made" in text_of(shown)
    assert "noted their offer: €14,900." in text_of(shown)
    assert "changed your target." in text_of(shown)
    assert "style=" not in shown.text
    assert re.search(r'<t[hd] class="floor">', shown.text)
    await browser.send(f"{page}/plan", on=page)
    printed = await browser.open(f"{page}/plan.md")
    newest = (await read(client, f"{page}/battle-plans", headers))["items"][0]["id"]
    asked_for = {**headers, "accept": "text/markdown"}
    answered = await client.get(f"/api{page}/battle-plans/{newest}", headers=asked_for)
    assert printed.text == answered.text
    compared = await browser.open(f"{page}/plan")
    assert re.search(r"<del>[^<]*12,500", compared.text)
    assert re.search(r"<ins>[^<]*12,200", compared.text)
    same = await browser.open(f"{page}/plan?from=2&to=2")
    assert "These two versions say the same" in text_of(same)


@pytest.mark.asyncio
async def test_what_was_agreed_is_recorded_with_its_offer_in_one_go(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    view = await open_golf(client, headers)
    page = f"/negotiations/{view['id']}"
    await offer_price(client, headers, view["id"], 14900)
    chosen = (await browser.open(f"{page}?record=agreed")).text
    assert '<option value="agreed" selected>' in chosen
    empty = await browser.send(f"{page}/offers", on=page, kind="agreed", by="them")
    assert empty.status_code == 422
    assert "Write what you agreed on" in empty.text
    below = await browser.send(f"{page}/offers", on=page, kind="agreed", **{"issue:price": "14,200"})
    assert below.status_code == 409
    assert "Record it all the same" in below.text
    assert len((await read(client, f"{page}/offers", headers))["items"]) == 1, "nothing is recorded"
    agreed = await browser.send(f"{page}/offers", on=page, kind="agreed", **{"issue:price": "13,100"})
    assert redirect_path(agreed) == f"{page}#end"
    shown = await read(client, page, headers)
    assert (shown["state"], shown["outcome"]["package"]) == ("agreed", {"price": "13100.00"})
    rows = (await read(client, f"{page}/offers", headers))["items"]
    assert [(one["by"], one["kind"]) for one in rows[:2]] == [("them", "acceptance"), ("me", "offer")]
    ended = await browser.open(page)
    assert "at rest" not in ended.text
    assert ended.text.index('id="history"') < ended.text.index('id="offers"')


@pytest.mark.asyncio
async def test_an_agreement_on_the_offer_that_stands_adds_the_acceptance_alone(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    view = await open_golf(client, headers)
    page = f"/negotiations/{view['id']}"
    await offer_price(client, headers, view["id"], 12800, by="me")
    sent = await browser.send(f"{page}/offers", on=page, kind="agreed", **{"issue:price": "12.8k"})
    assert sent.status_code == 303
    rows = (await read(client, f"{page}/offers", headers))["items"]
    assert [(one["by"], one["kind"]) for one in rows] == [("them", "acceptance"), ("me", "offer")]
    assert (await read(client, page, headers))["state"] == "agreed"
