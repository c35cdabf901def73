"""A talk is practised in a real browser by keyboard alone, on a phone, to the debrief and the lesson that is kept."""

from typing import Any, Final

import httpx2
from playwright.sync_api import ViewportSize, expect

from tests.helpers.chromium import OpenTab, bind_agent, tab_to
from tests.helpers.live_server import Server

SMALL: Final[ViewportSize] = {"width": 390, "height": 844}
CAR: Final[dict[str, Any]] = {
    "title": "Used VW Golf",
    "role": "buyer",
    "currency": "EUR",
    "counterparty": "Jens",
    "issues": [{"name": "price", "label": "Price", "type": "money", "range": {"min": 9000, "max": 16000}}],
    "target": {"package": {"price": 11000}},
    "walk_away": {"package": {"price": 13500}},
    "their_estimate": {"walk_away": {"low": "11500", "likely": "12000", "high": "12500"}},
}


def test_a_talk_is_practised_by_keyboard_alone_and_a_lesson_kept(signed_in: OpenTab, server: Server) -> None:
    with signed_in(viewport=SMALL, locale="en-US") as one:
        bearer = bind_agent(one)
        with httpx2.Client(base_url=f"{server.base}/api", headers=bearer) as agent:
            opened = agent.post("/negotiations", json=CAR).json()
            path = f"/negotiations/{opened['id']}"
            one.open(path)
            page, keys = one.page, one.page.keyboard
            page.get_by_role("link", name="Practise", exact=True).focus()
            keys.press("Enter")
            one.at(f"{path}/rehearsals")
            tab_to(page, "begin")
            keys.press("Enter")
            expect(page.locator("#turn")).to_be_visible()
            expect(page.locator("#says")).to_have_attribute("aria-live", "polite")

            tab_to(page, "say-it")
            keys.press("Enter")
            expect(page.locator("#fault-said")).to_be_visible()
            expect(page.locator("#said")).to_be_focused()
            before = page.locator("#says").inner_text()
            keys.type("Two others ask less, because theirs have fewer kilometres.")
            page.keyboard.press("Shift+Tab")
            expect(page.locator("#answer-0")).to_be_focused()
            keys.type("10.9k")
            keys.press("Enter")
            expect(page.locator("#table")).to_contain_text("€10,900")
            expect(page.locator("#says")).not_to_have_text(before)
            expect(page.locator("#answer-0")).to_be_focused()
            assert page.locator("#said").input_value() == ""
            sideways = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert sideways <= 0

            tab_to(page, "accept")
            keys.press("Enter")
            expect(page.locator("#verdict")).to_be_visible()
            expect(page.locator("#over")).to_be_focused()
            [rehearsal] = agent.get(f"{path}/rehearsals").json()["items"]
            assert rehearsal["state"] == "agreed"
            debrief = agent.get(f"{path}/rehearsals/{rehearsal['id']}/debrief").json()
            expect(page.locator("#verdict .big")).to_have_text(f"{debrief['score']} of 100 points")
            expect(page.locator("#try-next")).to_have_text(debrief["try_next"])
            assert agent.get("/memories").json()["items"] == []
            tab_to(page, "keep")
            keys.press("Enter")
            expect(page.locator("#kept")).to_be_visible()
            [memory] = agent.get("/memories").json()["items"]
            assert (memory["kind"], memory["text"]) == ("lesson", debrief["lesson"])
            assert agent.get(f"{path}/offers").json()["items"] == []
            assert agent.get(path).json()["state"] == opened["state"]
        assert one.said == []
        assert one.outside == []
