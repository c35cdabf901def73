"""What a described turn says reaches the strategy engine as it was said."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from negotiator.advice.strategy.situation import PreferenceHints
from negotiator.negotiations.engine_input import described_turn_input
from negotiator.negotiations.schemas_advice import NextMoveBody

VALUES: dict[str, list[Any]] = {"price": [1, 2.5, 3], "gift": [True, False], "term": ["1", "2"]}
TURN: dict[str, Any] = {
    "issues": [{"name": name, "values": values} for name, values in VALUES.items()],
    "my_preferences": {
        "reservation_utility": 0.4,
        "part_worths": {
            name: [[value, 0.3 / (k + 1)] for k, value in enumerate(values)] for name, values in VALUES.items()
        },
    },
    "on_table": {"offer": {"price": 3, "gift": False, "term": "2"}},
}
utilities = st.floats(-1e6, 1e6)
tables = st.fixed_dictionaries(
    {},
    optional={
        name: st.lists(st.tuples(st.sampled_from(values), utilities), min_size=1, unique_by=lambda pair: pair[0])
        for name, values in VALUES.items()
    },
)
weights = st.fixed_dictionaries({}, optional={name: st.floats(0.1, 1e12) for name in VALUES})


def hints(body: dict[str, Any] | None) -> PreferenceHints | None:
    """The hints in the engine's input for a turn with this belief."""
    return described_turn_input(NextMoveBody.model_validate({**TURN, "their_preferences": body})).hints


@given(tables, weights, st.none() | utilities, st.none() | st.floats(0, 1))
def test_hints_arrive_as_they_were_sent(
    table: dict[str, list[tuple[Any, float]]],
    given_weights: dict[str, float],
    reservation: float | None,
    confidence: float | None,
) -> None:
    found = hints(
        {
            "part_worths": {name: [list(pair) for pair in pairs] for name, pairs in table.items()},
            "weights": given_weights,
            "reservation_utility": reservation,
            "confidence": confidence,
        }
    )
    assert found == PreferenceHints(table, given_weights, reservation, confidence)


def test_a_turn_without_hints_has_none() -> None:
    assert hints(None) is None
    assert hints({}) == PreferenceHints()


def test_hints_come_with_what_is_on_the_table() -> None:
    situation = described_turn_input(NextMoveBody.model_validate({**TURN, "their_preferences": {"confidence": 0.5}}))
    assert situation.on_table is not None
    assert situation.hints == PreferenceHints(confidence=0.5)
