"""Calls, with the embedder that needs no model."""

import pytest

from tests.notebook import hashed as hashed
from tests.prompter import desk as desk
from tests.prompter import new_desk as new_desk


@pytest.fixture(autouse=True)
def quick(hashed: None) -> None:
    """Every test here."""
    del hashed
