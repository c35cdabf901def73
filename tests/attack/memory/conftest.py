"""Notebooks, with the embedder that needs no model."""

import pytest

from tests.notebook import hashed as hashed
from tests.notebook import new_notebook as new_notebook
from tests.notebook import notebook as notebook


@pytest.fixture(autouse=True)
def quick(hashed: None) -> None:
    """Every test here."""
    del hashed
