"""A negotiation is steered to its end in a real browser: a request refused, a deal recorded, its plan printed."""

import re
from typing import Any, Final

import httpx2
import pytest
from playwright.sync_api import ViewportSize

from tests.helpers.chromium import OpenTab, Tab, bind_agent
from tests.helpers.negotiating_agent import GOLF

WIDE: Final[ViewportSize] = {"width": 1280, "height": 800}
SMALL: Final[ViewportSize] = {"width": 390, "height": 844}
SIZES: Final = pytest.mark.parametrize("size", [WIDE, SMALL], ids=["wide", "small"])
CRM: Final[dict[str, Any]] = {
    "title": "CRM renewal, 80 seats",
    "role": "buyer",
    "category": "saas",
    "kind": "renewal",
    "currency": "EUR",
    "counterparty": {"organisation": "Cloudwerk"},
    "issues": [
        {
            "name": "price",
            "label": "Price per seat and month",
            "type": "money",
            "weight": 6,
            "range": {"min": 38, "max": 65, "step": "0.50"},
            "multiples": [{"count": 80, "of": "seats"}, {"count": 12, "of": "months a year"}],
        },
        {
            "name": "months",
            "label": "Contract term",
            "type": "integer",
            "unit": "months",
            "direction": "lower",
            "weight": 2,
            "range": {"min": 12, "max": 36, "step": 12},
        },
    ],
    "target": {"package": {"price": 45, "months": 12}},
    "walk_away": {"package": {"price": "54.50", "months": 24}},
    "batna": {"description": "the written quote of Nimbus", "value": {"package": {"price": 56, "months": 24}}},
    "their_estimate": {"walk_away": {"low": 44, "likely": 48, "high": 54}},
    "authority": {"needs_approval_above": "53.25"},
}


def call(one: Tab, path: str, headers: dict[str, str], body: Any = None) -> dict[str, Any]:
    """What the API answers to the agent."""
    method = "GET" if body is None else "POST"
    answer = httpx2.request(method, f"{one.base}/api{path}", json=body, headers=headers)
    assert answer.status_code < 300, answer.text
    found: dict[str, Any] = answer.json()
    return found


@SIZES
def test_an_agent_asks_to_pass_the_limit_and_is_refused_with_a_reason(signed_in: OpenTab, size: ViewportSize) -> None:
    with signed_in(viewport=size) as one:
        headers = bind_agent(one)
        path = f"/negotiations/{call(one, '/negotiations', headers, GOLF)['id']}"
        call(one, f"{path}/offers", headers, {"by": "them", "package": {"price": 14900}})
        wish = {
            "by": "me",
            "package": {"price": 14300},
            "override": True,
            "reason": "Jens has another buyer on Friday.",
        }
        asked = call(one, f"{path}/offers", headers, wish)
        assert asked["status"] == "awaiting_approval"
        one.open("/")
        row = one.page.get_by_role("listitem").filter(has_text="scout wants to offer €14,300")
        assert "That is €300 above your limit." in row.inner_text()
        row.get_by_role("link", name="Decide").click()
        one.page.get_by_text("Jens has another buyer on Friday.").first.wait_for()
        one.fill("Why not", "Not above 14,000.")
        with one.page.expect_navigation():
            one.page.keyboard.press("Enter")
        view = call(one, path, headers)
        assert (view["state"], view["pending_approval"]) == ("active", None)
        [last, *_] = call(one, f"{path}/offers", headers)["items"]
        assert (last["id"], last["status"]) == (asked["id"], "not_approved")
        history = one.page.locator("#history").inner_text()
        assert "You refused: €14,300." in history
        assert "Not above 14,000." in history
        assert "scout asked for your approval: €14,300." in history
        assert one.said == []
        assert one.outside == []


