"""Chromium without a window, one tab to a test."""

import re
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import httpx2
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.helpers.neighbours import require

WHOLE_CHROMIUM: Final = Path("/usr/bin/chromium")
_WINDOWLESS: Final = Path("/usr/bin/chromium-headless-shell")
CHROMIUM: Final = _WINDOWLESS if _WINDOWLESS.exists() else WHOLE_CHROMIUM
"""The same engine without the windows around it, where it is installed: a tab costs a quarter of the processor time."""
_SANDBOX: Final = "--no-sandbox"
_NO_RECOGNISER: Final = "--disable-blink-features=OnDeviceWebSpeechAvailable"
"""Without windows Chromium has no recogniser of its own, and a page that asks for it crashes."""
_QUICKER_USER: Final = "Autofocus processing was blocked because a document already has a focused element"
"""What Chromium remarks when a key was pressed before the page placed the focus; the user keeps theirs."""
PASSWORD: Final = "a long enough password"


@contextmanager
def launched(*arguments: str) -> Generator[Browser]:
    """A browser without a window, started with these arguments."""
    require("chromium-headless-shell")
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM, args=[_SANDBOX, _NO_RECOGNISER, *arguments])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def chromium() -> Generator[Browser]:
    """A browser for a module: while it runs, the thread has an event loop that no other test could use."""
    with launched() as browser:
        yield browser


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
        """The browser gets there; if not, what it sees is told."""
        try:
            self.page.wait_for_url(re.compile(f"^{re.escape(self.base + path)}([?].*)?$"))
        except PlaywrightTimeout as late:
            raise AssertionError(f"{self.page.url}: {self.page.inner_text('body')}") from late

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

    def told(text: str) -> None:
        if not text.startswith(_QUICKER_USER):
            made.said.append(text)

    page.on("console", lambda message: told(message.text))
    page.on("pageerror", lambda error: made.said.append(str(error)))
    page.on("request", asked)
    return made


def make_first_user(one: Tab, log: Path) -> None:
    """Make Ada, the first user and an administrator, by the link that the first start wrote to its log."""
    printed = log.read_text()
    link = re.search(f"{re.escape(one.base)}/first-user/[0-9a-f-]+", printed)
    assert link, printed
    one.open(link[0])
    one.fill("E-mail", "ada@example.com")
    one.fill("Name", "Ada")
    one.fill("Password", PASSWORD)
    one.press("Make the account")
    one.at("/")


def sign_in(one: Tab) -> None:
    """Sign in as Ada, and arrive at home."""
    one.open("/sign-in?again")
    one.fill("E-mail", "ada@example.com")
    one.fill("Password", PASSWORD)
    one.page.keyboard.press("Enter")
    one.at("/")


def bind_agent(one: Tab, purpose: str = "Negotiate and remember") -> dict[str, str]:
    """The header of an agent named scout that works for whoever is signed in, bound by a code for the purpose."""
    one.open("/agents")
    one.page.get_by_label(purpose).check()
    one.press("Make the code")
    code = one.page.locator(".code").inner_text().strip()
    body = {"agent_name": "scout", "identity_type": "anonymous"}
    agent = httpx2.post(f"{one.base}/api/agent/register", json=body).json()
    bearer = {"Authorization": f"Bearer {agent['access_token']}"}
    bound = httpx2.post(f"{one.base}/api/agent/claim", json={"claim_token": code}, headers=bearer)
    return {"Authorization": f"Bearer {bound.json()['access_token']}"}


class OpenTab(Protocol):
    """Opens a tab in which Ada is signed in; `options` are those of a context of the browser."""

    def __call__(self, **options: Any) -> AbstractContextManager[Tab]: ...


def tab_to(page: Page, field: str, most: int = 150) -> None:
    """Press Tab until the field has the focus, which is always to be seen."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == field:
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", field
            return
    raise AssertionError(f"{field} is not reached by Tab")
