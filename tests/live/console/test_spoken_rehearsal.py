"""A rehearsal by voice in a real browser: a microphone says the user's turns, the browser reads the answers aloud."""

import base64
from collections.abc import Generator
from typing import Any, Final, cast

import httpx2
import pytest
from playwright._impl._api_structures import SetCookieParam
from playwright.sync_api import Browser, BrowserContext, Page

from tests.helpers.chromium import Tab, bind_agent, launched, make_first_user, tab
from tests.helpers.live_server import Server
from tests.helpers.synthetic_speech import synthesise

GOLF: Final[dict[str, Any]] = {
    "title": "Used VW Golf",
    "role": "buyer",
    "currency": "EUR",
    "counterparty": "Jens",
    "issues": [{"name": "price", "label": "Price", "type": "money", "range": {"min": 11000, "max": 16000}}],
    "target": {"package": {"price": 12500}},
    "walk_away": {"package": {"price": 13870}},
}
FIRST: Final = "i could do twelve thousand nine hundred euros"
SECOND: Final = "i could do thirteen thousand one hundred euros"
SPEECH_MS: Final = 60_000
VOICE: Final = """
window.aloud = [];
Object.defineProperty(window, "speechSynthesis", { value: {
  speak(one) { window.aloud.push([one.text, one.lang]); this.timer = setTimeout(() => one.onend(), 1500); },
  cancel() { clearTimeout(this.timer); },
} });
"""
"""A voice that says nothing, in the time that a sentence takes: this Chromium has none."""
MICROPHONE: Final = """
navigator.mediaDevices.getUserMedia = async () => {
  const context = new AudioContext({ sampleRate: 16000 });
  const microphone = context.createMediaStreamDestination();
  await context.resume();
  window.hear = (pcm) => {
    const bytes = Uint8Array.from(atob(pcm), (one) => one.charCodeAt(0));
    const samples = new Int16Array(bytes.buffer);
    const sound = context.createBuffer(1, samples.length, 16000);
    sound.copyToChannel(Float32Array.from(samples, (one) => one / 32768), 0);
    const said = context.createBufferSource();
    said.buffer = sound;
    said.connect(microphone);
    said.start();
  };
  return microphone.stream;
};
"""
"""A microphone that hears what `window.hear` is given, when the test says it: 16 kHz, s16le, base64."""


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with launched() as started:
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
    with browser.new_context() as context:
        make_first_user(tab(context, server.base), server.folder / "log")
        return cast("list[SetCookieParam]", context.cookies())


class Practice:
    """Ada in front of a rehearsal, and an agent of hers that reads what came of it."""

    def __init__(self, context: BrowserContext, server: Server, cookies: list[SetCookieParam], *scripts: str) -> None:
        context.add_cookies(cookies)
        self.one: Tab = tab(context, server.base)
        for script in (VOICE, *scripts):
            self.one.page.add_init_script(script)
        self.headers = bind_agent(self.one, "Everything")
        self.negotiation: str = self.send("POST", "/negotiations", GOLF)["id"]
        person = {"kind": "extreme_anchor", "seed": 7}
        made = self.send("POST", f"/negotiations/{self.negotiation}/rehearsals", person)
        self.place = f"/negotiations/{self.negotiation}/rehearsals/{made['id']}"
        self.one.open(self.place)

    @property
    def page(self) -> Page:
        return self.one.page

    def send(self, method: str, path: str, body: Any = None) -> Any:
        answer = httpx2.request(method, f"{self.one.base}/api{path}", json=body, headers=self.headers, timeout=30)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def turns(self, by: str) -> list[dict[str, Any]]:
        """The turns of one side so far."""
        return [turn for turn in self.send("GET", self.place)["turns"] if turn["by"] == by]

    def sessions(self) -> list[dict[str, Any]]:
        """The teleprompter sessions of this negotiation, oldest first."""
        found = self.send("GET", "/teleprompter/sessions")["items"]
        return [one for one in found if one["negotiation_id"] == self.negotiation][::-1]

    def erased(self) -> bool:
        """Whether no session is left within a few seconds."""
        for _ in range(50):
            if not self.sessions():
                return True
            self.page.wait_for_timeout(100)
        return False

    def check_counts_nothing(self) -> None:
        offers = self.send("GET", f"/negotiations/{self.negotiation}/offers")["items"]
        assert offers == []
        assert (self.one.outside, self.one.said) == ([], [])


