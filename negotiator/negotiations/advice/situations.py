"""From terms and a ledger to what leverage is computed from, and back to the contract's answer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from negotiator.errors import Conflict
from negotiator.negotiations.advice.wire import wire
from negotiator.negotiations.ledger import standing
from negotiator.negotiations.ledger.rows import Row
from negotiator.negotiations.leverage.position import Estimate
from negotiator.negotiations.leverage.power import FACTOR_NAMES
from negotiator.negotiations.preferences.issues import IssueType, Refusal
from negotiator.negotiations.preferences.reading import read_issues
from negotiator.negotiations.preferences.utility import Preferences, Worth, part_worths
from negotiator.negotiations.preferences.values import key_of
from negotiator.negotiations.schemas.advice import FullPreferences, LeverageBody
from negotiator.negotiations.terms.facts import days_left
from negotiator.negotiations.terms.reading import failed, read_terms
from negotiator.negotiations.terms.terms import Terms

if TYPE_CHECKING:
    from negotiator.negotiations.leverage.assess import LeverageInput

LEDGER_MEMBERS = ("concessions", "signals")


def require(terms: Terms, *, floor: bool = False) -> None:
    """Refuse advice whose inputs are missing (409 `missing_inputs`), naming them; they are never invented."""
    needed = [f"issues/{n}/range" for n, i in enumerate(terms.issues) if i.name in terms.unvalued]
    if floor and terms.walk_away is None and terms.certain is None:
        needed.append("walk_away")
    if needed:
        text = f"This advice cannot do without {', '.join(needed)}."
        raise Conflict(text, error="missing_inputs", members={"missing": needed})


def stored(terms: Terms, rows: Sequence[Row], now: int) -> "LeverageInput":
    """What leverage is computed from, for a stored negotiation."""
    require(terms)
    return _situation(terms, terms.preferences, now, ledger=rows)


def described(body: LeverageBody, now: int) -> tuple[Terms, "LeverageInput"]:
    """The same for a described one; 422 with every field error."""
    kinds: dict[str, IssueType] = {issue.name: issue.type for issue in body.issues}
    mine, found = _full(body.my_preferences, "/my_preferences", kinds)
    theirs, refused = _full(body.their_preferences, "/their_preferences", kinds)
    found += refused
    if mine is None and not body.issues and not found:
        found.append(Refusal("/issues", "Give the issues, or my_preferences."))
    judgements = body.judgements or {}
    for name, value in judgements.items():
        if name not in FACTOR_NAMES or not -1 <= value <= 1:
            text = f"A number from -1 to 1 for one of {', '.join(FACTOR_NAMES)}."
            found.append(Refusal(f"/judgements/{name}", text))
    if found:
        raise failed(found)
    terms = read_terms(body, lenient=True, mine=mine)
    if terms.unvalued:
        place = next(n for n, i in enumerate(body.issues) if i.name in terms.unvalued)
        raise failed([Refusal(f"/issues/{place}/range", "A range or options are needed.")])
    terms = _with_reservations(body, terms)
    return terms, _situation(terms, terms.preferences, now, theirs=theirs, judgements=judgements)


def answer(situation: "LeverageInput", currency: str | None) -> dict[str, Any]:
    """Compute and render: the contract's members, and concessions with signals where there is a ledger."""
    from negotiator.negotiations.leverage.assess import assess

    found: dict[str, Any] = wire(assess(situation), currency)
    if not situation.ledger:
        for name in LEDGER_MEMBERS:
            del found[name]
    return found


def _situation(
    terms: Terms,
    mine: Preferences,
    now: int,
    *,
    theirs: Preferences | None = None,
    judgements: Mapping[str, float] | None = None,
    ledger: Sequence[Row] = (),
) -> "LeverageInput":
    from negotiator.negotiations.leverage.assess import LeverageInput

    return LeverageInput(
        mine=mine,
        walk_away=terms.walk_away,
        target=terms.target,
        batna=_certain_batna(terms),
        their_preferences=theirs,
        their_walk_away=terms.their_walk_away,
        their_target=terms.their_target,
        their_batna=terms.their_batna,
        me=replace(terms.me, days_left=days_left(terms.deadline, now)),
        them=replace(terms.them, days_left=days_left(terms.their_deadline, now)),
        judgements=judgements or {},
        ledger=standing.ledger_offers(ledger),
    )


def _certain_batna(terms: Terms) -> Worth | None:
    """The alternative as given, or what is left of it when chance and cost are counted."""
    return terms.batna if not terms.batna_uncertain else Worth(utility=terms.certain)


def _with_reservations(body: LeverageBody, terms: Terms) -> Terms:
    """Reservation utilities of full preferences stand for walk-aways that are not given otherwise."""
    mine, theirs = body.my_preferences, body.their_preferences
    if terms.walk_away is None and mine is not None and mine.reservation_utility is not None:
        terms = replace(terms, walk_away=Worth(utility=mine.reservation_utility))
    known = theirs.reservation_utility if theirs is not None else None
    if terms.their_walk_away is None and known is not None:
        terms = replace(terms, their_walk_away=Estimate(known, known, known, "utility"))
    return terms


def _full(
    body: FullPreferences | None, pointer: str, kinds: Mapping[str, IssueType]
) -> tuple[Preferences | None, list[Refusal]]:
    """One side's full preferences, in either form."""
    if body is None:
        return None, []
    if (body.part_worths is None) == (body.issues is None):
        return None, [Refusal(pointer, "Give either part_worths or issues.")]
    if body.issues is not None:
        rows = [issue.model_dump(exclude={"weight_given"}) for issue in body.issues]
        issues, found = read_issues(rows, f"{pointer}/issues")
        return (None if found else Preferences(issues, body.constant)), list(found)
    table = body.part_worths or {}
    found = [
        Refusal(f"{pointer}/part_worths/{name}/{place}/1", "Must be a utility.")
        for name, pairs in table.items()
        for place, pair in enumerate(pairs)
        if isinstance(pair[1], bool) or not isinstance(pair[1], int | float)
    ]
    if not table:
        found.append(Refusal(f"{pointer}/part_worths", "At least one issue is needed."))
    if found:
        return None, found
    read = part_worths(
        {name: [(pair[0], float(pair[1])) for pair in pairs] for name, pairs in table.items()},
        body.constant,
        kinds=kinds,
    )
    found = [
        Refusal(f"{pointer}/part_worths/{issue.name}", "Two pairs have the same value.")
        for issue in read.issues
        if len({key_of(issue, option.value) for option in issue.options}) < len(issue.options)
    ]
    return (None if found else read), found
