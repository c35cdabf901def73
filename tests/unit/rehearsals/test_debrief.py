"""The figures of a debrief: those of a short talk checked by hand, and rules that hold for any rehearsal."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.rehearsals.counterpart.person import Ploy
from negotiator.rehearsals.debrief import Debrief
from negotiator.rehearsals.debrief_words import DebriefWords
from negotiator.rehearsals.stored import RehearsalState
from negotiator.terms.issues import Package
from negotiator.terms.terms import Constraint
from tests.helpers.generated_rehearsals import made_up_rehearsal
from tests.helpers.rehearsal_examples import CAR, TALK, Row, car_debrief, owner, seats_debrief


def price(amount: str) -> Package:
    return {"price": Decimal(amount)}


def test_what_was_left_on_the_table_is_told_turn_by_turn() -> None:
    found = car_debrief()
    assert found.best == price("11500")
    assert found.deal == price("12400")
    assert found.left is not None
    assert found.left.money == Decimal(900)
    lost = {one.turn: one.gap.money for one in found.losses.values()}
    assert lost == {1: Decimal(0), 3: Decimal(0), 5: Decimal(400), 7: Decimal(500)}
    assert found.costliest is not None
    assert found.costliest.turn == 7
    assert found.score == 10  # €100 of the €1,000 between 12,500 and 11,500


def test_opening_and_concessions_are_measured_in_money() -> None:
    found = car_debrief([("me", "offer", "10500"), *TALK[1:]])
    assert found.opening is not None
    ahead = found.ahead_of_target(found.opening[1])
    assert ahead is not None
    assert ahead.money == Decimal(300)
    assert found.first_mover == "me"
    assert [(one.turn, one.by, one.gap.money) for one in found.moves] == [
        (3, "me", Decimal(800)),
        (4, "them", Decimal(500)),
        (5, "me", Decimal(600)),
        (6, "them", Decimal(600)),
    ]


@pytest.mark.parametrize(
    ("rows", "state", "floor", "score"),
    [
        (TALK[:6], "running", "11500", 0),
        ([*TALK[:6], ("me", "leave", None)], "left_by_me", "11500", 0),
        ([*TALK[:6], ("them", "leave", None)], "left_by_them", "11500", 0),
        ([*TALK[:6], ("me", "leave", None)], "left_by_me", "12600", 100),
        ([*TALK[:6], ("them", "leave", None)], "left_by_them", "12600", 100),
        ([("me", "offer", "11500"), ("them", "accept", "11500")], "agreed", "11500", 100),
        ([("me", "offer", "12700"), ("them", "accept", "12700")], "agreed", "11500", 0),
        ([("me", "offer", "12700"), ("them", "accept", "12700")], "agreed", "12600", 0),
    ],
)
def test_the_score_of_each_end(rows: Sequence[Row], state: RehearsalState, floor: str, score: int) -> None:
    assert car_debrief(rows, state, person=owner(floor)).score == score


def test_no_deal_costs_what_the_best_deal_is_above_the_walk_away() -> None:
    found = car_debrief([*TALK[:6], ("me", "leave", None)], "left_by_me")
    assert found.left is not None
    assert found.left.money == Decimal(1000)
    assert sum(one.gap.money or 0 for one in found.losses.values()) == 1000
    assert found.costliest is not None
    assert (found.costliest.turn, found.costliest.gap.money) == (7, Decimal(600))


def test_a_limit_that_is_passed_is_told_with_its_amount() -> None:
    rows: list[Row] = [*TALK[:4], ("me", "offer", "12800"), ("them", "accept", "12800")]
    found = car_debrief(rows)
    assert [(one.turn, one.issue, one.money) for one in found.passed] == [(5, None, Decimal(300))]
    assert [one.money for one in found.deal_passes] == [Decimal(300)]
    ruled = replace(CAR, walk_away=None, constraints=(Constraint("price", "<=", (Decimal(12000),)),))
    ruled = replace(ruled, preferences=replace(ruled.preferences, issues=(replace(ruled.issues[0], limit=None),)))
    found = car_debrief(rows, terms=ruled)
    assert [(one.turn, one.issue, one.money) for one in found.passed] == [(5, "price", Decimal(800))]


def test_a_limit_on_what_nobody_named_is_not_passed() -> None:
    notice = replace(CAR.issues[0], name="notice", type="duration_days", range=None, limit=14)
    two = replace(CAR, preferences=replace(CAR.preferences, issues=(*CAR.issues, notice)))
    found = car_debrief([*TALK[:4], ("me", "offer", "12800"), ("them", "accept", "12800")], terms=two)
    assert {one.issue for one in (*found.passed, *found.deal_passes)} <= {None, "price"}


def test_a_tactic_counts_as_unanswered_only_when_the_user_gives_in_at_once() -> None:
    ploys: dict[int, Ploy] = {4: "flat_refusal", 6: "deadline_bluff"}
    found = car_debrief(ploys=ploys)
    assert [(one.turn, one.reply, one.accepted, one.gap.money) for one in found.unanswered] == [
        (4, 5, False, Decimal(600)),
        (6, 7, True, Decimal(500)),
    ]
    asked = car_debrief(ploys=ploys, remarks={5: "question_why"})
    assert [one.turn for one in asked.unanswered] == [6]
    silent: list[Row] = [*TALK[:4], ("me", "wait", None), ("them", "offer", "12400"), TALK[4]]
    assert car_debrief(silent, "running", ploys={4: "flat_refusal"}).unanswered == []


def test_what_the_terms_lack_is_null() -> None:
    issue = replace(CAR.issues[0], range=None, limit=None)
    bare = replace(
        CAR, target=None, walk_away=None, unvalued=("price",), preferences=replace(CAR.preferences, issues=(issue,))
    )
    found = car_debrief(terms=bare)
    view = DebriefWords(found).view(rehearsal_id="reh_0", seed=1)
    assert view["opening"] is not None
    assert view["opening"]["against_target"] is None
    assert view["levels"]["target"] is None
    assert view["own_limits_passed"] == []
    assert view["left_on_table"]["money"] == "900.00"


def test_of_several_issues_each_part_is_counted_as_a_change_of_the_price() -> None:
    found = seats_debrief()
    assert found.best == {"seat_price": Decimal("47.00"), "term": 24}
    assert found.left is not None
    assert found.left.money == Decimal("5.00")
    view = DebriefWords(found).view(rehearsal_id="reh_0", seed=1)
    assert view["left_on_table"]["money"] == "9600.00"  # 80 seats × €5 × 24 months
    assert view["same_terms"] is not None
    assert view["same_terms"]["money"] == "9600.00"
    assert [(part["issue"], part["money"]) for part in view["left_on_table"]["parts"]] == [("seat_price", "9600.00")]
    assert [(move["turn"], move["money"]) for move in view["moves"]] == [
        (3, "18240.00")  # €7 of price and €2.50 for a year, × 80 seats × 24 months
    ]


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=30)
def test_any_rehearsal_has_a_debrief(seed: int) -> None:
    terms, person, turns, state = made_up_rehearsal(seed)
    found = Debrief(terms, person, turns, state)
    view = DebriefWords(found).view(rehearsal_id="reh_0", seed=seed)
    assert orjson.loads(orjson.dumps(view)) == view
    assert 0 <= view["score"] <= 100
    assert len(view["sentences"]) == 3
    if terms.target is None:
        assert view["levels"]["target"] is None
    texts = [*view["sentences"], view["try_next"], view["lesson"], view["left_on_table"]["words"]]
    for rows in (view["moves"], view["own_limits_passed"], view["unanswered"]):
        texts += [row["words"] for row in rows]
    for text in texts:
        assert text
        assert text == " ".join(text.split())
        assert not {"_", "{"} & {*text}, text
        assert not {"None", "utility", "ploy", "floor"} & {*text.split()}, text


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=50)
def test_the_losses_of_the_turns_add_up_to_what_was_left(seed: int) -> None:
    terms, person, turns, state = made_up_rehearsal(seed)
    found = Debrief(terms, person, turns, state)
    own = [turn for turn in turns if turn.by == "me" and turn.package is not None]
    settled = found.deal is None and state != "running" and any(turn.by == "me" for turn in turns)
    if found.left is not None and found.score == 0:
        assert found.left.utility >= 0.99 * found.own.gap(found.best, None).utility - 1e-9
    if found.left is None or not (settled or (own and own[-1].package == found.deal)):
        return
    assert sum(one.gap.utility for one in found.losses.values()) == pytest.approx(found.left.utility, abs=1e-9)
    if found.left.money is not None and len(terms.issues) == 1:
        assert sum(one.gap.money or 0 for one in found.losses.values()) == found.left.money
