"""A negotiation is prepared in a real browser: from nothing to a plan on one page, by keyboard alone."""

import re
import time
from typing import Any, Final

import httpx2
import pytest
from playwright.sync_api import Page, ViewportSize

from tests.helpers.chromium import PASSWORD, OpenTab, Tab, bind_agent, tab_to
from tests.helpers.live_server import Server

NEW: Final = "/negotiations/new"
WIDE: Final[ViewportSize] = {"width": 1280, "height": 800}
SMALL: Final[ViewportSize] = {"width": 390, "height": 844}
MOST_SECONDS: Final = 180


def read(one: Tab, path: str, bearer: dict[str, str]) -> dict[str, Any]:
    answer = httpx2.get(f"{one.base}/api{path}", headers=bearer)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def write(page: Page, field: str, text: str) -> None:
    tab_to(page, field)
    page.keyboard.type(text)


def note(page: Page, field: str) -> str:
    return page.locator(f"#note-{field}").inner_text()


def is_narrow(page: Page) -> bool:
    """Whether nothing has to be scrolled sideways."""
    width: int = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    return width <= 0


@pytest.mark.parametrize("size", [WIDE, SMALL], ids=["wide", "small"])
def test_a_renewal_is_prepared_by_keyboard_within_three_minutes(
    signed_in: OpenTab, server: Server, size: ViewportSize
) -> None:
    with signed_in(viewport=size, locale="en-US") as one:
        bearer = bind_agent(one)
        opened: list[str] = []
        one.page.on("framenavigated", lambda frame: opened.append(frame.url))
        one.open(NEW)
        begun, page = time.monotonic(), one.page
        keys = page.keyboard

        tab_to(page, "kind-software_renewal")
        keys.press("Space")
        page.get_by_label("Point 4").wait_for()
        write(page, "title", f"CRM renewal {size['width']}")
        write(page, "counterparty", "Relatio")
        tab_to(page, "currency")
        keys.type("EUR")
        write(page, "deadline", "01312031")

        tab_to(page, "i0-weight")
        keys.press("ArrowRight")
        keys.press("ArrowRight")
        page.get_by_text("7 of 10: very much").wait_for()

        write(page, "i0-count0", "80")
        write(page, "i0-target", "45")
        write(page, "i0-limit", "54 €")
        page.get_by_text("80 seats × €54 × 12 months = €51,840 a year").wait_for()
        assert note(page, "i0-target") == "80 seats × €45 × 12 months = €43,200 a year"
        write(page, "baseline", "58")
        write(page, "i1-target", "12")
        write(page, "i1-limit", "24")
        write(page, "i2-target", "3")
        write(page, "i2-limit", "5")
        tab_to(page, "i3-target")
        keys.type("quarterly")
        tab_to(page, "i3-limit")
        keys.type("yearly")

        write(page, "alternative", "Move to Nimbus, whose quote is in writing")
        write(page, "alternative_price", "57")
        write(page, "their_guess", "48")
        page.get_by_text("Counted as €43 to €53.").wait_for()
        page.get_by_text("Everything a full plan needs is here.").wait_for()
        assert opened == [f"{server.base}{NEW}"], "the page was not left"
        assert is_narrow(page)
        tab_to(page, "save")
        keys.press("Enter")
        page.wait_for_url(re.compile(r"/negotiations/neg_\w+#plan$"))
        assert time.monotonic() - begun < MOST_SECONDS

        path = page.url.removeprefix(server.base).removesuffix("#plan")
        view = read(one, path, bearer)
        assert (view["title"], view["state"]) == (f"CRM renewal {size['width']}", "planned")
        assert view["currency"] == "EUR"
        assert view["deadline"] == "2031-01-31T23:59:59.000Z"
        assert view["target"]["package"] == {
            **{"price": "45.00", "contract_term": 12, "increase_cap": 3.0, "payment": "quarterly"}
        }
        assert view["walk_away"]["package"] == {
            **{"price": "54.00", "contract_term": 24, "increase_cap": 5.0},
            "payment": "yearly in advance",
        }
        assert view["issues"][0]["weight_given"] == 7.0
        assert view["batna"]["description"] == "Move to Nimbus, whose quote is in writing"
        assert view["their_estimate"]["walk_away"]["likely"] == "48.00"
        [plan] = read(one, f"{path}/battle-plans", bearer)["items"]
        assert (plan["version"], plan["stale"]) == (1, False)
        assert one.outside == []


def test_a_refusal_is_heard_and_mended_by_keyboard(signed_in: OpenTab) -> None:
    with signed_in(viewport=SMALL, locale="en-US") as one:
        one.open(f"{NEW}?kind=purchase")
        page = one.page
        write(page, "title", "Used Golf")
        write(page, "i0-target", "14,000")
        write(page, "i0-limit", "12,500")
        tab_to(page, "save")
        page.keyboard.press("Enter")
        page.get_by_text("Nothing was saved yet.").wait_for()
        assert page.evaluate("document.activeElement.id") == "faults"
        assert page.get_by_label("Name", exact=True).input_value() == "Used Golf"
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.locator("#i0-target:focus").wait_for()
        page.keyboard.press("Control+A")
        page.keyboard.type("12.500")
        page.keyboard.press("Tab")
        page.keyboard.press("Control+A")
        page.keyboard.type("14k")
        page.get_by_text("€14,000", exact=True).or_(page.get_by_text("$14,000", exact=True)).wait_for()
        tab_to(page, "save")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(r"/negotiations/neg_\w+#plan$"))


