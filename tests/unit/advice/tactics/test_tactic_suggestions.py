"""What is suggested follows from the facts, says why, and keeps to the rules whatever the input."""

import dataclasses
from typing import Any

import pytest

from negotiator.advice.tactics.catalogue import built_in_catalogue
from negotiator.advice.tactics.facts import FACTS, PublicWords, TacticSituation
from negotiator.advice.tactics.ranking import TacticSuggestion, rank_tactics

SHELF = built_in_catalogue()


def advice(limit: int = 8, **facts: Any) -> dict[str, TacticSuggestion]:
    """Suggestions by tactic id, best first."""
    found = rank_tactics(TacticSituation(**facts), catalogue=SHELF, limit=limit)
    return {item.tactic.id: item for item in found}


def test_nothing_known_means_nothing_suggested() -> None:
    assert rank_tactics(TacticSituation(), catalogue=SHELF) == []
    assert rank_tactics(TacticSituation(role="buyer", phase="bargain"), catalogue=SHELF) == []


def test_an_informed_buyer_before_any_offer_is_told_to_open() -> None:
    found = advice(
        role="buyer",
        phase="open",
        my_offers=0,
        their_offers=0,
        well_informed=True,
        has_benchmark=True,
        n_issues=1,
        price_only=True,
    )
    first = next(iter(found.values()))
    assert first.tactic.id == "tac_first_anchor"
    assert "You have a fair idea of what they can live with." in first.why
    assert "tac_let_them_open" not in found


def test_an_uninformed_party_is_told_to_let_them_open_and_not_to_anchor() -> None:
    found = advice(role="candidate", phase="open", my_offers=0, their_offers=0, well_informed=False)
    assert "tac_let_them_open" in found
    assert "tac_first_anchor" not in found
    assert "range you have set aside" in found["tac_let_them_open"].say


def test_many_open_issues_bring_out_trades() -> None:
    found = advice(role="buyer", phase="bargain", n_issues=4, priorities_differ=True, well_informed=False)
    assert next(iter(found)) in {"tac_logrolling", "tac_meso"}
    assert {"tac_logrolling", "tac_meso"} <= set(found)


def test_a_single_price_issue_brings_no_trade_across_issues() -> None:
    found = advice(20, role="buyer", phase="bargain", n_issues=1, price_only=True, gap=0.4, their_offers=2, my_offers=2)
    assert not {"tac_logrolling", "tac_meso", "tac_bridging", "tac_package_everything"} & set(found)


def test_a_small_gap_near_the_end_is_closed() -> None:
    found = advice(role="buyer", phase="close", gap=0.05, rounds_left=1, n_issues=2)
    assert {"tac_conditional_close", "tac_split_difference"} & set(list(found)[:3])


def test_a_wide_gap_is_not_split() -> None:
    found = advice(50, role="buyer", phase="bargain", gap=0.5, rounds_left=1)
    assert "tac_split_difference" not in found


def test_a_real_competing_offer_is_used_and_its_absence_is_not_invented() -> None:
    with_offer = advice(role="buyer", phase="bargain", competition=2, their_last_move="silent")
    assert next(iter(with_offer)) == "tac_competitive_bid"
    assert "2 other offers" in with_offer["tac_competitive_bid"].why
    for competition in (0, None):
        assert "tac_competitive_bid" not in advice(
            50, role="buyer", phase="bargain", competition=competition, their_last_move="silent"
        )


def test_a_final_offer_is_answered_and_not_believed() -> None:
    found = advice(
        role="buyer", phase="bargain", utterance="This is our best and final offer.", their_claimed_final=True
    )
    first = next(iter(found.values()))
    assert first.tactic.id in SHELF.by_id["tac_final_offer_bluff"].countered_by
    assert "best and final" in first.why
    assert first.when.startswith("Right after their move")


def test_an_exploding_offer_to_a_candidate_is_met_by_testing_the_date() -> None:
    found = advice(role="candidate", phase="close", utterance="The offer expires tomorrow, it's now or never.")
    assert next(iter(found)) == "tac_test_deadline"
    assert "end of next week" in found["tac_test_deadline"].say


def test_a_budget_question_is_deflected() -> None:
    found = advice(role="buyer", phase="explore", utterance="What's your budget for this?", my_offers=0)
    assert next(iter(found)) == "tac_deflect_question"


def test_a_nibble_is_met_with_the_whole_package() -> None:
    found = advice(role="seller", phase="close", n_issues=3, utterance="Oh, and could you throw in delivery?")
    assert next(iter(found)) in {"tac_package_everything", "tac_conditional_concession"}


def test_a_strong_alternative_and_no_zone_lead_to_a_graceful_exit() -> None:
    found = advice(
        role="buyer",
        phase="close",
        has_batna=True,
        batna_known_to_be_strong=True,
        zopa_probability=0.1,
        their_last_move="silent",
    )
    assert "tac_graceful_exit" in found
    without = advice(
        50, role="buyer", phase="close", has_batna=False, batna_known_to_be_strong=False, zopa_probability=0.1
    )
    assert not {"tac_graceful_exit", "tac_walk_away_test"} & set(without)


def test_a_tense_lasting_relationship_gets_repair_before_pressure() -> None:
    found = advice(role="seller", phase="explore", tension=True, relationship="strategic", kind="renewal")
    assert SHELF.by_id[next(iter(found))].family == "relationship"
    assert all(SHELF.by_id[item].family != "hardball" for item in found)


