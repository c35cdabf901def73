"""Sockets of sessions, heard by phrases alone."""

import pytest

from tests.ears import quick_ear as quick_ear


@pytest.fixture(autouse=True)
def by_phrase(quick_ear: None) -> None:
    """Every test here."""
    del quick_ear
