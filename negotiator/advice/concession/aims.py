"""Where the concession path begins and ends on each issue.

The path begins near the target, stretched as far as there are grounds for it, and ends short of the user's own limits.
The end of a range bounds what is possible and is no demand.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final, Literal, get_args

from negotiator.advice.concession.people_values import people_values
from negotiator.numbers.read import number_runs, number_tokens
from negotiator.terms import limits
from negotiator.terms.issues import (
    UNORDERED_TYPES,
    WHOLE_TYPES,
    Issue,
    IssueRange,
    Package,
    Scalar,
    coordinate,
    coordinate_of_worth,
    is_outside_range,
    nearest_in_range,
    same_value,
    value_at_coordinate,
    value_key,
    values_of,
    worth_of,
    worths_of,
)
from negotiator.terms.plain_text import join_words
from negotiator.terms.terms import Terms
from negotiator.terms.utility import (
    Preferences,
    is_complete,
    normalised_weights,
    package_utility,
    utility_of_alternative,
)
from negotiator.terms.wording import Wording

Style = Literal["balanced", "firm", "cooperative"]
Wanted = Literal["no", "asked", "invited", "paid"]
Pursued = Literal["target", "even", "best"]
"""What the opening goes for: the target, more than an even share of the walk-away, or the best values."""

STRETCH: Final[Mapping[str, float]] = {"cooperative": 0.1, "balanced": 0.2, "firm": 0.35}
"""How far beyond the target to open, as a share of the way from the limit to the target.

People open between the target and a quarter beyond it (CraigslistBargain); ambitious first offers that can be justified
end better (Galinsky and Mussweiler 2001).
"""
MAX_STRETCH: Final = 1.0
"""The same share with evidence: the opening goes as far as the evidence, and at most this far."""
ARGUED_STRETCH: Final = 2.0
"""The same where a fact that the user can say names the price."""
ARGUED_REACH: Final = Decimal(3)
"""A figure of a fact is taken for a price up to this factor from the target."""
RESERVE: Final = 0.3
"""Share of the way from the limit to the opening that the planned steps keep back, for closing."""
LAST_RESERVE: Final = 0.02
"""Share that is kept back when the planned steps are used up and the talk would end otherwise."""
UNLIMITED_SLACK: Final = 0.5
"""Without a limit on an issue, the path gives up at most this much worth on it below the target."""
LEAST_ROOM: Final = 0.1
"""With the target at the limit, the opening lies above it by at most this much worth."""
MAX_OPTIONS: Final = 300
TARGET_SHARE: Final = 0.6
"""Where the target lies between the limit and the best value, if the user names none."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A price that others can check, and what it is: a comparable deal, an offer in hand, a benchmark."""

    price: Decimal
    text: str
    source: str


@dataclass(frozen=True, slots=True)
class OpeningGround:
    """Why the opening lies where it does: a sentence for the user, and the source of its figures.

    `is_fair`: it shows that the opening is fair, so that no other evidence has to be found.
    """

    text: str
    source: str
    is_fair: bool = True


BASELINE_SOURCE: Final = "session:/baseline/value"
FAIR_BASELINES: Final[Mapping[str, str]] = {
    "market": "The market price is {}.",
    "should_cost": "It should cost {}.",
    "previous_price": "The price so far is {}.",
}
"""The kinds of baselines that justify an opening which goes as far as they do, each with its sentence."""
ESTIMATE_GROUND: Final = OpeningGround(
    "By your estimate, this is about as far as they could go.", "session:/their_estimate/walk_away"
)


@dataclass(frozen=True, slots=True)
class IssueAim:
    """The path's values on one issue, best first: `values[0]` is the opening, the last the end of the path.

    `worths` are the values' weighted worths to the user. `pull` is how much more the issue matters to the other side
    than to the user (1: as much). `limit` is the user's own worst value. `wanted`: they ask for another value in their
    offers, bring one up in words, or give more on the price for it than it costs the user (as far as offers show).
    """

    issue: Issue
    values: tuple[Scalar, ...]
    worths: tuple[float, ...]
    target: Scalar | None
    limit: Scalar | None
    pull: float
    wanted: Wanted = "no"

    @property
    def opening(self) -> Scalar:
        """The value to open with."""
        return self.values[0]

    @property
    def last(self) -> Scalar:
        """The worst value that the path offers."""
        return self.values[-1]


