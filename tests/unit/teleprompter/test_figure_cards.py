"""A figure past the limit is shown before any phrase."""

from decimal import Decimal

from negotiator.teleprompter.cards import figure_card
from negotiator.teleprompter.cues.catalogue import cue_catalogue
from negotiator.teleprompter.cues.matcher import build_matcher
from negotiator.teleprompter.cues.policy import HeardUtterance, Screen, advance_screen
from negotiator.teleprompter.figures import FigureLimit, compare_figures
from negotiator.teleprompter.spoken_figures import find_figures

SAID = "this is our final offer thirty eight thousand"
LIMIT = FigureLimit("money", Decimal(40_000), Decimal(50_000), "salary")


def test_the_figure_s_card_is_shown_and_the_phrase_waits() -> None:
    book = cue_catalogue()
    heard = HeardUtterance("u", "them", SAID, final=True, at=1.0)
    cards = [figure_card(held, heard) for held in compare_figures(find_figures(SAID), [LIMIT])]
    matches = build_matcher(book).match_rules(SAID, "them")
    _, events = advance_screen(Screen(), heard, matches, catalogue=book, outside=cards)
    assert [(event.news, event.cards[0].cue_id) for event in events] == [
        ("shown", "figure:salary"),
        ("maybe", "final_offer"),
    ]
    card = events[0].cards[0]
    assert (card.source, card.title) == ("plan", "That figure is past your limit")
    assert "40" not in f"{card.title}{card.say}{card.why}"
