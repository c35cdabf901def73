"""A call in a real browser: heard by a microphone, typed by keyboard alone, over a network that drops."""

import re
import wave
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import httpx2
import pytest
from playwright._impl._api_structures import SetCookieParam
from playwright.sync_api import Browser, BrowserContext, Page, Route, ViewportSize

from tests.contract.requirements import covers
from tests.helpers.chromium import Tab, bind_agent, launched, make_first_user, tab
from tests.helpers.live_server import Server
from tests.helpers.synthetic_speech import silence, synthesise

LIVE: Final = "/live"
WIDE: Final[ViewportSize] = {"width": 1280, "height": 800}
LOW: Final[ViewportSize] = {"width": 1280, "height": 720}
SMALL: Final[ViewportSize] = {"width": 390, "height": 844}
GOLF: Final[dict[str, Any]] = {
    "title": "Used VW Golf",
    "role": "buyer",
    "currency": "EUR",
    "counterparty": "Jens",
    "issues": [{"name": "price", "label": "Price", "type": "money", "range": {"min": 11000, "max": 16000}}],
    "target": {"package": {"price": 12630}},
    "walk_away": {"package": {"price": 13870}},
}
LIMITS: Final = re.compile(r"13[.,  ]?870|12[.,  ]?630")
OBJECTION: Final = "honestly that is way over our budget"
PRICE: Final = "we could do it for fifteen thousand euros"
CARD_MS: Final = 200
SPEECH_MS: Final = 60_000
WATCH: Final = """
window.shown = [];
new MutationObserver(() => {
  const card = document.querySelector("#first .cue");
  const id = card && card.dataset.cue;
  if (id && !window.shown.some((one) => one[0] === id)) window.shown.push([id, Date.now()]);
}).observe(document, { subtree: true, childList: true });
"""


@pytest.fixture(scope="module")
def microphone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the browser's microphone hears: an objection and a price."""
    path = tmp_path_factory.mktemp("sound") / "call.wav"
    pcm = silence(1500) + b"".join(synthesise(text) + silence(2500) for text in (OBJECTION, PRICE))
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(pcm + silence(600_000))
    return path


@pytest.fixture(scope="module")
def browser(microphone: Path) -> Generator[Browser]:
    """A browser with that microphone, which it grants unasked."""
    sound = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")
    with launched(*sound, f"--use-file-for-fake-audio-capture={microphone}%noloop") as started:
        yield started


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    started = Server(tmp_path_factory.mktemp("live"), workers=1)
    started.start()
    yield started
    started.stop()
    assert "crashed" not in (started.folder / "log").read_text()


@pytest.fixture(scope="module")
def cookies(server: Server, browser: Browser) -> list[SetCookieParam]:
    """Of Ada, the first user; one sign-in for all calls, because sign-ins have a budget."""
    with browser.new_context() as context:
        make_first_user(tab(context, server.base), server.folder / "log")
        return cast("list[SetCookieParam]", context.cookies())


@dataclass
class Caller:
    """Ada in front of the page, and an agent of hers that reads what came of it."""

    one: Tab
    headers: dict[str, str]
    negotiation: str
    received: list[str] = field(default_factory=list[str])

    @property
    def page(self) -> Page:
        return self.one.page

    def send(self, method: str, path: str, body: Any = None) -> Any:
        answer = httpx2.request(method, f"{self.one.base}/api{path}", json=body, headers=self.headers, timeout=30)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def begin(self, hears: str = "Typing") -> str:
        """Begin a call; the path of its session in the API."""
        self.one.open(f"{LIVE}?negotiation={self.negotiation}")
        self.page.get_by_label(hears).check()
        self.page.get_by_label("I read it to them").check()
        self.one.press("Begin")
        self.page.wait_for_url(re.compile(r"/live/live_\w+"))
        found = re.search(r"live_\w+", self.page.url)
        assert found
        return f"/teleprompter/sessions/{found[0]}"

    def state(self, text: str) -> None:
        self.page.locator("#state", has_text=re.compile(f"^{text}$")).wait_for()

    def lines(self) -> list[str]:
        return self.page.locator("#lines .line [data-text]").all_inner_texts()

    def events(self, session: str, kind: str) -> list[dict[str, Any]]:
        found = self.send("GET", f"{session}/events")["items"]
        return [event for event in found if event["type"] == kind]

    def watch(self) -> None:
        """Keep every page and message that comes from the server."""

        def remember(text: str | bytes) -> None:
            self.received.append(text if isinstance(text, str) else text.decode("latin-1"))

        def pass_on(route: Route) -> None:
            if route.request.method != "GET":
                route.fallback()
                return
            answer = route.fetch(max_redirects=0)
            remember(answer.text())
            route.fulfill(response=answer)

        self.page.on("websocket", lambda socket: socket.on("framereceived", remember))
        self.page.route(re.compile("/live/live_"), pass_on)

    def never_saw(self, pattern: re.Pattern[str]) -> bool:
        """Whether nothing of it came from the server or stands on the page."""
        assert any("transcript.final" in text for text in self.received)
        assert any("<main" in text for text in self.received)
        return not any(pattern.search(text) for text in (*self.received, self.page.content()))