@dataclass(frozen=True, slots=True)
class Aims:
    """Both ends of the path. Utilities are the user's; `end` is the least that the planned steps offer, `last_end` the
    least that is offered at all, `floor` the walk-away, or what the user allowed below it. `lowest` has the limit on
    each issue, or else the path's end.

    `terms` have a range for each issue, assumed where the user gave none (`assumptions` says so). `own` are the same
    with the limits as the user gave them, where they allowed an offer beyond one.
    """

    terms: Terms
    issues: tuple[IssueAim, ...]
    opening: dict[str, Scalar]
    lowest: dict[str, Scalar]
    opening_utility: float
    target_utility: float
    end: float
    last_end: float
    floor: float
    grounds: tuple[OpeningGround, ...]
    assumptions: tuple[str, ...]
    own: Terms

    @property
    def price(self) -> Issue | None:
        """The price, where the path has values for it."""
        return next((aim.issue for aim in self.issues if aim.issue is self.terms.price), None)

    @property
    def own_floor(self) -> float:
        """The walk-away as the user gave it."""
        floor = limits.utility_floor(self.own)
        return self.floor if floor is None else floor

    def worth(self, package: Package) -> float:
        """The user's utility of a package; an issue that it leaves out counts at its worst."""
        return package_utility(self.terms.preferences, package).low

    def distance(self, package: Package) -> float:
        """The utility of a package of theirs, which falls on in a straight line beyond the ranges."""
        worths = (worth_of(issue, package.get(issue.name), clamp=False) for issue in self.terms.issues)
        parts = (issue.weight * (worth or 0.0) for issue, worth in zip(self.terms.issues, worths, strict=True))
        return self.terms.preferences.constant + sum(parts)

    def is_acceptable(self, package: Package) -> bool:
        """Whether the user may agree: whole, at or above the walk-away, within every constraint and own limit.

        A limit may be passed only by a trade that the user allowed.
        """
        valued = [issue for issue in self.terms.issues if issue.name not in self.terms.unvalued]
        return (
            is_complete(valued, package)
            and self.worth(package) >= self.floor - limits.TOLERANCE
            and limits.keeps_limits(self.terms, package)
        )


def find_aims(
    terms: Terms,
    *,
    style: Style = "balanced",
    evidence: tuple[Evidence, ...] = (),
    offered: Sequence[Package] = (),
    own: Terms | None = None,
) -> Aims:
    """The aims of a negotiation. An issue without a known value on the way stays at its only one.

    Of a very long list of options only some are used, those of the `offered` packages always. `own` has the user's
    limits where `terms` go beyond them.
    """
    terms, notes = with_assumed_ranges(with_fewer_options(terms, offered))
    notes = [*_assumed_directions(terms), *_assumed_weights(terms), *notes]
    floor = limits.utility_floor(terms)
    if floor is None:
        floor = utility_of_alternative(terms.preferences, terms.batna)
    if floor is None:
        notes.append(
            "You gave no walk-away, so the steps end at your target and nothing here protects you from a worse deal."
        )
    even = _even_worth(terms, 0.0 if floor is None else floor)
    aiming = _Aiming(terms, style, evidence, even, [], notes, Wording(terms))
    aims = _acceptable_aims(aiming, _targets(terms, notes), floor)
    opening = {aim.issue.name: aim.opening for aim in aims}
    at_target = {aim.issue.name: aim.opening if aim.target is None else aim.target for aim in aims}
    lowest = {aim.issue.name: aim.limit if aim.limit is not None and len(aim.values) > 1 else aim.last for aim in aims}

    def worth(package: Package) -> float:
        return package_utility(terms.preferences, package).low

    top, target = worth(opening), min(worth(at_target), worth(opening))
    bottom = worth(lowest) if floor is None else max(floor, worth(lowest))
    end, last_end = (
        target if floor is None else min(top, bottom + share * (top - bottom)) for share in (RESERVE, LAST_RESERVE)
    )
    return Aims(
        terms=terms,
        issues=aims,
        opening=opening,
        lowest=lowest,
        opening_utility=top,
        target_utility=target,
        end=end,
        last_end=last_end,
        floor=-1.0 if floor is None else floor,
        grounds=tuple(aiming.grounds),
        assumptions=tuple(dict.fromkeys(notes)),
        own=terms if own is None else with_assumed_ranges(own)[0],
    )


