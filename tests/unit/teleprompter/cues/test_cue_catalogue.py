"""What is shipped is checked: short questions, real tactics, enough wordings, none used twice."""

import tomllib
from dataclasses import replace
from importlib.resources import files
from typing import get_args

import pytest

from negotiator.advice.tactics.catalogue import built_in_catalogue
from negotiator.advice.tactics.tactic import ROLES, NegotiationRole
from negotiator.teleprompter.cards import card_words
from negotiator.teleprompter.cues.catalogue import SPEAKERS, Cue, CueKind, Speaker, cue_catalogue
from negotiator.teleprompter.cues.matcher import build_matcher

NAMED = (
    "price", "budget", "timing", "authority", "competitor", "anchoring", "deadline", "ultimatum", "nibble",
    "silence", "good_cop_bad_cop", "split", "scope", "trust", "incumbent",
)  # fmt: skip


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


@pytest.mark.parametrize("cue", cue_catalogue().cues.values(), ids=lambda cue: cue.id)
def test_no_cue_would_embarrass_a_user_in_the_middle_of_a_call(cue: Cue) -> None:
    says = (cue.say, *cue.say_to.values())
    assert cue.kind in get_args(CueKind)
    assert {*cue.roles, *cue.say_to} <= set(ROLES)
    assert {cue.tactic_id, cue.move_id} <= {"", *(tactic.id for tactic in built_in_catalogue().tactics)}
    assert all(len(say.split()) <= 15 and say.count("?") == 1 and say.endswith("?") for say in says)
    assert 0 < len(cue.why.split()) <= 20
    assert not cue.phrasings or 25 <= len(cue.phrasings) <= 120
    assert cue.phrasings or not cue.rules, "raised by time alone"


def test_no_id_phrasing_or_ordinary_sentence_is_used_twice() -> None:
    folder = files("negotiator.teleprompter.cues")
    pages = [tomllib.loads(file.read_text("utf-8")) for file in folder.joinpath("families").iterdir()]
    rows = [row for page in pages for row in page["cue"]]
    neutral = tomllib.loads(folder.joinpath("neutral.toml").read_text("utf-8"))
    phrasings = [text for row in rows for text in row.get("phrasings", ())]
    for texts in ([row["id"] for row in rows], phrasings, [text for part in neutral.values() for text in part]):
        assert len(texts) == len(set(texts))


def test_a_cue_suits_its_roles_and_is_worded_for_the_role_of_its_listener() -> None:
    cue = replace(cue_catalogue().cues["trust"], roles=("buyer",), say_to={"landlord": "What have you seen nearby?"})
    assert (cue.suits("buyer"), cue.suits("seller"), cue.suits(None)) == (True, False, True)
    assert cue.question("landlord") == "What have you seen nearby?"
    assert cue.question("seller") == cue.question(None) == cue.say


def test_ordinary_talk_is_an_example_of_no_cue() -> None:
    book = cue_catalogue()
    both = set(book.neutral["them"]) & set(book.neutral["me"])
    assert both
    for speaker in SPEAKERS:
        assert {(text, "") for text in both} <= set(book.examples(speaker))


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
