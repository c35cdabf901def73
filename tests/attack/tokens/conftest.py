"""A user with a browser, and clients that ask them for consent."""

import pytest

from negotiator.settings import Settings
from tests.helpers.code_flow import ada, public_app, web_app

__all__ = ["ada", "public_app", "web_app"]


@pytest.fixture
def database(settings: Settings) -> str:
    """The file behind the service."""
    return str(settings.data_dir / "negotiator.db")
