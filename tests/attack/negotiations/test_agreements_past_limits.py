"""An agent agrees for its user by old overrides, by what an offer leaves open, and without any offer."""

from typing import Any, Final

import httpx2
import pytest

from tests.conftest import Register, bearer
from tests.helpers.agents_page import claimed, made
from tests.helpers.form_browser import FormBrowser
from tests.helpers.limited_negotiation import CRM, PRICE, Opened, refused
from tests.helpers.negotiation_client import NegotiationClient

WARRANTY: Final[dict[str, Any]] = {
    "name": "warranty",
    "label": "Warranty",
    "type": "integer",
    "unit": "months",
    "direction": "higher",
    "range": {"min": 0, "max": 36},
}
WHY: Final[dict[str, Any]] = {"override": True, "reason": "They leave on Friday."}
NO_LIMITS: Final = dict.fromkeys(("walk_away", "batna", "constraints", "authority", "target"))


async def tighten(browser: FormBrowser, agent: NegotiationClient, key: str, price: str) -> None:
    """Set the limit on the price as the user does."""
    page = f"/negotiations/{key}"
    revision = str((await agent.get(page)).json()["revision"])
    sent = await browser.send(f"{page}/limits", on=page, revision=revision, **{"limit:price": price})
    assert sent.status_code == 303, sent.text


async def offered(agent: NegotiationClient, key: str, **members: Any) -> dict[str, Any]:
    """A row of the ledger."""
    answer = await agent.post(f"/negotiations/{key}/offers", members)
    assert answer.status_code == 201, answer.text
    row: dict[str, Any] = answer.json()
    return row


@pytest.mark.asyncio
async def test_an_override_from_before_the_claim_is_none_of_the_user(
    browser: FormBrowser, register: Register, client: httpx2.AsyncClient
) -> None:
    alone = await register()
    agent = NegotiationClient(client, bearer(alone))
    given = {name: CRM[name] for name in ("title", "role", "currency", "issues", "walk_away")}
    key = (await agent.post("/negotiations", given)).json()["id"]
    package = {"price": 60, "months": 24, "support": "email"}
    mine = await offered(agent, key, by="me", package=package, **WHY)
    assert mine["status"] == "live"
    code = await made(browser, **{"scope__negotiations:write": "on"})
    token = (await claimed(client, alone, code))["access_token"]
    agent.headers["Authorization"] = f"Bearer {token}"
    refused(await agent.move(key, "agreed", offer_id=mine["id"]), 409, "below_walk_away")
    await tighten(browser, agent, key, "50")
    refused(await agent.move(key, "agreed", offer_id=mine["id"]), 409, "below_walk_away")
    yes = {"by": "them", "kind": "acceptance", "in_reply_to": mine["id"]}
    refused(await agent.post(f"/negotiations/{key}/offers", yes), 409, "below_walk_away")
    assert (await offered(agent, key, **yes, **WHY))["status"] == "awaiting_approval"


@pytest.mark.asyncio
async def test_what_was_allowed_once_is_asked_again_after_a_new_limit(
    agent: NegotiationClient, opened: Opened, browser: FormBrowser
) -> None:
    view = await opened(constraints=None, authority=None)
    key, page = view["id"], f"/negotiations/{view['id']}"
    package = {"price": 58, "months": 12, "support": "phone"}
    mine = await offered(agent, key, by="me", package=package, **WHY)
    digest = mine["approval"]["package_sha256"]
    allow = {"decision": "allow", "package_sha256": digest}
    assert (await browser.send(f"{page}/approval", on=page, **allow)).status_code == 303
    yes = {"by": "them", "kind": "acceptance", "in_reply_to": mine["id"]}
    await tighten(browser, agent, key, "50")
    refused(await agent.post(f"{page}/offers", yes), 409, "below_walk_away")
    held = await offered(agent, key, **yes, **WHY)
    assert held["status"] == "awaiting_approval"
    assert "wants to note their yes to" in (await browser.open(page)).text
    again = await offered(agent, key, **yes, **WHY)
    rows = {row["id"]: row["status"] for row in (await agent.get(f"{page}/offers")).json()["items"]}
    assert (rows[held["id"]], rows[again["id"]]) == ("not_approved", "awaiting_approval")
    allow["package_sha256"] = (await agent.get(page)).json()["pending_approval"]["package_sha256"]
    assert (await browser.send(f"{page}/approval", on=page, **allow)).status_code == 303
    assert await agent.state(key) == "agreed"