def _assumed_directions(terms: Terms) -> list[str]:
    """A sentence for each issue of which the user did not say which values are better."""
    found: list[str] = []
    for place, issue in enumerate(terms.issues):
        if issue.name not in terms.assumed_directions:
            continue
        label = Wording(terms).label(issue)
        if f"issues/{place}/direction" in terms.missing:
            found.append(
                f"You did not say whether a higher or a lower {label} is better for you; {issue.direction} is assumed."
            )
        else:
            side = "below" if issue.direction == "lower" else "above"
            found.append(
                f"You gave no direction for {label}; a {issue.direction} value is taken as better for you, since your "
                f"target is {side} your limit."
            )
    return found


def _assumed_weights(terms: Terms) -> list[str]:
    """A sentence where only some of the issues have a weight."""
    words = Wording(terms)
    told = [words.label(issue) for issue in terms.issues if issue.weight_given is not None or issue.worth is not None]
    untold = [words.label(issue) for issue in terms.issues if words.label(issue) not in told and not issue.compensated]
    if not told or not untold:
        return []
    if len(told) == 1:
        return [
            f"You gave a weight for {told[0]} only, so all points count the same: a weight is compared with the others."
        ]
    return [f"You gave no weight for {join_words(untold)}, so the mean of the others is taken."]


def _acceptable_aims(
    aiming: "_Aiming", targets: Mapping[str, Scalar | None], floor: float | None
) -> tuple[IssueAim, ...]:
    """The aims of every issue with a known value. Where the opening is below the floor, the path begins higher.

    It then begins above what the walk-away asks of each issue, else at the best values; the targets only apply where
    they are better than that.
    """
    issues = aiming.terms.issues
    aims: tuple[IssueAim, ...] = ()
    for pursued in get_args(Pursued):
        aiming.grounds.clear()
        found = (aiming.aim(issue, targets[issue.name], pursued=pursued) for issue in issues)
        aims = tuple(aim for aim in found if aim is not None)
        opening = {aim.issue.name: aim.opening for aim in aims}
        worth = package_utility(aiming.terms.preferences, opening).low
        if floor is None or worth >= floor - limits.TOLERANCE:
            if pursued != "target":
                aiming.notes.append("Your target is worth less to you than no deal, so the first offer asks for more.")
            return aims
    return aims


def with_fewer_options(terms: Terms, offered: Sequence[Package] = ()) -> Terms:
    """The terms with at most about `MAX_OPTIONS` options an issue: evenly chosen, the best, the worst and the named."""
    given = [worth.package for worth in (terms.target, terms.walk_away, terms.batna) if worth]
    packages = [*(package for package in given if package), *offered]
    packages += [{trade.issue: trade.to, **trade.in_return} for trade in terms.allowed]
    issues = tuple(_fewer_options(issue, packages) for issue in terms.issues)
    return replace(terms, preferences=replace(terms.preferences, issues=issues))


def _fewer_options(issue: Issue, packages: Sequence[Package]) -> Issue:
    if len(issue.options) <= MAX_OPTIONS:
        return issue
    named = {value_key(issue.type, package[issue.name]) for package in packages if issue.name in package}
    if issue.limit is not None:
        named.add(value_key(issue.type, issue.limit))
    ends = {pick(issue.options, key=lambda one: one.utility).value for pick in (min, max)}
    stride = len(issue.options) // MAX_OPTIONS + 1
    kept = [
        option
        for place, option in enumerate(issue.options)
        if place % stride == 0 or option.value in ends or value_key(issue.type, option.value) in named
    ]
    return replace(issue, options=tuple(kept[: 2 * MAX_OPTIONS]))


