"""The rules of ranking: own results, own tactics, and what holds whatever the input."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.advice.tactics.catalogue import built_in_catalogue, parse_tactic
from negotiator.advice.tactics.facts import FACTS, FactValue, PublicWords, TacticSituation, facts_of
from negotiator.advice.tactics.ranking import TacticResult, rank_tactics, recognised_moves, shrunken_win_rate
from negotiator.advice.tactics.recognition import RecognisedTactic
from negotiator.advice.tactics.tactic import TacticCondition, TacticStats

SHELF = built_in_catalogue()


def test_own_results_move_the_rank_and_small_numbers_say_little() -> None:
    assert shrunken_win_rate(TacticStats()) == 0.5
    assert shrunken_win_rate(TacticStats(used=1, wins=1, n=1)) == pytest.approx(0.6)
    assert shrunken_win_rate(TacticStats(used=40, wins=38, n=40)) > 0.9
    situation = TacticSituation(role="buyer", phase="bargain", n_issues=4)

    def score(stats: TacticStats | None) -> float:
        results = {"tac_meso": TacticResult(stats, ("mem_1",))} if stats else {}
        found = rank_tactics(situation, catalogue=SHELF, results=results, limit=50)
        item = next(item for item in found if item.tactic.id == "tac_meso")
        assert item.memories == (("mem_1",) if stats else ())
        assert (item.wins is None) == (stats is None)
        return item.score

    lost, little, won = (
        TacticStats(used=9, wins=0, n=9),
        TacticStats(used=1, wins=1, n=1),
        TacticStats(used=9, wins=9, n=9),
    )
    assert score(lost) < score(None) < score(little) < score(won)


def test_a_users_own_tactic_competes_and_a_deceptive_one_does_not() -> None:
    raw: dict[str, Any] = {
        "id": "tac_01own",
        "name": "Call the plant",
        "family": "trade",
        "summary": "Ask the plant for slack first.",
        "effect": {"on": "create", "size": "large", "evidence": "practice"},
        "use_when": [{"text": "Several issues are open", "fact": "n_issues", "at_least": 2}],
        "lines": [{"role": "party", "text": "Shall we ask the plant?"}],
        "stats": {"used": 12, "wins": 12, "n": 12},
    }
    situation = TacticSituation(role="buyer", phase="bargain", n_issues=4)
    own = parse_tactic(raw, owner="user")
    first = rank_tactics(situation, catalogue=SHELF, own=[own])[0]
    assert first.tactic.id == "tac_01own"
    assert "12 of 12" in first.why
    assert first.wins is not None
    assert first.wins.rate == pytest.approx(14 / 16, abs=1e-3)
    trick = parse_tactic({**raw, "ethics": "deceptive"}, owner="user")
    assert all(
        item.tactic.id != "tac_01own" for item in rank_tactics(situation, catalogue=SHELF, own=[trick], limit=50)
    )


MAYBE = {
    "flag": st.none() | st.booleans(),
    "number": st.none() | st.sampled_from([0, 0.1, 0.3, 0.5, 0.7, 0.95, 1, 2, 3, 6]),
}
MOVES = st.lists(st.sampled_from([t.id for t in SHELF.tactics if t.is_opponent_move]), max_size=3)


@st.composite
def situations(draw: st.DrawFn) -> TacticSituation:
    facts: dict[str, Any] = {}
    for name, fact in FACTS.items():
        if name in {"facing", "pressure_seen", "category"}:
            continue
        facts[name] = draw(st.none() | st.sampled_from(fact.values) if fact.values else MAYBE[fact.kind])
    facts["recognised"] = tuple(RecognisedTactic(move, "their words", 0.8) for move in draw(MOVES))
    facts["utterance"] = draw(st.none() | st.text(max_size=200))
    return TacticSituation(**facts)


def met(condition: TacticCondition, facts: dict[str, FactValue]) -> bool:
    """The rule once more, written apart from the product: unknown is never true."""
    if condition.fact not in facts:
        return False
    known: Any = facts[condition.fact]
    wanted: Any = condition.value
    if condition.operator == "in":
        return bool(known & set(wanted)) if condition.fact == "facing" else known in wanted
    if condition.operator == "is":
        return known == wanted
    return known >= wanted if condition.operator == "at_least" else known <= wanted


@settings(max_examples=150, deadline=None)
@given(situations())
def test_the_rules_hold_in_every_situation(situation: TacticSituation) -> None:
    found = rank_tactics(situation, catalogue=SHELF, limit=100)
    assert found == rank_tactics(situation, catalogue=SHELF, limit=100)
    moves = recognised_moves(situation)
    pressure = len({m.tactic_id for m in moves if SHELF.by_id[m.tactic_id].ethics != "fine"})
    facts = facts_of(situation, moves, pressure=pressure)
    heard_in_text = bool(situation.utterance)
    for item in found:
        tactic = SHELF.by_id[item.tactic.id]
        assert tactic.ethics != "deceptive"
        assert tactic.suits(situation.role)
        answers = any(move.tactic_id in tactic.counter_to for move in recognised_moves(situation))
        assert answers or situation.phase is None or situation.phase in tactic.phases
        tests = [c for c in tactic.preconditions if not (heard_in_text and c.fact in {"facing", "pressure_seen"})]
        assert all(met(test, facts) for test in tests)
        against = [clause.condition for clause in tactic.avoid_when if clause.condition]
        assert not any(met(test, facts) for test in against)
        assert item.why[0].isupper()
        assert item.why.endswith(".")
        assert item.when.endswith(".")
        assert not re.search(r"  |\.\.|[{}_]", f"{item.why} {item.when} {item.say}"), item
        assert item.say
    assert [item.score for item in found] == sorted((item.score for item in found), reverse=True)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300), st.text(max_size=300))
def test_hostile_text_is_only_ever_quoted(spoken: str, figure: str) -> None:
    situation = TacticSituation(
        role="buyer",
        phase="bargain",
        n_issues=4,
        my_offers=2,
        their_offers=2,
        their_last_move="silent",
        utterance=spoken,
        sayable=PublicWords(their_offer=figure, topic=figure),
    )
    for item in rank_tactics(situation, catalogue=SHELF, limit=50):
        assert len(item.say) < 600
        assert item.say.isprintable()
