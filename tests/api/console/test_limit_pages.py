"""What the pages say of limits: who changed them, what passes them, and what the user allowed."""

from typing import Any

import httpx2
import pytest

from tests.helpers.form_browser import FormBrowser, text_of
from tests.helpers.negotiating_agent import offer_price, open_golf

SEATS: dict[str, Any] = {
    "name": "price",
    "label": "Price per seat and month",
    "type": "money",
    "weight": 3,
    "range": {"min": 40, "max": 60},
}
TERM: dict[str, Any] = {
    "name": "months",
    "label": "Contract term",
    "type": "integer",
    "unit": "months",
    "direction": "lower",
    "weight": 1,
    "range": {"min": 12, "max": 36},
}
RENEWAL: dict[str, Any] = {
    "title": "CRM renewal",
    "issues": [SEATS, TERM],
    "target": {"package": {"price": 45, "months": 12}},
    "walk_away": {"package": {"price": 54, "months": 24}},
}
SENTENCE = "Your limit on price per seat and month is €54, and this is €57."


@pytest.mark.asyncio
async def test_after_allow_once_the_page_goes_on_from_that_offer(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    view = await open_golf(client, headers)
    page = f"/negotiations/{view['id']}"
    await offer_price(client, headers, view["id"], 14900)
    insisted = {"by": "me", "override": True, "reason": "Jens has another buyer."}
    await offer_price(client, headers, view["id"], 14200, **insisted)
    waiting = text_of(await browser.open(page))
    assert "That is €200 above your limit." in waiting
    held = (await client.get(f"/api{page}", headers=headers)).json()["pending_approval"]
    fields = {"decision": "allow", "package_sha256": held["package_sha256"]}
    assert (await browser.send(f"{page}/approval", on=page, **fields)).status_code == 303
    allowed = text_of(await browser.open(page))
    assert "Wait for their answer to your offer: €14,200" in allowed
    assert "orrect" not in allowed
    assert "better than your limit" not in allowed
    await offer_price(client, headers, view["id"], 14500)
    answered = text_of(await browser.open(page))
    assert "Propose: €14,200" in answered
    assert "€200 worse than your limit, as you allowed" in answered
    refused = await client.post(f"/api{page}/offers", json={"by": "me", "package": {"price": 14250}}, headers=headers)
    assert refused.json()["error"] == "below_walk_away"


@pytest.mark.asyncio
async def test_a_changed_limit_is_told_with_both_figures_also_while_an_offer_waits(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    view = await open_golf(client, headers)
    page = f"/negotiations/{view['id']}"
    stricter = {"walk_away": {"package": {"price": 13900}}}
    assert (await client.patch(f"/api{page}", json=stricter, headers=headers)).status_code == 200
    await offer_price(client, headers, view["id"], 14900)
    insisted = {"by": "me", "override": True, "reason": "Jens has another buyer."}
    await offer_price(client, headers, view["id"], 14300, **insisted)
    revision = str((await client.get(f"/api{page}", headers=headers)).json()["revision"])
    fields = {"revision": revision, "limit:price": "14,200"}
    assert (await browser.send(f"{page}/limits", on=page, **fields)).status_code == 303
    shown = text_of(await browser.open(page))
    assert "tester changed your limit on price from €14,000 to €13,900." in shown
    assert "You changed your limit on price from €13,900 to €14,200." in shown
    assert "That is €100 above your limit." in shown


@pytest.mark.asyncio
async def test_the_user_is_asked_before_they_pass_the_limit_of_one_issue(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    view = await open_golf(client, headers, **RENEWAL)
    page, path = f"/negotiations/{view['id']}", f"/api/negotiations/{view['id']}"
    typed = {"by": "me", "kind": "offer", "issue:price": "57", "issue:months": "12"}
    asked = await browser.send(f"{page}/offers", on=page, **typed)
    assert asked.status_code == 409
    assert SENTENCE in text_of(asked)
    assert "Record it all the same" in text_of(asked)
    assert (await client.get(f"{path}/offers", headers=headers)).json()["items"] == []
    why = {"override": "yes", "reason": "We need the seats."}
    assert (await browser.send(f"{page}/offers", on=page, **typed, **why)).status_code == 303
    [made] = (await client.get(f"{path}/offers", headers=headers)).json()["items"]
    assert (made["status"], made["override"]["reason"]) == ("live", "We need the seats.")
    shown = text_of(await browser.open(page))
    assert SENTENCE in shown
    assert "orrect your last offer" not in shown
    agreed = {"kind": "agreed", "issue:price": "57", "issue:months": "12"}
    asked = await browser.send(f"{page}/offers", on=page, **agreed)
    assert asked.status_code == 409
    assert SENTENCE in text_of(asked)
    done = await browser.send(f"{page}/offers", on=page, **agreed, **why)
    assert done.status_code == 303
    assert f"This is beyond your limit. {SENTENCE}" in text_of(await browser.open(page))
    assert f"You agreed beyond your limit. {SENTENCE}" in text_of(await browser.open("/"))


@pytest.mark.asyncio
async def test_the_user_is_asked_before_they_accept_past_the_limit_of_one_issue(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    view = await open_golf(client, headers, **RENEWAL)
    page = f"/negotiations/{view['id']}"
    body = {"by": "them", "package": {"price": 57, "months": 12}}
    theirs = await client.post(f"/api{page}/offers", json=body, headers=headers)
    acceptance = {"by": "me", "kind": "acceptance", "live_them": theirs.json()["id"]}
    asked = await browser.send(f"{page}/offers", on=page, **acceptance)
    assert asked.status_code == 409
    assert SENTENCE in text_of(asked)
    assert f"{SENTENCE}" in text_of(await browser.open(page))
    why = {"override": "yes", "reason": "We need the seats."}
    taken = await browser.send(f"{page}/offers", on=page, **acceptance, **why)
    assert taken.status_code == 303
    assert "You agreed beyond your limit." in text_of(await browser.open("/"))
