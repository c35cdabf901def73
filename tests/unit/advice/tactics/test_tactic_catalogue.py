"""The shipped shelf keeps its schema, and the loader refuses what breaks it."""

import re
from typing import Any

import pytest

from negotiator.advice.tactics.catalogue import TacticCatalogue, built_in_catalogue, parse_tactic
from negotiator.advice.tactics.phrases import built_in_descriptions, built_in_phrases
from negotiator.advice.tactics.ranking import PLACEHOLDERS
from negotiator.advice.tactics.tactic import FAMILIES, ROLES, Tactic, TacticStats

SHELF = built_in_catalogue()
KIN = {"employer": "buyer", "tenant": "buyer", "candidate": "seller", "landlord": "seller"}
MINIMUM = [
    "first_anchor",
    "precise_anchor",
    "bracketing",
    "range_offer",
    "meso",
    "logrolling",
    "contingent_contract",
    "nibble",
    "flinch",
    "silence",
    "higher_authority",
    "good_cop_bad_cop",
    "deadline",
    "exploding_offer",
    "final_offer_bluff",
    "salami",
    "red_herring",
    "limited_budget",
    "competitive_bid",
    "walk_away_test",
    "split_difference",
    "reciprocity",
    "labelling",
    "calibrated_question",
    "mirroring",
    "accusation_audit",
    "door_in_face",
    "foot_in_door",
    "feel_felt_found",
    "reframe_value",
    "unbundle",
    "total_cost",
    "volume_trade",
    "payment_terms",
    "post_settlement",
    "objective_criteria",
    "benchmark_citation",
    "mfn",
    "quarter_end",
    "multi_year_lock",
    "pilot",
]


def plain(**changes: Any) -> dict[str, Any]:
    """The least a tactic needs, with changes."""
    return {
        "id": "tac_mine",
        "name": "Mine",
        "family": "trade",
        "summary": "Ask for the blue one.",
        "effect": {"on": "claim", "size": "small", "evidence": "practice"},
    } | changes


def spoken(tactic: Tactic) -> str:
    return " ".join(line.text for line in tactic.lines)


def test_the_shelf_holds_at_least_seventy_tactics_in_all_twelve_families() -> None:
    assert len(SHELF.tactics) >= 70
    for family in FAMILIES:
        assert sum(tactic.family == family for tactic in SHELF.tactics) >= 5


@pytest.mark.parametrize("name", MINIMUM)
def test_the_minimum_catalogue_is_there(name: str) -> None:
    assert SHELF.get(f"tac_{name}") is not None


@pytest.mark.parametrize("tactic", SHELF.tactics, ids=lambda tactic: tactic.id)
def test_every_tactic_is_complete(tactic: Tactic) -> None:
    assert re.fullmatch(r"tac_[a-z]+(_[a-z]+)*", tactic.id)
    assert tactic.owner == "catalogue"
    assert tactic.stats is None
    assert len(tactic.summary) > 40
    assert len(tactic.steps) >= 2
    assert len(tactic.lines) >= 2
    assert all(line.text.endswith((".", "?", "!")) for line in tactic.lines)
    assert tactic.avoid_when or not tactic.countered_by
    assert tactic.roles
    assert tactic.phases
    assert tactic.legality_notes
    assert all(1950 < work.year <= 2025 for work in tactic.sources)
    assert tactic.sources


def test_no_text_is_used_twice() -> None:
    lines = [line.text for tactic in SHELF.tactics for line in tactic.lines]
    assert len(lines) == len(set(lines))
    summaries = [tactic.summary for tactic in SHELF.tactics]
    assert len(summaries) == len(set(summaries))
    names = [tactic.name.casefold() for tactic in SHELF.tactics]
    assert len(names) == len(set(names))


def test_a_suggestible_tactic_has_a_line_for_everybody_it_suits() -> None:
    for tactic in SHELF.tactics:
        if tactic.ethics == "deceptive":
            continue
        voices = {line.role for line in tactic.lines}
        for role in ROLES:
            if tactic.suits(role):
                assert voices & {role, "party", KIN.get(role, "party")}, (tactic.id, role)


def test_a_suggestible_tactic_can_be_reached_by_a_fact_or_by_a_move_it_answers() -> None:
    for tactic in SHELF.tactics:
        if tactic.ethics != "deceptive":
            assert any(c.condition for c in tactic.use_when) or tactic.counter_to, tactic.id


