"""Case templates: which one fits a negotiation, and that every line of each reads as a person would say it."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.advice.plans.case_template import (
    CASE_ORDER,
    CaseContent,
    CaseLine,
    CaseObjection,
    CaseQuestion,
    CaseReaction,
    CaseStandard,
    CaseTemplate,
    CaseWords,
    case_templates,
    case_words,
    choose_template,
    fill_case,
    noun_phrase,
    parse_template,
)
from negotiator.terms.issues import Issue
from negotiator.terms.terms import Authority, OtherParty, Terms
from negotiator.terms.utility import Preferences
from negotiator.terms.wording import Wording

TEMPLATES = list(case_templates().values())
TITLES = tomllib.loads(Path(__file__).with_name("titles.toml").read_text("utf-8"))["titles"]
each_template = pytest.mark.parametrize("template", TEMPLATES, ids=lambda one: one.name)


def talk(
    title: str,
    role: str,
    *labels: str,
    kind: str = "other",
    category: str = "other",
    lower: bool = False,
    them: str | None = None,
    company: bool = False,
) -> Terms:
    issues = tuple(
        Issue(f"i{n}", "money" if n == 0 else "integer", label, direction="lower" if lower else "higher")
        for n, label in enumerate(labels or ("Price",))
    )
    return Terms(
        title,
        role,
        category,
        kind,
        "EUR",
        Preferences(issues),
        other_party=OtherParty(name=them) if them else None,
        authority=Authority(stated=company),
    )


def sentences(content: CaseContent) -> Iterator[str]:
    """Every text of a case that is one or more sentences."""
    for item in (one for one in fields(content) if one.name != "arguments"):
        value: Any = getattr(content, item.name)
        parts: tuple[object, ...] = value if isinstance(value, tuple) else (value,)  # pyright: ignore[reportUnknownVariableType]
        for part in parts:
            match part:
                case str():
                    yield part
                case CaseStandard(_, how):
                    yield how
                case CaseQuestion(ask, reveals):
                    yield from (ask, reveals)
                case CaseObjection(they, answer, fallback):
                    yield from (they, answer, fallback)
                case CaseReaction(do, say):
                    yield from (do, say)
                case _:
                    pass


def phrases(content: CaseContent) -> Iterator[str]:
    """Every text of a case that stands inside a sentence."""
    yield from (one.what for one in content.standards)
    yield from (one.text for one in (*content.closing_asks, *content.gives))


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        (talk("CRM renewal, 80 seats", "buyer", kind="renewal", category="software"), "software_renewal"),
        (talk("80 seats of a CRM", "buyer", kind="renewal"), "software_renewal"),
        (talk("200 licence seats", "buyer", kind="new_purchase"), "software_purchase"),
        (talk("Annual subscription for Harbour", "seller", kind="sale", category="saas"), "software_sale"),
        (talk("Senior engineer at Lumen", "candidate", "Base salary", kind="salary"), "salary_offer"),
        (talk("Staff engineer offer", "candidate"), "salary_offer"),
        (talk("Pay review at Lumen", "candidate", "Base salary", kind="salary"), "raise"),
        (talk("Raise after two years", "candidate", kind="salary", category="employment"), "raise"),
        (talk("Engineer's contract", "employer", kind="salary"), "hiring"),
        (talk("Day rate for the autumn project", "seller", "Day rate", category="services"), "freelance_rate"),
        (talk("Agency retainer 2031", "buyer", "Monthly fee", category="marketing"), "agency_fee"),
        (talk("Used VW Golf", "buyer", kind="new_purchase", category="vehicles"), "used_car"),
        (talk("Used VW Golf", "seller", kind="sale", category="vehicles"), "private_sale"),
        (talk("My old car", "seller", kind="sale", category="car"), "private_sale"),
        (talk("Second-hand cargo bike", "buyer"), "second_hand_purchase"),
        (talk("House in Mill Lane", "buyer", "Purchase price", category="housing"), "house_purchase"),
        (talk("Photographs of our wedding", "buyer", kind="new_purchase", category="events"), "event_services"),
        (talk("Summer party, 140 guests", "buyer", "Price per guest", category="catering"), "event_services"),
        (talk("Fleet insurance", "buyer", "Premium", "Excess per claim", kind="renewal"), "insurance"),
        (talk("Licence for a mountain photograph", "seller", "Licence fee"), "content_licence"),
        (talk("New kitchen", "buyer", category="renovation"), "renovation"),
        (talk("Two-room flat in Leith", "tenant", "Rent per month", kind="lease"), "rent_tenant"),
        (talk("Two-room flat in Leith", "landlord", kind="lease"), "rent_landlord"),
        (talk("Steel parts 2031", "buyer", "Unit price", "Volume", category="manufacturing"), "supply_purchase"),
        (talk("Freight contract", "seller", "Rate", category="logistics"), "supply_sale"),
        (talk("Water damage", "seller", kind="dispute"), "settlement_claim"),
        (talk("Water damage", "party", "Payment", kind="dispute", lower=True), "settlement_defence"),
        (talk("Sponsorship of the autumn conference", "seller"), "sponsorship_sought"),
        (talk("Sponsorship of the autumn conference", "buyer"), "sponsorship_given"),
        (talk("Founders' agreement", "party", category="partnership"), "partnership"),
        (talk("Something", "buyer"), "generic_buyer"),
        (talk("Something", "seller"), "generic_seller"),
        (talk("Something", "party", lower=True), "generic_buyer"),
    ],
    ids=lambda one: one.title if isinstance(one, Terms) else one,
)  # fmt: skip
def test_the_template_fits_the_side_the_kind_and_the_words(terms: Terms, expected: str) -> None:
    assert choose_template(terms).name == expected


@pytest.mark.parametrize("row", TITLES, ids=lambda row: f"{row['title']}, {row['role']}")
def test_a_natural_title_finds_its_template(row: dict[str, Any]) -> None:
    terms = talk(row["title"], row["role"], *row["labels"], **row.get("more", {}))
    assert choose_template(terms).name == row["template"]


GOLF = talk("Used VW Golf", "buyer", kind="new_purchase", category="vehicles")
GOLF_SOLD = talk("Used VW Golf", "seller", kind="sale", category="vehicles")


@pytest.mark.parametrize(
    ("terms", "other_party", "expected"),
    [
        (GOLF, OtherParty(name="Jens", role="owner"), "used_car"),
        (GOLF, OtherParty(name="Jens", organisation="Autohaus Berg"), "dealer_purchase"),
        (GOLF, OtherParty(name="Jens", role="car dealer"), "dealer_purchase"),
        (GOLF, OtherParty(name="Berg Motors Ltd"), "dealer_purchase"),
        (replace(GOLF, title="Used Golf at the dealer"), None, "dealer_purchase"),
        (replace(GOLF, title="Used Golf, private, not the dealer"), None, "used_car"),
        (GOLF_SOLD, OtherParty(name="Kim"), "private_sale"),
        (GOLF_SOLD, OtherParty(name="Kim", organisation="Autohaus Berg"), "sale_to_dealer"),
        (replace(GOLF_SOLD, title="My Golf to a dealer"), None, "sale_to_dealer"),
        (replace(GOLF_SOLD, category="car dealer"), OtherParty(name="Kim"), "dealer_sale"),
        (replace(GOLF_SOLD, authority=Authority(stated=True)), OtherParty(name="Kim"), "dealer_sale"),
        (talk("Used laptop", "buyer"), OtherParty(name="Kim"), "second_hand_purchase"),
        (talk("Used laptop", "buyer"), OtherParty(organisation="Rebooted"), "dealer_purchase"),
    ],
)  # fmt: skip
def test_a_dealer_and_a_person_have_objections_of_their_own(
    terms: Terms, other_party: OtherParty | None, expected: str
) -> None:
    assert choose_template(replace(terms, other_party=other_party)).name == expected


def test_no_dealer_says_what_only_a_private_seller_says_and_the_other_way_round() -> None:
    said = {
        name: " ".join(one.they for one in case_templates()[name].content.objections)
        for name in ("used_car", "dealer_purchase", "private_sale", "dealer_sale")
    }
    assert "At the dealer you would pay far more." in said["used_car"]
    assert "I still owe the bank" in said["used_car"]
    for words in ("At the dealer", "I still owe", "Somebody else is coming"):
        assert words not in said["dealer_purchase"]
    assert "guarantee" in said["dealer_purchase"]
    assert "private seller" in said["dealer_sale"]
    assert "private seller" not in said["private_sale"]


def test_without_a_price_and_a_side_the_template_is_the_plain_one() -> None:
    terms = Terms("Talk", "party", "other", "other", None, Preferences((Issue("x", "integer"),)))
    assert choose_template(terms).name == "generic"


@each_template
def test_a_template_has_enough_for_a_talk(template: CaseTemplate) -> None:
    content = template.content
    assert len(content.their_interests) >= 3
    assert len(content.our_interests) >= 2
    assert len(content.standards) >= 3
    assert len(content.questions) >= 4
    assert len(content.objections) >= 5
    assert len(content.labels) >= 2
    assert 3 <= len(content.arguments) <= 5
    assert len(content.gives) >= 2
    assert all(re.search(r"\b(how|what|which|who|when|by when|where)\b", one.ask, re.IGNORECASE)
               for one in content.questions)  # fmt: skip


@each_template
def test_a_template_has_no_figure_of_its_own(template: CaseTemplate) -> None:
    assert not re.search(r"[0-9€$£%]", repr(replace(template.content, arguments=())))


@each_template
def test_the_main_issue_is_never_the_subject_of_a_verb_that_shows_its_number(template: CaseTemplate) -> None:
    text = repr(template.content)
    assert not re.search(r"\{main_issue\} (are|were|have|do|\w+s)\b", text)


def test_no_answer_is_used_in_two_cases() -> None:
    answers = [one.answer for template in TEMPLATES for one in template.content.objections]
    assert len(answers) - len(set(answers)) <= len(CASE_ORDER) // 5


blank = st.sampled_from(["", " ", "  ", "\t"])
nasty_label = st.one_of(
    st.sampled_from(
        [
            "price_per_seat",
            "The price.",
            "Price  per   seat!!",
            "{we} {x}",
            "What comparable deals look like",
            "Cap on the yearly price increase after the first twenty-four months of the contract",
            "SLA credit (%)",
            "***",
            "a",
            "THE PRICE",
            "Fee?! now",
            "my shares",
            "Äußerer Preis",
            "]](((",
        ]
    ),
    st.text(st.sampled_from("abcXYZ {}[]()_.,;:!?-–'\"<>`*|\\\n€9"), min_size=1, max_size=60),
)
nasty_name = st.one_of(
    st.sampled_from(["Acme Inc.", "eBay", "the seller", "{us}", "Dr. Ross", "  ", "We", "What?", "I"]),
    st.text(st.sampled_from("abXY {}.,!?-_"), min_size=1, max_size=40),
)  # fmt: skip


@given(label=nasty_label, them=nasty_name, company=st.booleans(), data=st.data())
@settings(max_examples=150, deadline=None)
def test_every_line_reads_as_a_sentence_whatever_the_issue_and_the_names_are(
    label: str, them: str, company: bool, data: st.DataObject
) -> None:
    template = data.draw(st.sampled_from(TEMPLATES))
    terms = talk("Talk", "buyer", label, them=them, company=company)
    wording = Wording(terms)
    words = case_words(wording, standard="what others pay")
    content = fill_case(template.content, words, terms.issues)
    doubled_by_user = _doubled(words.main_issue) + _doubled(words.them)
    for text in (*sentences(content), *phrases(content)):
        assert not re.search(r"[{}]", text), text
        assert "  " not in text, text
        assert not re.search(r"\s[.,;:?!]", _without(text, words)), text
        assert not re.search(r"[.,;:?!]{2}", text), text
        assert set(_doubled(text)) <= set(doubled_by_user), text
        assert not re.search(r"\d", _without(text, words)), text
        if wording.voice.is_private:
            assert not re.search(r"\b(team|procurement)\b", _without(text, words)), text
    for text in sentences(content):
        assert text[-1] in ".?!", text
        first = re.match(r"\W*(\w+)", text)
        assert first, text
        assert first[1][0].isupper() or any(map(str.isupper, first[1])) or not first[1][0].isalpha()
    for text in phrases(content):
        assert text[0].islower(), text
        assert text[-1] not in ".?!,;:", text


def _doubled(text: str) -> list[str]:
    return [word.lower() for word in re.findall(r"\b(\w+) \1\b", text, re.IGNORECASE)]


def _without(text: str, words: CaseWords) -> str:
    """The text without what the user named."""
    for named in sorted((words.main_issue, words.them), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(named)}(?!\w)", "·", text, flags=re.IGNORECASE)
    return text


def test_a_private_person_says_i_and_a_company_says_we() -> None:
    content = case_templates()["generic_buyer"].content
    alone = fill_case(content, case_words(Wording(talk("A sofa", "buyer"))))
    firm = fill_case(content, case_words(Wording(talk("Desks", "buyer", company=True))))
    assert "On these terms I cannot do it." in alone.leave
    assert "On these terms we cannot do it." in firm.leave


def test_what_is_on_the_table_already_is_not_asked_for_at_the_end() -> None:
    content = case_templates()["used_car"].content
    terms = talk("Used Golf", "buyer", "Price", "Winter tyres")
    asks = fill_case(content, case_words(Wording(terms)), terms.issues).closing_asks
    assert CaseLine("the second set of tyres, if there is one") not in asks
    assert CaseLine("a full tank") in asks


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("price per seat", "the price per seat"),
        ("the rent", "the rent"),
        ("what others pay", "what others pay"),
        ("price!!?", "the price?"),
        ("...", "this point"),
    ],
)
def test_a_label_stands_in_a_sentence_with_its_article(label: str, expected: str) -> None:
    assert noun_phrase(label) == expected


@pytest.mark.parametrize("page", ['side = "pays"', 'side = "pays"\nwrong = 1', "their_interests = []"])
def test_a_template_that_lacks_a_member_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="case template"):
        parse_template("mine", page)
