"""The words of a next move, read over random talks and in cases as people meet them."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

import pytest
from hypothesis import given, settings

from negotiator.advice.concession import move_text
from negotiator.advice.concession.move import PersonMove, person_move
from negotiator.advice.concession.move_text import CaseLines
from negotiator.advice.leverage.concessions import LedgerOffer
from negotiator.numbers.read import normalise_text, numbers_in
from negotiator.terms import limits
from negotiator.terms.issues import coordinate
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.plain_text import split_sentences
from negotiator.terms.terms import Terms
from negotiator.terms.terms_parsing import parse_terms
from negotiator.terms.wording import Wording
from tests.helpers.generated_talks import NOW, SEEDS, GeneratedTalk, negotiation, talk

SCARS: Final = {
    "a field name": re.compile(r"_"),
    "None": re.compile(r"\bNone\b"),
    "an unfilled brace": re.compile(r"[{}]"),
    "an exponent": re.compile(r"\dE[+-]?\d"),
    "an amount without separators": re.compile(r"(?<![\d.,])\d{5,}"),
    "a raw amount": re.compile(r"\d,\d{3}\.00\b"),
    "a utility": re.compile(r"\butilit|\bpart.worth", re.IGNORECASE),
    "marks in a row": re.compile(r"[.,;:!?] ?[.,;:!?]"),
    "a blank before a mark": re.compile(r" [.,;:!?]"),
    "blanks in a row": re.compile(r" {2}|^ | $"),
}
DOUBLED: Final = re.compile(r"\b([a-z]{2,}) \1\b", re.IGNORECASE)
CAR: Final[dict[str, Any]] = {
    "title": "Used Golf",
    "role": "buyer",
    "category": "vehicles",
    "currency": "EUR",
    "issues": [{"name": "price", "label": "Price", "range": {"min": "5000", "max": "16000"}}],
    "target": {"package": {"price": "12500"}},
    "walk_away": {"package": {"price": "14000"}},
}
CRM: Final[dict[str, Any]] = {
    "title": "CRM renewal, 80 seats",
    "role": "buyer",
    "category": "software",
    "kind": "renewal",
    "currency": "EUR",
    "issues": [
        {"name": "price_per_seat", "label": "Price per seat and month", "weight": 3,
         "range": {"min": "38", "max": "65"}},
        {"name": "term_months", "label": "Contract term", "type": "integer", "unit": "months",
         "direction": "lower", "weight": 1, "range": {"min": 12, "max": 36, "step": 12}},
        {"name": "payment", "label": "Payment", "type": "enum", "weight": 0.5,
         "options": ["yearly", "quarterly", "monthly"]},
    ],
    "target": {"package": {"price_per_seat": "45", "term_months": 12, "payment": "quarterly"}},
    "walk_away": {"package": {"price_per_seat": "56", "term_months": 24, "payment": "yearly"}},
    "batna": {"description": "Move to Nimbus at 49 a seat."},
}  # fmt: skip


def terms_of(body: dict[str, Any]) -> Terms:
    return parse_terms(NegotiationBody.model_validate(body))


def moved(terms: Terms, *offers: tuple[str, dict[str, Any]], words: str | None = None) -> PersonMove:
    """The move after these offers, of which the other side's last one stands, and the words that they say now."""
    ledger = [LedgerOffer(seq, "me" if by == "me" else "them", package) for seq, (by, package) in enumerate(offers, 1)]
    theirs = [row.package for row in ledger if row.by == "them"]
    table = theirs[-1] if theirs else None
    return person_move(terms, ledger, now=NOW, on_table=table, words=words, answer=words)


def said(move: PersonMove, lines: CaseLines = move_text.NO_LINES) -> str:
    return move_text.say(move, Wording(move.path.aims.terms), lines)


def texts(move: PersonMove) -> Iterator[tuple[str, str]]:
    words = Wording(move.path.aims.terms)
    yield "say", move_text.say(move, words)
    yield "summary", move_text.summary(move, words)
    for text in move_text.reasons(move, words):
        yield "reasons", text
    for text in move_text.assumptions(move.path.aims, words, move.package, move.reading):
        yield "assumptions", text
    for one in move_text.missing_inputs(move.path.aims, words):
        yield "ask", one.ask
        yield "ask", one.why


def advised(one: GeneratedTalk) -> PersonMove:
    return person_move(one.terms, one.offers, now=NOW, on_table=one.on_table, words=one.words)


