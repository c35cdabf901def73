"""What the counterpart says: short, filled, without figures of its own, and not twice in a talk."""

import re
import tomllib
from importlib.resources import files
from itertools import product
from pathlib import Path
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.advice.plans.case_template import CASE_ORDER
from negotiator.numbers.read import numbers_in
from negotiator.rehearsals.counterpart.person import MOMENTS, STYLES, Moment
from negotiator.rehearsals.counterpart.sentences import case_kind, counterparts, sentence, spoken_lines
from negotiator.terms.issues import Issue
from negotiator.terms.terms import Terms
from negotiator.terms.utility import Preferences

KNOWN: Final = tomllib.loads(Path(__file__).with_name("other_sides.toml").read_text("utf-8"))
OFFER: Final = "€14,900, paid yearly"
SLOTS: Final = {"offer": OFFER, "issue": "contract term"}
COUNTERPARTS: Final = counterparts()["counterparts"]
CASE_KINDS: Final = frozenset(COUNTERPARTS.values())
OFFER_MOMENTS: Final[frozenset[Moment]] = frozenset(
    {
        *("opening", "step", "small_step", "trades", "repeat", "last_step"),
        *("final", "final_again", "takes_back", "insulted", "offended"),
    }
)
"""The moments in which the person names a package; each of their sentences does."""
MOST_WORDS: Final = 22
LEAST_VARIANTS: Final = 4
TELLTALES: Final = re.compile(
    r"\b(limit|floor|lowest|highest|minimum|maximum|bottom|reserv\w+|walk-away|competitors?)\b", re.I
)


@pytest.mark.parametrize("moment", MOMENTS)
def test_each_kind_of_person_has_words_for_each_moment(moment: Moment) -> None:
    for style, case in product(STYLES, CASE_KINDS):
        said = sentence(moment, style=style, case=case, draw=f"{style} {case}", slots=SLOTS)
        assert said.strip() == said != ""
        assert said.count(OFFER) == (moment in OFFER_MOMENTS)
        assert ("contract term" in said) == (moment in {"tells_interest", "cares_much", "cares_little"})
        assert "{" not in said


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_sentence_is_short_and_gives_nothing_away(moment: Moment) -> None:
    for line in spoken_lines()[moment]:
        own = line.say({"offer": "", "issue": ""})
        assert len(own.split()) <= MOST_WORDS, own
        assert not numbers_in(own), own
        assert not TELLTALES.search(own), own
        assert not re.search(r"[\d!]", own), own
        assert own[0].isupper(), own
        assert own[-1] in ".?", own


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_words_of_the_caller_stand_within_a_sentence(moment: Moment) -> None:
    for line in spoken_lines()[moment]:
        assert line.slot is None or re.search(r"[\w,:] $", line.before), line
        assert line.slot != "offer" or line.after in {".", "?"}, line


@pytest.mark.parametrize("moment", MOMENTS)
def test_each_style_has_several_ways_to_say_it(moment: Moment) -> None:
    for style in STYLES:
        lines = [line for line in spoken_lines()[moment] if line.style == style and not line.whom]
        assert len(set(lines)) >= LEAST_VARIANTS


def test_no_sentence_stands_twice() -> None:
    for moment, lines in spoken_lines().items():
        texts = [(line.before, line.slot, line.after) for line in lines]
        assert len(texts) == len(set(texts)), moment


def test_the_same_draw_gives_the_same_sentence() -> None:
    for draw in map(str, range(20)):
        heard = {
            sentence("step", style="warm", case="tenant", draw=each, slots=SLOTS)
            for each in (draw, draw, Random(draw))  # noqa: S311  words, not secrets
        }
        assert len(heard) == 1


def test_what_was_said_is_not_said_again_with_another_offer() -> None:
    said: list[str] = []
    starts: set[str] = set()
    for round_number in range(12):
        offer = f"€{1_000 + round_number}"
        text = sentence("step", style="brisk", case="other", draw="1", slots={"offer": offer}, avoid=said)
        said.append(text)
        starts.add(text.replace(offer, "…"))
    assert len(starts) == 12


def test_everything_was_said_and_still_there_is_an_answer() -> None:
    everything = [line.say(SLOTS) for line in spoken_lines()["silence"]]
    said = sentence("silence", style="brisk", case="other", draw="1", slots={}, avoid=everything)
    assert said in everything


def test_each_part_in_a_deal_has_sentences_of_its_own() -> None:
    for case in set(CASE_KINDS) - {"other"}:
        own = [
            line
            for moment in ("opening", "tells_why", "accepts", "repeat", "hears_reason")
            for line in spoken_lines()[moment]
            if case in line.whom
        ]
        assert own, case


@pytest.mark.parametrize("moment", sorted(OFFER_MOMENTS))
def test_an_offer_without_its_words_is_refused(moment: Moment) -> None:
    with pytest.raises(ValueError, match="lacks a slot"):
        sentence(moment, style="warm", case="other", draw="1", slots={"offer": ""})


@given(st.text(alphabet="ab{}%$ \\()0", min_size=1).filter(str.strip), st.sampled_from(MOMENTS))
def test_the_words_of_the_caller_are_not_read(text: str, moment: Moment) -> None:
    said = sentence(moment, style="formal", case="other", draw=text, slots={"offer": text, "issue": "{offer}"})
    words = {"offer": text, "issue": "the {offer}", None: ""}
    assert said in {line.before + words[line.slot] + line.after for line in spoken_lines()[moment]}


@pytest.mark.parametrize(("role", "kind", "title", "label", "expected"), KNOWN["known"])
def test_the_other_side_is_known_from_the_terms(role: str, kind: str, title: str, label: str, expected: str) -> None:
    issue = Issue(name="price", label=label, type="money", direction="lower", weight=1.0)
    terms = Terms(
        title=title, role=role, category="other", kind=kind, currency="EUR", preferences=Preferences(issues=(issue,))
    )
    assert case_kind(terms) == expected


def test_each_case_template_has_an_other_side() -> None:
    assert set(COUNTERPARTS) == set(CASE_ORDER)


def test_each_moment_of_the_file_is_one_of_the_talk() -> None:
    file = files("negotiator.rehearsals.counterpart").joinpath("sentences.toml")
    assert tomllib.loads(file.read_text("utf-8")).keys() == set(MOMENTS)


def test_each_sentence_is_for_kinds_and_a_style_that_there_are() -> None:
    for line in (line for lines in spoken_lines().values() for line in lines):
        assert line.whom <= CASE_KINDS, line
        assert line.style in {None, *STYLES}, line