def caller(context: BrowserContext, server: Server, cookies: list[SetCookieParam]) -> Caller:
    """Ada, signed in, with a negotiation."""
    context.add_cookies(cookies)
    one = tab(context, server.base)
    one.page.add_init_script(WATCH)
    headers = bind_agent(one, "Everything")
    opened = httpx2.post(f"{one.base}/api/negotiations", json=GOLF, headers=headers)
    assert opened.status_code == 201, opened.text
    return Caller(one, headers, opened.json()["id"])


def milliseconds(moment: str, page: Page) -> float:
    """An RFC 3339 moment on the clock of the browser, which is the server's here."""
    at: float = page.evaluate("(text) => Date.parse(text)", moment)
    return at


def test_a_call_is_heard_by_the_microphone_and_its_figure_confirmed(
    browser: Browser, server: Server, cookies: list[SetCookieParam]
) -> None:
    with browser.new_context(viewport=WIDE, locale="en-US") as context:
        ada = caller(context, server, cookies)
        ada.watch()
        session = ada.begin("Microphone")
        assert "This server recognises the words" in ada.page.locator("#hears").inner_text()
        ada.page.locator("#listen:focus").wait_for()
        ada.page.keyboard.press("Enter")
        ada.state("Listening")
        card = ada.page.locator("#first .cue")
        card.wait_for(timeout=SPEECH_MS)
        assert "budget" in card.locator("q").inner_text()
        size = card.locator(".say").evaluate("(one) => parseFloat(getComputedStyle(one).fontSize)")
        assert size >= 60, "readable at two metres"
        figure = ada.page.locator("#figure-list li", has_text="Jens said €15,000")
        figure.wait_for(timeout=SPEECH_MS)
        figure.get_by_role("button", name="Confirm").click()
        figure.get_by_text("Confirmed", exact=True).wait_for()
        rows = ada.send("GET", f"/negotiations/{ada.negotiation}/offers")["items"]
        assert [(row["status"], row["package"], row["by"]) for row in rows] == [
            ("live", {"price": "15000.00"}, "them"),
            ("confirmed", {"price": "15000.00"}, "them"),
        ]
        shown = dict(ada.page.evaluate("window.shown"))
        late = [
            shown[event["cue"]["id"]] - milliseconds(event["at"], ada.page)
            for event in ada.events(session, "cue")
            if event["cue"]["id"] in shown
        ]
        assert late
        assert max(late) < CARD_MS, late
        ada.one.press("End the call")
        ada.page.get_by_role("heading", name="After the call").wait_for()
        assert ada.send("GET", session)["state"] == "ended"
        assert "Jens named €15,000." in ada.page.inner_text("main")
        spoken = " ".join(ada.page.locator(".lines [data-text]").all_inner_texts())
        assert "budget" in spoken
        assert ada.one.outside == []
        assert ada.one.said == []
        assert ada.never_saw(LIMITS)


@pytest.mark.parametrize("size", [WIDE, SMALL], ids=["wide", "small"])
def test_a_call_is_typed_judged_and_summed_up_by_keyboard(
    browser: Browser, server: Server, cookies: list[SetCookieParam], size: ViewportSize
) -> None:
    with browser.new_context(viewport=size, locale="en-US") as context:
        ada = caller(context, server, cookies)
        ada.watch()
        session = ada.begin()
        keys, page = ada.page.keyboard, ada.page
        page.locator("#line:focus").wait_for()
        ada.state("Typing")
        keys.type("Honestly, that is way over our budget.")
        keys.press("Enter")
        page.locator("#first .cue").wait_for()
        keys.type("I could pay 12,900 euros")
        keys.press("Shift+Enter")
        page.locator("#figure-list li", has_text="You said €12,900").wait_for()
        keys.press("Escape")
        keys.press("u")
        page.locator("#first .cue").wait_for(state="detached")
        page.locator("#line:focus").wait_for()
        keys.type("We can do 14,900 euros, not less.")
        keys.press("Enter")
        page.locator("#first .cue", has_text="past your limit").wait_for()
        keys.press("Escape")
        keys.press("w")
        page.locator("#first .cue", has_text="past your limit").wait_for(state="detached")
        keys.press("Escape")
        keys.press("p")
        ada.state("Paused")
        keys.press("p")
        ada.state("Typing")
        actions = [event["action"] for event in ada.events(session, "cue.feedback")]
        assert actions == ["used", "wrong"]
        assert ada.lines() == [
            "Honestly, that is way over our budget.",
            "I could pay 12,900 euros",
            "We can do 14,900 euros, not less.",
            "Paused",
            "Listening again",
        ]
        assert [line["speaker"] for line in ada.send("GET", f"{session}/transcript")["lines"]] == [
            *("them", "me", "them"),
            *(None, None),
        ]
        width = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert width <= 0
        page.locator("#end").focus()
        keys.press("Enter")
        page.get_by_role("heading", name="After the call").wait_for()
        assert ada.never_saw(LIMITS)
        assert ada.one.outside == []


