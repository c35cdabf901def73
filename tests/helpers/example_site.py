"""A running service over the example database, with Ada signed in, for whatever looks at pages."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx2
from playwright.sync_api import Browser, BrowserContext, Page, Response

from negotiator.cli.demo.examples import ExampleDatabase, fill_database
from negotiator.cli.demo.server import DemoServer
from tests.helpers.console_pages import ConsolePage
from tests.helpers.live_server import Server

SCHEMES: Final = ("light", "dark")
WIDTHS: Final = (1280, 390)
_HEIGHTS: Final = {1280: 900, 390: 844, 320: 640}


@dataclass
class ExampleSite:
    """The server, what it holds, and the cookies of Ada's browser; `names` fill the paths of pages."""

    server: Server
    stored: ExampleDatabase
    names: dict[str, str]
    cookies: Any = None

    @property
    def base(self) -> str:
        return self.server.base

    def path(self, page: ConsolePage) -> str:
        """The page's path with what the database has."""
        return page.path.format(**self.names)

    def sign_in(self, browser: Browser) -> None:
        """Sign Ada in, once for all pages."""
        with browser.new_context() as context:
            one = context.new_page()
            one.goto(f"{self.base}/sign-in")
            one.get_by_label("E-mail").fill(self.stored.email)
            one.get_by_label("Password").fill(self.stored.password)
            with one.expect_navigation():
                one.get_by_role("button", name="Sign in").click()
            self.cookies = context.storage_state()

    def context(self, browser: Browser, page: ConsolePage, *, width: int = 1280) -> BrowserContext:
        """A browser of the page's visitor."""
        return browser.new_context(
            viewport={"width": width, "height": _HEIGHTS[width]},
            reduced_motion="reduce",
            storage_state=self.cookies if page.visitor == "ada" else None,
        )

    def look(self, tab: Page, *, scheme: Any, width: int) -> None:
        """See what the tab shows in another scheme and width."""
        tab.emulate_media(color_scheme=scheme)
        tab.set_viewport_size({"width": width, "height": _HEIGHTS[width]})

    def show(self, page: ConsolePage, tab: Page) -> Response:
        """Open the page, do what is to be done there, and give the last answer."""
        answers: list[Response] = []

        def keep(response: Response) -> None:
            if response.request.is_navigation_request() and response.status != 303:
                answers.append(response)

        tab.on("response", keep)
        tab.goto(f"{self.base}{self.path(page)}")
        tab.wait_for_load_state("networkidle")
        if page.act is not None:
            page.act(tab)
            tab.wait_for_load_state("networkidle")
        tab.remove_listener("response", keep)
        return answers[-1]


@contextmanager
def example_site(folder: Path) -> Generator[ExampleSite]:
    """Start the service in the folder and fill it; it ends with the context."""
    server = Server(folder, workers=1)
    server.start()
    try:
        stored = fill_database(DemoServer(server.base, server.environment, server.folder, is_own=True))
        with httpx2.Client(base_url=server.base) as http:
            tools = http.get("/api/v1/tools", params={"query": "contract", "limit": 1}).json()
            bearer = {"Authorization": f"Bearer {stored.token}"}
            memories = http.get("/api/memories", headers=bearer).json()
            wins = http.get("/api/wins", headers=bearer).json()
            rehearsals = _rehearse(http, stored.negotiations, bearer)
        names = {
            **stored.negotiations,
            "agent": stored.agent,
            "call": stored.call,
            "memory": memories["items"][-1]["id"],
            "submission": stored.submission,
            "tool": tools["items"][0]["slug"],
            "win": wins["items"][0]["id"],
            **rehearsals,
        }
        yield ExampleSite(server, stored, names)
    finally:
        server.stop()


def _rehearse(http: httpx2.Client, negotiations: dict[str, str], bearer: dict[str, str]) -> dict[str, str]:
    """One rehearsal that goes on, one that is over with a first try before it, and one about several points."""

    def begin(case: str) -> str:
        path = f"/api/negotiations/{negotiations[case]}/rehearsals"
        answer = http.post(path, json={"seed": 7, "kind": "fair"}, headers=bearer)
        assert answer.status_code == 201, answer.text
        return f"{path}/{answer.json()['id']}"

    def play(path: str, *turns: dict[str, Any]) -> str:
        for turn in turns:
            answer = http.post(f"{path}/turns", json=turn, headers=bearer)
            assert answer.status_code == 200, answer.text
            if answer.json()["state"] != "running":
                break
        return path.rpartition("/")[2]

    def offer(price: float, text: str = "") -> dict[str, Any]:
        said = {"text": text} if text else {}
        return {"action": "offer", "package": {"price": price}, **said}

    reason = "Two others ask less, because they want to sell soon."
    asked = {"action": "say", "text": "What would you need to come down?"}
    play(begin("used_car"), offer(12400), {"action": "leave"})
    accepted = {"action": "accept"}
    return {
        "rehearsed": play(begin("used_car"), offer(12400, reason), offer(12900), asked, offer(13200), accepted),
        "practised": play(begin("software_renewal"), offer(44, reason), offer(45), accepted),
        "rehearsal": play(begin("software_renewal"), {"action": "say", "text": reason}, asked),
    }
