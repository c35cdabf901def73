"""Few cards, at the right moment, taken back when wrong; the screen survives between two processes."""

from collections import Counter
from dataclasses import fields, replace
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from negotiator.advice.tactics.tactic import NegotiationRole
from negotiator.teleprompter.cues.catalogue import Speaker, cue_catalogue
from negotiator.teleprompter.cues.matcher import CueMatch, MatchSource
from negotiator.teleprompter.cues.policy import (
    POLICY,
    Card,
    CardChange,
    HeardUtterance,
    PolicySettings,
    Screen,
    advance_screen,
    dump_screen,
    restore_screen,
)

BOOK = cue_catalogue()
PLAN = Card(
    id="u:plan", family="figures", cue_id="plan:price", kind="manoeuvre", title="Past your limit",
    say="What would have to change?", why="It is past your limit.", tactic_id="tac_re_anchor",
    utterance_id="u", quote="twelve five", confidence=0.99, source="plan", stage="final", at=0.0,
)  # fmt: skip


def match(cue_id: str, confidence: float = 0.6, source: MatchSource = "model") -> CueMatch:
    return CueMatch(cue_id, confidence, source, "as said")


def final(at: float, utterance: str = "", speaker: Speaker = "them") -> HeardUtterance:
    return HeardUtterance(utterance or f"u{at}", speaker, "text", final=True, at=at)


def partial(at: float, utterance: str) -> HeardUtterance:
    return replace(final(at, utterance), final=False)


def play(
    *scenes: tuple[HeardUtterance, list[CueMatch]], rules: PolicySettings = POLICY
) -> tuple[Screen, list[CardChange]]:
    screen, told = Screen(), list[CardChange]()
    for heard, matches in scenes:
        screen, events = advance_screen(screen, heard, matches, rules=rules)
        told += events
    return screen, told


def names(events: list[CardChange]) -> list[tuple[str, str]]:
    return [(event.news, event.cards[0].cue_id) for event in events]


def test_a_sure_final_shows_and_unsure_ones_are_listed_quietly() -> None:
    rules = PolicySettings(shown=0.3, maybe=0.1, maybes=2)
    unsure = [match("trust", 0.2), match("guilt", 0.15), match("anchor", 0.12), match("split_difference", 0.05)]
    screen, told = play((final(0), [match("not_now"), *unsure]), rules=rules)
    assert names(told) == [("shown", "not_now"), ("maybe", "trust")]
    assert [card.cue_id for card in told[1].cards] == ["trust", "guilt"]
    assert [card.cue_id for card in screen.cards] == ["not_now"]


def test_below_every_threshold_nothing_is_told() -> None:
    _, told = play((final(0), [match("not_now", 0.01)]))
    assert told == []


def test_a_rule_shows_at_once_on_a_partial_and_the_final_confirms_it() -> None:
    hit = [match("final_offer", source="rule")]
    _, told = play((partial(0, "u"), hit), (partial(0.3, "u"), hit), (final(0.6, "u"), hit))
    assert names(told) == [("shown", "final_offer"), ("updated", "final_offer")]
    assert [event.cards[0].stage for event in told] == ["early", "final"]
    assert told[-1].cards[0].count == 1


def test_the_model_must_say_the_same_twice_running_on_partials() -> None:
    sure, other = [match("no_budget", 0.5)], [match("trust", 0.5)]
    _, told = play((partial(0, "u"), sure), (partial(0.2, "u"), other), (partial(0.4, "u"), sure))
    assert told == []
    _, told = play((partial(0, "u"), sure), (partial(0.2, "u"), sure))
    assert names(told) == [("shown", "no_budget")]


def test_an_early_card_that_the_final_contradicts_is_retracted() -> None:
    early, late = [match("final_offer", source="rule")], [match("need_to_think")]
    screen, told = play((partial(0, "u"), early), (final(1, "u"), late))
    assert names(told) == [("shown", "final_offer"), ("retracted", "final_offer"), ("shown", "need_to_think")]
    _, again = advance_screen(screen, final(2), early)
    assert names(list(again)) == [("shown", "final_offer")], "what was taken back does not hold its family"


def test_a_family_speaks_once_in_its_pause() -> None:
    first, second = [match("price_too_high")], [match("discount_demand")]
    pause = PolicySettings().family_pause
    _, told = play((final(0), first), (final(5), second), (final(pause + 1), second))
    assert names(told) == [("shown", "price_too_high"), ("maybe", "discount_demand"), ("shown", "discount_demand")]
    assert told[2].cards[0].at == pause + 1