@given(SEEDS)
@settings(max_examples=300)
def test_no_text_has_a_scar_of_its_template(seed: int) -> None:
    for place, text in texts(advised(talk(seed))):
        for name, scar in SCARS.items():
            assert not scar.search(text), f"{name} in {place}: {text}"
        doubled = DOUBLED.search(text)
        assert doubled is None or doubled[1].lower() in {"that", "had"}, text


@given(SEEDS)
@settings(max_examples=300)
def test_every_sentence_starts_with_a_capital_and_ends_with_its_mark(seed: int) -> None:
    for _, text in texts(advised(talk(seed))):
        for one in split_sentences(text):
            first = next(mark for mark in one if mark.isalnum())
            assert not first.islower(), text
            assert one[-1] in ".?!…", text


@given(SEEDS)
@settings(max_examples=300)
def test_at_most_six_sentences_are_said(seed: int) -> None:
    assert 1 <= len(split_sentences(said(advised(talk(seed))))) <= move_text.MAX_SENTENCES


@given(SEEDS)
@settings(max_examples=300)
def test_a_private_person_says_i_and_a_company_we(seed: int) -> None:
    move = advised(talk(seed))
    voice, text = Wording(move.path.aims.terms).voice, said(move)
    if voice.is_private:
        own = re.sub(
            r"(?:(?:both of|between|brings|[Ll]et|neither of) us|(?:Can|Shall|Could) we|[Ii]f we can|we are)\b",
            "",
            text,
        )
        assert not re.search(r"\b(?:we|our|us)\b", own), text
    else:
        assert not re.search(r"\b(?:I|my|me)\b", text), text


@given(SEEDS)
@settings(max_examples=300)
def test_no_private_amount_is_said(seed: int) -> None:
    one = talk(seed, single_price=True)
    (price,) = one.terms.issues
    if price.range is None or price.range.step or price.value_points or one.terms.constraints:
        return
    target = one.terms.target.package if one.terms.target else None
    private = {
        coordinate("money", value)
        for value in (
            price.limit,
            *(
                given.package.get("price")
                for given in (one.terms.walk_away, one.terms.batna)
                if given and given.package
            ),
        )
        if value is not None
    }
    move = advised(one)
    public = {coordinate("money", row.package.get(price.name)) for row in one.offers}
    public |= {price.range.min, price.range.max}
    if target:
        public.add(coordinate("money", target.get(price.name)))
    if move.action == "counter":
        text = normalise_text(said(move))
        figures = {
            figure
            for number in numbers_in(text)
            if text[number.start : number.end].strip() != "one"  # "one more step"
            for figure in number.readings
        }
        assert not (private - public) & figures


@pytest.mark.parametrize("seed", range(40))
def test_an_opening_says_the_whole_package_and_asks_something(seed: int) -> None:
    move = advised(negotiation(seed))
    if move.action == "counter":
        assert move.package is not None
        text, words = said(move), Wording(move.path.aims.terms)
        assert words.package(move.package, with_total=False) in text
        assert text.endswith("?") or move.reading.theirs


def test_a_step_is_said_in_round_figures() -> None:
    first = {"price": "12300"}
    text = said(moved(terms_of(CAR), ("me", first), ("them", {"price": "14900"})))
    assert re.fullmatch(
        r"I could go up to €12,\d00\. (?:Would that work for you|Could we agree on that|Can you do that)\?", text
    )


def test_offers_of_equal_worth_are_a_choice() -> None:
    opening = {"price_per_seat": "43", "term_months": 12, "payment": "quarterly"}
    asked = {"price_per_seat": "61", "term_months": 36, "payment": "yearly"}
    closer = {**asked, "price_per_seat": "59"}
    move = moved(terms_of(CRM), ("them", asked), ("me", opening), ("them", closer))
    assert move.step is not None
    assert move.step.alternatives
    text = said(move)
    assert " can offer either " in text
    assert "which suits you better?" in text


def test_what_they_took_back_is_named() -> None:
    move = moved(
        terms_of(CAR),
        *(("me", {"price": "12300"}), ("them", {"price": "14500"})),
        *(("me", {"price": "12600"}), ("them", {"price": "14800"})),
    )
    assert said(move) == ("Your earlier offer was €14,500. What has changed? My offer stands: €12,600.")


