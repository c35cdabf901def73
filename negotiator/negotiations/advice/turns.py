"""From terms and a ledger, or a described turn, to what the strategy engine takes, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from negotiator.negotiations.advice.situations import require
from negotiator.negotiations.ledger import standing
from negotiator.negotiations.ledger.rows import Row
from negotiator.negotiations.leverage.signals import filled
from negotiator.negotiations.preferences.issues import Issue as Matter
from negotiator.negotiations.preferences.issues import Refusal, Scalar
from negotiator.negotiations.preferences.utility import complete
from negotiator.negotiations.preferences.values import check_value, values_of, worth_of
from negotiator.negotiations.schemas.advice import NextMoveBody, Style
from negotiator.negotiations.terms import guard
from negotiator.negotiations.terms.reading import failed
from negotiator.negotiations.terms.terms import Terms
from negotiator.negotiations.terms.view import shown_package, shown_value

if TYPE_CHECKING:
    from negotiator.negotiations.strategy.move import Move
    from negotiator.negotiations.strategy.situation import OnTable, Past, Situation

MEMBERS: Final = (
    "action",
    "offer",
    "my_utility",
    "alternatives",
    "acceptance_probability",
    "reasons",
    "say",
    "opponent_utility",
    "floor",
)
GRID: Final = 41
MOST: Final = 201
"""Values of one issue at most: a longer list is thinned evenly, its ends and what was offered stay."""
_FORBIDDEN: Final = -2.0
_SAME: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Turn:
    """A stored negotiation at a moment: its terms, its ledger, and the clock."""

    terms: Terms
    rows: Sequence[Row]
    opened_at: int
    now: int
    style: Style = "balanced"


def described(body: NextMoveBody) -> "Situation":
    """The situation of a described turn; 422 for issues without worths and values nobody listed."""
    from negotiator.negotiations.strategy.situation import (
        Issue,
        OnTable,
        Past,
        Preferences,
        Progress,
        Situation,
    )

    if found := _refusals(body):
        raise failed(found)
    mine = body.my_preferences
    frame = Situation(
        issues=tuple(Issue(issue.name, tuple(issue.values)) for issue in body.issues),
        my_preferences=Preferences(
            reservation_utility=mine.reservation_utility,
            constant=mine.constant or 0.0,
            part_worths={
                name: [(pair[0], float(pair[1])) for pair in pairs]
                for name, pairs in mine.part_worths.items()
            },
        ),
        progress=Progress(body.progress.step, body.progress.n_steps, body.progress.relative_time),
        style=body.style,
    )
    past = [
        Past(row.step, row.by, row.offer, _utility(frame, row.offer, row.my_utility))
        for row in body.history
    ]
    table = None
    if body.on_table is not None:
        offer = body.on_table.offer
        table = OnTable(offer, _utility(frame, offer, body.on_table.my_utility))
    return _with_offers(frame, past, table)


def stored(turn: Turn) -> "Situation":
    """The situation of a stored negotiation: values on a bounded grid, worths from the value functions.

    Hard constraints and a walk-away on a single issue make a value worth less than nothing, so that no package with
    it can reach the floor.
    """
    from negotiator.negotiations.strategy.situation import (
        Issue,
        OnTable,
        Past,
        Preferences,
        Progress,
        Situation,
    )

    terms = turn.terms
    require(terms, floor=True)
    past = _past(turn)
    seen = [package for _, _, package in past]
    listed = {issue.name: _values(terms, issue, seen) for issue in terms.issues}
    floor = guard.floor_of(terms)
    preferences = Preferences(
        reservation_utility=max(floor if floor is not None else 0.0, 0.0),
        constant=terms.preferences.constant,
        part_worths={
            issue.name: _worths(terms, issue, listed[issue.name]) for issue in terms.issues
        },
    )
    frame = Situation(
        issues=tuple(Issue(name, found) for name, found in listed.items()),
        my_preferences=preferences,
        progress=Progress(*_progress(turn)),
        style=turn.style,
    )
    history = [Past(step, by, offer, _utility(frame, offer, None)) for step, by, offer in past]
    offer = _on_table(turn, listed)
    table = None if offer is None else OnTable(offer, _utility(frame, offer, None))
    return _with_offers(frame, history, table)


def _on_table(turn: Turn, listed: Mapping[str, Sequence[Scalar]]) -> dict[str, Any] | None:
    """Their live offer, if it is whole and of values that are known: only that can be accepted as it is."""
    live = standing.live(turn.rows, turn.now, side="them")
    if not live or not live[-1].package or not complete(turn.terms.issues, live[-1].package):
        return None
    offer = shown_package(turn.terms, live[-1].package)
    return offer if all(offer[name] in found for name, found in listed.items()) else None


def answer(situation: "Situation", terms: Terms | None = None) -> dict[str, Any]:
    """Ask the engine and render its move; for a stored negotiation, say so where approval is needed."""
    from negotiator.negotiations.strategy.move import next_move

    move = next_move(situation)
    found: dict[str, Any] = {name: getattr(move, name) for name in MEMBERS}
    if terms is not None and _wants_approval(terms, move):
        found["reasons"] = [*found["reasons"], "It goes beyond your authority: it needs approval."]
    return found


def _wants_approval(terms: Terms, move: "Move") -> bool:
    return move.offer is not None and guard.needs_approval(terms, move.offer)


def _with_offers(
    frame: "Situation", history: Sequence["Past"], table: "OnTable | None"
) -> "Situation":
    """The frame with its offers; what is on the table is their last entry of the history."""
    from dataclasses import replace

    from negotiator.negotiations.strategy.situation import Past

    past = list(history)
    theirs = [row for row in past if row.by == "them"]
    if table is not None and (not theirs or dict(theirs[-1].offer) != dict(table.offer)):
        past.append(Past(frame.progress.step, "them", table.offer, table.my_utility))
    return replace(frame, history=tuple(past), on_table=table)


def _utility(frame: "Situation", offer: Mapping[str, Any], given: float | None) -> float:
    """What an offer is worth by the part worths; what was claimed only counts where it is no more than that."""
    computed = frame.my_utility(offer)
    if computed is None:
        return frame.my_preferences.constant if given is None else given
    return computed if given is None or given > computed + _SAME else given


def _refusals(body: NextMoveBody) -> list[Refusal]:
    found: list[Refusal] = []
    names = [issue.name for issue in body.issues]
    listed = {issue.name: {(isinstance(v, bool), v) for v in issue.values} for issue in body.issues}
    found += [
        Refusal(f"/issues/{place}/name", "Another issue already has this name.")
        for place, name in enumerate(names)
        if name in names[:place]
    ]
    worths = body.my_preferences.part_worths
    for name, pairs in worths.items():
        at = f"/my_preferences/part_worths/{name}"
        if name not in listed:
            found.append(Refusal(at, "No issue has this name."))
        found += [
            Refusal(f"{at}/{place}/1", "Must be a utility.")
            for place, pair in enumerate(pairs)
            if isinstance(pair[1], bool) or not isinstance(pair[1], int | float)
        ]
    found += [
        Refusal(f"/my_preferences/part_worths/{name}", "Every issue needs its part worths.")
        for name in listed
        if name not in worths
    ]
    offers = [(f"/history/{place}/offer", row.offer) for place, row in enumerate(body.history)]
    if body.on_table is not None:
        offers.append(("/on_table/offer", body.on_table.offer))
    for at, offer in offers:
        found += _offer_refusals(at, offer, listed)
    return found


def _offer_refusals(
    at: str, offer: Mapping[str, Any], listed: Mapping[str, set[tuple[bool, Any]]]
) -> list[Refusal]:
    found = [Refusal(f"{at}/{n}", "No issue has this name.") for n in offer if n not in listed]
    for name, known in listed.items():
        if name not in offer:
            found.append(Refusal(f"{at}/{name}", "A value is needed."))
        elif (isinstance(offer[name], bool), offer[name]) not in known:
            found.append(Refusal(f"{at}/{name}", "Not one of the values of this issue."))
    return found


def _past(turn: Turn) -> list[tuple[int, Literal["me", "them"], dict[str, Any]]]:
    """The ledger's offers as whole packages with the round they fell in; what stays partial is left out."""
    rounds = {"me": 0, "them": 0}
    found: list[tuple[int, Literal["me", "them"], dict[str, Any]]] = []
    terms = turn.terms
    for row in filled(standing.ledger_offers(turn.rows)):
        step = rounds[row.by]
        rounds[row.by] += 1
        known = all(
            issue.name in row.package and worth_of(issue, row.package[issue.name]) is not None
            for issue in terms.issues
        )
        if known:
            named = {issue.name: row.package[issue.name] for issue in terms.issues}
            found.append((step, row.by, shown_package(terms, named)))
    return found


