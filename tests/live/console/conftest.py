"""The example database behind a running service, for the tests that open every page."""

from collections.abc import Generator

import pytest
from playwright.sync_api import Browser

from tests.helpers.chromium import launched
from tests.helpers.example_site import ExampleSite, example_site


@pytest.fixture(scope="session")
def filled_site(tmp_path_factory: pytest.TempPathFactory) -> Generator[ExampleSite]:
    """The service, filled once."""
    with example_site(tmp_path_factory.mktemp("examples")) as site:
        yield site


@pytest.fixture(scope="module")
def examples(filled_site: ExampleSite) -> Generator[tuple[ExampleSite, Browser]]:
    """The service, and a browser in which Ada can be signed in."""
    with launched() as browser:
        filled_site.sign_in(browser)
        yield filled_site, browser
