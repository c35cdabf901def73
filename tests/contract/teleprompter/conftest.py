"""Calls, with the embedder that needs no model."""

import pytest

from tests.helpers.fake_recognizer import fake_recognizer as fake_recognizer
from tests.helpers.memory_client import hashing_embedder as hashing_embedder
from tests.helpers.teleprompter_client import caller as caller
from tests.helpers.teleprompter_client import new_caller as new_caller


@pytest.fixture(autouse=True)
def use_hashing_embedder(hashing_embedder: None) -> None:
    del hashing_embedder