def with_assumed_ranges(terms: Terms) -> tuple[Terms, tuple[str, ...]]:
    """The terms with a range for each issue without one, and a sentence for each that is assumed.

    The range goes from the walk-away (or the alternative) to half as far again past the target.
    """
    notes: list[str] = []
    issues: list[Issue] = []
    left: list[str] = []
    for issue in terms.issues:
        span = _assumed_range(terms, issue) if issue.name in terms.unvalued else None
        if span is not None:
            notes.append(
                f"You gave no range for {Wording(terms).label(issue)}; it is assumed to run from your walk-away to "
                "somewhat beyond your target."
            )
        elif issue.name in terms.unvalued:
            left.append(issue.name)
        issues.append(issue if span is None else replace(issue, range=span))
    if notes and any(issue.worth is not None for issue in issues):
        issues = [*normalised_weights(issues)]
    found = replace(terms, preferences=Preferences(tuple(issues), terms.preferences.constant), unvalued=tuple(left))
    return found, tuple(notes)


def _assumed_range(terms: Terms, issue: Issue) -> IssueRange | None:
    ends = [
        coordinate(issue.type, given.package.get(issue.name))
        for given in (terms.target, terms.walk_away or terms.batna)
        if given is not None and given.package is not None
    ]
    if len(ends) < 2 or ends[0] is None or ends[1] is None or ends[0] == ends[1]:
        return None
    goal, worst = ends[0], ends[1]
    best = goal + (goal - worst) / 2
    if issue is terms.price:
        best = (max if best > worst else min)([best, *(one.price for one in argued_prices(terms))])
    if issue.type in WHOLE_TYPES:
        best = best.to_integral_value()
    best = max(best, Decimal(0)) if min(goal, worst) >= 0 else best
    return IssueRange(min(best, worst), max(best, worst))


def argued_prices(terms: Terms) -> list[Evidence]:
    """The prices better than the target that the user's own arguments name, such as those of comparable deals."""
    price, target = terms.price, terms.target
    goal = None if price is None or target is None or target.package is None else target.package.get(price.name)
    at = None if price is None or goal is None else coordinate(price.type, goal)
    if price is None or at is None:
        return []
    found: list[Evidence] = []
    for one in terms.arguments:
        if one.kind == "reason" and one.shareable and one.issue in (None, price.name):
            named = [run.value for run in number_runs(number_tokens(one.fact))]
            near = [value for value in named if at / ARGUED_REACH <= value <= at * ARGUED_REACH]
            better = [value for value in near if (value < at if price.direction == "lower" else value > at)]
            if better:
                furthest = (min if price.direction == "lower" else max)(better)
                found.append(Evidence(furthest, "One of your own facts goes about as far.", "session:/arguments"))
    return found


def _targets(terms: Terms, notes: list[str]) -> dict[str, Scalar | None]:
    """The target on each issue: as named, or of the same worth on each issue where it is a utility."""
    given = terms.target
    if given is not None and given.package is not None:
        return {issue.name: given.package.get(issue.name) for issue in terms.issues}
    if given is not None and given.utility is not None:
        share = _even_worth(terms, given.utility)
        return {issue.name: value_of_worth(terms, issue, share) for issue in terms.issues}
    notes.append(
        "You gave no target; a value a little more than halfway from your limit to the best value is used instead."
    )
    return {issue.name: None for issue in terms.issues}


def _even_worth(terms: Terms, utility: float) -> float:
    """The unweighted worth that each issue has in a package of this utility with the same worth on all of them."""
    total = sum(issue.weight for issue in terms.issues)
    share = (utility - terms.preferences.constant) / total if total > 0 else 0.0
    return min(1.0, max(0.0, share))


def keeps_limits(terms: Terms, issue: Issue, value: Scalar) -> bool:
    """Whether the issue has the value, and it keeps every hard constraint on the issue and the user's own limit."""
    limit = limits.own_limit(terms, issue)
    return (
        worth_of(issue, value) is not None
        and not is_outside_range(issue, value)
        and limits.within_limit(terms, issue, value)
        and (limit is None or not limits.falls_short(issue, value, limit))
    )


def value_of_worth(terms: Terms, issue: Issue, worth: float) -> Scalar | None:
    """The value of an issue whose unweighted worth is nearest to `worth`, within constraints and the own limit."""
    at = None if issue.type in UNORDERED_TYPES else coordinate_of_worth(issue, worth)
    if at is not None and issue.range is not None:
        if issue.type in WHOLE_TYPES:
            at = at.to_integral_value()
        if issue.range.step is not None:
            steps = ((at - issue.range.min) / issue.range.step).to_integral_value()
            at = issue.range.min + steps * issue.range.step
        value = value_at_coordinate(issue.type, _cents_within(issue.range, at))
        if keeps_limits(terms, issue, value):
            return value
    every = values_of(issue)
    priced = [
        (abs(found - worth), k, value)
        for k, (value, found) in enumerate(zip(every, worths_of(issue, every), strict=True))
        if found is not None and keeps_limits(terms, issue, value)
    ]
    return min(priced, key=lambda one: one[:2])[2] if priced else None


