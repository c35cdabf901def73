"""Every negotiation that the API takes has its pages, whatever its limits are."""

from typing import Any

import httpx2
import pytest
from hypothesis import assume, given, settings

from negotiator.console import negotiation_words
from tests.helpers.form_browser import FormBrowser
from tests.helpers.generated_talks import SEEDS, beyond_its_ranges
from tests.helpers.negotiating_agent import open_golf

BEYOND_THE_RANGE: dict[str, Any] = {"target": None, "walk_away": {"package": {"price": 16000}}}


async def assert_pages(browser: FormBrowser, view: dict[str, Any], *paths: str) -> None:
    for path in ("/", "/go", "/negotiations", f"/negotiations/{view['id']}", *paths):
        page = await browser.open(path)
        assert page.status_code == 200, (path, page.text)
        assert view["title"] in page.text


@pytest.mark.asyncio
async def test_a_walk_away_beyond_the_range_breaks_no_page(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    view = await open_golf(client, headers, **BEYOND_THE_RANGE)
    page = f"/negotiations/{view['id']}"
    await assert_pages(browser, view, f"{page}/rehearsals")
    assert "16000" in (await browser.open(page)).text
    changed = {"weight__price": "5", "limit__price": "14000", "revision": str(view["revision"])}
    saved = await browser.send(f"{page}/limits", on=page, **changed)
    assert saved.status_code == 303, saved.text
    assert (await browser.send(f"{page}/erase", on=page)).status_code == 303


@settings(max_examples=6)
@given(seed=SEEDS)
@pytest.mark.asyncio
async def test_every_negotiation_that_is_taken_has_its_pages(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str], seed: int
) -> None:
    opened = await client.post("/api/negotiations", json=beyond_its_ranges(seed), headers=headers)
    assume(opened.status_code == 201)
    await assert_pages(browser, opened.json())


@pytest.mark.asyncio
async def test_a_negotiation_that_cannot_be_worded_fails_no_list(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    view = await open_golf(client, headers)

    def unreadable(_view: object) -> None:
        raise ValueError("not a value of type money")

    monkeypatch.setattr(negotiation_words, "terms_of_view", unreadable)
    for path in ("/", "/go", "/negotiations"):
        page = await browser.open(path)
        assert page.status_code == 200, (path, page.text)
        assert view["title"] in page.text
