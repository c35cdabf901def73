"""The package that the user offers in a text of their own."""

from dataclasses import replace

from negotiator.advice.hearing.figures import Told
from negotiator.advice.hearing.hear import LIKELY, Heard, HeardFigure, hear
from negotiator.terms.issues import Package, check_value
from negotiator.terms.terms import Terms


def offer_in(terms: Terms, text: str, *, mine: tuple[Package, ...] = (), theirs: tuple[Package, ...] = ()) -> Package:
    """The values that the user offers in a text, the last of each issue; empty where none is offered."""
    turned = tuple(replace(one, direction="lower" if one.direction == "higher" else "higher") for one in terms.issues)
    heard = hear(text, Told(turned, theirs, mine, terms.currency, "call"))
    named = {
        one.issue: one.value
        for one in heard.figures
        if one.kind == "mine" and one.issue and one.value is not None and _is_taken(heard, one)
    }
    for offer in heard.offers:
        named |= offer.package if offer.chance >= LIKELY else {}
    return {
        issue.name: named[issue.name]
        for issue in terms.issues
        if issue.name in named and not check_value(issue, named[issue.name], "/package")
    }


def _is_taken(heard: Heard, figure: HeardFigure) -> bool:
    """Whether the sentence that repeats a figure of the other side agrees to it."""
    acts = {act.name for act in heard.acts if figure.quote in act.quote}
    return bool(acts & {"yes", "offer"}) and not acts & {"ask", "claim"}
