"""The screen survives between two processes."""

from dataclasses import fields
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from negotiator.teleprompter.cues.matcher import CueMatch
from negotiator.teleprompter.cues.policy import (
    Card,
    HeardUtterance,
    Screen,
    advance_screen,
    dump_screen,
    restore_screen,
)

words = st.text(max_size=12)
cards = st.builds(
    Card,
    **{
        **{field.name: words for field in fields(Card) if field.type is str},
        "confidence": st.floats(0, 1),
        "source": st.sampled_from(["rule", "model", "memory", "plan"]),
        "stage": st.sampled_from(["early", "final"]),
        "at": st.floats(0, 2e9),
        "count": st.integers(1, 99),
        "memory_ids": st.lists(words, max_size=3).map(tuple),
        "urgent": st.booleans(),
    },
)
moments = st.floats(0, 2e9)
screens = st.builds(
    Screen,
    cards=st.lists(cards, max_size=2).map(tuple),
    families=st.dictionaries(words, cards, max_size=3),
    rising=st.dictionaries(words, st.tuples(words, st.integers(1, 5)), max_size=3),
    shown_at=st.lists(moments, max_size=2).map(tuple),
    asked_at=st.none() | moments,
)


def carried(screen: Screen) -> Screen:
    """The screen after a way through JSON."""
    kept: dict[str, Any] = orjson.loads(orjson.dumps(dump_screen(screen)))
    return restore_screen(kept)


@given(screens)
def test_a_screen_is_the_same_after_a_way_through_json(screen: Screen) -> None:
    assert carried(screen) == screen


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["price_too_high", "final_offer", "ask_the_boss", "deadline"]),
            st.floats(0.05, 0.9),
            st.booleans(),
            st.sampled_from(["u1", "u2", "u3"]),
        ),
        max_size=12,
    )
)
def test_a_call_that_moves_between_processes_shows_the_same(said: list[Any]) -> None:
    here, there = Screen(), Screen()
    for at, (cue, sure, final, name) in enumerate(said):
        heard = HeardUtterance(name, "them", "x", final, float(at))
        match = CueMatch(cue, sure, "model", "x")
        here, told = advance_screen(here, heard, [match])
        there, retold = advance_screen(carried(there), heard, [match])
        assert told == retold
    assert carried(there) == here


def test_nothing_kept_is_an_empty_screen() -> None:
    assert restore_screen({}) == Screen()
