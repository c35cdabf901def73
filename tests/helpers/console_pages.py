"""Every page of the console, once: the screenshots, the checks of accessibility, words, size and speed read this list.

To add a page, add a line to `PAGES`. A path may name what the example database has: the negotiations by case
(`{software_renewal}`, `{salary}`, `{freelance_rate}`, `{used_car}`), `{agent}`, `{call}`, `{memory}`,
`{rehearsal}`, `{rehearsed}`, `{submission}`, `{tool}`, `{win}`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from playwright.sync_api import Page

Visitor = Literal["nobody", "ada"]


def _press(name: str) -> Callable[[Page], None]:
    """Press the button of this name, and wait for what comes."""

    def act(page: Page) -> None:
        with page.expect_navigation():
            page.get_by_role("button", name=name, exact=True).first.click()

    return act


def _forge_form(page: Page) -> None:
    """Send a form that has another form's token."""
    with page.expect_navigation():
        page.evaluate(
            "() => { const form = document.querySelector('main form[method=post]');"
            " form.querySelector('[name=csrf]').value = 'forged'; form.noValidate = true; form.submit(); }"
        )


def _wrong_password(page: Page) -> None:
    page.get_by_label("E-mail").fill("ada@example.com")
    page.get_by_label("Password").fill("not their password")
    _press("Sign in")(page)


def _offer_beyond_limit(page: Page) -> None:
    """Say that the user offered more than they would pay."""
    with page.expect_navigation():
        page.evaluate(
            "() => { const form = document.querySelector('#answer form');"
            " form.querySelector('[name=by][value=me]').checked = true;"
            " form.querySelectorAll('[name^=\"issue:\"]').forEach((field) => { field.value = '99999999'; });"
            " form.querySelector('[name=by][value=me]').checked = true;"
            " form.noValidate = true; form.submit(); }"
        )


def _call(page: Page) -> None:
    """Begin a call by typing, after the end of one that goes on, and let a card and a figure come up."""
    begin = page.url
    while page.get_by_role("link", name="Go on", exact=True).count():
        page.get_by_role("link", name="Go on", exact=True).first.click()
        page.locator("#state", has_text="Typing").wait_for()
        _end_call(page)
        page.goto(begin)
    page.get_by_label("Typing").check()
    page.get_by_label("I read it to them").check()
    _press("Begin")(page)
    page.locator("#state", has_text="Typing").wait_for()
    for text in ("Hello Ada, thanks for coming.", "I want 9,900 for it, take it or leave it."):
        page.fill("#line", text)
        page.keyboard.press("Enter")
    page.locator("#first .cue").wait_for()


def _end_call(page: Page) -> None:
    page.get_by_role("button", name="End the call", exact=True).click()
    page.get_by_role("heading", name="After the call").wait_for()


def _whole_call(page: Page) -> None:
    _call(page)
    _end_call(page)


@dataclass(frozen=True, slots=True)
class ConsolePage:
    """A page: the name of its pictures, its path, who opens it, what they do there first, and the status of it then."""

    name: str
    path: str
    visitor: Visitor = "ada"
    act: Callable[[Page], None] | None = None
    status: int = 200
    quotes: bool = False
    """Whether it shows texts of others, such as what a tool says of itself."""


PAGES: Final = (
    ConsolePage("home", "/"),
    ConsolePage("negotiations", "/negotiations"),
    ConsolePage("prepare", "/negotiations/new"),
    ConsolePage("workspace-software", "/negotiations/{software_renewal}"),
    ConsolePage("workspace-salary", "/negotiations/{salary}"),
    ConsolePage("workspace-freelance", "/negotiations/{freelance_rate}"),
    ConsolePage("workspace-car", "/negotiations/{used_car}"),
    ConsolePage("practise", "/negotiations/{used_car}/rehearsals"),
    ConsolePage("practise-talk", "/negotiations/{software_renewal}/rehearsals/{rehearsal}"),
    ConsolePage("practise-debrief", "/negotiations/{used_car}/rehearsals/{rehearsed}"),
    ConsolePage("practise-debrief-points", "/negotiations/{software_renewal}/rehearsals/{practised}"),
    ConsolePage("plan-versions", "/negotiations/{software_renewal}/plan"),
    ConsolePage("live", "/live"),
    ConsolePage("live-refused", "/live", act=_press("Begin"), status=422),
    ConsolePage("live-call", "/live?negotiation={used_car}", act=_call),
    ConsolePage("live-summary", "/live?negotiation={used_car}", act=_whole_call),
    ConsolePage("agents", "/agents"),
    ConsolePage("agents-code", "/agents", act=_press("Make the code")),
    ConsolePage("agent", "/agents/{agent}"),
    ConsolePage("live-begun", "/live/{call}"),
    ConsolePage("memories", "/memories"),
    ConsolePage("memories-found", "/memories?query=discount"),
    ConsolePage("memory", "/memories/{memory}"),
    ConsolePage("memory-edit", "/memories/{memory}/edit"),
    ConsolePage("memory-new", "/memories/new"),
    ConsolePage("wins", "/wins"),
    ConsolePage("win", "/wins/{win}"),
    ConsolePage("win-new", "/wins/new"),
    ConsolePage("account", "/account"),
    ConsolePage("tactics", "/tactics"),
    ConsolePage("tactics-said", "/tactics?said=This+price+is+only+good+until+Friday.+Take+it+or+leave+it."),
    ConsolePage("tactic", "/tactics/tac_first_anchor"),
    ConsolePage("tactic-deceptive", "/tactics/tac_exploding_offer"),
    ConsolePage("tactic-new", "/tactics/new"),
    ConsolePage("admin-submissions", "/admin/submissions"),
    ConsolePage("admin-submission", "/admin/submissions/{submission}"),
    ConsolePage("go", "/go?q=renewal"),
    ConsolePage("guides", "/docs", "nobody"),
    ConsolePage("guides-found", "/docs?q=limit"),
    ConsolePage("guide", "/docs/guides/negotiation"),
    ConsolePage("guide-code", "/docs/guides/agents", "nobody"),
    ConsolePage("tools", "/tools", quotes=True),
    ConsolePage("tool", "/tools/{tool}", quotes=True),
    ConsolePage("tools-found", "/tools?query=contract", quotes=True),
    ConsolePage("submit", "/tools/submit"),
    ConsolePage("submissions", "/tools/submissions"),
    ConsolePage("collections", "/collections"),
    ConsolePage("public-home", "/", "nobody"),
    ConsolePage("sign-in", "/sign-in", "nobody"),
    ConsolePage("sign-in-refused", "/sign-in", "nobody", _wrong_password, 403),
    ConsolePage("refused-403", "/account", act=_forge_form, status=403),
    ConsolePage("refused-404", "/nothing-here", status=404),
    ConsolePage("refused-404-nobody", "/nothing-here", "nobody", status=404),
    ConsolePage("refused-404-negotiation", "/negotiations/neg_00000000000000000000000000", status=404),
    ConsolePage("refused-405", "/sign-out", status=405),
    ConsolePage("refused-422-offer", "/negotiations/{software_renewal}", act=_offer_beyond_limit, status=422),
)
