"""What the user allows is what they were shown: no other request, negotiation or wording is allowed by it."""

import re
from html import unescape
from typing import Any, Final

import httpx2
import pytest

from tests.helpers.form_browser import FormBrowser
from tests.helpers.limited_negotiation import PRICE, Opened, changed
from tests.helpers.negotiation_client import NegotiationClient

PAST: Final[dict[str, Any]] = {"price": 58, "months": 12, "support": "phone"}
ASKED: Final[dict[str, Any]] = {"override": True, "reason": "They leave on Friday."}
WAIVER: Final = "The buyer waives every warranty."


async def asked(agent: NegotiationClient, view: dict[str, Any], **members: Any) -> str:
    """The digest of a request to pass a limit."""
    offers = f"/negotiations/{view['id']}/offers"
    answer = await agent.post(offers, {"by": "me", "package": PAST, **ASKED, **members})
    assert answer.json()["status"] == "awaiting_approval", answer.text
    shown = (await agent.get(f"/negotiations/{view['id']}")).json()["pending_approval"]
    digest: str = shown["package_sha256"]
    assert digest == answer.json()["approval"]["package_sha256"]
    return digest


async def decided(browser: FormBrowser, view: dict[str, Any], digest: str, **fields: str) -> httpx2.Response:
    """The answer to the form of a page that may be old."""
    page = f"/negotiations/{view['id']}"
    sent = {"decision": "allow", **fields, "package_sha256": digest}
    return await browser.send(f"{page}/approval", on=page, **sent)


def text_of(page: httpx2.Response) -> str:
    return " ".join(unescape(re.sub("<[^>]*>", " ", page.text)).split())


def panel_of(page: httpx2.Response) -> str:
    """The part of the page that asks."""
    return text_of(page).partition("Waiting for you")[2].partition("Until you decide")[0]


@pytest.mark.asyncio
async def test_the_button_of_an_old_page_allows_no_other_request(
    agent: NegotiationClient, opened: Opened, browser: FormBrowser
) -> None:
    view = await opened(constraints=None, authority=None)
    old = await asked(agent, view, conditions=["Subject to inspection."])
    assert "Condition: Subject to inspection." in panel_of(await browser.open(f"/negotiations/{view['id']}"))
    assert (await agent.move(view["id"], "active", reason="I ask again.")).status_code == 200
    theirs = await agent.post(
        f"/negotiations/{view['id']}/offers", {"by": "them", "package": PAST, "conditions": [WAIVER]}
    )
    answer = {"kind": "acceptance", "in_reply_to": theirs.json()["id"], "package": None}
    new = await asked(agent, view, **answer)
    for fields in ({"decision": "allow"}, {"decision": "refuse", "reason": "Too much."}):
        answered = await decided(browser, view, old, **fields)
        assert answered.status_code == 409
        assert "not what you were shown, so nothing was done" in text_of(answered)
        assert f"Condition: {WAIVER}" in panel_of(answered)
        assert await agent.state(view["id"]) == "awaiting_approval"
    assert (await decided(browser, view, new)).status_code == 303
    assert await agent.state(view["id"]) == "agreed"


@pytest.mark.asyncio
@pytest.mark.parametrize("to", ["active", "paused", "walked_away"])
async def test_a_request_that_was_taken_back_is_neither_allowed_nor_refused(
    agent: NegotiationClient, opened: Opened, browser: FormBrowser, to: str
) -> None:
    view = await opened(constraints=None, authority=None)
    old = await asked(agent, view)
    assert (await agent.move(view["id"], "active", reason="Not needed.")).status_code == 200
    assert to == "active" or (await agent.move(view["id"], to)).status_code == 200
    for fields in ({"decision": "allow"}, {"decision": "refuse", "reason": "Too much."}):
        answered = await decided(browser, view, old, **fields)
        assert answered.status_code == 409
        assert "Nothing waits for approval any more" in text_of(answered)
    assert await agent.state(view["id"]) == to


@pytest.mark.asyncio
async def test_a_digest_approves_in_its_own_negotiation_only(
    agent: NegotiationClient, opened: Opened, browser: FormBrowser
) -> None:
    one, other = [await opened(constraints=None, authority=None) for _ in range(2)]
    digests = [await asked(agent, view) for view in (one, other)]
    assert (await decided(browser, other, digests[0])).status_code == 409
    assert (await decided(browser, other, digests[1])).status_code == 303


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "members", [{}, {"conditions": [WAIVER]}, {"valid_until": "2099-12-01T12:00:00Z"}, {"kind": "final"}]
)
async def test_each_request_has_a_digest_of_its_own(
    agent: NegotiationClient, opened: Opened, browser: FormBrowser, members: dict[str, Any]
) -> None:
    view = await opened(constraints=None, authority=None)
    old = await asked(agent, view)
    await agent.move(view["id"], "active", reason="I ask again.")
    assert await asked(agent, view, **members) != old
    shown = panel_of(await browser.open(f"/negotiations/{view['id']}"))
    assert (WAIVER in shown) == ("conditions" in members)
    assert ("Holds until" in shown) == ("valid_until" in members)


@pytest.mark.asyncio
async def test_an_issue_that_is_renamed_while_a_request_waits_makes_it_another_one(
    agent: NegotiationClient, opened: Opened, browser: FormBrowser
) -> None:
    view = await opened(constraints=None, authority=None)
    old = await asked(agent, view)
    assert PRICE["label"] in panel_of(await browser.open(f"/negotiations/{view['id']}"))
    renamed = await agent.patch(view["id"], changed(0, label="Deposit, returned in full"))
    assert renamed.status_code == 200
    answered = await decided(browser, view, old)
    assert answered.status_code == 409
    assert "Deposit, returned in full" in panel_of(answered)
    theirs = await agent.post(f"/negotiations/{view['id']}/offers", {"by": "them", "package": PAST})
    assert theirs.status_code == 201
    present = (await agent.get(f"/negotiations/{view['id']}")).json()["pending_approval"]["package_sha256"]
    assert (await decided(browser, view, present)).status_code == 303