def test_deceptive_tactics_have_answers_that_are_not_deceptive() -> None:
    deceptive = [tactic for tactic in SHELF.tactics if tactic.ethics == "deceptive"]
    assert len(deceptive) >= 12
    for tactic in deceptive:
        assert len(tactic.countered_by) >= 2
        assert tactic.is_opponent_move
        assert not tactic.use_when
        assert all(SHELF.by_id[answer].ethics != "deceptive" for answer in tactic.countered_by)


def test_counters_read_the_same_both_ways() -> None:
    for tactic in SHELF.tactics:
        for answer in tactic.countered_by:
            assert tactic.id in SHELF.by_id[answer].counter_to
        for move in tactic.counter_to:
            assert tactic.id in SHELF.by_id[move].countered_by


def test_lines_fill_only_what_may_be_said_aloud() -> None:
    for tactic in SHELF.tactics:
        marks = set(re.findall(r"\{(.*?)\}", spoken(tactic)))
        assert marks <= PLACEHOLDERS, tactic.id


def test_every_move_of_the_other_side_is_described_in_words() -> None:
    told = built_in_descriptions()
    assert set(told) == {tactic.id for tactic in SHELF.tactics if tactic.is_opponent_move}
    assert len(set(told.values())) == len(told)
    for text in told.values():
        assert re.fullmatch(r"[a-z]+ing [a-z' ]+", text + " "), text


def test_every_move_of_the_other_side_can_be_recognised() -> None:
    counts: dict[str, int] = {}
    for cue in built_in_phrases().cues:
        assert cue.tactic_id in SHELF.by_id
        if cue.strength != "unless":
            counts[cue.tactic_id] = counts.get(cue.tactic_id, 0) + 1
    moves = {tactic.id for tactic in SHELF.tactics if tactic.is_opponent_move}
    assert moves == set(counts)
    assert all(6 <= count <= 20 for count in counts.values())


@pytest.mark.parametrize(
    "changes",
    [
        {"family": "magic"},
        {"risk": 4},
        {"risk": True},
        {"ethics": "evil"},
        {"roles": ["king"]},
        {"surprise": 1},
        {"steps": "one step"},
        {"preconditions": [{"fact": "moon_phase", "is": True}]},
        {"preconditions": [{"fact": "has_batna", "at_least": 1}]},
        {"preconditions": [{"fact": "has_batna", "is": True, "at_most": 1}]},
        {"preconditions": [{"fact": "phase", "in": ["later"]}]},
        {"stats": {"used": 1, "wins": 2, "n": 1}},
    ],
)
def test_a_tactic_outside_the_schema_is_refused_by_name(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="tac_mine"):
        parse_tactic(plain(**changes))


def test_a_user_tactic_joins_the_shelf_and_is_linked() -> None:
    mine = parse_tactic(plain(counter_to=["tac_nibble"], stats={"used": 3, "wins": 1, "n": 2}), owner="user")
    joined = SHELF.with_own([mine])
    assert "tac_mine" in joined.by_id["tac_nibble"].countered_by
    assert joined.by_id["tac_mine"].owner == "user"
    assert joined.by_id["tac_mine"].stats == TacticStats(used=3, wins=1, n=2)
    assert "tac_mine" not in SHELF.by_id


def test_a_taken_id_is_refused() -> None:
    with pytest.raises(ValueError, match="used twice"):
        SHELF.with_own([parse_tactic(plain(id="tac_nibble"))])


def test_a_reference_to_a_deleted_tactic_is_left_out() -> None:
    mine = parse_tactic(plain(countered_by=["tac_nowhere", "tac_silence"]), owner="user")
    assert SHELF.with_own([mine]).by_id["tac_mine"].countered_by == ("tac_silence",)


def test_the_shelf_is_read_once() -> None:
    assert built_in_catalogue() is SHELF
    assert isinstance(SHELF, TacticCatalogue)


def test_a_condition_without_its_fact_is_refused_in_words() -> None:
    raw: dict[str, Any] = {
        "id": "tac_x",
        "name": "X",
        "family": "time",
        "summary": "Y.",
        "effect": {"on": "claim", "size": "small", "evidence": "practice"},
        "use_when": [{"text": "z", "at_least": 1}],
    }
    with pytest.raises(ValueError, match="fact is missing"):
        parse_tactic(raw, owner="user")
