"""Every line of every built-in tactic reads as a sentence, whatever issues, offers and sides it is filled with."""

import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.advice.leverage.concessions import LedgerOffer, Side
from negotiator.advice.tactics.catalogue import built_in_catalogue
from negotiator.advice.tactics.facts import PublicWords
from negotiator.advice.tactics.ranking import fill_line
from negotiator.base.values import MINOR_UNITS
from negotiator.negotiations.tactic_input import stored_tactic_situation
from negotiator.terms.issues import Issue, IssueType
from negotiator.terms.plain_text import word_set
from negotiator.terms.terms import Terms
from negotiator.terms.utility import Preferences
from negotiator.terms.voice import COMPANY, PRIVATE

LINES = sorted({line.text for tactic in built_in_catalogue().tactics for line in tactic.lines})
SUGGESTED = sorted(
    {line.text for tactic in built_in_catalogue().tactics if tactic.ethics != "deceptive" for line in tactic.lines}
)
LABEL_WORDS = sorted(
    word_set(
        "Salary freight tooling Warranty yearly VAT delivery, contract hosting (net) payment storage bonus deductible "
        "seats colour per month uplift_cap Incoterms® élan basis"
    )
)
SIDES: st.SearchStrategy[Side] = st.sampled_from(["me", "them"])
OPTIONS = ["monthly", "in_arrears", "Gold, silver", "blue (matte", "None", "x" * 90, "yearly upfront"]
GLUE = word_set(
    "with without within immediate payment start term none point this that price another last offer your mine ours "
    "comparable deals published roles rents homes days month months january february march april june july august "
    "september october november december seat seats year delivery from until"
)


def assert_reads_as_speech(said: str) -> None:
    assert said[0].isupper() or not said[0].isalpha(), said
    assert said.endswith((".", "?", "!")), said
    assert said == " ".join(said.split()), said
    assert not re.search(r"[{}_]|[.?!,;:]{2}|\s[.?!,;:]|\bNone\b", said), said
    assert not re.search(r"\b([^\W\d_]+)\s+\1\b", said, re.IGNORECASE), said


@pytest.mark.parametrize("voice", [PRIVATE, COMPANY], ids=["private", "company"])
@pytest.mark.parametrize("line", LINES)
def test_a_line_reads_well_when_nothing_is_known(line: str, voice: Any) -> None:
    assert_reads_as_speech(fill_line(line, PublicWords(voice=voice)))


@pytest.mark.parametrize("line", SUGGESTED)
def test_a_private_person_is_given_no_team_and_no_company(line: str) -> None:
    said = fill_line(line, PublicWords(voice=PRIVATE)).lower()
    assert not re.search(r"\b(?:team|colleagues|management|board|our side|our margin)\b", said)


@pytest.mark.parametrize("line", SUGGESTED)
def test_a_line_names_no_thing_that_may_not_be_there(line: str) -> None:
    things = "first order|migration|references|kitchen|plumber|heating|freight|training|roll-out|bonus|gym|parking"
    assert not re.search(rf"\b(?:{things})\b", line)


@pytest.mark.parametrize("line", SUGGESTED)
def test_a_placeholder_does_not_stand_before_its_verb(line: str) -> None:
    """An offer of two parts or a label in the plural would need another verb."""
    noun = r"\{(?:topic|price|give|my_offer|their_offer|criterion)\}"
    assert not re.search(
        rf"(?<!about )(?<!to ){noun} (?:is|are|was|were|has|have|does|do|looks?|matters?|makes?)\b", line
    )
    assert not re.search(rf"\b(?:a|an|the|what|our|my|your) {noun}", line)


