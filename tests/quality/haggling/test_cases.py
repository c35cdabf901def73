"""Every case of the haggling benchmark is a body of the API, with the truth of a person beside it."""

import pytest

from negotiator.rehearsals.counterpart.person import KINDS, draw_person
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms_parsing import parse_terms
from negotiator.terms.utility import check_package, utility_of_worth
from tests.bench.haggling.measure import room_of
from tests.bench.haggling.play import case_names, load_case


@pytest.mark.parametrize("name", case_names())
def test_a_case_is_a_valid_body_with_a_target_and_a_walk_away(name: str) -> None:
    body = NegotiationBody.model_validate(load_case(name).negotiation)
    terms = parse_terms(body)
    assert terms.target
    assert utility_of_worth(terms.preferences, terms.walk_away, fill="low") is not None
    assert not terms.unvalued


@pytest.mark.parametrize("name", case_names())
def test_the_other_side_of_a_case_names_every_issue_inside_its_range(name: str) -> None:
    case = load_case(name)
    theirs = case.interests
    for package in (theirs.floor, theirs.ask):
        assert check_package(case.terms.issues, package) == []
        assert set(package) == {issue.name for issue in case.terms.issues}
    assert theirs.worth(theirs.floor) == pytest.approx(0.0)
    assert sum(stake.weight for stake in theirs.stakes) == pytest.approx(1.0)


@pytest.mark.parametrize("name", case_names())
def test_most_people_of_a_case_leave_room_for_a_deal(name: str) -> None:
    case = load_case(name)
    rooms = [room_of(case, draw_person(case.interests, "fair", seed)) for seed in range(20)]
    assert sum(room is not None for room in rooms) > len(rooms) // 2


def test_the_cases_differ_in_issues_currency_direction_and_end() -> None:
    cases = [load_case(name) for name in case_names()]
    terms = [case.terms for case in cases]
    assert {len(one.issues) for one in terms} >= {1, 2, 3, 4, 5}
    assert len({one.currency for one in terms}) >= 3
    assert {issue.direction for one in terms for issue in one.issues if issue.type == "money"} == {"higher", "lower"}
    assert {(one.max_rounds is None, one.deadline is None) for one in terms} >= {
        (True, True),
        (True, False),
        (False, True),
    }
    assert len(KINDS) == 5
