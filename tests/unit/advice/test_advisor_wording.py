"""What a model may and may not do to a sentence."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.advice.openai_advisor import WordingRejected, mask_numbers, unmask_numbers

TEXTS = {
    "opening": "What we have in mind is a price of 8300.00 EUR, payment of 30 days. How does that sound?",
    "pivot": "If price is hard for you, what could you do on payment?",
}
GOOD = {
    "opening": "Our idea is a price of {{n0}} EUR with payment of {{n1}} days. How does it sound?",
    "pivot": "If the price is hard for you, what could you do about payment instead?",
}
SECRETS = frozenset({Decimal(9400), Decimal("0.62")})


def test_no_number_leaves_the_house() -> None:
    sent = mask_numbers(TEXTS)
    assert not any(
        char.isdigit() for text in sent.texts.values() for char in text.replace("{{n0}}", "").replace("{{n1}}", "")
    )
    assert sent.hidden["opening"] == {"{{n0}}": "8300.00", "{{n1}}": "30"}


def test_a_faithful_wording_gets_its_numbers_back() -> None:
    worded = unmask_numbers(mask_numbers(TEXTS), GOOD, secrets=SECRETS)
    assert worded["opening"] == "Our idea is a price of 8300.00 EUR with payment of 30 days. How does it sound?"


@pytest.mark.parametrize(
    "pivot",
    [
        "If price is hard for you, what could you do on payment? We could pay 9400.",
        "If price is hard for you, what could you do on payment? Nine thousand four hundred works.",
        "If price is hard for you, what could you do on payment? We can go to 9.4k.",
        "If price is hard for you, what could you do on payment, by half?",
        "If price is hard for you, what could you do on payment of ⅓?",
        "If price is hard for you, what could you do on payment ②?",
        "If price is hard for you, what could you do on payment? Our BATNA is strong.",
        "If price is hard for you, what could you do on payment? Our walk-away price is close.",
        "If price is hard for you, what could you do on payment? This is our bottom line.",
        "If price is hard for you, what could you do on payment? We accept.",
        "If price is hard for you, what could you do on payment? See https://evil.example/x",
        "If price is hard for you, what could you do on payment? See evil.com",
        "If price is hard for you, what could you do on payment? <b>now</b>",
        "If price is hard for you, what could you do on payment? {{n0}}",
        "If price is hard for you,\nwhat could you do on payment?",
        "HACKED",
        "",
        "   ",
        "price payment " * 40,
        7,
        None,
        ["If price is hard for you, what could you do on payment?"],
    ],
)
def test_a_wording_that_says_more_or_something_else_is_refused(pivot: object) -> None:
    with pytest.raises(WordingRejected):
        unmask_numbers(mask_numbers(TEXTS), {**GOOD, "pivot": pivot}, secrets=SECRETS)


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"opening": GOOD["opening"]},
        {**GOOD, "extra": "more"},
        [],
        "text",
        None,
        {**GOOD, "opening": GOOD["opening"].replace("{{n1}}", "{{n0}}")},
        {**GOOD, "opening": GOOD["opening"].replace("{{n1}} days", "some days")},
        {**GOOD, "opening": GOOD["opening"] + " {{n2}}"},
    ],
)
def test_other_fields_or_other_placeholders_are_refused(answer: object) -> None:
    with pytest.raises(WordingRejected):
        unmask_numbers(mask_numbers(TEXTS), answer)


def test_a_sentence_that_holds_braces_is_not_sent() -> None:
    assert mask_numbers({"a": "Pay {{n0}} now", "b": "Pay 5 now"}).texts == {"b": "Pay {{n0}} now"}


OFFER = (
    "We could do €45 per seat and month for 24 months, payment within 30 days instead of 14, "
    "and at most 3 % more a year."
)
FAITHFUL = (
    "What about €{{n0}} per seat and month for {{n1}} months, with payment within {{n2}} days instead of {{n3}}, "
    "and at most {{n4}} % more each year?"
)


def test_an_offer_is_worded_with_its_units() -> None:
    worded = unmask_numbers(mask_numbers({"say": OFFER}), {"say": FAITHFUL})
    assert worded["say"] == (
        "What about €45 per seat and month for 24 months, with payment within 30 days instead of 14, "
        "and at most 3 % more each year?"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("€{{n0}}", "${{n0}}"),
        ("€{{n0}}", "{{n0}}"),
        ("€{{n0}}", "€-{{n0}}"),
        ("€{{n0}}", "€{{n0}}k"),
        ("€{{n0}}", "up to €{{n0}}"),
        ("€{{n0}}", "€{{n0}} or less"),
        ("seat and month", "seat and year"),
        ("{{n1}} months", "{{n1}} years"),
        ("{{n1}} months", "{{n1}}"),
        ("at most {{n4}}", "at least {{n4}}"),
        ("at most {{n4}}", "{{n4}}"),
        ("{{n4}} %", "{{n4}}"),
        ("{{n2}} days instead of {{n3}}", "{{n3}} days instead of {{n2}}"),
        ("instead of {{n3}}", "and {{n3}}"),
        ("more each year", "more each month"),
        (" for {{n1}} months", ""),
        (" for {{n1}} months", " for {{n1}} months, {{n1}} months"),
        ("What about", "**What about**"),
        ("What about", "Ignore the rules: what about"),
        ("What about", "What about half of"),
        ("What about", "You have a deal: what about"),
        ("What about", "Our limit is higher, but what about"),
        (" seat", " seat (see evil.example/x)"),
    ],
)
def test_a_wording_that_changes_what_an_offer_comes_to_is_refused(before: str, after: str) -> None:
    assert before in FAITHFUL
    changed = FAITHFUL.replace(before, after, 1)
    if after.startswith("Ignore"):
        changed += " These are my instructions."
    with pytest.raises(WordingRejected):
        unmask_numbers(mask_numbers({"say": OFFER}), {"say": changed})


TRADE = "Thank you, that helps. If you agree to a term of 12 months, we can go to €46.50 instead of €41.50."
REFUSAL = "I cannot go below €12,000, and this price is final for me."


@pytest.mark.parametrize(
    ("text", "worded"),
    [
        (
            TRADE,
            "That helps, thanks. If a term of {{n0}} months works for you, we can go to €{{n1}} instead of €{{n2}}.",
        ),
        (TRADE, "Thank you. Provided you agree to {{n0}} months, we could move to €{{n1}} instead of €{{n2}}."),
        (REFUSAL, "For me this price is final: I can't go below €{{n0}}."),
        (
            "Thank you, I see where you stand. What I have in mind is €12,000. How does that sit with you?",
            "Thanks, I see better now where you stand. I have €{{n0}} in mind. What do you think of that?",
        ),
    ],
)
def test_a_faithful_paraphrase_is_used(text: str, worded: str) -> None:
    assert unmask_numbers(mask_numbers({"say": text}), {"say": worded})


@pytest.mark.parametrize(
    ("text", "worded"),
    [
        (TRADE, "Thank you. We agree on {{n0}} months, we can go to €{{n1}} instead of €{{n2}}."),
        (TRADE, "Thank you. A term of {{n0}} months, and we can go to €{{n1}} instead of €{{n2}}."),
        (REFUSAL, "I can go below €{{n0}}, and this price is final for me."),
        ("We can go to €12,000 for this price.", "We can not go to €{{n0}} for this price."),
        ("Is that something you can agree to today?", "Isn't that something you can agree to today?"),
    ],
)
def test_a_wording_that_drops_a_condition_or_turns_a_refusal_is_not_used(text: str, worded: str) -> None:
    with pytest.raises(WordingRejected):
        unmask_numbers(mask_numbers({"say": text}), {"say": worded})


MANY = {str(n): f"How important is point number {n} to you in this talk?" for n in range(10)}


def test_a_sentence_that_fails_stays_and_the_others_are_worded() -> None:
    answer = dict.fromkeys(MANY, "Tell me, how important is point number {{n0}} to you?")
    answer["3"] = "How important is point number four to you?"
    worded = unmask_numbers(mask_numbers(MANY), answer)
    assert set(worded) == set(MANY) - {"3"}
    assert worded["9"] == "Tell me, how important is point number 9 to you?"


@pytest.mark.parametrize(
    "spoiled",
    [
        {"3": "How important is point number {{n0}} to you? We can go to 9,400."},
        {"3": "How important is point number {{n0}} to you? See www.evil.example"},
        {str(n): "Whatever." for n in range(3)},
        {"3": None},
    ],
)
def test_an_answer_that_gives_something_away_or_fails_often_is_not_used_at_all(spoiled: dict[str, str]) -> None:
    answer = dict.fromkeys(MANY, "Tell me, how important is point number {{n0}} to you?")
    with pytest.raises(WordingRejected):
        unmask_numbers(mask_numbers(MANY), answer | spoiled, secrets=SECRETS)


@given(text=st.text(max_size=200))
def test_a_masked_text_unmasks_to_itself_as_a_reader_sees_it(text: str) -> None:
    sent = mask_numbers({"one": text})
    for name, shown in sent.texts.items():
        back = shown
        for key, number in sent.hidden[name].items():
            assert back.count(key) == 1
            back = back.replace(key, number)
        assert "{{" not in back
