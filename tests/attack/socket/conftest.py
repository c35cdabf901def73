"""Sockets without patience, heard by phrases, of sound that is read."""

import pytest

from negotiator.teleprompter.streams.socket.floor import Patience
from tests.ears import quick_ear as quick_ear
from tests.hearer import Reader
from tests.hearer import reader as reader
from tests.notebook import hashed as hashed
from tests.prompter import desk as desk
from tests.prompter import new_desk as new_desk

HASTY = Patience(auth=0.3, idle=0.6, renewal=0.5, believed=0.05, look=0.02, goodbye=0.5)


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch, hashed: None, quick_ear: None, reader: Reader) -> None:
    """Every application here waits for nobody."""
    del hashed, quick_ear, reader
    monkeypatch.setattr("negotiator.wiring.teleprompter.Patience", lambda: HASTY)
