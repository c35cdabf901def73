"""What is shipped is checked: short questions, real tactics, enough wordings, none used twice."""

from typing import Any

import pytest

from negotiator.advice.tactics.catalogue import built_in_catalogue
from negotiator.advice.tactics.tactic import NegotiationRole
from negotiator.teleprompter.cards import card_words
from negotiator.teleprompter.cues.catalogue import SPEAKERS, Speaker, build_catalogue, cue_catalogue
from negotiator.teleprompter.cues.matcher import build_matcher

NAMED = (
    "price", "budget", "timing", "authority", "competitor", "anchoring", "deadline", "ultimatum", "nibble",
    "silence", "good_cop_bad_cop", "split", "scope", "trust", "incumbent",
)  # fmt: skip


def row(**changes: object) -> dict[str, Any]:
    return {
        "id": "too_dear",
        "family": "price",
        "kind": "objection",
        "title": "Too dear",
        "say": "Compared with what?",
        "why": "A price is high beside something.",
        "tactic_id": "tac_reframe_value",
        "phrasings": [f"it is too dear {number}" for number in range(25)],
        **changes,
    }


def test_there_are_families_enough_and_the_named_ones_among_them() -> None:
    cues = cue_catalogue().cues.values()
    families = {cue.family for cue in cues}
    assert len(families) >= 25
    assert len(cues) >= 28
    assert families >= set(NAMED)


def test_each_speaker_has_cues_and_the_other_side_a_thousand_ordinary_sentences() -> None:
    book = cue_catalogue()
    least: dict[Speaker, int] = {"them": 1000, "me": 600}
    for speaker in SPEAKERS:
        assert book.of(speaker)
        assert len(book.neutral[speaker]) >= least[speaker]
    assert {cue.kind for cue in book.of("me")} == {"coaching"}


def test_a_rule_is_raised_by_no_more_than_one_ordinary_sentence_in_a_hundred() -> None:
    matcher = build_matcher(cue_catalogue())
    for speaker in SPEAKERS:
        said = matcher.catalogue.neutral[speaker]
        raised = [text for text in said if any(not match.reply for match in matcher.match_rules(text, speaker))]
        assert len(raised) <= len(said) // 100


def test_advice_about_figures_points_to_the_shelf() -> None:
    known = {tactic.id for tactic in built_in_catalogue().tactics}
    assert {advice.tactic_id for advice in card_words("figures").values()} <= known


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"kind": "joke"}, "unknown kind"),
        ({"say": "word " * 15 + "more?"}, "says too much"),
        ({"say": "Why? What for?"}, "one question"),
        ({"say": "Tell me more."}, "one question"),
        ({"why": ""}, "short reason"),
        ({"tactic_id": "tac_none"}, "not on the shelf"),
        ({"move_id": "tac_none"}, "not on the shelf"),
        ({"roles": ["jester"]}, "unknown role"),
        ({"must_hear": ["a core of far too many words"]}, "no short phrase"),
        ({"say_to": {"seller": "Tell me more."}}, "one question"),
        ({"say_to": {"jester": "Why?"}}, "unknown role"),
        ({"phrasings": [], "rules": ["too dear"]}, "raised by time"),
        ({"phrasings": ["once"]}, "too few or too many"),
        ({"phrasings": ["again"] * 25}, "used twice"),
        ({"colour": "red"}, "unknown \\['colour'\\]"),
    ],
)
def test_a_cue_that_would_embarrass_is_refused(changes: dict[str, object], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        build_catalogue([row(**changes)], {"both": [], "them": [], "me": []})


def test_a_sound_cue_is_accepted_and_suits_its_roles() -> None:
    book = build_catalogue([row(roles=["buyer"])], {"both": ["hello"], "them": ["x"], "me": []})
    cue = book.cues["too_dear"]
    assert (cue.suits("buyer"), cue.suits("seller"), cue.suits(None)) == (True, False, True)
    assert book.neutral == {"them": ("hello", "x"), "me": ("hello",)}
    assert ("hello", "") in book.examples("them")


def test_a_question_is_worded_for_the_role_of_its_listener() -> None:
    rows = [row(say_to={"landlord": "What have you seen nearby?"})]
    cue = build_catalogue(rows, {"both": [], "them": [], "me": []}).cues["too_dear"]
    assert cue.question("landlord") == "What have you seen nearby?"
    assert cue.question("seller") == cue.question(None) == cue.say


def test_a_too_high_price_is_for_the_side_that_sells_and_a_too_low_one_for_the_side_that_buys() -> None:
    cues = cue_catalogue().cues
    pairs: list[tuple[NegotiationRole, NegotiationRole]] = [
        ("seller", "buyer"),
        ("candidate", "employer"),
        ("landlord", "tenant"),
    ]
    for sells, buys in pairs:
        assert cues["price_too_high"].suits(sells)
        assert not cues["price_too_high"].suits(buys)
        assert cues["price_too_low"].suits(buys)
        assert not cues["price_too_low"].suits(sells)


def test_silence_is_raised_by_time_and_never_by_words() -> None:
    silence = cue_catalogue().cues["silence"]
    assert (silence.rules, silence.replies, silence.phrasings) == ((), (), ())