INSIDE: Final = """
(selectors) => selectors.filter((selector) => {
  const box = document.querySelector(selector).getBoundingClientRect();
  return box.top < 0 || box.left < 0 || box.bottom > window.innerHeight || box.right > window.innerWidth;
})
"""
"""Those of the selectors whose element does not stand wholly in the window."""
CARD: Final = ("#first .cue", "#line", "#end", *(f"#first button:nth-of-type({n})" for n in (1, 2, 3)))


@pytest.mark.parametrize("size", [LOW, SMALL], ids=["low", "small"])
def test_a_card_its_buttons_and_the_line_stand_in_the_window(
    browser: Browser, server: Server, cookies: list[SetCookieParam], size: ViewportSize
) -> None:
    with browser.new_context(viewport=size, locale="en-US") as context:
        ada = caller(context, server, cookies)
        ada.begin()
        ada.state("Typing")
        shown: set[str] = set()
        for text in (
            "Honestly, that is way over our budget.",
            "I have another buyer who pays the full price in cash.",
            "This is my final offer, take it or leave it.",
            "We can do 14,900 euros, not less.",
        ):
            ada.page.fill("#line", text)
            ada.page.keyboard.press("Enter")
            ada.page.locator(".line[data-seq]", has_text=text).wait_for()
            ada.page.wait_for_timeout(300)
            shown.add(ada.page.locator("#first .say").inner_text())
            assert ada.page.evaluate("window.scrollY") == 0
            assert ada.page.evaluate(INSIDE, CARD) == []
        assert len(shown) >= 3


def test_a_judged_card_brings_no_older_one_back(
    browser: Browser, server: Server, cookies: list[SetCookieParam]
) -> None:
    with browser.new_context(viewport=WIDE, locale="en-US") as context:
        ada = caller(context, server, cookies)
        ada.begin()
        ada.state("Typing")
        ada.page.fill("#line", "Honestly, that is way over our budget.")
        ada.page.keyboard.press("Enter")
        ada.page.locator("#first .cue").wait_for()
        ada.page.fill("#line", "We can do 14,900 euros, not less.")
        ada.page.keyboard.press("Enter")
        card = ada.page.locator("#first .cue", has_text="past your limit")
        card.wait_for()
        with ada.page.expect_response("**/cards"):
            card.get_by_role("button", name="Wrong").click()
        card.wait_for(state="detached")
        assert ada.page.locator(".cards .cue").count() == 0
        ada.page.reload()
        ada.state("Typing")
        assert ada.page.locator(".cards .cue").count() == 0


@covers("8.9:continues")
def test_a_call_goes_on_where_the_network_dropped(
    browser: Browser, server: Server, cookies: list[SetCookieParam]
) -> None:
    with browser.new_context(viewport=WIDE, locale="en-US") as context:
        ada = caller(context, server, cookies)
        session = ada.begin()
        ada.state("Typing")
        ada.page.fill("#line", "The first line.")
        ada.page.keyboard.press("Enter")
        ada.page.locator("#lines .line[data-seq]").wait_for()
        for number in range(2):
            context.set_offline(True)
            ada.state("Reconnecting…")
            ada.page.fill("#line", f"Typed without a network {number}.")
            ada.page.keyboard.press("Enter")
            body = {"utterance_id": f"agent-{number}", "text": f"Heard by an agent {number}."}
            ada.send("POST", f"{session}/utterances", body)
            context.set_offline(False)
            ada.state("Typing")
            said = ada.page.locator(".line[data-seq]", has_text=f"without a network {number}.")
            said.wait_for()
        transcript = ada.send("GET", f"{session}/transcript")["lines"]
        assert sorted(line["text"] for line in transcript) == sorted(
            [
                "The first line.",
                *(f"Typed without a network {number}." for number in range(2)),
                *(f"Heard by an agent {number}." for number in range(2)),
            ]
        )
        numbers = ada.page.locator("#lines .line").evaluate_all(
            "(lines) => lines.map((line) => Number(line.dataset.seq))"
        )
        assert numbers == [line["seq"] for line in transcript]
        ada.page.reload()
        ada.state("Typing")
        assert ada.lines() == [line["text"] for line in transcript]