def _cents_within(span: IssueRange, at: Decimal) -> Decimal:
    """The coordinate with at most two decimals where such a one is in the range."""
    inside = min(span.max, max(span.min, at))
    cents = round(inside, 2)
    return cents if span.min <= cents <= span.max else inside


@dataclass(slots=True)
class _Aiming:
    """Finds the aims issue by issue, and collects the grounds of the opening and what is assumed.

    `even` is the unweighted worth of every issue at the walk-away, where that is spread evenly over the issues.
    """

    terms: Terms
    style: Style
    evidence: tuple[Evidence, ...]
    even: float
    grounds: list[OpeningGround]
    notes: list[str]
    words: Wording

    def aim(self, issue: Issue, target: Scalar | None, *, pursued: Pursued) -> IssueAim | None:
        """People's values from the opening to the end of the path on one issue; None where none keeps the limits."""
        limit = limits.own_limit(self.terms, issue)
        least = _known_worth(issue, limit)
        if limit is None and issue.compensated:
            package = self.terms.walk_away.package if self.terms.walk_away is not None else None
            least = _known_worth(issue, (package or {}).get(issue.name))
            worst = least if issue is self.terms.price else 0.0
            limit = None if worst is None else value_of_worth(self.terms, issue, worst)
        least = self.even if least is None else least
        goal = _known_worth(issue, target)
        if target is not None and not keeps_limits(self.terms, issue, target):
            self._note(f"Your target on {self.words.label(issue)} is beyond a limit of yours, so it is not used.")
            target = value_of_worth(self.terms, issue, least if goal is None else goal)
            goal = _known_worth(issue, target)
        wished, wish = target, goal
        if pursued != "target":
            least = max(least, self.even)
            if pursued == "best" or goal is None or goal <= least:
                goal, target = (1.0 if pursued == "best" else None), None
        if goal is None or target is None:
            goal = least + TARGET_SHARE * (1.0 - least) if goal is None else goal
            target = value_of_worth(self.terms, issue, goal)
            found = _known_worth(issue, target)
            goal = goal if found is None else found
            if wish is not None and wish > goal:  # the target lies between the last two steps
                goal, target = wish, wished
        values = self._values(issue, target, limit, goal, least)
        if not values:
            self._note(f"No value of {self.words.label(issue)} is within your limits.")
            return None
        worths = tuple(issue.weight * (worth_of(issue, value) or 0.0) for value in values)
        return IssueAim(issue, values, worths, target, limit, _pull(self.terms, issue))

    def _note(self, text: str) -> None:
        self.notes.append(text)

    def _values(
        self, issue: Issue, target: Scalar | None, limit: Scalar | None, goal: float, least: float
    ) -> tuple[Scalar, ...]:
        terms = self.terms
        best = self._opening(issue, target, goal, least)
        if best is None:
            return ()
        worst = None if limit is None else nearest_in_range(issue, limit)
        if worst is None:
            worst = value_of_worth(terms, issue, max(0.0, goal - UNLIMITED_SLACK))
        if worst is None or not issue.tradeable:
            return (best if target is None else target,)
        worst = self._no_worse_than_theirs(issue, worst)
        named = [value for value in (target, worst, self._baseline_value(issue)) if value is not None]
        found = self._speakable(issue, best, worst, named)
        if not _reaches(issue, found, goal):
            higher = value_of_worth(terms, issue, goal + _least_room(issue, best))
            better = () if higher is None else self._speakable(issue, higher, worst, ())
            found = better if _reaches(issue, better, goal) else (best, *found)
        return _from_round_value(issue, found, named, goal)

    def _speakable(self, issue: Issue, best: Scalar, worst: Scalar, named: Sequence[Scalar]) -> tuple[Scalar, ...]:
        """People's values between the ends that keep the limits and give no private figure away."""
        return tuple(
            value
            for value in people_values(issue, best, worst, named=named)
            if keeps_limits(self.terms, issue, value) and not _shows_limit(self.terms, issue, value)
        )

    def _opening(self, issue: Issue, target: Scalar | None, goal: float, least: float) -> Scalar | None:
        """The value to open with: the target, stretched as far as there are grounds where values have an order."""
        is_listed = issue.type in UNORDERED_TYPES or bool(issue.options)
        if is_listed and target is not None and abs(goal - least) <= limits.TOLERANCE:
            return value_of_worth(self.terms, issue, 1.0)  # nothing was hoped for: it is asked for, and can be given
        if issue.type in UNORDERED_TYPES:
            return target if target is not None else value_of_worth(self.terms, issue, goal)
        stretched = min(1.0, goal + STRETCH[self.style] * max(0.0, goal - least))
        if issue is self.terms.price:
            if (own := self._own_list_price(issue, goal)) is not None:
                return own
            stretched = self._against_their_price(issue, goal, least, stretched)
            stretched = self._justified(issue, goal, least, stretched)
        found = value_of_worth(self.terms, issue, stretched)
        is_better = (_known_worth(issue, found) or 0.0) > goal + limits.TOLERANCE
        return found if is_better or target is None else target

    def _own_list_price(self, price: Issue, goal: float) -> Decimal | None:
        """A seller's own list price, which the other side knows, so that the opening is neither more nor less."""
        baseline = self.terms.baseline
        if baseline is None or baseline.value is None or baseline.kind not in ("list_price", "first_quote"):
            return None
        if baseline.kind == "first_quote" and not _is_own_quote(self.terms, price, baseline.value):
            return None
        if price.direction == "lower" or not keeps_limits(self.terms, price, baseline.value):
            return None
        if (_known_worth(price, baseline.value) or 0.0) < goal:
            return None
        self.grounds.append(OpeningGround("It is your list price.", BASELINE_SOURCE))
        return baseline.value

    def _baseline_value(self, issue: Issue) -> Decimal | None:
        """The baseline as a figure to open with: one that justifies the opening, or the list price of a seller."""
        baseline = self.terms.baseline if issue is self.terms.price else None
        if baseline is None or (baseline.kind not in FAIR_BASELINES and baseline.kind != "list_price"):
            return None
        return baseline.value

    def _no_worse_than_theirs(self, issue: Issue, worst: Scalar) -> Scalar:
        """The end of the path: their own first price where that is better for the user than the limit."""
        theirs = their_first_price(self.terms) if issue is self.terms.price else None
        if theirs is None or not keeps_limits(self.terms, issue, theirs):
            return worst
        here, there = _known_worth(issue, worst), _known_worth(issue, theirs)
        return theirs if here is not None and there is not None and there > here else worst

    def _against_their_price(self, price: Issue, goal: float, least: float, stretched: float) -> float:
        """The worth at which to open a price against the one that they named first, if that is the baseline.

        As far beyond the target as beyond their price by the same share as from the limit, since people meet between
        the two openings; and never at less than they offer already.
        """
        theirs = their_first_price(self.terms)
        worth = None if theirs is None else worth_of(price, theirs, clamp=False)
        if theirs is None or worth is None:
            return stretched
        said = self.words.value(price, theirs)
        if worth > goal:
            label = self.words.label(price)
            self._note(
                f"They named {said}, better for you than your target on {label}, so the first offer asks for more."
            )
            return min(1.0, max(stretched, worth + STRETCH[self.style] * max(0.0, worth - least)))
        most = min(1.0, goal + MAX_STRETCH * max(0.0, goal - least))
        far = min(most, goal + STRETCH[self.style] * (goal - worth))
        if far <= stretched:
            return stretched
        self.grounds.append(
            OpeningGround(
                f"They began at {said}, and people tend to meet between the two first figures.",
                BASELINE_SOURCE,
                is_fair=False,
            )
        )
        return far

    def _justified(self, price: Issue, goal: float, least: float, stretched: float) -> float:
        """The worth at which to open a price: as far as evidence and the estimate of their limit go."""
        found: list[tuple[float, OpeningGround]] = []
        estimate = self.terms.their_walk_away
        if estimate is not None and estimate.unit == "money":
            best = estimate.low if price.direction == "lower" else estimate.high
            worth = worth_of(price, best)
            if worth is not None:
                found.append((worth, ESTIMATE_GROUND))
        found += self._baseline_grounds(price)
        argued = argued_prices(self.terms)
        for one in (*self.evidence, *argued):
            worth = worth_of(price, one.price)
            if worth is not None:
                found.append((worth, OpeningGround(one.text, one.source)))
        if not found:
            return stretched
        reach = MAX_STRETCH if not argued else ARGUED_STRETCH
        most = min(1.0, goal + reach * max(0.0, goal - least))
        furthest = max(worth for worth, _ in found)
        self.grounds += [
            ground for worth, ground in found if worth >= goal and (ground is not ESTIMATE_GROUND or worth <= most)
        ]
        return max(stretched, min(most, furthest))

    def _baseline_grounds(self, price: Issue) -> list[tuple[float, OpeningGround]]:
        """The worth of a baseline that justifies an opening, with its sentence."""
        baseline = self.terms.baseline
        text = FAIR_BASELINES.get(baseline.kind) if baseline is not None else None
        if baseline is None or baseline.value is None or text is None:
            return []
        worth = worth_of(price, baseline.value)
        if worth is None or is_outside_range(price, baseline.value):
            return []
        said = self.words.value(price, baseline.value)
        return [(worth, OpeningGround(text.format(said), BASELINE_SOURCE))]


