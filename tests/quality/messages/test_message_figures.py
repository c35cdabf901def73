"""How much of what the other side offers in whole messages is found, and how often another figure is taken for it.

`python -m tests.quality.messages.test_message_figures` prints both, and the figures that were taken wrongly.
"""

import sys
from collections.abc import Iterator
from typing import Final

from negotiator.teleprompter.spoken_figures import find_figures
from tests.quality.messages.marked import MarkedFigure, MarkedMessage, marked_messages

LEAST_FOUND: Final = 0.45
MOST_TAKEN: Final = 0.14
"""What today's reader reaches; the aims are .85 and .01."""


def read() -> Iterator[tuple[MarkedMessage, MarkedFigure, bool]]:
    """Each marked figure, and whether it is read as what the other side now offers."""
    for message in marked_messages():
        offered = [one.at for one in find_figures(message.text) if one.sense.stands and one.sense.whose == "speaker"]
        for figure in message.figures:
            yield message, figure, any(figure.start - 1 <= at < figure.end for at in offered)


def shares() -> tuple[float, float]:
    """Which share of the offered figures is found, and which share of all others is taken for an offer."""
    found = [is_read for _, figure, is_read in read() if figure.kind.startswith("offer:")]
    taken = [is_read for _, figure, is_read in read() if not figure.kind.startswith("offer:")]
    return sum(found) / len(found), sum(taken) / len(taken)


def test_offers_in_messages_are_found_and_other_figures_seldom_taken_for_them() -> None:
    found, taken = shares()
    assert found >= LEAST_FOUND
    assert taken <= MOST_TAKEN


if __name__ == "__main__":
    for message, figure, is_read in read():
        if is_read and not figure.kind.startswith("offer:"):
            sys.stdout.write(f"{figure.kind} [{message.text[figure.start : figure.end]}] {message.text}\n")
    sys.stdout.write("found {:.3f}, taken wrongly {:.3f}\n".format(*shares()))
