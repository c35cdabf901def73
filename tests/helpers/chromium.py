"""Chromium without a window, one tab to a test."""

import re
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, sync_playwright

from tests.helpers.missing_tools import missing as lacking

CHROMIUM: Final = Path("/usr/bin/chromium")


PASSWORD: Final = "a long enough password"


@pytest.fixture(scope="module")
def chromium() -> Generator[Browser]:
    """A browser without a window."""
    if not CHROMIUM.exists():
        lacking(f"{CHROMIUM} is missing: apt-get install chromium (make test does it for root)")
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Tab:
    """A page, and what the browser said about it."""

    page: Page
    base: str
    said: list[str] = field(default_factory=list[str])
    outside: list[str] = field(default_factory=list[str])

    def open(self, path: str) -> None:
        """Go there."""
        self.page.goto(path if path.startswith("http") else f"{self.base}{path}")

    def at(self, path: str) -> None:
        """The browser gets there."""
        self.page.wait_for_url(re.compile(f"^{re.escape(self.base + path)}([?].*)?$"))

    def press(self, name: str) -> None:
        """Press the button of this name."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def fill(self, label: str, text: str) -> None:
        """Type into the field of this label."""
        self.page.get_by_label(label).fill(text)

    def sees(self, text: str) -> bool:
        """Whether the page says it."""
        return text in self.page.inner_text("main")


def tab(context: BrowserContext, base: str, *, others: tuple[str, ...] = ()) -> Tab:
    """A tab that remembers what was complained about and what was asked of others than us."""
    page = context.new_page()
    made = Tab(page, base)

    def asked(request: Request) -> None:
        if not request.url.startswith((f"{base}/", *others)):
            made.outside.append(request.url)

    page.on("console", lambda message: made.said.append(message.text))
    page.on("pageerror", lambda error: made.said.append(str(error)))
    page.on("request", asked)
    return made
