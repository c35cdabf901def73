"""A figure in a refusal, condition, question, comparison or wish is no offer; a yes with a word unread is none."""

import tomllib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from negotiator.advice.concession.their_answer import read_answer
from negotiator.advice.leverage.concessions import LedgerOffer
from negotiator.negotiations.session import NegotiationSession
from negotiator.teleprompter.cards import card_words, figure_cards
from negotiator.teleprompter.cues.policy import HeardUtterance
from negotiator.teleprompter.detected_offers import detected_offer
from negotiator.teleprompter.figures import read_figures
from negotiator.teleprompter.spoken_figures import find_figures
from negotiator.terms.issues import Issue, IssueRange
from tests.helpers.example_session import example_session

SENTENCES: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("refusals.toml").read_text("utf-8"))
PARTS: Final = ("first", "second", "third", "fourth", "fifth")
MOST_WRONG: Final = 2
MOST_MISSED: Final = 4
PRICE: Final = Issue("price", "money", range=IssueRange(Decimal(11000), Decimal(15000)))
OFFERS: Final = (LedgerOffer(1, "them", {"price": "14200.00"}), LedgerOffer(2, "me", {"price": "12300.00"}))


def talks() -> Iterator[tuple[NegotiationSession, str, Decimal]]:
    for name, rows in SENTENCES.items():
        if name != "answers":
            session = example_session(**{"baseline": None, **rows["terms"]})
            yield from ((session, text, Decimal(offered)) for part in PARTS for text, offered in rows[part])


def heard(session: NegotiationSession, text: str) -> tuple[Decimal, list[str]]:
    """The figure that enters the ledger, 0 for none, and the titles of the cards."""
    read = read_figures(find_figures(text), session.terms, "them")
    offer = detected_offer(session, read, speaker="them", utterance_id="u")
    cards = figure_cards(read, HeardUtterance("u", "them", text, final=True, at=0.0), ())
    values = [] if offer is None else list((offer.package or {}).values())
    return Decimal(str(values[0])) if values else Decimal(0), [card.title for card in cards]


def test_nothing_but_what_is_offered_is_recorded_or_called_the_target() -> None:
    wrong, missed = list[str](), list[str]()
    for session, text, offered in talks():
        value, cards = heard(session, text)
        if value not in (0, offered) or (not offered and card_words("figures")["at_target"].title in cards):
            wrong.append(text)
        elif value != offered:
            missed.append(text)
    assert len(wrong) <= MOST_WRONG, wrong
    assert len(missed) <= MOST_MISSED, missed


def test_only_a_yes_that_is_wholly_understood_is_one() -> None:
    rows = [row for part in PARTS for row in SENTENCES["answers"][part]]
    read = {text: read_answer(text, PRICE, OFFERS, "EUR") for text, _ in rows}
    wrong = [text for text, meant in rows if ("gone" if read[text].is_gone else read[text].agrees) != meant]
    assert not wrong


def test_the_sentences_are_more_than_two_hundred() -> None:
    texts = [text for rows in SENTENCES.values() for part in PARTS for text, _ in rows[part]]
    assert len(set(texts)) == len(texts) >= 200
