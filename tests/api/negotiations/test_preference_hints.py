"""Hints of the other side's preferences in a described turn."""

from typing import Any

import pytest

from tests.contract.requirements import covers
from tests.helpers.negotiation_client import NegotiationClient, pointers

TURN: dict[str, Any] = {
    "issues": [{"name": "price", "values": [1, 2, 3]}, {"name": "gift", "values": [True, False]}],
    "my_preferences": {
        "reservation_utility": 0.4,
        "part_worths": {"price": [[1, 0.6], [2, 0.3], [3, 0.0]], "gift": [[True, 0.4], [False, 0.0]]},
    },
    "progress": {"step": 1, "n_steps": 10},
    "history": [{"step": 0, "by": "them", "offer": {"price": 3, "gift": False}}],
    "protocol": "sao",
}
HINTS: dict[str, Any] = {
    "part_worths": {"price": [[1, 0.0], [2, 0.4], [3, 0.8]], "gift": [[True, 0.0], [False, 0.2]]},
    "weights": {"price": 4, "gift": 1},
    "reservation_utility": 0.3,
    "confidence": 0.7,
}


@pytest.mark.asyncio
@covers("6.7:hints")
@pytest.mark.parametrize("members", [[], *[[name] for name in HINTS], [*HINTS]])
@pytest.mark.parametrize("counterpart", ["person", "agent"])
async def test_each_hint_may_be_given_or_left_out(
    negotiation_client: NegotiationClient, members: list[str], counterpart: str
) -> None:
    hints = {name: HINTS[name] for name in members}
    turn = {**TURN, "their_preferences": hints, "counterpart": counterpart}
    answer = await negotiation_client.post("/next-move", turn)
    assert answer.status_code == 200, answer.text
    move = answer.json()
    assert move["counterpart"] == counterpart
    assert move["my_utility"] is None or move["my_utility"] >= move["floor"] == 0.4
    assert (await negotiation_client.post("/next-move", turn)).json() == move


@pytest.mark.asyncio
@covers("6.7:hints")
@pytest.mark.parametrize(
    ("hints", "pointer"),
    [
        ({"part_worths": {"colour": [["red", 1]]}}, "part_worths/colour"),
        ({"part_worths": {"price": [[9, 1]]}}, "part_worths/price/0/0"),
        ({"part_worths": {"price": [[True, 1]]}}, "part_worths/price/0/0"),
        ({"part_worths": {"gift": [[1, 1]]}}, "part_worths/gift/0/0"),
        ({"part_worths": {"price": [[1, "much"]]}}, "part_worths/price/0/1"),
        ({"part_worths": {"price": [[1, True]]}}, "part_worths/price/0/1"),
        ({"part_worths": {"price": [[1, 1e7]]}}, "part_worths/price/0/1"),
        ({"part_worths": {"price": [[1, 0.1], [1.0, 0.2]]}}, "part_worths/price"),
        ({"part_worths": {"price": []}}, "part_worths/price"),
        ({"part_worths": {"price": [[1]]}}, "part_worths/price/0"),
        ({"part_worths": []}, "part_worths"),
        ({"weights": {"colour": 1}}, "weights/colour"),
        ({"weights": {"price": -1}}, "weights/price"),
        ({"weights": {"price": 1e13}}, "weights/price"),
        ({"weights": {"price": "4"}}, "weights/price"),
        ({"weights": {"price": 0, "gift": 0}}, "weights"),
        ({"reservation_utility": "low"}, "reservation_utility"),
        ({"reservation_utility": 1e9}, "reservation_utility"),
        ({"confidence": 1.1}, "confidence"),
        ({"confidence": -0.1}, "confidence"),
        ({"confidence": True}, "confidence"),
        ({"sure": 1}, "sure"),
    ],
)
async def test_a_hint_that_fits_no_issue_of_the_turn_is_refused(
    negotiation_client: NegotiationClient, hints: dict[str, Any], pointer: str
) -> None:
    answer = await negotiation_client.post("/next-move", {**TURN, "their_preferences": hints})
    assert f"/their_preferences/{pointer}" in pointers(answer)


@pytest.mark.asyncio
@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "-1e999"])
async def test_a_hint_that_is_not_finite_is_refused(negotiation_client: NegotiationClient, number: str) -> None:
    for hint in (
        f'{{"reservation_utility": {number}}}',
        f'{{"weights": {{"price": {number}}}}}',
        f'{{"part_worths": {{"price": [[1, {number}]]}}}}',
        f'{{"confidence": {number}}}',
    ):
        turn = (
            '{"issues": [{"name": "price", "values": [1]}], "my_preferences": {"reservation_utility": 0, '
            f'"part_worths": {{"price": [[1, 1]]}}}}, "their_preferences": {hint}}}'
        )
        headers = {**negotiation_client.headers, "Content-Type": "application/json"}
        answer = await negotiation_client.client.post("/api/next-move", content=turn, headers=headers)
        assert answer.status_code in {400, 422}, answer.text
