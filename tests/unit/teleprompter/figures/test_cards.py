"""A figure past the limit is shown before any phrase."""

from decimal import Decimal

from negotiator.teleprompter.cues.catalogue import cue_catalogue
from negotiator.teleprompter.cues.matcher import matcher_of
from negotiator.teleprompter.cues.policy import Heard, Screen, step
from negotiator.teleprompter.figures.cards import figure_card
from negotiator.teleprompter.figures.figure import figures
from negotiator.teleprompter.figures.limits import Limit, hold

SAID = "this is our final offer thirty eight thousand"
LIMIT = Limit("money", Decimal(40_000), Decimal(50_000), "salary")


def test_the_figure_s_card_is_shown_and_the_phrase_waits() -> None:
    book = cue_catalogue()
    heard = Heard("u", "them", SAID, final=True, at=1.0)
    cards = [figure_card(held, heard) for held in hold(figures(SAID), [LIMIT])]
    matches = matcher_of(book).by_rule(SAID, "them")
    _, events = step(Screen(), heard, matches, catalogue=book, outside=cards)
    assert [(event.news, event.cards[0].cue_id) for event in events] == [
        ("shown", "figure:salary"),
        ("maybe", "final_offer"),
    ]
    card = events[0].cards[0]
    assert (card.source, card.title) == ("plan", "That figure is past your limit")
    assert "40" not in f"{card.title}{card.say}{card.why}"
