"""A service with its first user, Ada, and one with the example database behind it, for real browsers."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.helpers.chromium import OpenTab, Tab, launched, make_first_user, sign_in, tab
from tests.helpers.chromium import chromium as chromium
from tests.helpers.example_site import ExampleSite, example_site
from tests.helpers.live_server import Server


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


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Generator[Server]:
    """A service whose first user, an administrator, is Ada."""
    started = Server(tmp_path_factory.mktemp("console"), workers=1)
    started.start()
    with chromium.new_context() as context:
        make_first_user(tab(context, started.base), started.folder / "log")
    yield started
    started.stop()


@pytest.fixture
def signed_in(server: Server, chromium: Browser) -> OpenTab:
    """A tab of a context of its own."""

    @contextmanager
    def opened(**options: Any) -> Generator[Tab]:
        with chromium.new_context(**options) as context:
            one = tab(context, server.base)
            sign_in(one)
            yield one

    return opened