def test_what_the_user_says_is_their_turn_and_the_answer_is_read_aloud(
    browser: Browser, server: Server, cookies: list[SetCookieParam]
) -> None:
    with browser.new_context(locale="en-US") as context:
        ada = Practice(context, server, cookies, MICROPHONE)
        page = ada.page
        page.locator("#aloud").check()
        page.locator("#speak").click()
        for said, amount in ((FIRST, "€12,900"), (SECOND, "€13,100")):
            page.get_by_text("Listening. Your turn is what you say.").wait_for(timeout=SPEECH_MS)
            page.evaluate("pcm => hear(pcm)", base64.b64encode(synthesise(said)).decode())
            page.locator("#so-far .me .offered", has_text=amount).wait_for(timeout=SPEECH_MS)
            page.get_by_text("They are speaking.").wait_for()
        page.get_by_text("Listening. Your turn is what you say.").wait_for()
        mine, theirs = ada.turns("me"), ada.turns("them")
        assert [turn["package"] for turn in mine] == [{"price": "12900.00"}, {"price": "13100.00"}]
        assert page.evaluate("window.aloud") == [[turn["said"], "en-US"] for turn in theirs]
        [session] = ada.sessions()
        assert (session["source"], session["cues"], session["state"]) == ("audio", False, "live")
        assert (session["practice"], session["keep"]) == (True, "none")
        assert page.locator("#cards .cue").count() == 0
        page.get_by_role("button", name="Stop speaking").click()
        assert ada.erased()
        ada.check_counts_nothing()


def test_with_coaching_on_the_counterpart_s_sentence_raises_a_card(
    browser: Browser, server: Server, cookies: list[SetCookieParam]
) -> None:
    with browser.new_context(locale="en-US") as context:
        ada = Practice(context, server, cookies)
        page = ada.page
        page.get_by_label("Show me cards").check()
        page.locator("#cards .cue", has_text="past your limit").wait_for()
        page.fill("#said", "I could do 12,900 if I collect it today.")
        page.locator("#say-it").click()
        page.locator("#so-far .me .offered", has_text="€12,900").wait_for()
        [session] = ada.sessions()
        assert (session["source"], session["cues"]) == ("text", True)
        events = f"/teleprompter/sessions/{session['id']}/events"
        said: list[str] = []
        for _ in range(50):
            found = ada.send("GET", events)["items"]
            said = [one["speaker"] for one in found if one["type"] == "transcript.final"]
            if len(said) == 3:
                break
            page.wait_for_timeout(100)
        assert said == ["them", "me", "them"]
        page.get_by_label("Show me cards").uncheck()
        assert page.locator("#cards .cue").count() == 0
        assert ada.erased()
        page.get_by_label("Show me cards").check()
        page.locator("#cards .cue").first.wait_for()
        ada.one.open("/account")
        assert ada.erased(), "who leaves the page leaves no session"
        ada.check_counts_nothing()


RECOGNISER: Final = """
window.SpeechRecognition = class {
  static available() { return Promise.resolve("available"); }
  start() {
    if (window.heardOnce) return;
    window.heardOnce = true;
    const results = [Object.assign([{ transcript: "I could do 12,900 euros" }], { isFinal: true })];
    setTimeout(() => this.onresult({ resultIndex: 0, results }), 50);
  }
  stop() { setTimeout(() => this.onend(), 0); }
};
"""


def test_where_the_browser_hears_on_the_device_no_session_is_opened(
    browser: Browser, server: Server, cookies: list[SetCookieParam]
) -> None:
    with browser.new_context(locale="en-GB") as context:
        ada = Practice(context, server, cookies, RECOGNISER)
        ada.page.locator("#speak").click()
        ada.page.locator("#so-far .me .offered", has_text="€12,900").wait_for()
        assert ada.sessions() == []
        ada.check_counts_nothing()