@pytest.mark.asyncio
async def test_what_was_allowed_once_is_agreed_while_the_limits_stay(
    agent: NegotiationClient, opened: Opened, browser: FormBrowser
) -> None:
    view = await opened(constraints=None, authority=None)
    key, page = view["id"], f"/negotiations/{view['id']}"
    mine = await offered(agent, key, by="me", package={"price": 58, "months": 12, "support": "phone"}, **WHY)
    allow = {"decision": "allow", "package_sha256": mine["approval"]["package_sha256"]}
    assert (await browser.send(f"{page}/approval", on=page, **allow)).status_code == 303
    yes = await offered(agent, key, by="them", kind="acceptance", in_reply_to=mine["id"])
    assert yes["status"] == "recorded"
    assert await agent.state(key) == "agreed"


@pytest.mark.asyncio
@pytest.mark.parametrize("range_", [WARRANTY["range"], None])
async def test_a_limited_issue_that_an_offer_leaves_open_counts_at_its_worst(
    agent: NegotiationClient, opened: Opened, browser: FormBrowser, range_: dict[str, Any] | None
) -> None:
    warranty = {**WARRANTY, "limit": 12, "range": range_}
    for by, other in (("me", "them"), ("them", "me")):
        view = await opened(**NO_LIMITS, issues=[{**PRICE, "limit": 54}, warranty])
        page = f"/negotiations/{view['id']}"
        offer = await offered(agent, view["id"], by=by, package={"price": 50})
        yes = {"by": other, "kind": "acceptance", "in_reply_to": offer["id"]}
        body = refused(await agent.post(f"{page}/offers", yes), 409, "below_walk_away")
        assert body["past_limits"] == [{"issue": "warranty", "limit": 12, "value": None}]
        assert "arranty is left open, and the limit is 12 months" in body["error_description"]
        refused(await agent.move(view["id"], "agreed", offer_id=offer["id"]), 409, "below_walk_away")
        assert (await offered(agent, view["id"], **yes, **WHY))["status"] == "awaiting_approval"
        assert "is left open, and the limit is 12 months" in (await browser.open(page)).text


@pytest.mark.asyncio
async def test_an_issue_whose_limit_is_its_worst_value_may_stay_open(agent: NegotiationClient, opened: Opened) -> None:
    warranty = {**WARRANTY, "limit": 0}
    options = [{"value": "phone", "utility": 1}, {"value": "none", "utility": 0}]
    support = {"name": "support", "type": "enum", "options": options, "limit": "none"}
    view = await opened(**NO_LIMITS, issues=[{**PRICE, "limit": 54}, warranty, support])
    mine = await offered(agent, view["id"], by="me", package={"price": 50})
    yes = await offered(agent, view["id"], by="them", kind="acceptance", in_reply_to=mine["id"])
    assert yes["status"] == "recorded"


@pytest.mark.asyncio
async def test_an_agent_neither_agrees_nor_wins_without_an_offer(
    agent: NegotiationClient, opened: Opened, browser: FormBrowser
) -> None:
    view = await opened()
    key, page = view["id"], f"/negotiations/{view['id']}"
    for to in ("planned", "active"):
        assert (await agent.move(key, to)).status_code == 200
    body = refused(await agent.move(key, "agreed"), 409, "offer_not_live")
    assert "Record it and its acceptance first" in body["error_description"]
    assert (await browser.send(f"{page}/state", on=page, to="agreed")).status_code == 303
    refused(await agent.move(key, "won"), 409, "offer_not_live")
    assert (await browser.send(f"{page}/state", on=page, to="won")).status_code == 303
    assert await agent.state(key) == "won"