def test_points_are_added_and_taken_out_in_place(signed_in: OpenTab) -> None:
    with signed_in(viewport={"width": 320, "height": 640}) as one:
        one.open(f"{NEW}?kind=salary")
        page = one.page
        assert is_narrow(page)
        page.fill("#title", "Senior engineer")
        one.press("Add a point")
        page.locator("#i4-label:focus").wait_for()
        page.keyboard.type("Stock options")
        page.keyboard.press("Tab")
        page.get_by_role("heading", name="Stock options").wait_for()
        one.press("Take out First day")
        page.locator("#add:focus").wait_for()
        assert page.get_by_label("Point 4").input_value() == "Stock options"
        page.fill("#i0-target", "100k")
        page.get_by_text("100,000").first.wait_for()
        assert page.evaluate("document.activeElement.id") == "i0-target", "what is live takes no focus"
        assert page.get_by_label("Name", exact=True).input_value() == "Senior engineer"
        assert is_narrow(page)
        assert one.said == []
        assert one.outside == []


def test_what_is_typed_while_the_points_change_stays(signed_in: OpenTab) -> None:
    with signed_in(viewport=WIDE) as one:
        one.open(NEW)
        page = one.page
        page.route(f"**{NEW}", lambda route: (time.sleep(0.4), route.continue_())[-1])
        page.check("#kind-rent")
        page.fill("#title", "Two rooms in Leith")
        page.fill("#their_guess", "1,100")
        page.get_by_label("Point 4").wait_for()
        page.get_by_text("Counted as €").wait_for()
        assert page.get_by_label("Name", exact=True).input_value() == "Two rooms in Leith"


def test_a_renamed_point_is_called_so_in_every_question(signed_in: OpenTab) -> None:
    with signed_in(viewport=WIDE) as one:
        one.open(f"{NEW}?kind=rent")
        page = one.page
        tab_to(page, "i3-label")
        page.keyboard.press("Control+A")
        page.keyboard.type("Shortest stay")
        page.keyboard.press("Tab")
        page.get_by_role("heading", name="Shortest stay").wait_for()
        assert page.evaluate("document.activeElement.id") == "i3-weight"
        assert page.locator("label[for=i3-theirs]").inner_text() == "Shortest stay"


def test_an_ended_session_takes_nothing_from_the_page(signed_in: OpenTab) -> None:
    with signed_in(viewport=WIDE) as one:
        one.open(f"{NEW}?kind=purchase")
        page = one.page
        one.page.context.clear_cookies()
        page.fill("#i0-target", "12,500")
        page.get_by_text("You are signed out.").wait_for()
        assert page.locator("#i0-target").input_value() == "12,500"
        assert page.locator("#save").is_visible()


def test_saving_after_the_session_has_ended_loses_nothing(signed_in: OpenTab, server: Server) -> None:
    with signed_in(viewport=SMALL) as one:
        one.open(f"{NEW}?kind=purchase")
        page = one.page
        page.fill("#title", "A car for Leith")
        page.fill("#i0-target", "12,500")
        page.get_by_text("12,500", exact=False).first.wait_for()
        one.page.context.clear_cookies()
        one.press("Save and see the plan")
        page.get_by_role("heading", name="You are signed out").wait_for()
        with one.page.context.expect_page() as opened:
            page.get_by_role("link", name="Sign in again in another tab").click()
        other = Tab(opened.value, server.base)
        other.fill("E-mail", "ada@example.com")
        other.fill("Password", PASSWORD)
        with opened.value.expect_navigation():
            opened.value.keyboard.press("Enter")
        one.press("I am signed in: go on")
        page.get_by_text("You signed in again.").wait_for()
        assert page.get_by_label("Name", exact=True).input_value() == "A car for Leith"
        one.press("Save and see the plan")
        page.wait_for_url(re.compile(r"/negotiations/neg_\w+#plan$"))


def test_the_page_works_without_script(signed_in: OpenTab) -> None:
    with signed_in(viewport=WIDE, java_script_enabled=False) as one:
        one.open(NEW)
        page = one.page
        page.check("#kind-freelance_rate")
        one.press("Show the points of this kind")
        page.fill("#i0-count0", "40")
        page.fill("#i0-target", "850")
        page.fill("#i0-limit", "700")
        one.press("Work out the figures")
        assert note(page, "i0-target").startswith("40 days × ")
        one.press("Save and see the plan")
        page.wait_for_url(re.compile(r"/negotiations/neg_\w+#plan$"))
