"""The next move with a person over random negotiations and ledgers, senseless ones included."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.advice.concession.aims import Style
from negotiator.advice.concession.move import PersonMove, person_move
from negotiator.advice.leverage.concessions import completed_offers
from negotiator.terms import limits
from negotiator.terms.issues import Package
from negotiator.terms.terms import Terms
from negotiator.terms.utility import is_complete
from tests.helpers.generated_talks import NOW, SEEDS, GeneratedTalk, talk
from tests.helpers.limit_checks import broken_rules, keeps_alone, worth

STYLES = st.sampled_from(("balanced", "firm", "cooperative"))
SAME = 1e-9


def advised(one: GeneratedTalk, style: Style = "balanced") -> PersonMove:
    return person_move(one.terms, one.offers, now=NOW, on_table=one.on_table, style=style, words=one.words)


@given(SEEDS, STYLES)
@settings(max_examples=300)
def test_nothing_is_proposed_or_accepted_beyond_a_limit(seed: int, style: Style) -> None:
    one = talk(seed)
    move = advised(one, style)
    if move.action == "accept":
        assert move.package is not None
        assert move.package == one.on_table
        assert broken_rules(one.terms, move.package, values=False) == []
    if move.action == "counter":
        assert move.package is not None
        assert move.step is not None
        for package in (move.package, *move.step.alternatives):
            assert broken_rules(one.terms, package) == []
    for step in move.path.steps:
        for package in (step.package, *step.alternatives):
            assert broken_rules(one.terms, package) == []


@given(SEEDS, STYLES, st.sampled_from(("Deal!", "OK, agreed.", "It is sold.")))
@settings(max_examples=200)
def test_their_yes_closes_nothing_beyond_a_limit(seed: int, style: Style, answer: str) -> None:
    one = talk(seed)
    move = person_move(one.terms, one.offers, now=NOW, on_table=one.on_table, style=style, answer=answer)
    if move.why == "they_agree":
        assert move.package is not None
        assert move.package == move.reading.own[-1]
        assert broken_rules(one.terms, move.package, values=False) == []


@given(SEEDS, STYLES)
@settings(max_examples=300)
def test_an_own_limit_is_passed_only_in_a_named_trade(seed: int, style: Style) -> None:
    one = talk(seed)
    move = advised(one, style)
    before = {name for row in one.offers if row.by == "me" for name in limits.passes_own_limit(one.terms, row.package)}
    for package in (move.package, *(step.package for step in move.path.steps)):
        if package is None or move.action != "counter":
            continue
        passed = {*limits.passes_own_limit(one.terms, package)} - before
        named = set[str]() if move.trade is None else {move.trade.allowed.issue}
        assert passed <= named


@given(SEEDS, STYLES)
@settings(max_examples=400)
def test_what_the_user_offered_is_not_taken_back(seed: int, style: Style) -> None:
    one = talk(seed)
    move = advised(one, style)
    if move.action != "counter" or not move.reading.own:
        return
    assert move.package is not None
    last = move.reading.own[-1]
    if not move.path.aims.is_acceptable(last):  # then it is corrected
        return
    named = set[str]() if move.trade is None else {*move.trade.allowed.in_return}
    theirs = move.reading.their_last or {}
    for issue in one.terms.issues:
        if issue.name not in named:  # what they offer themselves is no taking back
            most = max(worth(issue, last[issue.name]), worth(issue, theirs.get(issue.name, last[issue.name])))
            assert worth(issue, move.package[issue.name]) <= most + SAME


def asks_for_more_than(mine: Package, theirs: Package, terms: Terms) -> bool:
    """Whether they want a value that is worse for the user than the user's own on an issue beside the price."""
    rest = [issue for issue in terms.issues if issue is not terms.price and issue.name in theirs]
    return any(worth(issue, theirs[issue.name]) < worth(issue, mine[issue.name]) - SAME for issue in rest)


@given(SEEDS, STYLES)
@settings(max_examples=400)
def test_no_issue_is_given_beyond_what_they_ask(seed: int, style: Style) -> None:
    one = talk(seed)
    move = advised(one, style)
    theirs = completed_offers([row for row in one.offers if row.by == "them"])
    if move.action != "counter" or not theirs or move.trade is not None:
        return
    assert move.package is not None
    if move.reading.own and not move.path.aims.is_acceptable(move.reading.own[-1]):
        return
    for issue in one.terms.issues:
        value = theirs[-1].package.get(issue.name)
        if value is None or not keeps_alone(one.terms, issue, value):
            continue
        if issue is one.terms.price and asks_for_more_than(move.path.now.package, theirs[-1].package, one.terms):
            continue  # their price is one for less
        offered = [worth(issue, package[issue.name]) for package in move.reading.own]
        least = min([worth(issue, value), *offered])
        assert worth(issue, move.package[issue.name]) >= least - SAME


@given(SEEDS, STYLES)
@settings(max_examples=200)
def test_the_path_gives_on_every_issue_in_one_direction_and_in_steps_that_do_not_grow(seed: int, style: Style) -> None:
    one = talk(seed)
    path = advised(one, style).path
    before, given_before = path.now.package, 9.0
    for step in path.steps:
        for issue in one.terms.issues:
            assert worth(issue, step.package[issue.name]) <= worth(issue, before[issue.name]) + SAME
        is_listed = any(one.issue.options or one.issue.type == "boolean" for one in step.gives)
        assert is_listed or step.given <= given_before + SAME  # nothing smaller can be given on a list
        before, given_before = step.package, step.given


@given(SEEDS, STYLES)
@settings(max_examples=100)
def test_the_same_request_has_the_same_answer(seed: int, style: Style) -> None:
    assert advised(talk(seed), style) == advised(talk(seed), style)


@given(SEEDS)
@settings(max_examples=100)
def test_the_order_of_the_rows_does_not_matter(seed: int) -> None:
    one = talk(seed)
    shuffled = GeneratedTalk(one.body, one.terms, one.offers[::-1], one.on_table, one.words)
    assert advised(shuffled) == advised(one)


@given(SEEDS)
@settings(max_examples=300)
def test_an_issue_without_a_permitted_value_is_not_offered(seed: int) -> None:
    one = talk(seed, max_offers=0)
    move = advised(one)
    if move.action == "counter":
        assert move.package is not None
        assert is_complete(one.terms.issues, move.package)
    else:
        assert move.why == "no_room"
        assert not move.path.steps


@pytest.mark.parametrize("style", ["balanced", "firm", "cooperative"])
def test_an_opening_is_worth_at_least_the_walk_away(style: Style) -> None:
    for seed in range(100):
        move = advised(talk(seed, max_offers=0), style)
        if move.action == "counter":
            assert move.path.now.utility >= move.path.aims.floor - SAME