@st.composite
def situations(draw: st.DrawFn) -> tuple[Terms, list[LedgerOffer]]:
    issues: list[Issue] = []
    values: dict[str, st.SearchStrategy[Any]] = {}
    for place in range(draw(st.integers(1, 6))):
        kind: IssueType = draw(
            st.sampled_from(["money", "integer", "percent", "duration_days", "date", "enum", "boolean"])
        )
        name = f"issue_{'abcdef'[place]}"
        words = draw(st.lists(st.sampled_from(LABEL_WORDS), min_size=1, max_size=8, unique=True))
        issues.append(Issue(name, kind, " ".join(words), weight=draw(st.floats(0.1, 1))))
        values[name] = {
            "money": st.decimals(0, 10**9, places=2),
            "date": st.dates().map(str),
            "enum": st.sampled_from(OPTIONS),
            "boolean": st.booleans(),
        }.get(kind, st.integers(0, 1000))
    terms = Terms(
        draw(st.text(max_size=60)),
        draw(st.sampled_from(["buyer", "seller", "employer", "candidate", "landlord", "tenant", "party"])),
        draw(st.sampled_from(["car", "software", "other", "supplier"])),
        draw(st.sampled_from(["renewal", "salary", "lease", "other"])),
        draw(st.none() | st.sampled_from(sorted(MINOR_UNITS))),
        Preferences(tuple(issues)),
        unvalued=tuple(issue.name for issue in issues),
    )
    offers = [
        LedgerOffer(seq=seq, by=by, package={name: draw(value) for name, value in values.items()}, claimed_final=False)
        for seq, by in enumerate(draw(st.lists(SIDES, max_size=3)), start=1)
    ]  # fmt: skip
    return terms, offers


@settings(max_examples=60, deadline=None)
@given(situations())
def test_every_line_reads_well_in_every_negotiation(case: tuple[Terms, list[LedgerOffer]]) -> None:
    terms, offers = case
    sayable = stored_tactic_situation(terms, None, offers, now=0).sayable
    given_words = set(re.findall(r"[^\W\d_]+", " ".join([*(i.label for i in terms.issues), *OPTIONS]).lower()))
    for line in LINES:
        said = fill_line(line, sayable)
        assert_reads_as_speech(said)
        known = {*re.findall(r"[^\W\d_]+", line.lower()), *given_words, *GLUE}
        for word in re.findall(r"\b[^\W\d_]{4,}\b(?!…)", said.lower()):
            assert word in known or f"{word}s" in known or word.upper() in MINOR_UNITS, (word, said)
        if sayable.voice is PRIVATE:
            assert not re.search(r"\bteams?\b", said)


def test_a_text_that_is_too_long_is_not_cut_but_replaced() -> None:
    said = fill_line("I stay at {my_offer}.", PublicWords(my_offer="word " * 60))
    assert said == "I stay at my last offer."


def test_a_placeholder_at_the_start_of_a_sentence_has_a_capital() -> None:
    line = "{we} hear you. {our} figure stands, and {we} {are} sure of it."
    assert fill_line(line, PublicWords(voice=COMPANY)) == ("We hear you. Our figure stands, and we are sure of it.")
    assert fill_line(line, PublicWords()) == "I hear you. My figure stands, and I am sure of it."


def test_the_sayable_words_name_the_main_issue_the_price_and_what_could_be_given() -> None:
    issues = (
        Issue("price", "money", "Price per seat and month", weight=0.6),
        Issue("term", "integer", "Contract term", "months", weight=0.1),
        Issue("cap", "percent", "Cap on yearly price increase", weight=0.3),
    )
    terms = Terms("CRM renewal, 80 seats", "buyer", "software", "renewal", "EUR", Preferences(issues))
    package = {"price": Decimal(62), "term": 36, "cap": 7.0}
    offers = [LedgerOffer(seq=1, by="them", package=package, claimed_final=False)]
    words = stored_tactic_situation(terms, None, offers, now=0).sayable
    assert (words.topic, words.price, words.give) == ("the price", "the price", "the contract term")
    assert words.their_offer == "€62 per seat and month"
    assert words.voice is COMPANY