def test_an_offer_beyond_the_own_limit_is_corrected() -> None:
    move = moved(terms_of(CAR), ("me", {"price": "14500"}), ("them", {"price": "14900"}))
    assert said(move).startswith("I have to correct my last offer. What I can do is €")
    words = Wording(move.path.aims.terms)
    assert "beyond a limit of yours" in move_text.reasons(move, words)[0]


def test_points_they_left_out_are_asked_for() -> None:
    opening = {"price_per_seat": "43", "term_months": 12, "payment": "quarterly"}
    move = moved(terms_of(CRM), ("me", opening), ("them", {"price_per_seat": "60"}))
    assert said(move).startswith("Where do you stand on the contract term and the payment?")
    words = Wording(move.path.aims.terms)
    assumed = move_text.assumptions(move.path.aims, words, move.package, move.reading)
    assert (
        "They have said nothing about the contract term and the payment, so it is assumed to be the least that you "
        "would accept." in assumed
    )


def test_their_step_is_said_in_money() -> None:
    move = moved(
        terms_of(CAR),
        *(("me", {"price": "12300"}), ("them", {"price": "14900"})),
        *(("me", {"price": "12600"}), ("them", {"price": "14600"})),
    )
    first = move_text.reasons(move, Wording(move.path.aims.terms))[0]
    assert "from €14,900 to €14,600" in first


def test_a_deal_that_is_taken_is_compared_with_the_walk_away() -> None:
    move = moved(terms_of(CAR), ("me", {"price": "12300"}), ("them", {"price": "12400"}))
    assert move.action == "accept"
    words = Wording(move.path.aims.terms)
    assert said(move) == "That works for me: €12,400. Let us put it in writing."
    assert "It is €1,600 better for you than your walk-away." in move_text.reasons(move, words)


def test_a_market_price_no_better_than_the_opening_is_no_reason() -> None:
    for value, spoken in (("12000", True), ("13500", False)):
        terms = terms_of({**CAR, "baseline": {"kind": "market", "value": value}})
        text = said(moved(terms))
        assert ("The market price is" in text) == spoken
        assert Decimal(value) < Decimal(12300) or value not in text.replace(",", "")


def test_their_yes_to_the_last_offer_is_taken() -> None:
    offers = ("them", {"price": "14900"}), ("me", {"price": "12300"}), ("them", {"price": "14200"})
    move = moved(terms_of(CAR), *offers, words="Deal! You can have it for 12,300.")
    assert (move.action, move.package) == ("accept", {"price": "12300"})
    assert said(move) == "Thank you, then we agree on €12,300. Let us put it in writing."
    reasons = move_text.reasons(move, Wording(move.path.aims.terms))
    assert "Their words accept your last offer. Record their acceptance." in reasons


def test_a_yes_under_a_condition_leaves_a_place_for_the_answer_to_the_condition() -> None:
    offers = ("them", {"price": "14900"}), ("me", {"price": "12300"}), ("them", {"price": "12300"})
    move = moved(terms_of(CAR), *offers, words="All right, €12,300, if you pick it up this week.")
    assert said(move) == "[Your answer to: “if you pick it up this week.”] Do we agree on €12,300, then?"


def test_a_question_beside_a_yes_leaves_a_place_for_its_answer() -> None:
    offers = ("them", {"price": "14900"}), ("me", {"price": "12300"}), ("them", {"price": "12300"})
    move = moved(terms_of(CAR), *offers, words="All right, €12,300 it is. When can you pick it up?")
    assert said(move) == (
        "Thank you, then we agree on €12,300. [Your answer to: “When can you pick it up?”] Let us put it in writing."
    )


def test_a_yes_to_an_unnamed_offer_is_asked_about_and_nothing_more_is_offered() -> None:
    offers = ("them", {"price": "14900"}), ("me", {"price": "12300"}), ("them", {"price": "14200"})
    move = moved(terms_of(CAR), *offers, words="OK, deal")
    assert (move.action, move.package) == ("counter", {"price": "12300"})
    assert said(move) == "Do we agree on €12,300, then?"


def test_a_yes_to_an_offer_beyond_the_limit_is_corrected() -> None:
    offers = ("them", {"price": "14900"}), ("me", {"price": "14500"})
    assert moved(terms_of(CAR), *offers, words="Deal!").action != "accept"


