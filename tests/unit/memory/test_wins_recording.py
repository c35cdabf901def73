"""What the memory of a win says."""

from typing import Any

import pytest

from negotiator.memory.schemas_wins import NewWin
from negotiator.memory.wins_recording import describe_win, validated_savings


def described(**members: Any) -> str:
    body = NewWin.model_validate({"currency": "EUR", **members})
    return describe_win(body, validated_savings(body))


def test_a_win_is_described_as_one_would_tell_it() -> None:
    assert described(
        category="software",
        kind="renewal",
        role="buyer",
        counterparty="Pixelhaus",
        baseline={"kind": "previous_price", "amount": "540"},
        achieved={"amount": "462"},
        quantity=35,
        notes="A two-year term was declined.",
    ) == (
        "Software renewal with Pixelhaus, as the buyer: agreed at €462 instead of the previous price of €540. That "
        "is 14.4% less, a gain of €2,730 in all. A two-year term was declined."
    )


@pytest.mark.parametrize(
    ("role", "agreed", "said"),
    [
        ("buyer", "90", "10% less, a gain of €10"),
        ("buyer", "110", "10% more, a loss of €10"),
        ("seller", "110", "10% more, a gain of €10"),
        ("seller", "90", "10% less, a loss of €10"),
    ],
)
def test_more_and_less_are_what_they_are_for_the_side(role: str, agreed: str, said: str) -> None:
    assert said in described(role=role, baseline={"amount": "100"}, achieved={"amount": agreed})


def test_tactics_are_named_by_their_words() -> None:
    tactics = [
        {"tactic_id": "tac_calibrated_question", "helped": 2},
        {"tactic_id": "tac_01m84987z757wpmswhchakrea3", "helped": 1},
    ]
    text = described(baseline={"amount": "100"}, achieved={"amount": "90"}, tactics_used=tactics)
    assert "What helped: calibrated question." in text
