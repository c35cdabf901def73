"""The steps of the path, and that a talk that follows it walks it."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.advice.concession.aims import Style, find_aims
from negotiator.advice.concession.move import PersonMove, person_move
from negotiator.advice.concession.path import concession_path, position, steps_left
from negotiator.advice.leverage.concessions import LedgerOffer
from negotiator.base.errors import ValidationFailed
from negotiator.base.values import DAY
from negotiator.terms.issues import Package, Scalar
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms import Terms
from negotiator.terms.terms_parsing import parse_terms
from tests.helpers.generated_talks import NOW, SEEDS, negotiation, talk
from tests.helpers.limit_checks import broken_rules, worth

STYLES = st.sampled_from(("balanced", "firm", "cooperative"))


@given(SEEDS, STYLES)
@settings(max_examples=300)
def test_every_offer_of_a_plan_keeps_the_limits_and_gives_in_shrinking_steps(seed: int, style: Style) -> None:
    one = negotiation(seed)
    aims = find_aims(one.terms, style=style)
    path = concession_path(aims, style=style)
    offers = [path.now, *path.steps]
    for before, after in pairwise(offers):
        assert broken_rules(one.terms, after.package) == []
        for issue in one.terms.issues:
            gain = worth(issue, after.package[issue.name]) - worth(issue, before.package[issue.name])
            assert gain <= 1e-9
    sizes = [step.given for step in path.steps]
    assert all(b <= a + 1e-9 for a, b in pairwise(sizes))
    assert all(size > 0 for size in sizes)


@given(SEEDS, STYLES)
@settings(max_examples=200)
def test_what_a_step_asks_for_was_not_given_before(seed: int, style: Style) -> None:
    aims = find_aims(negotiation(seed).terms, style=style)
    given: set[str] = set()
    for step in concession_path(aims, style=style).steps:
        given |= {change.issue.name for change in step.gives}
        if step.ask is not None and step.ask.issue is not None:
            assert step.ask.issue.name not in given


@given(SEEDS, STYLES)
@settings(max_examples=200)
def test_packages_offered_together_are_of_equal_worth_and_none_is_better_throughout(seed: int, style: Style) -> None:
    aims = find_aims(negotiation(seed).terms, style=style)
    for step in concession_path(aims, style=style).steps:
        together = [step.package, *step.alternatives]
        worths = [aims.worth(package) for package in together]
        assert max(worths) - min(worths) <= 0.04 + 1e-9
        for place, package in enumerate(together):
            for other in together[place + 1 :]:
                gains = [
                    worth(aim.issue, package[aim.issue.name]) - worth(aim.issue, other[aim.issue.name])
                    for aim in aims.issues
                ]
                assert max(gains) > 0 > min(gains)


def followed(terms: Terms, style: Style) -> tuple[list[Package], list[Package]]:
    """The plan before the talk, and the offers of one in which they answer each step with one as large.

    They stay beyond the user's limit on the price, so that nothing of the path becomes needless. The last of the stated
    rounds is left out: the last offer also has what the path keeps back.
    """
    first = person_move(terms, (), now=NOW, on_table=None, style=style)
    price = terms.price
    if first.action != "counter" or price is None or price.range is None:
        return [], []
    plan: list[Package] = [first.path.now.package, *(step.package for step in first.path.steps)]
    rounds = len(plan) if terms.max_rounds is None else min(len(plan), terms.max_rounds - 1)
    walked: list[Package] = [plan[0]]
    ledger = [LedgerOffer(1, "me", plan[0])]
    low, high = price.range.min, price.range.max
    sign = -1 if price.direction == "lower" else 1
    at, move = (high if sign < 0 else low), first
    for spoken in range(1, rounds):
        if spoken > 1 and move.step is not None:
            at += sign * Decimal(repr(move.step.given)) * (high - low)
            limit = price.limit
            if limit is None or worth(price, at) >= worth(price, limit):
                break
        table: dict[str, Scalar] = {price.name: at}
        ledger.append(LedgerOffer(2 * spoken, "them", table))
        move = person_move(terms, ledger, now=NOW, on_table=table, style=style)
        if move.action != "counter" or move.package is None or move.why == "final_step":
            break
        walked.append(move.package)
        ledger.append(LedgerOffer(2 * spoken + 1, "me", move.package))
    return plan, walked


@given(SEEDS, STYLES)
@settings(max_examples=200)
def test_the_path_that_a_plan_shows_is_the_one_that_a_talk_walks(seed: int, style: Style) -> None:
    one = negotiation(seed, single_price=True, deadline=None)
    (price,) = one.terms.issues
    if price.options or price.value_points or price.range is None:
        return
    plan, walked = followed(one.terms, style)
    assert walked == plan[: len(walked)]


@given(SEEDS)
@settings(max_examples=150)
def test_a_far_deadline_changes_nothing(seed: int) -> None:
    one = talk(seed)

    def advised(deadline: int | None) -> PersonMove:
        terms = replace(one.terms, deadline=deadline)
        return person_move(terms, one.offers, now=NOW, on_table=one.on_table, words=one.words)

    free, far = advised(None), advised(NOW + 400 * DAY)
    assert (far.action, far.why, far.package) == (free.action, free.why, free.package)
    assert far.path.steps == free.path.steps


@given(SEEDS)
@settings(max_examples=60)
def test_an_open_ended_talk_with_somebody_who_never_moves_ends(seed: int) -> None:
    one = talk(seed, max_offers=1)
    if one.on_table is None:
        return
    terms = replace(one.terms, deadline=None, max_rounds=None)
    ledger: list[LedgerOffer] = []
    for spoken in range(40):
        ledger.append(LedgerOffer(2 * spoken, "them", one.on_table))
        move = person_move(terms, ledger, now=NOW, on_table=one.on_table)
        if move.action != "counter" or move.package is None:
            return
        ledger.append(LedgerOffer(2 * spoken + 1, "me", move.package))
    pytest.fail("the talk goes on for ever")


@given(SEEDS)
@settings(max_examples=60)
def test_an_open_ended_talk_with_somebody_who_answers_steps_concedes(seed: int) -> None:
    one = negotiation(seed, single_price=True, deadline=None, max_rounds=None)
    plan, walked = followed(one.terms, "balanced")
    (price,) = one.terms.issues
    if len(plan) > 1 and len(walked) > 1 and not price.value_points:  # they may have flat parts
        assert worth(price, walked[-1][price.name]) < worth(price, walked[0][price.name])


def by_thousand(body: Mapping[str, Any]) -> dict[str, Any]:
    """A body with one price, its amounts a thousand times as large."""
    (price,) = body["issues"]
    wide = {**price, "range": {k: _large(v) for k, v in price["range"].items()}}
    if "value_points" in price:
        wide["value_points"] = [[_large(at), one] for at, one in price["value_points"]]
    found = {**body, "issues": [wide]}
    for name in ("target", "walk_away"):
        if "package" in body.get(name, {}):
            found[name] = {"package": {k: _large(v) for k, v in body[name]["package"].items()}}
    if "value" in body.get("batna", {}) and "package" in body["batna"]["value"]:
        package = {k: _large(v) for k, v in body["batna"]["value"]["package"].items()}
        found["batna"] = {**body["batna"], "value": {"package": package}}
    if "their_estimate" in body:
        known = body["their_estimate"]["walk_away"]
        wide = {k: v if k == "unit" else _large(v) for k, v in known.items()}
        found["their_estimate"] = {"walk_away": wide}
    return found


def _large(amount: Any) -> str | None:
    return None if amount is None else format(Decimal(str(amount)) * 1000, "f")


@given(SEEDS, STYLES)
@settings(max_examples=200)
def test_amounts_a_thousand_times_as_large_have_the_same_path_up_to_rounding(seed: int, style: Style) -> None:
    one = negotiation(seed, single_price=True, constraints=[], allow=[])
    (price,) = one.terms.issues
    if price.options or price.value_points or price.range is None:
        return
    if price.range.max - price.range.min < 1000:  # round figures are too far apart
        return
    try:
        large = parse_terms(NegotiationBody.model_validate(by_thousand(one.body)))
    except ValidationFailed:
        return
    paths = [concession_path(find_aims(terms, style=style), style=style) for terms in (one.terms, large)]
    small = [Decimal(str(path.now.package[price.name])) for path in paths]
    room = price.range.max - price.range.min
    assert abs(small[1] / 1000 - small[0]) <= room / 16
    ends = [Decimal(str((path.steps or (path.now,))[-1].package[price.name])) for path in paths]
    assert abs(ends[1] / 1000 - ends[0]) <= room / 8


def test_partial_offers_of_the_user_count_where_they_were_named() -> None:
    one = negotiation(4, max_issues=3)
    aims = find_aims(one.terms)
    first = aims.issues[0]
    at = position(aims, [{**aims.opening, first.issue.name: first.last}])
    assert at[first.issue.name] == first.last


@pytest.mark.parametrize(("rounds", "left"), [(None, 4), (2, 1), (4, 3), (10_000, 8)])
def test_there_are_as_many_steps_as_the_talk_will_have(rounds: int | None, left: int) -> None:
    terms = replace(negotiation(1).terms, max_rounds=rounds)
    assert steps_left(find_aims(terms), 1) == left