def test_a_yes_to_a_part_of_the_points_is_no_deal_yet() -> None:
    offers = ("them", {"price_per_seat": "60"}), ("me", {"price_per_seat": "43"})
    assert moved(terms_of(CRM), *offers, words="Deal!").action != "accept"


def test_what_is_gone_ends_the_talk() -> None:
    offers = ("them", {"price": "14900"}), ("me", {"price": "12300"})
    move = moved(terms_of(CAR), *offers, words="It is sold, sorry.")
    assert move.action == "walk_away"
    assert said(move).startswith("Thank you for telling me.")


def test_a_price_that_is_said_beside_a_recorded_one_is_asked_about() -> None:
    offers = ("them", {"price": "14900"}), ("me", {"price": "12300"}), ("them", {"price": "14200"})
    move = moved(terms_of(CAR), *offers, words="I could do 13,500 if you pick it up today.")
    reasons = move_text.reasons(move, Wording(move.path.aims.terms))
    assert reasons[0].startswith("Do they offer €13,500? They say: “I could do 13,500 if you pick it up today.”")


def test_an_offer_beyond_the_range_is_compared_as_it_is() -> None:
    move = moved(terms_of(CAR), ("me", {"price": "12300"}), ("them", {"price": "4000"}))
    words = Wording(move.path.aims.terms)
    assert "It is €10,000 better for you than your walk-away." in move_text.reasons(move, words)
    assert "€8,500 better for you than your target" in move_text.cost(move, words)


def test_a_final_offer_without_a_movement_is_told_as_that() -> None:
    offers = ("me", {"price": "12300"}), ("them", {"price": "14600"}), ("them", {"price": "14600"})
    move = moved(terms_of(CAR), *offers, words="That is my final offer.")
    reasons = move_text.reasons(move, Wording(move.path.aims.terms))
    assert reasons[0] == (
        "They have said €14,600 twice and call it final. "
        "It is €600 past your limit, so be ready to leave if they keep to it."
    )


def test_a_no_is_answered_and_nothing_more_is_offered() -> None:
    ledger = (LedgerOffer(1, "them", {"price": "14900"}), LedgerOffer(2, "me", {"price": "12600"}))
    table = ledger[0].package
    move = person_move(terms_of(CAR), ledger, now=NOW, on_table=table, refused=True)
    assert move.package == {"price": "12600"}
    assert said(move).startswith("What would have to change for you to say yes?")
    assert move_text.reasons(move, Wording(move.path.aims.terms))[0].startswith("They said no.")


def test_a_figure_within_the_limit_that_they_say_three_times_is_taken_and_none_above_it_is_offered() -> None:
    theirs = ("them", {"price": "13900"})
    offers = ("them", {"price": "14900"}), ("me", {"price": "12300"}), theirs
    twice = moved(terms_of(CAR), *offers, ("me", {"price": "12600"}), theirs)
    assert (twice.action, twice.package) == ("counter", {"price": 12700})
    words = Wording(twice.path.aims.terms)
    assert move_text.reasons(twice, words)[0].startswith(
        "They have said €13,900 twice. It is within your limit, so you can take it or leave it."
    )
    again = ("me", {"price": "12700"}), theirs
    often = moved(terms_of(CAR), *offers, ("me", {"price": "12600"}), theirs, *again)
    assert (often.action, often.package) == ("accept", {"price": "13900"})
    assert "said €13,900 three times. It is within your limit" in move_text.summary(often, words)


def test_a_repeated_final_offer_beyond_the_limit_is_met_half_way_and_not_near_the_limit() -> None:
    offers = ("them", {"price": "14900"}), ("me", {"price": "12300"}), ("them", {"price": "14200"})
    offers = *offers, ("me", {"price": "12300"}), ("them", {"price": "14200"})
    move = moved(terms_of(CAR), *offers, words="That is my final offer.")
    assert move.why == "final_step"
    assert move.package is not None
    price = coordinate("money", move.package["price"])
    assert price is not None
    assert Decimal(12300) < price <= Decimal(13250)
    assert said(move).endswith(f"If we can settle it today, I can go up to €{price:,}.")


