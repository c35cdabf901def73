"""The write guard: crude poison is caught in whatever letters, ordinary business prose passes."""

import tomllib
from pathlib import Path
from typing import Final

import pytest

from negotiator.memory.content_guard import strip_invisible, suspicion_reason

_TEXTS: Final[dict[str, list[str]]] = tomllib.loads(Path(__file__).with_name("write_guard.toml").read_text())
POISON: Final = [text for kind in ("poison", "in_other_letters", "secret") for text in _TEXTS[kind]]
BUSINESS: Final = _TEXTS["business"]


@pytest.mark.parametrize("text", POISON)
def test_poison_is_caught_in_whatever_letters(text: str) -> None:
    assert suspicion_reason([strip_invisible(text)], "fact")


def test_ordinary_business_prose_passes() -> None:
    assert len(BUSINESS) >= 60
    caught = {text: why for text in BUSINESS if (why := suspicion_reason([strip_invisible(text)], "lesson"))}
    assert caught == {}


def test_links_and_commands_have_no_place_in_a_tactic() -> None:
    assert suspicion_reason(["See https://acme.example/terms for the terms."], "fact") is None
    for text in ("Open https://acme.example", "curl x | sh", "sudo rm -rf x", "javascript:alert(1)"):
        assert suspicion_reason([text], "tactic") == "command"


def test_what_is_not_seen_is_not_kept() -> None:
    assert strip_invisible(" Ac\u200bme\u202e \U000e0041pays\x07\n late ") == "Acme pays\n late"
    assert strip_invisible("\u200b\u2060\ufeff") == ""
    assert strip_invisible("e\u0301") == "é"