def test_the_same_cue_again_only_counts() -> None:
    screen, told = play(*((final(float(at)), [match("trust")]) for at in range(3)))
    assert [news for news, _ in names(told)] == ["shown", "updated", "updated"]
    assert screen.cards[0].count == 3


def test_two_are_on_the_screen_and_the_newest_wins() -> None:
    three = ("trust", "not_now", "guilt")
    many = PolicySettings(per_minute=9)
    scenes = [(final(float(at)), [match(cue)]) for at, cue in enumerate(three)]
    screen, _ = play(*scenes, rules=many)
    assert [card.cue_id for card in screen.cards] == ["not_now", "guilt"]


def test_only_the_speaker_s_own_cues_are_shown() -> None:
    _, told = play(
        (final(0, speaker="me"), [match("trust")]),
        (final(1, speaker="them"), [match("revealing_limit")]),
        (final(2, speaker="me"), [match("revealing_limit")]),
    )
    assert names(told) == [("shown", "revealing_limit")]


def test_a_card_of_the_plan_beats_every_phrase() -> None:
    screen, events = advance_screen(Screen(), final(0, "u"), [match("anchor", 0.95)], outside=[PLAN])
    assert names(list(events)) == [("shown", "plan:price"), ("maybe", "anchor")]
    many = PolicySettings(per_minute=9)
    for at, cue in enumerate(("trust", "not_now", "guilt"), start=1):
        heard = final(float(at))
        screen, _ = advance_screen(screen, heard, [match(cue)], rules=many)
    assert {card.cue_id for card in screen.cards} == {"plan:price", "guilt"}


def test_a_plan_s_card_takes_back_the_early_card_of_its_utterance() -> None:
    screen, _ = play((partial(0, "u"), [match("final_offer", source="rule")]))
    _, events = advance_screen(screen, final(1, "u"), [match("final_offer", source="rule")], outside=[PLAN])
    assert names(list(events))[:2] == [("retracted", "final_offer"), ("shown", "plan:price")]


def test_a_minute_has_two_cards_unless_a_limit_is_passed() -> None:
    cues = ("trust", "not_now", "guilt", "deadline")
    scenes = [(final(at * 10.0), [match(cue)]) for at, cue in enumerate(cues)]
    screen, told = play(*scenes)
    assert names(told) == [("shown", "trust"), ("shown", "not_now"), ("maybe", "guilt"), ("maybe", "deadline")]
    limit = replace(PLAN, urgent=True)
    screen, events = advance_screen(screen, final(45, "u"), [], outside=[limit])
    assert names(list(events)) == [("shown", "plan:price")]
    _, events = advance_screen(screen, final(120), [match("guilt")])
    assert names(list(events)) == [("shown", "guilt")]


def test_the_second_card_of_a_minute_is_surer_or_an_answer() -> None:
    rules = PolicySettings()
    unsure = (rules.shown + rules.second) / 2
    first = (final(0), [match("trust", unsure)])
    _, told = play(first, (final(20), [match("guilt", unsure)]))
    assert names(told)[1:] == [("maybe", "guilt")]
    asking = replace(final(19, speaker="me"), asks=True)
    _, told = play(first, (asking, []), (final(20), [match("refusal", unsure)]))
    assert names(told)[1:] == [("shown", "refusal")]


def test_a_bare_no_is_a_refusal_only_after_a_request_or_an_offer() -> None:
    bare = CueMatch("refusal", 0.01, "rule", "no", reply=True)
    asking, telling = (replace(final(0, speaker="me"), asks=asks) for asks in (True, False))
    assert names(play((asking, []), (final(1), [bare]))[1]) == [("shown", "refusal")]
    assert play((telling, []), (final(1), [bare]))[1] == []
    assert play((final(1), [bare]))[1] == []
    late = final(1 + PolicySettings().answer_within)
    assert play((asking, []), (late, [bare]))[1] == []


def test_an_answer_that_nobody_asked_for_is_less_sure() -> None:
    rules = PolicySettings()
    guess = match("acceptance", rules.shown + rules.unasked - 0.01)
    asking = replace(final(0, speaker="me"), asks=True)
    assert names(play((asking, []), (final(1), [guess]))[1]) == [("shown", "acceptance")]
    assert names(play((final(1), [guess]))[1]) == [("maybe", "acceptance")]