def test_a_final_word_is_answered_without_a_step_once_and_taken_only_if_they_keep_to_it() -> None:
    final = "That is my final offer."
    offers = ("them", {"price": "14900"}), ("me", {"price": "12300"}), ("them", {"price": "13800"})
    first = moved(terms_of(CAR), *offers, words=final)
    assert (first.action, first.why, first.package) == ("counter", "hold", {"price": "12300"})
    kept = moved(terms_of(CAR), *offers, ("me", {"price": "12300"}), offers[-1], words=final)
    assert (kept.action, kept.why, kept.package) == ("accept", "repeated_final", {"price": "13800"})
    paid = moved(terms_of(CAR), *offers, ("me", {"price": "12600"}), offers[-1], words=final)
    assert (paid.why, paid.package) == ("hold", {"price": "12600"}), "a final word that was paid for is not tested yet"
    broken = moved(terms_of(CAR), *offers, ("me", {"price": "12300"}), ("them", {"price": "13600"}))
    assert (broken.action, broken.why) == ("counter", "step")


def test_a_step_after_a_small_one_grows_only_when_they_have_moved_and_the_answer_says_so() -> None:
    own = ("me", {"price": "12000"}), ("me", {"price": "12400"}), ("me", {"price": "12450"})
    offers = [*own, ("them", {"price": "14900"}), ("them", {"price": "14600"})]
    larger = moved(terms_of(CAR), *offers)
    assert larger.package is not None
    assert int(str(larger.package["price"])) > 12500
    reason = "This step is larger than your last one, which was small, because they have moved since."
    words = Wording(larger.path.aims.terms)
    assert any(reason in one for one in move_text.reasons(larger, words))
    still = moved(terms_of(CAR), *offers, *offers[-1:], *offers[-1:])
    assert still.package is not None
    assert int(str(still.package["price"])) <= 12500


def test_a_step_for_an_end_says_why_it_is_larger_and_nothing_that_contradicts_it() -> None:
    offers = ("them", {"price": "14900"}), ("me", {"price": "12300"}), ("them", {"price": "14500"})
    offers = *offers, ("me", {"price": "12600"})

    def answered(move: PersonMove) -> str:
        return " ".join(move_text.reasons(move, Wording(move.path.aims.terms)))

    kept = ("them", {"price": "14400"})
    final = moved(terms_of(CAR), *offers, kept, offers[-1], kept, words="That is my final offer.")
    assert "larger than your last one, because they repeat a final offer" in answered(final)
    assert "It goes about half of the way to their offer." in answered(final)
    last = moved(terms_of({**CAR, "max_rounds": 3}), *offers, ("them", {"price": "14400"}))
    assert answered(last).startswith(
        "They came down from €14,500 to €14,400. Their offer is €400 past your limit. "
        "It is your last offer in the rounds that you agreed on. "
        "This step is larger than your last one, because no other follows it. "
    )
    split = ("them", {"price": "13900"})
    middle = moved(terms_of(CAR), *offers, split, words="Let us meet in the middle.")
    assert middle.why == "middle"
    assert "Answer with" not in answered(middle)
    assert "because they proposed it" in answered(middle)


def test_a_last_offer_beside_one_that_could_be_taken_says_what_is_certain() -> None:
    offers = ("them", {"price": "14900"}), ("me", {"price": "12300"}), ("them", {"price": "14400"})
    offers = *offers, ("me", {"price": "12600"}), ("them", {"price": "13950"})
    move = moved(terms_of({**CAR, "max_rounds": 3}), *offers)
    reasons = " ".join(move_text.reasons(move, Wording(move.path.aims.terms)))
    assert move.action == "counter"
    assert "Theirs is within your limit: to accept it is certain" in reasons


def test_a_question_about_an_issue_is_answered_by_the_one_fact_on_it() -> None:
    fact = {"fact": "The hall is ours until the ninth", "issue": "collection"}
    days = {"name": "collection", "label": "Collection day", "type": "integer", "range": {"min": 1, "max": 30}}
    body = {
        **CAR,
        "issues": [CAR["issues"][0], days],
        "arguments": [fact, "I pay in cash"],
        "target": {"package": {"price": 12800, "collection": 9}},
        "walk_away": {"package": {"price": 14000, "collection": 20}},
    }
    offers = ("them", {"price": "14900", "collection": 15}), ("me", {"price": "12300", "collection": 9})
    theirs = ("them", {"price": "14400", "collection": 15})
    assert fact["fact"] in said(moved(terms_of(body), *offers, theirs, words="€14,400. Is that collection day fixed?"))


