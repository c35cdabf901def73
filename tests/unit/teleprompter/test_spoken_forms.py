"""A table of prices as people say and write them, in five styles: what each is, and what enters the ledger."""

import tomllib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Final

from negotiator.teleprompter.detected_offers import detected_offer
from negotiator.teleprompter.figures import read_figures
from negotiator.teleprompter.redaction import redact
from negotiator.teleprompter.spoken_figures import find_figures
from tests.helpers.example_session import example_session

Form = tuple[str, str, str, str]
MOST_TAKEN: Final = 3
LEAST_RIGHT: Final = 0.97
LEAST_ALIKE: Final = 0.75
FORMS: Final = Path(__file__).with_name("spoken_forms.toml")


def forms() -> Iterator[Form]:
    """Style, text, range and figures of each form."""
    for style, rows in tomllib.loads(FORMS.read_text("utf-8")).items():
        for text, span, figures in rows:
            yield style, text, span, figures


def read_form(text: str, span: str) -> str:
    """The figures of money in a form, written as in the table."""
    low, high = span.split("-")
    issue = {"name": "price", "type": "money", "range": {"min": low, "max": high}}
    session = example_session(issues=[issue], walk_away=None, target=None, currency=None, role="buyer")
    read = read_figures(find_figures(redact(text)), session.terms, "them")
    offer = detected_offer(session, read, speaker="them", utterance_id="u")
    entered = None if offer is None else Decimal(str((offer.package or {})["price"]))
    said: list[str] = []
    for one in read:
        if one.figure.measure == "money":
            ends = sorted({one.figure.low, one.figure.high}) if one.figure.low != one.figure.high else [one.value]
            values = "-".join(f"{value.normalize():f}" for value in ends)
            said.append(f"{values} {one.kind}{'*' if one.is_offer and one.value == entered else ''}")
    return "; ".join(said)


def test_forms_are_read_as_people_mean_them() -> None:
    """What is read, and what of it enters the ledger; of a kind that is no offer the models need not know which."""
    read = [(read_form(text, span), figures, text) for _, text, span, figures in forms()]
    offers = [(_entered(found), _entered(meant), text) for found, meant, text in read]
    taken = [text for found, meant, text in offers if found not in ("", meant)]
    assert len(taken) <= MOST_TAKEN, taken
    assert sum(found == meant for found, meant, _ in offers) >= LEAST_RIGHT * len(offers)
    assert sum(found == meant for found, meant, _ in read) >= LEAST_ALIKE * len(read)


def _entered(figures: str) -> str:
    return "".join(one.split()[0] for one in figures.split("; ") if one.endswith("*"))


def test_the_table_has_three_hundred_forms_of_five_styles() -> None:
    rows = list(forms())
    assert len(rows) >= 300
    assert len({style for style, *_ in rows}) == 5
    assert len({text for _, text, *_ in rows}) == len(rows)
