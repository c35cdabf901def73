"""What a package on the table is worth to both sides, and what was given up for it: pure."""

from collections.abc import Sequence
from typing import Any

from negotiator.negotiations.leverage.signals import LedgerOffer, concessions
from negotiator.negotiations.preferences.issues import Package
from negotiator.negotiations.preferences.utility import Interval, complete, opposed, utility
from negotiator.negotiations.terms.terms import Terms


def valued(terms: Terms, package: Package) -> dict[str, Any]:
    """`complete`, my utility between worst and best fill, and the middle of an estimate of theirs."""
    mine = utility(terms.preferences, package)
    theirs = utility(opposed(terms.preferences), package)
    return {
        "complete": complete(terms.issues, package),
        "utility_me": {"low": mine.low, "high": mine.high},
        "utility_them_estimate": _middle(theirs),
    }


def conceded(terms: Terms, earlier: Sequence[LedgerOffer], last: LedgerOffer) -> dict[str, Any]:
    """Utility given up, mine and theirs, since the same side's offer before; null for its first one.

    Positive is a loss to that side: a concession of mine has `concession_me` > 0.
    """
    mine, theirs = terms.preferences, opposed(terms.preferences)
    moves = concessions([*earlier, last], mine, theirs)
    steps = (moves.me if last.by == "me" else moves.them).steps
    if not steps:
        return {"concession_me": None, "concession_them": None}
    own, other = -steps[-1].own + 0.0, -steps[-1].other + 0.0
    if last.by == "me":
        return {"concession_me": own, "concession_them": other}
    return {"concession_me": other, "concession_them": own}


def unvalued() -> dict[str, Any]:
    """The same members on a row that puts nothing on the table."""
    return {
        "complete": False,
        "utility_me": None,
        "utility_them_estimate": None,
        "concession_me": None,
        "concession_them": None,
    }


def _middle(ends: Interval) -> float:
    return (ends.low + ends.high) / 2.0