def test_a_reason_that_the_user_told_in_other_words_is_not_told_again() -> None:
    reason = "New spindle bearings were fitted in April, invoice over 2,900"
    body = {**CAR, "arguments": [reason, "I pay in cash"]}
    rows = [("them", "14900"), ("me", "12300"), ("them", "14500"), ("me", "12600"), ("them", "14200")]
    told = "The spindle has new bearings, fitted in April: the invoice is over 2,900. My offer is 12,300."
    offers = [
        LedgerOffer(n, by, {"price": price}, words=told if n == 2 else "")  # type: ignore[arg-type]
        for n, (by, price) in enumerate(rows, 1)
    ]
    move = person_move(terms_of(body), offers, now=0, on_table={"price": "14200"})
    assert "spindle" not in said(move)


def test_what_could_be_given_is_no_gift_where_it_is_an_issue_itself() -> None:
    give = {"fact": "I could see to garden and gutters", "kind": "give"}
    upkeep = {"name": "upkeep", "type": "enum", "label": "Who sees to garden and gutters", "options": ["me", "them"]}
    body = {
        **CAR,
        "issues": [CAR["issues"][0], upkeep],
        "arguments": [give],
        "target": {"package": {"price": 12800, "upkeep": "them"}},
        "walk_away": {"package": {"price": 14000, "upkeep": "me"}},
    }
    offers = [("them", {"price": "14900", "upkeep": "me"}), ("me", {"price": "12300", "upkeep": "them"})]
    for price in ("14500", "14200", "14000"):
        move = moved(terms_of(body), *offers, ("them", {"price": price, "upkeep": "me"}))
        assert "could see to" not in said(move)


def test_their_price_for_a_lesser_package_is_no_price_for_the_user_s() -> None:
    options = [{"value": "side", "worth": 0}, {"value": "main", "worth": 400}]
    place = {"name": "place", "type": "enum", "options": options}
    body = {
        **CAR,
        "issues": [{**CAR["issues"][0], "range": {"min": 1500, "max": 3500}}, place],
        "target": {"package": {"price": 2200, "place": "main"}},
        "walk_away": {"package": {"price": 2900, "place": "main"}},
    }
    offers = [("them", {"price": "2700", "place": "side"}), ("me", {"price": "2525", "place": "main"})]
    move = moved(terms_of(body), *offers, ("them", {"price": "2475", "place": "side"}))
    assert move.package is not None
    assert move.package["place"] == "side" or Decimal(str(move.package["price"])) >= 2525


def test_a_question_by_another_word_for_an_issue_brings_that_issue_up() -> None:
    transport = {"name": "transport", "type": "enum", "label": "Transport by"}
    options = [{"value": "buyer", "worth": 0}, {"value": "seller", "worth": -350}]
    body = {
        **CAR,
        "role": "seller",
        "issues": [
            {**CAR["issues"][0], "direction": "higher", "range": {"min": 12000, "max": 16000}},
            {**transport, "options": options},
        ],
        "target": {"package": {"price": 15000, "transport": "buyer"}},
        "walk_away": {"package": {"price": 13000, "transport": "buyer"}},
    }
    offers = [("me", {"price": "15500", "transport": "buyer"}), ("them", {"price": "12500", "transport": "buyer"})]
    move = moved(terms_of(body), *offers, words="€12,500. Could you deliver it, perhaps?")
    assert [aim.wanted for aim in move.path.aims.issues] == ["no", "invited"]


def test_a_seller_asks_a_buyer_to_do_without_and_a_buyer_asks_for_it() -> None:
    support = {"name": "support", "label": "Premium support", "type": "boolean", "weight": 2}

    def asked(role: str, direction: str) -> str:
        best, worst = ("65", "40") if role == "seller" else ("40", "65")
        body = {
            **CRM,
            "role": role,
            "issues": [CRM["issues"][0], {**support, "direction": direction}],
            "target": {"package": {"price_per_seat": best, "support": role == "buyer"}},
            "walk_away": {"package": {"price_per_seat": worst, "support": role == "seller"}},
        }
        theirs = [
            ("them", {"price_per_seat": price, "support": role == "seller"})
            for price in (worst, "43" if role == "seller" else "60")
        ]
        mine = ("me", {"price_per_seat": best, "support": role == "buyer"})
        return said(moved(terms_of(body), theirs[0], mine, theirs[1]))

    assert "If you can do without premium support" in asked("seller", "lower")
    assert "If it comes with premium support" in asked("buyer", "higher")


