"""Notebooks, with the embedder that needs no model."""

import pytest

from tests.helpers.memory_client import hashed as hashed
from tests.helpers.memory_client import new_notebook as new_notebook
from tests.helpers.memory_client import notebook as notebook


@pytest.fixture(autouse=True)
def quick(hashed: None) -> None:
    """Every test here."""
    del hashed
