"""Nobody is heard without grounds, and what was heard is forgotten when it was promised, or never stored."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.teleprompter.schemas import ConsentBasis, Retention
from negotiator.teleprompter.session_transitions import EventBuilder, may_hear, transcript_expires_at
from negotiator.teleprompter.session_view import notice_text

CONSENT_BASES: tuple[ConsentBasis, ...] = get_args(ConsentBasis)
RETENTIONS: tuple[Retention, ...] = get_args(Retention)
DAY = 86_400_000


@pytest.mark.parametrize("basis", CONSENT_BASES)
def test_i_am_always_heard_and_they_only_where_it_is_not_my_side_alone(basis: ConsentBasis) -> None:
    assert may_hear(basis, "me")
    assert may_hear(basis, "them") == (basis != "own_side_only")


def test_the_notice_asks_everybody_only_where_everybody_has_to_agree() -> None:
    asking = notice_text("all_parties", "en-GB", "")
    telling = notice_text("one_party", "en", "")
    assert asking.startswith(telling)
    assert (asking[-1], telling[-1]) == ("?", ".")
    assert notice_text("own_side_only", "en", "") == ""


@pytest.mark.parametrize("language", ["en", "de-AT", "fr", "es-MX", "nl"])
def test_the_notice_names_the_third_party_that_hears_the_sound(language: str) -> None:
    assert "Example Speech" in notice_text("all_parties", language, "Example Speech")
    assert "Example Speech" not in notice_text("all_parties", language, "")


def test_another_language_is_told_in_english() -> None:
    both = [notice_text("one_party", language, "") for language in ("nl", "en")]
    assert both[0] == both[1]


@given(st.integers(0, 2**50), st.integers(0, 2**40))
def test_each_promise_has_its_own_time(created: int, length: int) -> None:
    ended = created + length
    times = {keep: transcript_expires_at(keep, created_at=created, ended_at=ended) for keep in RETENTIONS}
    assert times == {"none": ended, "session": ended + DAY, "30_days": ended + 30 * DAY, "until_deleted": None}


@pytest.mark.parametrize("keep", RETENTIONS)
def test_a_running_session_is_not_forgotten(keep: Retention) -> None:
    assert transcript_expires_at(keep, created_at=5, ended_at=None) is None


def test_a_silent_final_is_stored_with_its_tactics_and_without_their_words() -> None:
    telling = EventBuilder(0, 0, silent=True)
    tactic = {"id": "tac_final_offer_bluff", "name": "Final offer"}
    move = {"tactic": tactic, "quote": "final offer", "confidence": 0.8, "deceptive": True}
    body = {"text": "our final offer", "figures": [], "tactics": [move]}
    telling.tell("transcript.final", body)
    [told] = telling.told
    assert told.live.shown["tactics"] == [move]
    assert told.kept.shown["text"] is None
    assert told.kept.shown["tactics"] == [{**move, "quote": ""}]
