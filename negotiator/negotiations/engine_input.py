"""From terms and a ledger, or a described turn, to what the engines take, and their results as answers."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from negotiator.advice.expected_price import expected_price
from negotiator.advice.leverage.concessions import LedgerOffer, completed_offers
from negotiator.advice.leverage.power import FACTOR_NAMES
from negotiator.advice.leverage.zone_of_agreement import Zopa
from negotiator.advice.strategy.situation import (
    PreferenceHints,
    StandingOffer,
    StrategyIssue,
    StrategyOffer,
    StrategyPreferences,
    StrategyProgress,
    StrategySituation,
    numeric_scale,
    typed_key,
)
from negotiator.base.errors import Conflict, FieldError, ValidationFailed
from negotiator.negotiations.offer_history import ledger_offers, live_offers, offers_made
from negotiator.negotiations.offer_queries import OfferRow
from negotiator.negotiations.schemas_advice import (
    AdditivePreferences,
    FullPreferences,
    LeverageBody,
    LeverageView,
    NextMoveBody,
    PreferenceHintsBody,
    Style,
)
from negotiator.terms import limits
from negotiator.terms.issues import (
    Issue,
    IssueType,
    check_value,
    coordinate,
    known_coordinate,
    nearest_in_range,
    value_key,
    values_of,
    worth_of,
)
from negotiator.terms.schemas_terms import lacks_values
from negotiator.terms.terms import Estimate, Terms
from negotiator.terms.terms_parsing import parse_issues, parse_terms
from negotiator.terms.terms_view import json_scalar, package_view, value_view
from negotiator.terms.utility import (
    Preferences,
    Worth,
    is_complete,
    issues_outside_range,
    package_utility,
    part_worths,
    utility_of_worth,
)
from negotiator.terms.wording import Wording

if TYPE_CHECKING:
    from negotiator.advice.strategy.next_move import NextMove


def engine_result_json(value: object, currency: str | None = None) -> Any:
    """Dataclasses as objects, tuples as lists, decimals as strings; anything else as it is."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: engine_result_json(getattr(value, one.name), currency) for one in fields(value)}
    if isinstance(value, Mapping):
        members = cast(Mapping[str, object], value)
        return {name: engine_result_json(member, currency) for name, member in members.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [engine_result_json(member, currency) for member in cast(Sequence[object], value)]
    if isinstance(value, datetime):
        return value.isoformat()
    return json_scalar(value, currency) if isinstance(value, Decimal | int) else value


LEDGER_MEMBERS = ("concessions", "signals")


_RANGE_WANTED: Final = (
    'A range is the best and the worst value that anybody could imagine, such as "range": {"min": 11000, "max": 15000}.'
)


def require_inputs(terms: Terms, *, floor: bool = False) -> None:
    """Refuse advice whose inputs are missing (409 `missing_inputs`), naming them; they are never invented."""
    needed = [f"issues/{n}/range" for n, i in enumerate(terms.issues) if i.name in terms.unvalued]
    if floor:
        needed += _unknown_directions(terms)
    if floor and terms.walk_away is None and terms.certain is None:
        needed.append("walk_away")
    if needed:
        text = f"This advice cannot do without {', '.join(needed)}."
        if terms.unvalued:
            text += f" {_RANGE_WANTED}"
        raise Conflict(text, error="missing_inputs", members={"missing": needed})


def _unknown_directions(terms: Terms) -> list[str]:
    """The directions without which a limit of the user could be passed: nothing says on which side of it they lose."""
    return [
        f"issues/{place}/direction"
        for place, issue in enumerate(terms.issues)
        if issue.limit is not None and f"issues/{place}/direction" in terms.missing
    ]


def described_terms(body: LeverageBody) -> Terms:
    """The terms of a described negotiation, with full preferences where given; 422 with every field error."""
    kinds: dict[str, IssueType] = {issue.name: issue.type for issue in body.issues}
    mine, found = _full(body.my_preferences, "/my_preferences", kinds)
    theirs, refused = _full(body.their_preferences, "/their_preferences", kinds)
    found += refused
    if mine is None and not body.issues and not found:
        found.append(FieldError("/issues", "Give the issues, or my_preferences."))
    judgements = body.judgements or {}
    for name, value in judgements.items():
        if name not in FACTOR_NAMES or not -1 <= value <= 1:
            text = f"A number from -1 to 1 for one of {', '.join(FACTOR_NAMES)}."
            found.append(FieldError(f"/judgements/{name}", text))
    if found:
        raise ValidationFailed(found)
    terms = parse_terms(body, lenient=True, mine=mine)
    if terms.unvalued:
        place = next(n for n, i in enumerate(body.issues) if i.name in terms.unvalued)
        raise ValidationFailed([FieldError(f"/issues/{place}/range", "A range or options are needed.")])
    terms = replace(terms, their_preferences=theirs, judgements=judgements)
    return _with_reservations(body, terms)


def leverage_answer(
    terms: Terms, now: int, offers: Sequence[LedgerOffer] = (), *, comparable: Decimal | None = None
) -> LeverageView:
    """The answer of a request for leverage; concessions and signals are in it where there are offers.

    `comparable` is what comparable deals end at.
    """
    from negotiator.advice.leverage.assessment import assess_leverage
    from negotiator.advice.leverage_summary import summarise_leverage

    leverage = assess_leverage(terms, offers, now=now)
    words = Wording(terms)
    expected = expected_price(words, offers, comparable=comparable)
    summary = summarise_leverage(words, leverage, expected, now=now)
    answer: Any = engine_result_json(leverage, terms.currency)
    answer["levels"] = _levels(terms, leverage.position.zopa)
    answer["points"]["asymmetric_nash"] = answer.pop("asymmetric_nash")
    answer["expected"] = engine_result_json(expected, terms.currency)
    answer["summary"] = engine_result_json(summary)
    if not offers:
        for name in LEDGER_MEMBERS:
            del answer[name]
    return answer


def _levels(terms: Terms, room: Zopa) -> dict[str, float | None]:
    """The user's utility of target, walk-away and alternative, and of the room's ends, in money where price is all."""
    price = terms.price
    ends = [
        package_utility(terms.preferences, {price.name: end}).low
        if isinstance(end, Decimal) and price is not None
        else end
        for end in (room.low, room.high)
    ]
    known = sorted(float(end) for end in ends if end is not None)
    return {
        "target": utility_of_worth(terms.preferences, terms.target, fill="high"),
        "walk_away": limits.utility_floor(terms),
        "alternative": terms.certain,
        "room_low": known[0] if len(known) == 2 else None,
        "room_high": known[-1] if len(known) == 2 else None,
    }


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
) -> tuple[Preferences | None, list[FieldError]]:
    """One side's full preferences, in either form."""
    if body is None:
        return None, []
    if (body.part_worths is None) == (body.issues is None):
        return None, [FieldError(pointer, "Give either part_worths or issues.")]
    if body.issues is not None:
        found = [
            FieldError(f"{pointer}/issues/{place}/range", "A range or options are needed.")
            for place, issue in enumerate(body.issues)
            if lacks_values(issue)
        ]
        return (None if found else Preferences(parse_issues(body.issues), body.constant)), found
    table = body.part_worths or {}
    found = _worth_refusals(f"{pointer}/part_worths", table)
    if not table:
        found.append(FieldError(f"{pointer}/part_worths", "At least one issue is needed."))
    if found:
        return None, found
    read = part_worths(_worth_pairs(table), body.constant, kinds=kinds)
    found = [
        FieldError(f"{pointer}/part_worths/{issue.name}", "Two pairs have the same value.")
        for issue in read.issues
        if len({value_key(issue.type, option.value) for option in issue.options}) < len(issue.options)
    ]
    return (None if found else read), found


