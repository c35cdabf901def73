"""Sockets of sessions, heard by phrases alone and without patience."""

import pytest

from negotiator.teleprompter.streams.socket.floor import Patience
from tests.ears import quick_ear as quick_ear
from tests.hearer import reader as reader

HASTY = Patience(auth=0.3, idle=0.6, renewal=0.5, believed=0.05, look=0.02, goodbye=0.5)


@pytest.fixture(autouse=True)
def by_phrase(quick_ear: None) -> None:
    """Every test here."""
    del quick_ear


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """The application that is made next waits for nobody."""
    monkeypatch.setattr("negotiator.wiring.teleprompter.Patience", lambda: HASTY)