def test_another_socket_that_breaks_is_opened_again(
    browser: Browser, server: Server, cookies: list[SetCookieParam]
) -> None:
    with browser.new_context(viewport=WIDE, locale="en-US") as context:
        ada = caller(context, server, cookies)
        sockets: list[Any] = []

        def between(client: Any) -> None:
            sockets.append(client)
            client.connect_to_server()

        ada.page.route_web_socket(re.compile("/stream$"), between)
        session = ada.begin()
        ada.state("Typing")
        for number in range(3):
            ada.page.fill("#line", f"Line {number}.")
            ada.page.keyboard.press("Enter")
            sockets[-1].close(code=1011, reason="broken")
            ada.page.locator(".line[data-seq]", has_text=f"Line {number}.").wait_for()
            ada.state("Typing")
        assert len(sockets) >= 4
        assert ada.lines() == [f"Line {number}." for number in range(3)]
        lines = ada.send("GET", f"{session}/transcript")["lines"]
        assert [line["text"] for line in lines] == ada.lines()


def test_a_page_without_a_microphone_says_what_browsers_need(
    browser: Browser, server: Server, cookies: list[SetCookieParam]
) -> None:
    with browser.new_context(viewport=SMALL) as context:
        ada = caller(context, server, cookies)
        ada.page.add_init_script(
            "Object.defineProperty(navigator.mediaDevices, 'getUserMedia', { value: () =>"
            " Promise.reject(new DOMException('no', 'NotAllowedError')) })"
        )
        ada.begin("Microphone")
        ada.one.press("Start listening")
        ada.page.get_by_text("The microphone was refused.").wait_for()
        ada.page.fill("#line", "That is way over our budget.")
        ada.page.keyboard.press("Enter")
        ada.page.locator("#first .cue").wait_for()
        assert ada.page.locator("#listen").is_visible()


RECOGNISER: Final = """
class FakeRecognition extends EventTarget {
  static available(asked) { window.asked = asked; return Promise.resolve("available"); }
  start() {
    window.heard = this;
    const results = [Object.assign([{ transcript: "That is way over our budget" }], { isFinal: false })];
    setTimeout(() => this.onresult({ resultIndex: 0, results }), 50);
    setTimeout(() => {
      results[0].isFinal = true;
      this.onresult({ resultIndex: 0, results });
    }, 300);
  }
  stop() { setTimeout(() => this.onend(), 0); }
}
window.SpeechRecognition = FakeRecognition;
"""


@covers("8.9:hears")
def test_the_browser_s_own_recogniser_hears_where_it_works_on_the_device(
    browser: Browser, server: Server, cookies: list[SetCookieParam]
) -> None:
    with browser.new_context(viewport=WIDE, locale="en-GB") as context:
        ada = caller(context, server, cookies)
        ada.page.add_init_script(RECOGNISER)
        ada.one.open(f"{LIVE}?negotiation={ada.negotiation}")
        ada.page.get_by_text("Your browser hears, on this device; no sound leaves it.").wait_for()
        asked = {"langs": ["en-GB"], "processLocally": True}
        assert ada.page.evaluate("window.asked") == asked
        session = ada.begin("Microphone")
        ada.one.press("Start listening")
        ada.state("Listening")
        ada.page.locator("#first .cue").wait_for()
        assert ada.page.evaluate("[window.heard.processLocally, window.heard.lang]") == [*(True, "en-GB")]
        assert "on this device" in ada.page.locator("#hears").inner_text()
        view = ada.send("GET", session)
        assert (view["source"], view["engine"]["id"]) == ("text", "none")
        assert ada.lines() == ["That is way over our budget"]
        ada.page.get_by_role("button", name="Pause").click()
        ada.state("Paused")


def test_what_the_microphone_hears_without_a_network_is_heard_afterwards(
    browser: Browser, server: Server, cookies: list[SetCookieParam]
) -> None:
    with browser.new_context(viewport=WIDE, locale="en-US") as context:
        ada = caller(context, server, cookies)
        session = ada.begin("Microphone")
        ada.one.press("Start listening")
        ada.state("Listening")
        context.set_offline(True)
        ada.state("Reconnecting…")
        ada.page.wait_for_timeout(3000)
        context.set_offline(False)
        ada.state("Listening")
        ada.page.locator("#first .cue").wait_for(timeout=SPEECH_MS)
        ada.page.locator("#figure-list li", has_text="15,000").wait_for(timeout=SPEECH_MS)
        transcript = ada.send("GET", f"{session}/transcript")["lines"]
        spoken = " ".join(line["text"] for line in transcript if line["speaker"] == "them")
        assert spoken.count("way over") == 1
        assert spoken.count("15,000") == 1
        lines = ada.page.locator("#lines .line:not(.gap) [data-text]").all_inner_texts()
        assert [line["text"] for line in transcript if line["speaker"]] == lines