def _worth_pairs(table: Mapping[str, Sequence[Sequence[Any]]]) -> dict[str, list[tuple[Any, float]]]:
    """The part worths of each issue as pairs of a value and its utility."""
    return {name: [(pair[0], float(pair[1])) for pair in pairs] for name, pairs in table.items()}


def _worth_refusals(at: str, table: Mapping[str, Sequence[Sequence[Any]]]) -> list[FieldError]:
    return [
        FieldError(f"{at}/{name}/{place}/1", "Must be a utility.")
        for name, pairs in table.items()
        for place, pair in enumerate(pairs)
        if isinstance(pair[1], bool) or not isinstance(pair[1], int | float)
    ]


OUTSIDE_RANGE: Final = "Their {} is outside the range, so it counts as the nearest end of the range."
STRATEGY_GRID_SIZE: Final = 41
MONEY_IS_OPPOSED: Final = 0.99
"""The chance that what one side pays is what the other wants."""
MAX_STRATEGY_VALUES: Final = 201
"""Values of one issue at most: a longer list is thinned evenly, its ends and what was offered stay."""
MAX_HINTED_UTILITY: Final = 1e6
_SAME: Final = 1e-9
_SCORE_DIGITS: Final = 3
_MOST_CORNERS: Final = 5
_BELOW_FLOOR: Final = 1.0
"""How far below the reservation utility an offer counts that may not be accepted."""


