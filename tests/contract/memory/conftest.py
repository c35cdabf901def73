"""Notebooks, with the embedder that needs no model."""

import pytest

from tests.helpers.memory_client import hashing_embedder as hashing_embedder
from tests.helpers.memory_client import memory_client as memory_client
from tests.helpers.memory_client import new_memory_client as new_memory_client


@pytest.fixture(autouse=True)
def use_hashing_embedder(hashing_embedder: None) -> None:
    """Every test here."""
    del hashing_embedder
