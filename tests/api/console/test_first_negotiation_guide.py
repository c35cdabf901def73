"""The guide "Your first negotiation": its case is typed as it says, and the pages answer what it quotes."""

import re
from html import unescape
from importlib import resources
from typing import Final

import pytest

from tests.conftest import Browsers
from tests.helpers.form_browser import FormBrowser, redirect_path
from tests.helpers.preparation_pages import fields_of

CONSOLE = resources.files("negotiator.console")
GUIDE = (CONSOLE / "guides" / "first-negotiation.md").read_text()
FIELDS: Final = {
    "Name": "title",
    "With whom": "counterparty",
    "What would be good": "i0.target",
    "The most I would pay": "i0.limit",
    "Asking or list price": "baseline",
    "What you do then (without a deal)": "alternative",
    "What it would cost you": "alternative_price",
    "The least they would take, as you guess": "their_guess",
}
"""The field of the form that each line of the guide's table is typed into."""
ELSEWHERE: Final = {"Fair", "Normal", "Purchase", "Results", "On a call.", "On your phone, step by step."}
"""What the guide says in bold type that no template has: kinds, menus, and words of its own."""


def told(page: str) -> str:
    """What a person reads on the page, in one line."""
    main = page[page.index("<main") : page.index("</main>")]
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", main)).split())


def quotes() -> list[list[str]]:
    """The paragraphs of each quotation of a page."""
    found = re.findall(r"(?:^ *>.*\n)+", GUIDE, re.MULTILINE)
    lines = [[line.strip(" >") for line in each.splitlines()] for each in found]
    return [[line for line in each if line] for each in lines]


def test_every_button_that_the_guide_names_is_on_a_page() -> None:
    files = (CONSOLE / "templates").iterdir()
    templates = " ".join(file.read_text() for file in files if file.name.endswith(".html"))
    for name in {*re.findall(r"\*\*([^*]+)\*\*", GUIDE)} - ELSEWHERE:
        assert name in templates, name


@pytest.mark.asyncio
async def test_the_case_of_the_guide_goes_as_it_says(browser: FormBrowser) -> None:
    new = "/negotiations/new"
    page = (await browser.open(new)).text
    sent = {**fields_of(page), "kind": "purchase", "do": "kind"}
    page = (await browser.client.post(new, data=sent)).text
    for _ in range(2):
        sent = {**fields_of(page), "do": "remove.1"}
        page = (await browser.client.post(new, data=sent)).text
    typed = dict(re.findall(r"^\| (.+?) \| (.+?) \|$", GUIDE, re.MULTILINE)[1:])
    typed.pop(":---", None)
    assert typed.keys() == FIELDS.keys()
    labels = told(page)
    assert [label for label in FIELDS if label.split(" (")[0] not in labels] == []
    fields = {FIELDS[label]: value for label, value in typed.items()}
    saved = await browser.client.post(new, data={**fields_of(page), **fields, "do": "save"})
    path = redirect_path(saved).split("#")[0]

    first, second = quotes()
    workspace = told((await browser.open(path)).text)
    for line in first:
        assert line in workspace
    for reason in ("people tend to meet between the two first figures", "about as far as they could go"):
        assert reason in workspace
        assert reason in GUIDE
    for step in re.findall(r"\(13,500, then ([\d, and]+)", GUIDE)[0].replace("and", ",").split(", "):
        assert f"€{step.strip()}" in workspace, step
    offers = f"{path}/offers"
    await browser.send(offers, on=path, by="me", **{"issue:price": "13,200"})
    await browser.send(offers, on=path, by="them", **{"issue:price": "14,400"})
    workspace = told((await browser.open(path)).text)
    for line in second:
        assert line in workspace
    await browser.send(offers, on=path, by="me", **{"issue:price": "13,500"})
    await browser.send(offers, on=path, kind="agreed", **{"issue:price": "13,900"})
    end = told((await browser.open(path)).text)
    assert "Agreed, not signed: €13,900" in end
    assert "€1,000 saved, 6.7%" in end
    assert "€1,000 saved, 6.7%" in GUIDE


@pytest.mark.asyncio
async def test_its_pictures_are_inside_the_page(browsers: Browsers) -> None:
    page = (await browsers().open("/docs/guides/first-negotiation")).text
    pictures = re.findall(r'<img src="data:image/webp;base64,([^"]+)" alt="([^"]+)"', page)
    assert len(pictures) == len(re.findall(r"^!\[", GUIDE, re.MULTILINE)) == 2
    assert all(data.startswith("UklGR") and alt for data, alt in pictures)
    assert len(page.encode()) < 80_000
    style = (CONSOLE / "templates" / "console.css").read_text()
    assert ".prose img { max-width: 100%" in style, "a phone is narrower than a picture"