def described_turn_input(body: NextMoveBody) -> StrategySituation:
    """The situation of a described turn; 422 for issues without worths and values nobody listed."""
    mine = body.my_preferences
    if mine is None:
        raise ValidationFailed([FieldError("/my_preferences", "A turn needs part worths.")])
    if found := _refusals(body, mine):
        raise ValidationFailed(found)
    frame = StrategySituation(
        issues=tuple(
            StrategyIssue(issue.name, tuple(issue.values), numeric_scale(issue.values)) for issue in body.issues
        ),
        my_preferences=StrategyPreferences(
            reservation_utility=mine.reservation_utility,
            constant=mine.constant or 0.0,
            part_worths=_worth_pairs(mine.part_worths),
        ),
        progress=StrategyProgress(body.progress.step, body.progress.n_steps, body.progress.relative_time),
        style=body.style,
        hints=_hints(body.their_preferences),
    )
    past = [
        StrategyOffer(row.step, row.by, row.offer, _utility(frame, row.offer, row.my_utility)) for row in body.history
    ]
    table = None
    if body.on_table is not None:
        offer = body.on_table.offer
        table = StandingOffer(offer, _utility(frame, offer, body.on_table.my_utility))
    return _with_offers(frame, past, table)


def _hints(body: PreferenceHintsBody | None) -> PreferenceHints | None:
    if body is None:
        return None
    return PreferenceHints(
        part_worths=_worth_pairs(body.part_worths or {}),
        weights=body.weights or {},
        reservation_utility=body.reservation_utility,
        confidence=body.confidence,
    )


def stored_turn_input(
    terms: Terms, rows: Sequence[OfferRow], *, opened_at: int, now: int, style: Style = "balanced"
) -> StrategySituation:
    """The situation of a stored negotiation: values on a bounded grid, worths from the value functions.

    A value that breaks a hard constraint or a limit on its issue is forbidden; its worth stays what it is, since the
    other side's preferences are estimated from it.
    """
    require_inputs(terms, floor=True)
    past = _past(terms, rows)
    last_offer = _expected_last_offer(terms, [offer for _, by, offer, _ in past if by == "them"])
    seen = [offer for _, _, offer, _ in past]
    seen += [] if last_offer is None else [last_offer]
    listed = {issue.name: _values(terms, issue, seen) for issue in terms.issues}
    floor = limits.utility_floor(terms)
    preferences = StrategyPreferences(
        reservation_utility=max(floor if floor is not None else 0.0, 0.0),
        constant=terms.preferences.constant,
        part_worths={
            issue.name: [(value, issue.weight * (worth_of(issue, value) or 0.0)) for value in listed[issue.name]]
            for issue in terms.issues
        },
    )
    frame = StrategySituation(
        issues=tuple(_strategy_issue(terms, issue, listed[issue.name]) for issue in terms.issues),
        my_preferences=preferences,
        progress=_progress(terms, rows, opened_at=opened_at, now=now),
        style=style,
        hints=_stored_hints(terms, last_offer),
    )
    history = [StrategyOffer(step, by, offer, _utility(frame, offer, None), final) for step, by, offer, final in past]
    standing = standing_package(terms, rows, now)
    offer = None if standing is None else _in_range(terms, standing)
    if standing is None or offer is None or any(offer[n] not in known for n, known in listed.items()):
        return _with_offers(frame, history, None)
    utility = _utility(frame, offer, None)
    if offer != standing and limits.is_below_floor(terms, standing, binding=True):
        utility = min(utility, preferences.reservation_utility - _BELOW_FLOOR)
    return _with_offers(frame, history, StandingOffer(offer, utility))