def test_quarter_end_is_for_buyers_whose_seller_is_pressed() -> None:
    assert "tac_quarter_end" in advice(
        role="buyer", phase="bargain", deadline_pressure_theirs=0.8, deadline_pressure_mine=0.1
    )
    assert "tac_quarter_end" not in advice(50, role="seller", phase="bargain", deadline_pressure_theirs=0.8)
    assert "tac_quarter_end" not in advice(
        50, role="buyer", phase="bargain", deadline_pressure_theirs=0.8, deadline_pressure_mine=0.9
    )


def test_after_the_deal_only_what_helps_after_a_deal_is_suggested() -> None:
    found = advice(role="party", phase="after", n_issues=4)
    assert next(iter(found)) == "tac_post_settlement"
    assert all("after" in SHELF.by_id[item].phases for item in found)


def test_one_is_never_told_to_concede_on_a_step_backwards() -> None:
    facts: dict[str, Any] = {"role": "buyer", "phase": "bargain", "my_offers": 3, "rounds_left": 5}
    facts["room_to_give"] = True
    assert "tac_tapered_concessions" in advice(50, **facts, their_last_move="concession")
    for move in ("selfish", "silent"):
        assert "tac_tapered_concessions" not in advice(50, **facts, their_last_move=move)


def test_a_further_step_is_suggested_only_where_there_is_room_for_it() -> None:
    facts: dict[str, Any] = {"role": "buyer", "phase": "bargain", "my_offers": 3, "rounds_left": 5}
    facts["their_last_move"] = "concession"
    for room in (None, False):
        assert "tac_tapered_concessions" not in advice(50, **facts, room_to_give=room)
    near: dict[str, Any] = {"role": "buyer", "phase": "close", "gap": 0.1}
    assert "tac_split_difference" in advice(50, **near, middle_in_reach=True)
    assert "tac_split_difference" not in advice(50, **near, middle_in_reach=False)


def test_a_trade_that_they_offer_is_taken_up_and_not_fended_off() -> None:
    found = advice(role="buyer", phase="bargain", n_issues=3, utterance="If you sign for two years, then we can do 54.")
    first = next(iter(found.values()))
    assert first.tactic.id in {"tac_conditional_concession", "tac_logrolling"}
    assert first.why.startswith("It takes up the trade they look for, heard in “")
    assert not {"tac_name_the_tactic", "tac_ignore_ultimatum"} & set(found)


def test_company_tactics_are_not_suggested_to_a_private_person() -> None:
    facts: dict[str, Any] = {
        "role": "buyer",
        "phase": "explore",
        "kind": "new_purchase",
        "relationship": "new",
        "scope_open": True,
    }
    assert "tac_pilot" in advice(50, **facts, for_company=True)
    assert "tac_pilot" not in advice(50, **facts, for_company=False)


def test_the_parts_add_up_to_the_score() -> None:
    for item in advice(
        10, role="buyer", phase="bargain", n_issues=4, competition=1, gap=0.1, utterance="Take it or leave it."
    ).values():
        assert sum(part.points for part in item.evidence.parts) == pytest.approx(item.score, abs=1e-9)
        assert item.evidence.sources


def test_the_members_are_the_contracts() -> None:
    item = next(iter(advice(role="buyer", phase="bargain", n_issues=4).values()))
    assert set(dataclasses.asdict(item)) == {
        "tactic",
        "score",
        "why",
        "when",
        "say",
        "risk",
        "counters",
        "evidence",
        "memories",
        "wins",
    }
    assert set(dataclasses.asdict(item)["tactic"]) == {"id", "name"}


def test_what_is_said_uses_only_sayable_words_and_reads_well_without_them() -> None:
    situation = TacticSituation(
        role="party",
        phase="bargain",
        my_offers=3,
        their_last_move="silent",
        sayable=PublicWords(my_offer="9,000 euros", their_offer="12,000 euros\u202e\n{topic}"),
    )
    lines = {item.tactic.id: item.say for item in rank_tactics(situation, catalogue=SHELF, limit=50)}
    assert lines["tac_reciprocity"] == (
        "I am at 9,000 euros and you are at 12,000 euros topic. I think the next step is yours."
    )
    bare = advice(50, role="party", phase="bargain", my_offers=3, their_last_move="silent")
    assert "{" not in "".join(item.say for item in bare.values())


def test_a_situation_has_no_room_for_private_figures() -> None:
    names = {field.name for field in dataclasses.fields(TacticSituation)}
    assert not {name for name in names if "walk" in name or "value" in name or "weight" in name or "target" in name}
    assert {field.name for field in dataclasses.fields(PublicWords)} == {
        *("topic", "price", "give", "my_offer", "their_offer", "criterion", "voice")
    }
    assert names - {"utterance", "recognised", "sayable"} | {"facing", "pressure_seen"} == set(FACTS)


def test_no_family_crowds_out_the_others_and_the_limit_is_kept() -> None:
    found = advice(
        50,
        role="buyer",
        phase="bargain",
        n_issues=5,
        scope_open=True,
        volume_open=True,
        term_open=True,
        payment_open=True,
        their_offers=1,
    )
    families = [SHELF.by_id[item].family for item in found]
    assert all(families.count(family) <= 2 for family in families)
    assert len(advice(3, role="buyer", phase="bargain", n_issues=5)) <= 3
    assert advice(0, role="buyer", phase="bargain", n_issues=5) == {}