@SIZES
def test_an_agreed_deal_becomes_a_win_by_keyboard(signed_in: OpenTab, size: ViewportSize) -> None:
    with signed_in(viewport=size) as one:
        headers, page = bind_agent(one), one.page
        path = f"/negotiations/{call(one, '/negotiations', headers, GOLF)['id']}"
        call(one, f"{path}/offers", headers, {"by": "them", "package": {"price": 14900}})
        last = call(one, f"{path}/offers", headers, {"by": "them", "package": {"price": 13100}})
        accepted = {"by": "me", "kind": "acceptance", "in_reply_to": last["id"]}
        call(one, f"{path}/offers", headers, accepted)
        one.open(f"{path}#end")
        page.get_by_text("€1,800 saved, 12.1%").wait_for()
        page.get_by_label("That was").focus()
        page.keyboard.press("Control+A")
        page.keyboard.type("15,500")
        page.keyboard.press("Tab")
        page.get_by_text("€2,400 saved, 15.5%").wait_for()
        page.get_by_label("What did you learn?").focus()
        page.keyboard.type("Jens gives way when he hears of a second car.")
        page.keyboard.press("Tab")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        [win] = [win for win in call(one, "/wins", headers)["items"] if path.endswith(win["negotiation_id"])]
        assert win["savings_total"] == "2400.00"
        assert call(one, path, headers)["state"] == "won"
        assert "€2,400" in page.locator("#end").inner_text()
        one.open("/")
        assert one.sees("saved in")
        assert one.said == []


def test_the_plan_is_printed_on_two_pages_without_the_limit(signed_in: OpenTab) -> None:
    with signed_in(viewport=WIDE) as one:
        headers, page = bind_agent(one), one.page
        path = f"/negotiations/{call(one, '/negotiations', headers, CRM)['id']}"
        for by, price in (("them", 60), ("me", "43.50"), ("them", 57)):
            call(one, f"{path}/offers", headers, {"by": by, "package": {"price": price, "months": 12}})
        one.open(path)
        one.press("Make a plan")
        plan = page.locator("#plan .prose")
        plan.wait_for()
        assert "54.50" not in plan.inner_text()
        page.get_by_label("Show my limit").check()
        assert "54.50" in plan.inner_text()
        page.emulate_media(media="print")
        printed = page.locator("main").inner_text()
        assert "At a glance" in printed
        assert "History" not in printed
        assert "54.50" not in printed
        assert "53.25" not in printed
        assert "Step by step" not in printed
        assert "Who needs it more" not in printed
        assert pages(page.pdf(format="A4", prefer_css_page_size=True)) <= 2
        page.get_by_label("Print my aim, steps and limit too").evaluate("box => { box.checked = true; }")
        assert "54.50" in page.locator("main").inner_text()
        assert pages(page.pdf(format="A4", prefer_css_page_size=True)) <= 2
        assert one.said == []


def pages(pdf: bytes) -> int:
    """How many pages a PDF has."""
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def test_the_example_is_opened_and_erased(signed_in: OpenTab) -> None:
    with signed_in(viewport=SMALL) as one:
        headers, page = bind_agent(one), one.page
        for each in call(one, "/negotiations?limit=100", headers)["items"]:
            httpx2.delete(f"{one.base}/api/negotiations/{each['id']}", headers=headers)
        for win in call(one, "/wins?limit=100", headers)["items"]:
            httpx2.delete(f"{one.base}/api/wins/{win['id']}", headers=headers)
        one.open("/")
        one.press("Look at an example")
        page.wait_for_url(re.compile(r"/negotiations/neg_\w+$"))
        assert one.sees("Example: CRM renewal, 80 seats")
        one.open("/")
        one.press("Erase the example")
        page.get_by_text("The example is erased.").wait_for()
        one.press("Undo")
        [example] = call(one, "/negotiations", headers)["items"]
        assert example["example"] is True
        one.press("Erase the example")
        one.open("/negotiations")
        page.wait_for_load_state("networkidle")
        assert call(one, "/negotiations", headers)["items"] == []
        assert one.said == []