def _stored_hints(terms: Terms, last_offer: Mapping[str, Any] | None) -> PreferenceHints:
    """What the terms say of the other side: their weights or priorities, and their walk-away."""
    details = terms.estimate_details
    estimate = terms.their_walk_away
    weights = {i.name: i.their_weight for i in terms.issues if i.their_weight is not None}
    if not weights and details is not None and details.priorities:
        first = set(details.priorities)
        weights = {i.name: 2.0 if i.name in first else 1.0 for i in terms.issues}
    utility = estimate is not None and estimate.unit == "utility"
    return PreferenceHints(
        weights=weights,
        reservation_utility=float(estimate.likely) if estimate is not None and utility else None,
        last_offer=last_offer,
        confidence=None if details is None else details.confidence,
    )


def _expected_last_offer(terms: Terms, theirs: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Their latest offer at the price of their estimated walk-away; None without such an estimate.

    Before their first offer the other issues stand at the middle of their values.
    """
    estimate, price = terms.their_walk_away, terms.price
    if estimate is None or price is None or estimate.unit != "money":
        return None
    every = {issue.name: values_of(issue, STRATEGY_GRID_SIZE) for issue in terms.issues}
    middle = {name: found[len(found) // 2] for name, found in every.items()}
    package = {**middle, **(theirs[-1] if theirs else {}), price.name: str(estimate.likely)}
    return _in_range(terms, package)


def standing_package(terms: Terms, rows: Sequence[OfferRow], now: int) -> dict[str, Any] | None:
    """Their live offer as they made it, if it is whole: only that can be accepted as it is."""
    live = live_offers(rows, now, side="them")
    if not live or not live[-1].package or not is_complete(terms.issues, live[-1].package):
        return None
    return package_view(terms, live[-1].package)


def _in_range(terms: Terms, package: Mapping[str, Any]) -> dict[str, Any]:
    """The package with the end of the range in place of each value beyond it."""
    return package_view(
        terms,
        {issue.name: nearest_in_range(issue, package[issue.name]) for issue in terms.issues if issue.name in package},
    )


def next_move_answer(
    situation: StrategySituation, terms: Terms | None = None, standing: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Ask the engine and render its move; for a stored negotiation, say so where approval is needed.

    `standing` is their live offer as they made it. The engine knows it with the end of the range in place of a value
    beyond it; the answer says so, and accepts what they offered.
    """
    from negotiator.advice.strategy.next_move import next_move

    move = next_move(situation)
    found: dict[str, Any] = {one.name: getattr(move, one.name) for one in fields(move) if one.name != "approximate"}
    if terms is not None and standing is not None:
        outside = issues_outside_range(terms.issues, standing)
        if outside and found["action"] == "accept":
            found["offer"] = dict(standing)
        found["reasons"] = [*found["reasons"], *(OUTSIDE_RANGE.format(name) for name in outside)]
    found |= {
        "counterpart": "agent",
        "summary": _agent_summary(move),
        "acceptance_interval": None,
        "cost": "",
        "assumptions": [],
        "ask": [],
        "trade": None,
        "path": [],
        "expected": None,
    }
    if terms is not None and move.offer is not None and limits.needs_approval(terms, move.offer):
        found["reasons"] = [*found["reasons"], "It goes beyond your authority, so it needs approval."]
    return found


def break_points(terms: Terms, scores: Mapping[str, Sequence[Sequence[Any]]]) -> dict[str, list[list[Any]]]:
    """The scores of each issue's values, to three digits; of a range at most five, with straight lines between."""
    found: dict[str, list[list[Any]]] = {}
    for name, points in scores.items():
        issue, shown = terms.issue(name), points
        if issue is not None and issue.range is not None:
            placed = {float(known_coordinate(issue.type, value)): (value, score) for value, score in points}
            line = [(at, float(placed[at][1])) for at in sorted(placed)]
            shown = [placed[line[place][0]] for place in _corners(line)]
        found[name] = [[value, round(score, _SCORE_DIGITS)] for value, score in shown]
    return found


def _corners(line: Sequence[tuple[float, float]]) -> list[int]:
    """The places of the ends and of the points furthest from the line through those chosen before."""
    chosen = sorted({0, len(line) - 1})
    while len(chosen) < _MOST_CORNERS:
        gaps = [
            (abs(line[k][1] - _between(line[left], line[right], line[k][0])), k)
            for left, right in pairwise(chosen)
            for k in range(left + 1, right)
        ]
        off, at = max(gaps, default=(0.0, 0))
        if off < 10**-_SCORE_DIGITS:
            break
        chosen = sorted([*chosen, at])
    return chosen


def _between(left: tuple[float, float], right: tuple[float, float], at: float) -> float:
    return left[1] + (right[1] - left[1]) * (at - left[0]) / (right[0] - left[0])


def _agent_summary(move: "NextMove") -> str:
    """The move and its first reason in a sentence or two."""
    head = {"accept": "Accept their offer.", "counter": "Make a counter-offer.", "walk_away": "Walk away."}[move.action]
    return " ".join([head, *move.reasons[:1]])


def _with_offers(
    frame: StrategySituation, history: Sequence[StrategyOffer], table: StandingOffer | None
) -> StrategySituation:
    """The frame with its offers; what is on the table is their last entry of the history."""
    past = list(history)
    theirs = [row for row in past if row.by == "them"]
    if table is not None and (not theirs or dict(theirs[-1].offer) != dict(table.offer)):
        past.append(StrategyOffer(frame.progress.step, "them", table.offer, table.my_utility))
    return replace(frame, history=tuple(past), on_table=table)


def _utility(frame: StrategySituation, offer: Mapping[str, Any], given: float | None) -> float:
    """What an offer is worth by the part worths; what was claimed only counts where it is no more than that."""
    computed = frame.my_utility(offer)
    if computed is None:
        return frame.my_preferences.constant if given is None else given
    return computed if given is None or given > computed + _SAME else given


def _refusals(body: NextMoveBody, mine: AdditivePreferences) -> list[FieldError]:
    found: list[FieldError] = []
    names = [issue.name for issue in body.issues]
    listed = {issue.name: {(isinstance(v, bool), v) for v in issue.values} for issue in body.issues}
    found += [
        FieldError(f"/issues/{place}/name", "Another issue already has this name.")
        for place, name in enumerate(names)
        if name in names[:place]
    ]
    worths = mine.part_worths
    for name, pairs in worths.items():
        if name not in listed:
            found.append(FieldError(f"/my_preferences/part_worths/{name}", "No issue has this name."))
        found += _worth_refusals("/my_preferences/part_worths", {name: pairs})
    found += [
        FieldError(f"/my_preferences/part_worths/{name}", "Every issue needs its part worths.")
        for name in listed
        if name not in worths
    ]
    found += _hint_refusals(body.their_preferences, listed)
    offers = [(f"/history/{place}/offer", row.offer) for place, row in enumerate(body.history)]
    if body.on_table is not None:
        offers.append(("/on_table/offer", body.on_table.offer))
    for at, offer in offers:
        found += _offer_refusals(at, offer, listed)
    return found


def _hint_refusals(body: PreferenceHintsBody | None, listed: Mapping[str, set[tuple[bool, Any]]]) -> list[FieldError]:
    """Hints on issues and values that are not in the request, values named twice, and utilities that are none."""
    if body is None:
        return []
    weights, found = body.weights or {}, list[FieldError]()
    found += [
        FieldError(f"/their_preferences/weights/{name}", "No issue has this name.")
        for name in weights
        if name not in listed
    ]
    if weights and not any(weights.values()):
        found.append(FieldError("/their_preferences/weights", "One of them must be above 0."))
    for name, pairs in (body.part_worths or {}).items():
        at = f"/their_preferences/part_worths/{name}"
        if name not in listed:
            found.append(FieldError(at, "No issue has this name."))
            continue
        keys = [(isinstance(pair[0], bool), pair[0]) for pair in pairs]
        if len(set(keys)) < len(keys):
            found.append(FieldError(at, "Two pairs have the same value."))
        for place, (key, pair) in enumerate(zip(keys, pairs, strict=True)):
            if key not in listed[name]:
                text = "Not one of the values of this issue."
                found.append(FieldError(f"{at}/{place}/0", text))
            if not _is_utility(pair[1]):
                found.append(FieldError(f"{at}/{place}/1", "Must be a utility."))
    return found


def _is_utility(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MAX_HINTED_UTILITY


def _offer_refusals(at: str, offer: Mapping[str, Any], listed: Mapping[str, set[tuple[bool, Any]]]) -> list[FieldError]:
    found = [FieldError(f"{at}/{n}", "No issue has this name.") for n in offer if n not in listed]
    for name, known in listed.items():
        if name not in offer:
            found.append(FieldError(f"{at}/{name}", "A value is needed."))
        elif (isinstance(offer[name], bool), offer[name]) not in known:
            found.append(FieldError(f"{at}/{name}", "Not one of the values of this issue."))
    return found


def _past(terms: Terms, rows: Sequence[OfferRow]) -> list[tuple[int, Literal["me", "them"], dict[str, Any], bool]]:
    """The ledger's offers as whole packages: round, side, package, and whether it was called final.

    What stays partial is left out. A value beyond its range counts as the end of the range: no value outside is ever
    proposed.
    """
    rounds = {"me": 0, "them": 0}
    found: list[tuple[int, Literal["me", "them"], dict[str, Any], bool]] = []
    for row in completed_offers(ledger_offers(rows)):
        step = rounds[row.by]
        rounds[row.by] += 1
        known = all(
            issue.name in row.package and worth_of(issue, row.package[issue.name]) is not None for issue in terms.issues
        )
        if known:
            found.append((step, row.by, _in_range(terms, row.package), row.claimed_final))
    return found


def _values(terms: Terms, issue: Issue, seen: Sequence[Mapping[str, Any]]) -> tuple[str | int | float | bool, ...]:
    every = list(values_of(issue, STRATEGY_GRID_SIZE))
    if len(every) > MAX_STRATEGY_VALUES:
        places = sorted({round(k * (len(every) - 1) / (MAX_STRATEGY_VALUES - 1)) for k in range(MAX_STRATEGY_VALUES)})
        every = [every[place] for place in places]
    single = limits.single_limit(terms)
    limit = single[1] if single and single[0].name == issue.name else issue.limit
    if limit is not None and not check_value(issue, limit, ""):
        every.append(limit)
    shown = [value_view(issue, value, terms.currency) for value in every]
    shown += [package[issue.name] for package in seen]
    return tuple(dict.fromkeys(shown))


def _strategy_issue(terms: Terms, issue: Issue, listed: Sequence[str | int | float | bool]) -> StrategyIssue:
    """An issue with the coordinates of its values, where they have an order, and those that are forbidden."""
    found = [coordinate(issue.type, value) for value in listed]
    scale = [float(at) for at in found if at is not None]
    return StrategyIssue(
        issue.name,
        tuple(listed),
        tuple(scale) if listed and len(scale) == len(listed) else None,
        frozenset(
            typed_key(value)
            for value in listed
            if not limits.within_limit(terms, issue, value)
            or (issue.limit is not None and limits.falls_short(issue, value, issue.limit))
        ),
        MONEY_IS_OPPOSED if issue.type == "money" else None,
    )


def _progress(terms: Terms, rows: Sequence[OfferRow], *, opened_at: int, now: int) -> StrategyProgress:
    """The user's offers so far, the rounds in all, and the share of the time that is over."""
    step = sum(1 for row in offers_made(rows) if row.side == "me")
    rounds, deadline = terms.max_rounds, terms.deadline
    shares: list[float] = []
    if rounds is not None:
        shares.append(min(1.0, step / rounds))
    if deadline is not None and deadline > opened_at:
        gone = (now - opened_at) / (deadline - opened_at)
        shares.append(min(1.0, max(0.0, gone)))
    return StrategyProgress(step, rounds, max(shares, default=None))
