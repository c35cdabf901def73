"""A talk is followed in a real browser by keyboard alone: say, answer, find out; an agent changes it meanwhile."""

from typing import Any, Final

import httpx2
import pytest
from playwright.sync_api import ViewportSize, expect

from tests.helpers.chromium import OpenTab, bind_agent, tab_to
from tests.helpers.live_server import Server

WIDE: Final[ViewportSize] = {"width": 1280, "height": 800}
SMALL: Final[ViewportSize] = {"width": 390, "height": 844}
LOOKS_MS: Final = 10_000
"""The page looks for changes of others so often."""
CAR: Final[dict[str, Any]] = {
    "title": "Used VW Golf",
    "role": "buyer",
    "currency": "EUR",
    "counterparty": "Jens",
    "issues": [{"name": "price", "label": "Price", "type": "money", "range": {"min": 11000, "max": 15000}}],
    "target": {"package": {"price": 12500}},
    "walk_away": {"package": {"price": 14000}},
}


@pytest.mark.parametrize("size", [WIDE, SMALL], ids=["wide", "small"])
def test_a_talk_is_followed_by_keyboard_alone(signed_in: OpenTab, server: Server, size: ViewportSize) -> None:
    with signed_in(viewport=size, locale="en-US") as one:
        bearer = bind_agent(one)
        with httpx2.Client(base_url=f"{server.base}/api", headers=bearer) as agent:
            opened = agent.post("/negotiations", json=CAR).json()
            path = f"/negotiations/{opened['id']}"
            one.page.clock.install()
            one.open(path)
            page, keys = one.page, one.page.keyboard

            tab_to(page, "i-said")
            keys.press("Enter")
            expect(page.locator("#advice .big")).to_contain_text("Wait for their answer")
            tab_to(page, "they-answered")
            keys.press("Enter")
            expect(page.locator("#answer-0")).to_be_focused()
            keys.type("14.9k")
            tab_to(page, "record")
            keys.press("Enter")
            expect(page.locator("#advice .big")).to_contain_text("Propose")
            expect(page.locator("#record-of-offers")).to_contain_text("Jens offered €14,900")

            before = page.locator("#split").inner_text()
            expect(page.locator("#bar-split")).to_have_count(0)  # nothing is known of either side
            tab_to(page, "fact-alternatives-me-text")
            keys.type("The Golf in Ulm")
            tab_to(page, "fact-alternatives-me")
            keys.type("14200")
            keys.press("Enter")
            expect(page.locator("#power .notice")).to_contain_text("your side")
            after = page.locator("#split").inner_text()
            assert after != before
            expect(page.locator("#bar-split")).to_be_visible()
            expect(page.locator('[id^="fact-"]:focus')).to_have_count(1)

            rows = agent.get(f"{path}/offers").json()["items"]
            assert [row["by"] for row in rows] == ["them", "me"]
            assert rows[0]["package"] == {"price": "14900.00"}
            view = agent.get(path).json()
            assert view["batna"]["description"] == "The Golf in Ulm"
            standing = agent.post(f"{path}/leverage", json={}).json()
            assert after.startswith(standing["summary"]["who_needs_it_more"])
            events = agent.get(f"{path}/events").json()["items"]
            assert {event["actor"]["kind"] for event in events[:-1]} == {"user"}

            page.locator("#answer-0").focus()
            keys.type("14,3")
            agent.post(f"{path}/offers", json={"by": "them", "package": {"price": 14500}})
            page.clock.fast_forward(LOOKS_MS)
            expect(page.locator("#changes")).to_contain_text("scout", timeout=20_000)
            expect(page.locator("#record-of-offers")).to_contain_text("€14,500")
            assert page.locator("#answer-0").input_value() == "14,3"
            expect(page.locator("#answer-0")).to_be_focused()
            overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert overflow <= 0
        assert one.said == []
        assert one.outside == []
