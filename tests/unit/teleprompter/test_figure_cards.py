"""A figure has a card past a limit, at the target, or when somebody moved."""

import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest

from negotiator.teleprompter.cards import MAX_ANSWER_WORDS, card_words, figure_cards
from negotiator.teleprompter.cues.catalogue import Speaker, cue_catalogue
from negotiator.teleprompter.cues.matcher import build_matcher
from negotiator.teleprompter.cues.policy import HeardUtterance, Screen, advance_screen
from negotiator.teleprompter.detected_offers import detected_offer
from negotiator.teleprompter.figures import EarlierFigure, FigureLimit, compare_figure, figures_as_earlier, read_figures
from negotiator.teleprompter.spoken_figures import find_figures
from tests.helpers.example_session import example_session

NO_OFFERS: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("no_offers.toml").read_text("utf-8"))
FIGURES: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("figures.toml").read_text("utf-8"))
SAID = "this is our final offer thirty eight thousand"
LIMIT = FigureLimit("money", Decimal(40_000), Decimal(50_000), "salary")
SALARY: dict[str, Any] = {
    "role": "candidate",
    "issues": [{"name": "salary", "type": "money", "direction": "higher", "range": {"min": "25000", "max": "60000"}}],
    "walk_away": {"package": {"salary": "40000"}},
    "target": {"package": {"salary": "50000"}},
}


def titles(*said: tuple[Speaker, str], body: dict[str, Any] = SALARY) -> list[str]:
    """The titles of the cards of a talk about the salary that the user wants to be high."""
    session = example_session(**body)
    earlier: tuple[EarlierFigure, ...] = ()
    found: list[str] = []
    for at, (speaker, text) in enumerate(said):
        heard = HeardUtterance(f"u{at}", speaker, text, final=True, at=float(at))
        read = read_figures(find_figures(text), session.terms, speaker, earlier)
        found += [card.title for card in figure_cards(read, heard, earlier)]
        earlier += figures_as_earlier(read)
    return found


def test_the_figure_s_card_is_shown_and_the_phrase_waits() -> None:
    book = cue_catalogue()
    heard = HeardUtterance("u", "them", SAID, final=True, at=1.0)
    (figure,) = find_figures(SAID)
    compared = compare_figure(figure, [LIMIT])
    assert compared is not None
    cards = figure_cards([compared], heard, ())
    matches = build_matcher(book).match_rules(SAID, "them")
    _, events = advance_screen(Screen(), heard, matches, outside=cards)
    assert [(event.news, event.cards[0].cue_id) for event in events] == [
        ("shown", "figure:salary"),
        ("maybe", "final_offer"),
    ]
    card = events[0].cards[0]
    assert (card.source, card.title) == ("plan", "They open past your limit")
    assert "40" not in f"{card.title}{card.say}{card.why}"


@pytest.mark.parametrize("talk", FIGURES["cards"])
def test_a_figure_has_a_card_only_when_it_needs_a_word(talk: dict[str, Any]) -> None:
    assert titles(*talk["said"]) == talk["titles"]


def test_advice_is_short_asks_one_thing_and_names_no_figure() -> None:
    for advice in card_words("figures").values():
        assert len(advice.say.split()) <= MAX_ANSWER_WORDS
        assert advice.say.count("?") == 1
        assert not any(char.isdigit() for char in advice.say + advice.why + advice.title)


def test_a_figure_within_the_limit_takes_the_place_of_the_card_that_warned_of_the_one_before() -> None:
    session, earlier = example_session(**SALARY), tuple[EarlierFigure, ...]()
    screen, standing = Screen(), list[str]()
    for at, text in enumerate(("we offer thirty thousand", "thirty five", "okay forty four")):
        heard = HeardUtterance(f"u{at}", "them", text, final=True, at=float(at))
        read = read_figures(find_figures(text), session.terms, "them", earlier)
        cards = figure_cards(read, heard, earlier)
        earlier += figures_as_earlier(read)
        screen, events = advance_screen(screen, heard, (), outside=cards)
        for event in events:
            for card in event.cards:
                if event.news == "shown":
                    standing.append(card.title)
                else:
                    standing.remove(card.title)
    assert standing == ["They have moved towards you"]
    assert [card.title for card in screen.cards] == standing


def test_a_figure_that_the_user_allows_in_a_trade_is_not_called_past_the_limit() -> None:
    body = {
        **SALARY,
        "issues": [
            *SALARY["issues"],
            {"name": "days", "type": "integer", "direction": "higher", "range": {"min": 20, "max": 30}},
        ],
        "walk_away": {"package": {"salary": "40000", "days": 24}},
        "allow": [{"issue": "salary", "to": "38000", "in_return": {"days": 30}}],
    }
    assert titles(("them", "we offer thirty nine thousand"), body=body) == ["You go there only for something in return"]
    assert titles(("them", "we offer thirty seven thousand"), body=body) == ["They open past your limit"]
    assert titles(("me", "I could take thirty nine thousand"), body=body) == []


@pytest.mark.parametrize(("case", "said"), [(case, said) for case, rows in NO_OFFERS.items() for said in rows["said"]])
def test_a_figure_that_is_named_and_not_offered_is_neither_recorded_nor_called_the_target(case: str, said: str) -> None:
    session = example_session(**{"baseline": None, **NO_OFFERS[case]["terms"]})
    speaker: Speaker = NO_OFFERS[case]["speaker"]
    read = read_figures(find_figures(said), session.terms, speaker)
    assert figure_cards(read, HeardUtterance("u", speaker, said, final=True, at=0.0), ()) == []
    assert detected_offer(session, read, speaker=speaker, utterance_id="u") is None


def test_an_offer_under_a_condition_is_not_called_the_target() -> None:
    assert titles(("them", "We offer 50,000 if you start in May.")) == []
