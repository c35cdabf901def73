"""Calls, with the embedder that needs no model."""

import pytest

from tests.helpers.memory_client import hashed as hashed
from tests.helpers.teleprompter_client import desk as desk
from tests.helpers.teleprompter_client import new_desk as new_desk


@pytest.fixture(autouse=True)
def quick(hashed: None) -> None:
    """Every test here."""
    del hashed