def their_first_price(terms: Terms) -> Decimal | None:
    """The price that the other side named first, if the baseline is that: a quote, or the list price for a buyer."""
    baseline, price = terms.baseline, terms.price
    if baseline is None or price is None:
        return None
    is_theirs = baseline.kind == "first_quote" or (baseline.kind == "list_price" and price.direction == "lower")
    if not is_theirs or baseline.value is None or _is_own_quote(terms, price, baseline.value):
        return None
    return baseline.value


def _is_own_quote(terms: Terms, price: Issue, value: Decimal) -> bool:
    """Whether a first quote is a seller's own: nobody pays more than the seller hopes for."""
    target = terms.target.package.get(price.name) if terms.target is not None and terms.target.package else None
    at = None if target is None else coordinate(price.type, target)
    return price.direction == "higher" and at is not None and value >= at


def _reaches(issue: Issue, values: Sequence[Scalar], goal: float) -> bool:
    """Whether the first value is worth as much as the goal."""
    return bool(values) and (worth_of(issue, values[0]) or 0.0) >= goal - limits.TOLERANCE


def _least_room(issue: Issue, price: Scalar) -> float:
    """How much worth to begin above a target that is the limit itself: about a twentieth of the price."""
    at = coordinate(issue.type, price)
    if at is None or issue.range is None:
        return LEAST_ROOM
    return min(LEAST_ROOM, float(abs(at) / 20 / (issue.range.max - issue.range.min)))


