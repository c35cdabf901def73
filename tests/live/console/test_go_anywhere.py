"""⌘K in a real browser, by keyboard alone, and the menu of a phone."""

import re

from playwright.sync_api import Browser, expect

from tests.helpers.console_pages import ConsolePage
from tests.helpers.example_site import ExampleSite

HOME = ConsolePage("home", "/")


def test_a_negotiation_a_tool_and_a_guide_are_reached_by_keys(examples: tuple[ExampleSite, Browser]) -> None:
    site, browser = examples
    with site.context(browser, HOME) as context:
        one = context.new_page()
        site.show(HOME, one)
        one.keyboard.press("Control+k")
        box = one.get_by_role("dialog").get_by_role("searchbox")
        expect(box).to_be_focused()
        expect(one.get_by_role("dialog").get_by_role("link", name="On the call")).to_be_visible()
        one.keyboard.type("golf")
        link = one.get_by_role("dialog").get_by_role("link", name=re.compile("Used VW Golf"))
        expect(link).to_be_visible()
        expect(one.get_by_role("dialog").get_by_role("link", name="On the call")).to_have_count(0)
        one.keyboard.press("ArrowDown")
        expect(link).to_be_focused()
        one.keyboard.press("Enter")
        one.wait_for_url(f"{site.base}/negotiations/{site.names['used_car']}")
        one.keyboard.press("Control+k")
        one.keyboard.type("passkey")
        expect(one.get_by_role("dialog").get_by_role("link").first).to_contain_text("Guide")
        one.keyboard.press("Enter")
        one.wait_for_url(f"{site.base}/docs/guides/account")
        one.keyboard.press("Control+k")
        one.keyboard.type("agents")
        one.keyboard.press("Escape")
        expect(one.get_by_role("dialog")).to_have_count(0)


def test_the_menu_of_a_phone_leaves_room_for_the_page(examples: tuple[ExampleSite, Browser]) -> None:
    site, browser = examples
    with site.context(browser, HOME, width=320) as context:
        one = context.new_page()
        site.show(HOME, one)
        header = one.locator("header.top").bounding_box()
        assert header
        assert header["height"] < 80
        link = one.get_by_role("navigation", name="Your pages").get_by_role("link", name="Agents")
        expect(link).to_be_hidden()
        menu = one.get_by_role("checkbox", name="Menu")
        menu.focus()
        one.keyboard.press("Space")
        expect(link).to_be_visible()
        link.click()
        one.wait_for_url(f"{site.base}/agents")