def test_an_acceptance_leaves_no_objection_to_the_price_beside_it() -> None:
    asking = replace(final(0, speaker="me"), asks=True)
    both = [match("discount_demand", 0.6), match("acceptance", 0.3), match("nibble", 0.2)]
    _, told = play((asking, []), (final(1), both))
    assert names(told) == [("shown", "acceptance"), ("maybe", "nibble")]


def test_the_question_of_a_card_is_worded_for_the_user_s_role() -> None:
    said = [match("price_too_high")]
    roles: list[NegotiationRole] = ["seller", "candidate"]
    for role in roles:
        _, events = advance_screen(Screen(), final(0), said, role=role)
        assert events[0].cards[0].say == BOOK.cues["price_too_high"].say_to[role]


heard = st.tuples(
    st.floats(0, 10),
    st.integers(0, 3),
    st.booleans(),
    st.lists(
        st.tuples(st.sampled_from(sorted(BOOK.cues)), st.floats(0, 1), st.sampled_from(["rule", "model"])), max_size=4
    ),
)


@given(st.lists(heard, max_size=30))
def test_whatever_is_heard_the_screen_keeps_its_rules(
    scenes: list[tuple[float, int, bool, list[tuple[str, float, MatchSource]]]],
) -> None:
    screen, at, rules = Screen(), 0.0, PolicySettings()
    seen = Counter[str]()
    for wait, utterance, is_final, found in scenes:
        at += wait
        matches = sorted((match(cue, sure, source) for cue, sure, source in found), key=lambda one: -one.confidence)
        said = HeardUtterance(f"u{utterance}", "them", "x", final=is_final, at=at)
        screen, events = advance_screen(screen, said, matches)
        assert len(screen.cards) <= rules.on_screen
        assert len({card.cue_id for card in screen.cards}) == len(screen.cards)
        assert len(screen.rising) <= 9
        for event in events:
            seen[event.news] += 1
            assert all(card.kind != "coaching" for card in event.cards)
            assert len(event.cards) <= rules.maybes
        assert len(screen.shown_at) <= rules.per_minute
    assert seen["retracted"] <= seen["shown"]


words = st.text(max_size=12)
cards = st.builds(
    Card,
    **{
        **{field.name: words for field in fields(Card) if field.type is str},
        "confidence": st.floats(0, 1),
        "source": st.sampled_from(["rule", "model", "memory", "plan"]),
        "stage": st.sampled_from(["early", "final"]),
        "at": st.floats(0, 2e9),
        "count": st.integers(1, 99),
        "memory_ids": st.lists(words, max_size=3).map(tuple),
        "urgent": st.booleans(),
    },
)
moments = st.floats(0, 2e9)
screens = st.builds(
    Screen,
    cards=st.lists(cards, max_size=2).map(tuple),
    families=st.dictionaries(words, cards, max_size=3),
    rising=st.dictionaries(words, st.tuples(words, st.integers(1, 5)), max_size=3),
    shown_at=st.lists(moments, max_size=2).map(tuple),
    asked_at=st.none() | moments,
)


def carried(screen: Screen) -> Screen:
    kept: dict[str, Any] = orjson.loads(orjson.dumps(dump_screen(screen)))
    return restore_screen(kept)


@given(screens)
def test_a_screen_is_the_same_after_a_way_through_json(screen: Screen) -> None:
    assert carried(screen) == screen


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["price_too_high", "final_offer", "ask_the_boss", "deadline"]),
            st.floats(0.05, 0.9),
            st.booleans(),
            st.sampled_from(["u1", "u2", "u3"]),
        ),
        max_size=12,
    )
)
def test_a_call_that_moves_between_processes_shows_the_same(said: list[Any]) -> None:
    here, there = Screen(), Screen()
    for at, (cue, sure, final, name) in enumerate(said):
        heard = HeardUtterance(name, "them", "x", final, float(at))
        match = CueMatch(cue, sure, "model", "x")
        here, told = advance_screen(here, heard, [match])
        there, retold = advance_screen(carried(there), heard, [match])
        assert told == retold
    assert carried(there) == here


def test_nothing_kept_is_an_empty_screen() -> None:
    assert restore_screen({}) == Screen()
