"""The screen survives between two processes."""

from dataclasses import fields
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from negotiator.teleprompter.cues.catalogue import cue_catalogue
from negotiator.teleprompter.cues.matcher import Match
from negotiator.teleprompter.cues.policy import Card, Heard, Screen, step
from negotiator.teleprompter.cues.screen import dump, restore

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
    },
)
screens = st.builds(
    Screen,
    cards=st.lists(cards, max_size=2).map(tuple),
    families=st.dictionaries(words, cards, max_size=3),
    rising=st.dictionaries(words, st.tuples(words, st.integers(1, 5)), max_size=3),
)


def carried(screen: Screen) -> Screen:
    """The screen after a way through JSON."""
    kept: dict[str, Any] = orjson.loads(orjson.dumps(dump(screen)))
    return restore(kept)


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
        heard = Heard(name, "them", "x", final, float(at))
        match = Match(cue, sure, "model", "x")
        here, told = step(here, heard, [match], catalogue=cue_catalogue())
        there, retold = step(carried(there), heard, [match], catalogue=cue_catalogue())
        assert told == retold
    assert carried(there) == here


def test_nothing_kept_is_an_empty_screen() -> None:
    assert restore({}) == Screen()
