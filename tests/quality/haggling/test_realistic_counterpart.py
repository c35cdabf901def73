"""The counterpart of rehearsals bargains within what was seen of people, with users who bargain as people do."""

import pytest

from negotiator.rehearsals.counterpart.person import HARDNESSES, KINDS, Hardness, PersonKind
from tests.bench.rehearsal.human_users import RehearsedTalk
from tests.bench.rehearsal.realism import RANGES, has_room, measured, outside, talks_of

SEEDS = range(3)
"""Of each case, kind and hardness; `tests.bench.rehearsal.realism` plays nine times as many."""
CORRELATIONS = {"first price of the talk and deal, r", "first price of the user and deal, r"}
"""So few seeds say nothing of them; they have a test of their own."""
ONE_PRICE = ("used_car", "salary_raise", "settlement", "used_machine")


@pytest.fixture(scope="module")
def cells() -> dict[tuple[PersonKind, Hardness], list[RehearsedTalk]]:
    """The talks of every kind and hardness."""
    return {(k, h): talks_of([k], [h], SEEDS) for k in KINDS for h in HARDNESSES}


def test_all_counterparts_together_are_within_every_human_range(
    cells: dict[tuple[PersonKind, Hardness], list[RehearsedTalk]],
) -> None:
    found = measured([talk for talks in cells.values() for talk in talks])
    ranges = [one for one in RANGES if one.name not in CORRELATIONS]
    assert {one.name: found[one.name] for one in ranges if not one.holds(found[one.name])} == {}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_leaves_a_human_range_only_by_its_own_habit(
    cells: dict[tuple[PersonKind, Hardness], list[RehearsedTalk]], kind: PersonKind
) -> None:
    talks = [talk for hardness in HARDNESSES for talk in cells[kind, hardness]]
    found = outside(kind, "normal", measured(talks))
    assert {name: value for name, value in found.items() if name not in CORRELATIONS} == {}


def test_first_prices_pull_the_deal_as_far_as_those_of_people() -> None:
    """About r = .5 (Orr and Guthrie 2006)."""
    talks = talks_of(["fair"], ["normal"], range(40), ONE_PRICE)
    ranges = [one for one in RANGES if one.name in CORRELATIONS]
    assert len(ranges) == len(CORRELATIONS)
    assert all(one.holds(one.of(talks)) for one in ranges)


def test_no_deal_lies_below_the_floor_and_most_pairs_with_room_find_one(
    cells: dict[tuple[PersonKind, Hardness], list[RehearsedTalk]],
) -> None:
    for talk in (talk for talks in cells.values() for talk in talks):
        if talk.deal is not None:
            assert talk.person.interests.worth(talk.deal) >= talk.person.floor - 1e-9
    fair = cells["fair", "normal"]
    assert sum(has_room(talk) for talk in fair) > len(fair) / 2
