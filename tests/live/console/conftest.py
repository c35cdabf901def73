"""The example database behind a running service, for the tests that open every page."""

from collections.abc import Generator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.helpers.chromium import CHROMIUM
from tests.helpers.example_site import ExampleSite, example_site
from tests.helpers.missing_tools import missing


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[ExampleSite, Browser]]:
    """The service, and a browser in which Ada can be signed in."""
    if not CHROMIUM.exists():
        missing(f"{CHROMIUM} is missing: apt-get install chromium (make test does it for root)")
    with example_site(tmp_path_factory.mktemp("examples")) as site, sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        site.sign_in(browser)
        yield site, browser
        browser.close()