def test_nobody_bids_a_third_time_against_somebody_who_does_not_move() -> None:
    theirs, own = ("them", {"price": "14400"}), 12300
    offers: list[tuple[str, dict[str, Any]]] = [("them", {"price": "14900"})]
    offers += [("me", {"price": str(own)}), theirs]
    said_before, moves = set[Decimal](), list[PersonMove]()
    for _ in range(9):
        move = moved(terms_of(CAR), *offers)
        moves.append(move)
        if move.action != "counter" or move.package is None:
            break
        price = coordinate("money", move.package["price"])
        assert price is not None
        said_before.add(price)
        offers += [("me", {"price": str(price)}), theirs]
    assert moves[-1].action == "walk_away"
    assert moves[-2].why == "hold"
    assert len(said_before) <= 3


MACHINE: Final[dict[str, Any]] = {
    "title": "Used milling machine",
    "role": "seller",
    "currency": "EUR",
    "max_rounds": 9,
    "issues": [
        {"name": "price", "range": {"min": 17000, "max": 23500}},
        {"name": "transport", "type": "enum", "options": [
            {"value": "buyer", "worth": 0}, {"value": "seller", "worth": -350}]},
        {"name": "payment", "type": "enum", "options": [
            {"value": "on_pickup", "worth": 0}, {"value": "30_days", "worth": -300}]},
    ],
    "target": {"package": {"price": 22000, "transport": "buyer", "payment": "on_pickup"}},
    "walk_away": {"package": {"price": 18500, "transport": "buyer", "payment": "on_pickup"}},
}  # fmt: skip


def test_what_they_pay_more_for_than_it_costs_is_given_and_said_in_the_first_person() -> None:
    base = {"transport": "buyer", "payment": "on_pickup"}
    talk = [
        ("them", {"price": "17800", **base}),
        ("me", {"price": "22000", **base}),
        ("them", {"price": "18400", **base}),
        ("me", {"price": "21750", **base}),
        ("them", {"price": "19800", "transport": "seller", "payment": "30_days"}),
    ]
    move = moved(terms_of(MACHINE), *talk)
    assert move.package is not None
    assert {**move.package, "price": "21750"} == {"price": "21750", "transport": "seller", "payment": "30_days"}
    assert "take care of the transport and agree to payment within 30 days" in said(move)


def test_a_walk_away_with_worths_in_money_is_kept_in_all() -> None:
    terms = terms_of(MACHINE)
    least = Decimal(18500)
    for transport, payment, cost in (
        ("seller", "on_pickup", 350),
        ("seller", "30_days", 650),
        ("buyer", "30_days", 300),
    ):
        package = {"transport": transport, "payment": payment}
        assert limits.keeps_limits(terms, {"price": least + cost, **package})
        assert not limits.keeps_limits(terms, {"price": least + cost - 1, **package})


def test_no_stock_sentence_is_said_twice_in_a_talk() -> None:
    terms, ledger = terms_of(CAR), list[LedgerOffer]()
    texts = list[str]()
    for price in ("14900", "14600", "14400", "14250", "14150"):
        ledger.append(LedgerOffer(len(ledger) + 1, "them", {"price": price}))
        move = person_move(terms, ledger, now=NOW, on_table={"price": price}, words=f"{price} is my last word.")
        assert move.package is not None
        texts += split_sentences(said(move))
        ledger.append(LedgerOffer(len(ledger) + 1, "me", move.package, words=said(move)))
    stock = [text for text in texts if "€" not in text]
    assert len(stock) == len({*stock}) > 2


@pytest.mark.parametrize(
    "words",
    [
        "Done, 12,700. You strip down to the bare wall, five years' warranty, and you give the neighbours my card.",
        "All right, 12,700 with the wall and the floor, settled today. I will send you the agreement.",
        "12,700, you keep the place free and no piano - agreed, I enter the Friday.",
    ],
)
@pytest.mark.parametrize("rounds", [2, 9])
def test_a_longer_yes_never_takes_their_own_worse_offer(words: str, rounds: int) -> None:
    terms = terms_of({**CAR, "max_rounds": rounds})
    talk = [("them", "12870"), ("me", "12600"), ("them", "12790"), ("me", "12700")]
    move = moved(terms, *((by, {"price": price}) for by, price in talk), words=words)
    assert (move.why, move.package) in [(why, {"price": "12700"}) for why in ("ask_if_agreed", "they_agree")]