def _values(
    terms: Terms, issue: Matter, seen: Sequence[Mapping[str, Any]]
) -> tuple[str | int | float | bool, ...]:
    every = list(values_of(issue, GRID))
    if len(every) > MOST:
        places = sorted({round(k * (len(every) - 1) / (MOST - 1)) for k in range(MOST)})
        every = [every[place] for place in places]
    kept = [value for value in every if guard.within_limit(terms, issue, value)]
    single = guard.single_limit(terms)
    if single and single[0].name == issue.name and not check_value(issue, single[1], ""):
        kept.append(single[1])
    shown = [shown_value(issue, value, terms.currency) for value in kept or every]
    shown += [package[issue.name] for package in seen]
    return tuple(dict.fromkeys(shown))


def _worths(terms: Terms, issue: Matter, listed: Sequence[Scalar]) -> list[tuple[Any, float]]:
    return [
        (
            value,
            issue.weight * (worth_of(issue, value) or 0.0)
            if guard.within_limit(terms, issue, value)
            else _FORBIDDEN,
        )
        for value in listed
    ]


def _progress(turn: Turn) -> tuple[int, int | None, float | None]:
    """Rounds spoken and in all, and the share of the time that is over."""
    offers = standing.offered(turn.rows)
    step = sum(1 for row in offers if row.side == "me")
    rounds, deadline = turn.terms.max_rounds, turn.terms.deadline
    shares: list[float] = []
    if rounds is not None:
        shares.append(min(1.0, step / rounds))
    if deadline is not None and deadline > turn.opened_at:
        gone = (turn.now - turn.opened_at) / (deadline - turn.opened_at)
        shares.append(min(1.0, max(0.0, gone)))
    return step, rounds, max(shares, default=None)