def _shows_limit(terms: Terms, issue: Issue, value: Scalar) -> bool:
    """Whether a price is the limit or that of the alternative: naming it would show them."""
    if issue.type != "money":
        return False
    given = [worth.package for worth in (terms.walk_away, terms.batna) if worth and worth.package]
    private = [issue.limit, *(package.get(issue.name) for package in given)]
    return any(one is not None and same_value(issue.type, value, one) for one in private)


def _from_round_value(
    issue: Issue, values: tuple[Scalar, ...], named: Sequence[Scalar], goal: float
) -> tuple[Scalar, ...]:
    """The values without a computed, unround first one, if the next is at least as good as the target."""
    if len(values) < 3 or values[0] in named:
        return values
    return values[1:] if (worth_of(issue, values[1]) or 0.0) >= goal - 1e-9 else values


def _known_worth(issue: Issue, value: Scalar | None) -> float | None:
    return None if value is None else worth_of(issue, value)


def _pull(terms: Terms, issue: Issue) -> float:
    """Their weight over mine; 1 where theirs is not known."""
    known = [one.their_weight for one in terms.issues if one.their_weight is not None]
    if issue.their_weight is None or not sum(known) or issue.weight <= 0:
        return 1.0 if issue.weight > 0 else 4.0
    share = issue.their_weight / sum(known) * len(known) / len(terms.issues)
    return share / issue.weight
