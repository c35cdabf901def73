"""A negotiation's body into its terms: the rules that span several members, or every field error of them at once.

The rules of single members and of single issues are in the schemas, so a body that arrives here keeps them.
"""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final

from negotiator.base.errors import FieldError, ValidationFailed
from negotiator.base.values import MINOR_UNITS, milliseconds
from negotiator.terms.issues import (
    UNORDERED_TYPES,
    Direction,
    Issue,
    IssueOption,
    IssueRange,
    IssueType,
    Multiple,
    Package,
    Scalar,
    canonical_value,
    check_value,
    coordinate,
    known_coordinate,
    step_type,
)
from negotiator.terms.limits import falls_short, issue_limit, tells_alternative, tells_limit
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.schemas_terms import (
    NO_ESTIMATE,
    AllowedTradeBody,
    ArgumentBody,
    AuthorityBody,
    BaselineBody,
    Batna,
    ConstraintBody,
    Counterparty,
    IssueBody,
    RangeBody,
    SideFactsBody,
    TheirEstimate,
    WorthBody,
    lacks_values,
)
from negotiator.terms.terms import (
    BUYING_ROLES,
    NO_FACTS,
    SELLING_ROLES,
    AllowedTrade,
    AlternativeDetails,
    Argument,
    Authority,
    Baseline,
    Constraint,
    Estimate,
    EstimateDetails,
    OtherParty,
    SideFacts,
    Terms,
    issue_named,
)
from negotiator.terms.utility import (
    Preferences,
    Worth,
    check_package,
    check_worth,
    missing_inputs,
    normalised_weights,
    utility_bounds,
    utility_of_alternative,
    utility_of_worth,
    without_ranges,
)

UTILITY_TOLERANCE: Final = 1e-9
"""Limits whose utilities differ by less do not contradict each other."""
NEED_OF_RELATIONSHIP: Final = {"new": 0.3, "ongoing": 0.5, "strategic": 0.8}
"""How much both sides need the relationship, by what it is."""
AUTHORITY_OF_DECISION_MAKER: Final = {"yes": 0.9, "no": 0.2}
MEANT: Final = " If this is meant,"
"""How the part of a refusal begins that tells a program what to send."""
BOUND_AUTHORITY: Final = 0.35
"""The user's authority where a limit is set to it."""


def parse_terms(body: NegotiationBody, *, lenient: bool = False, mine: Preferences | None = None) -> Terms:
    """The terms of a body; 422 with every field error.

    `lenient` is for what-if questions: limits may contradict each other there, and the answer says so. `mine` takes
    the place of the body's issues where full preferences are given instead.
    """
    mine = _with_limits(mine or Preferences(_issues(body)), body)
    if found := [*_unit_errors(body), *_member_errors(mine, body)]:
        raise ValidationFailed(found)
    terms = _terms(body, mine)
    crossed = [*_limit_order_errors(terms, body), *_issue_limit_errors(terms, body), *_told_limit_errors(terms, body)]
    if crossed and not lenient:
        raise ValidationFailed(crossed)
    return terms


def parse_issues(bodies: Sequence[IssueBody], role: str = "party") -> tuple[Issue, ...]:
    """Issues with normalised weights; on money the role decides the direction where none is given."""
    return normalised_weights([_issue(body, role) for body in bodies])


def _issues(body: NegotiationBody) -> tuple[Issue, ...]:
    """The issues of a negotiation, whose target and limits tell a direction that is not given."""
    issues = [_issue(issue, body.role, _direction_by_limits(issue, body)) for issue in body.issues]
    price = next((issue for issue in issues if issue.type == "money"), None)
    others = [issue for issue in issues if issue is not price]
    valued = price is not None and bool(others) and all(issue.worth is not None for issue in others)
    return normalised_weights([replace(issue, compensated=valued and issue.tradeable) for issue in issues])


def _is_by_role(issue: IssueBody, role: str) -> bool:
    """Whether the role tells which direction is good: a price, on one of the two sides of a sale."""
    return issue.type == "money" and role in SELLING_ROLES | BUYING_ROLES


def _direction_by_limits(issue: IssueBody, body: NegotiationBody) -> Direction | None:
    """The direction in which the target on an issue is better than its limit, or than the walk-away on it.

    None where the direction is given or follows from the role, and where the two are equal or one is not named.
    """
    if issue.direction or issue.type in UNORDERED_TYPES or _is_by_role(issue, body.role):
        return None
    target, walk_away = (
        None if worth is None or worth.package is None else worth.package.get(issue.name)
        for worth in (body.target, body.walk_away)
    )
    goal = None if target is None else coordinate(issue.type, target)
    for limit in (walk_away, issue.limit):
        least = None if limit is None else coordinate(issue.type, limit)
        if goal is not None and least is not None and goal != least:
            return "higher" if goal > least else "lower"
    return None


def _direction_by_worth(issue: IssueBody) -> Direction | None:
    """The direction in which the worths that the user gave rise, from the least value to the greatest."""
    given = [(at, float(worth)) for at, worth in issue.value_points or ()]
    given += [
        (option.value, worth)
        for option in issue.options or ()
        if (worth := option.utility if option.worth is None else option.worth) is not None
    ]
    places = sorted((at, worth) for value, worth in given if (at := coordinate(issue.type, value)) is not None)
    if len(places) < 2 or places[0][1] == places[-1][1]:
        return None
    return "higher" if places[0][1] < places[-1][1] else "lower"


def _issue(body: IssueBody, role: str, by_limits: Direction | None = None) -> Issue:
    buying = body.type == "money" and role in BUYING_ROLES
    by_worth = None if _is_by_role(body, role) else _direction_by_worth(body)
    issue = Issue(
        name=body.name,
        type=body.type,
        label=body.label or body.name,
        unit=body.unit,
        direction=body.direction or by_worth or by_limits or ("lower" if buying else "higher"),
        weight_given=body.weight,
        worth=body.worth,
        range=_range(body.type, body.range),
        value_points=tuple((known_coordinate(body.type, at), float(worth)) for at, worth in body.value_points or ()),
        their_weight=body.their_weight,
        tradeable=body.tradeable,
        limit=None if body.limit is None else canonical_value(body.type, body.limit),
        multiples=tuple(
            Multiple(_count(multiple.count), multiple.of, multiple.issue) for multiple in body.multiples or ()
        ),
    )
    worths = [option.worth for option in body.options or () if option.worth is not None]
    return replace(issue, options=_options(issue, body), worth=max(worths) - min(worths) if worths else body.worth)


def _with_limits(mine: Preferences, body: NegotiationBody) -> Preferences:
    """The preferences with the limit of each issue: its own, or the one that the walk-away package names."""
    walk_away, target = _worth(body.walk_away), _worth(body.target)
    limited = tuple(replace(issue, limit=issue_limit(issue, walk_away, target)) for issue in mine.issues)
    return replace(mine, issues=limited)


def _count(count: float | None) -> Decimal | None:
    if count is None:
        return None
    return Decimal(int(count)) if count.is_integer() else Decimal(repr(count))


def _range(kind: IssueType, body: RangeBody | None) -> IssueRange | None:
    if body is None:
        return None
    step = None if body.step is None else coordinate(step_type(kind), body.step)
    return IssueRange(known_coordinate(kind, body.min), known_coordinate(kind, body.max), step)


def _options(issue: Issue, body: IssueBody) -> tuple[IssueOption, ...]:
    options = body.options or ()
    worths = [option.worth for option in options if option.worth is not None]
    low, span = min(worths, default=0.0), max(worths, default=0.0) - min(worths, default=0.0)
    utilities = [(worth - low) / span if span else 1.0 for worth in worths]
    utilities = utilities or [option.utility for option in options if option.utility is not None]
    utilities = utilities or _default_utilities(issue, [option.value for option in options])
    return tuple(
        IssueOption(option.value, utility, option.worth) for option, utility in zip(options, utilities, strict=True)
    )


def _default_utilities(issue: Issue, values: Sequence[Scalar]) -> list[float]:
    """Utilities that rise evenly by size where values have one, else by listed order."""
    if not values:
        return []
    places = [at for value in values if (at := coordinate(issue.type, value)) is not None]
    if len(places) < len(values):
        places = [Decimal(n) for n in range(len(values))]
    low, span = min(places), max(places) - min(places)
    rising = [float((at - low) / span) for at in places]
    return rising if issue.direction == "higher" else [1.0 - u for u in rising]


def _unit_errors(body: NegotiationBody) -> list[FieldError]:
    """Money issues in another currency: nothing is ever converted silently."""
    text = f"All money is in {body.currency}; nothing is converted."
    return [
        FieldError(f"/issues/{place}/unit", text)
        for place, issue in enumerate(body.issues)
        if issue.type == "money"
        and issue.unit in MINOR_UNITS
        and body.currency is not None
        and issue.unit != body.currency
    ]


def _member_errors(mine: Preferences, body: NegotiationBody) -> list[FieldError]:
    """Limits, constraints and authority that name unknown issues or values that these do not have."""
    wide = Preferences(without_ranges(mine.issues))
    return [
        *_limit_errors(mine, wide, body),
        *_constraint_errors(wide.issues, body.constraints or ()),
        *_authority_errors(wide, body.authority),
        *_allowed_trade_errors(mine.issues, body.allow or ()),
        *_worth_errors(mine.issues),
        *(
            FieldError(f"/arguments/{place}/issue", "No issue of this negotiation has this name.")
            for place, argument in enumerate(body.arguments or ())
            if argument.issue is not None and issue_named(mine.issues, argument.issue) is None
        ),
    ]


def _worth_errors(issues: Sequence[Issue]) -> list[FieldError]:
    price = next((issue for issue in issues if issue.type == "money"), None)
    return [
        FieldError(f"/issues/{place}/worth", "Needs a price among the other issues, in whose unit it is counted.")
        for place, issue in enumerate(issues)
        if issue.worth is not None and (price is None or issue is price)
    ]


def _limit_errors(mine: Preferences, wide: Preferences, body: NegotiationBody) -> list[FieldError]:
    """Errors of the limits of both sides; all but the user's target may lie beyond a range (`wide` has none)."""
    theirs = body.their_estimate or NO_ESTIMATE
    batna = body.batna.value if body.batna else None
    found = [
        *check_worth(mine, _worth(body.target), "/target"),
        *check_worth(wide, _worth(body.walk_away), "/walk_away"),
        *check_worth(wide, _worth(batna), "/batna/value"),
        *check_worth(wide, _worth(theirs.target), "/their_estimate/target"),
        *check_worth(wide, _worth(theirs.batna), "/their_estimate/batna"),
    ]
    if (estimate := _estimate(mine, theirs)) is not None:
        found += estimate.errors()
    names = {issue.name for issue in mine.issues}
    found += [
        FieldError(f"/their_estimate/priorities/{place}", "No issue has this name.")
        for place, name in enumerate(theirs.priorities or ())
        if name not in names
    ]
    return found


def _constraint_errors(issues: Sequence[Issue], bodies: Sequence[ConstraintBody]) -> list[FieldError]:
    found: list[FieldError] = []
    for place, body in enumerate(bodies):
        at = f"/constraints/{place}"
        issue = issue_named(issues, body.issue)
        if issue is None:
            found.append(FieldError(f"{at}/issue", "No issue of this negotiation has this name."))
        elif isinstance(body.value, list) != (body.op in {"in", "not_in"}):
            text = "A list goes with in and not_in, and only there."
            found.append(FieldError(f"{at}/value", text))
        elif body.op in {"<=", ">=", "<", ">"} and issue.type in UNORDERED_TYPES:
            found.append(FieldError(f"{at}/op", f"{issue.name} has no order."))
        else:
            for value in body.values:
                found += check_value(issue, value, f"{at}/value")
    return found


def _allowed_trade_errors(issues: Sequence[Issue], bodies: Sequence[AllowedTradeBody]) -> list[FieldError]:
    found: list[FieldError] = []
    for place, body in enumerate(bodies):
        at = f"/allow/{place}"
        found += check_package(issues, body.in_return, f"{at}/in_return")
        issue = issue_named(issues, body.issue)
        if issue is None:
            found.append(FieldError(f"{at}/issue", "No issue of this negotiation has this name."))
            continue
        if body.issue in body.in_return:
            text = "What comes in return must be on other issues."
            found.append(FieldError(f"{at}/in_return", text))
        if issue.limit is None:
            text = "There is no limit to pass: give the issue a limit, or a walk-away package."
            found.append(FieldError(f"{at}/issue", text))
        elif beyond := check_value(issue, body.to, f"{at}/to"):
            found += beyond
        elif not falls_short(issue, body.to, issue.limit):
            text = f"Must be worse for you than your limit of {issue.limit}."
            found.append(FieldError(f"{at}/to", text))
    return found


def _authority_errors(wide: Preferences, body: AuthorityBody | None) -> list[FieldError]:
    if body is None:
        return []
    found: list[FieldError] = []
    limit = body.limit
    if limit is not None and limit.amount is None:
        found += check_worth(wide, _worth(limit), "/authority/limit")
    elif limit is not None and (limit.package is not None or limit.utility is not None):
        found.append(FieldError("/authority/limit", "Must be an amount, a package or a utility."))
    priced = any(issue.type == "money" for issue in wide.issues)
    for name, amount in (
        ("limit", limit.amount if limit else None),
        ("needs_approval_above", body.needs_approval_above),
    ):
        if amount is not None and not priced:
            found.append(FieldError(f"/authority/{name}", "There is no money issue to hold it to."))
    return found


def _limit_order_errors(terms: Terms, body: NegotiationBody) -> list[FieldError]:
    """Errors unless target ≥ walk-away ≥ the utility of the alternative, where these can be compared."""
    mine = terms.preferences
    floor = utility_of_worth(mine, terms.walk_away, fill="low")
    if floor is None or terms.unvalued:
        return _price_order_errors(terms, body)
    found: list[FieldError] = []
    goal = utility_of_worth(mine, terms.target, fill="high")
    if goal is not None and goal < floor - UTILITY_TOLERANCE:
        found.append(FieldError("/target", _reversed_text(terms, body)))
    excused = (body.walk_away and body.walk_away.override_reason) or (body.batna and body.batna.override_reason)
    if terms.certain is not None and terms.certain > floor + UTILITY_TOLERANCE and not excused:
        text = _below_alternative_text(terms, floor, terms.certain)
        found.append(FieldError("/walk_away", text))
    return found


def _below_alternative_text(terms: Terms, floor: float, certain: float) -> str:
    """That the walk-away is worth less than the alternative: both worths, what they rest on, and how to say why."""
    rests = "the chance and cost of the alternative" if terms.batna_uncertain else ""
    if len(terms.issues) > 1:
        weights = ", ".join(f"{issue.name} {issue.weight:.0%}" for issue in terms.issues)
        rests = " and ".join(filter(None, (f"the weights {weights}", rests)))
    return (
        f"Worth less to you than your best alternative: {floor * 100:.1f} of 100 points, the alternative "
        f"{certain * 100:.1f}{f', by {rests}' if rests else ''}.{MEANT} say why inside the walk-away: "
        '{"walk_away": {"override_reason": "why"}}.'
    )


def _issue_limit_errors(terms: Terms, body: NegotiationBody) -> list[FieldError]:
    """Errors of limits that are better for the user than their target, where the issue itself has the limit."""
    goal = terms.target.package if terms.target is not None else None
    given = {issue.name: place for place, issue in enumerate(body.issues) if issue.limit is not None}
    text = "Better for you than your target of {}: a limit is the worst value that you take."
    return [
        FieldError(f"/issues/{given[issue.name]}/limit", text.format(goal[issue.name]))
        for issue in terms.issues
        if goal and issue.name in given and issue.name in goal and issue.limit is not None
        if falls_short(issue, goal[issue.name], issue.limit)
    ]


def _told_limit_errors(terms: Terms, body: NegotiationBody) -> list[FieldError]:
    """Errors of facts that may be said to the other side and would tell them the user's limit or target."""
    text = "To say this would tell your limit or target: leave that figure out, or make it not shareable."
    return [
        FieldError(f"/arguments/{place}/shareable", text)
        for place, argument in enumerate(body.arguments or ())
        if argument.shareable and tells_limit(terms, argument.fact)
    ]


def _reversed_text(terms: Terms, body: NegotiationBody) -> str:
    """That the target is worth less than the walk-away, and the directions that make it so."""
    text = "Worth less to you than your walk-away."
    goal: Package = (terms.target.package if terms.target else None) or {}
    least: Package = (terms.walk_away.package if terms.walk_away else None) or {}
    for issue, sent in zip(terms.issues, body.issues, strict=False):
        if issue.name not in goal or issue.name not in least:
            continue
        if not falls_short(issue, goal[issue.name], least[issue.name]):
            continue
        other = "higher" if issue.direction == "lower" else "lower"
        if sent.direction is not None:
            why = f"its `direction` is {issue.direction}"
        elif _is_by_role(sent, body.role):
            why = f"`role` is {body.role} and no `direction` is given"
        else:
            why = "no `direction` is given"
        text += (
            f" Of {issue.name} a {issue.direction} value counts as better for you, since {why}: "
            f"change the values, or send `direction` {other}."
        )
    return text


def _price_order_errors(terms: Terms, body: NegotiationBody) -> list[FieldError]:
    """The same for one price without a range, where the direction alone decides."""
    if len(terms.issues) != 1 or not terms.walk_away or not terms.target:
        return []
    issue = terms.issues[0]
    target, walk_away = (
        coordinate(issue.type, worth.package.get(issue.name)) if worth.package else None
        for worth in (terms.target, terms.walk_away)
    )
    if target is None or walk_away is None:
        return []
    worse = target > walk_away if issue.direction == "lower" else target < walk_away
    return [FieldError("/target", _reversed_text(terms, body))] if worse else []


def _terms(body: NegotiationBody, mine: Preferences) -> Terms:
    theirs = body.their_estimate or NO_ESTIMATE
    me, them = _side_facts(body)
    terms = Terms(
        title=body.title,
        role=body.role,
        category=body.category,
        kind=body.kind,
        currency=body.currency,
        preferences=mine,
        other_party=_other_party(body.counterparty),
        walk_away=_worth(body.walk_away),
        walk_away_reason=body.walk_away.override_reason if body.walk_away else None,
        target=_worth(body.target),
        batna=_worth(body.batna.value if body.batna else None),
        batna_details=_alternative_details(body.batna),
        their_walk_away=_estimate(mine, theirs),
        their_target=_worth(theirs.target),
        their_batna=_worth(theirs.batna),
        their_deadline=milliseconds(theirs.deadline),
        estimate_details=EstimateDetails(tuple(theirs.priorities or ()), theirs.confidence, theirs.source)
        if body.their_estimate
        else None,
        deadline=milliseconds(body.deadline),
        max_rounds=body.max_rounds,
        constraints=tuple(
            Constraint(rule.issue, rule.op, tuple(rule.values), rule.hard, rule.reason)
            for rule in body.constraints or ()
        ),
        authority=_authority(body.authority),
        baseline=_baseline(body.baseline),
        allowed=tuple(
            AllowedTrade(
                trade.issue,
                _canonical(mine, trade.issue, trade.to),
                {name: _canonical(mine, name, value) for name, value in trade.in_return.items()},
            )
            for trade in body.allow or ()
        ),
        facts=body.facts.model_dump(exclude_none=True) if body.facts else None,
        me=me,
        them=them,
        unvalued=tuple(issue.name for issue in body.issues if lacks_values(issue)),
        example=body.example,
    )
    certain = _certain(terms, body.batna)
    doubtful = body.batna is not None and (body.batna.probability is not None or body.batna.cost is not None)
    return replace(
        terms,
        certain=certain,
        batna_uncertain=doubtful and certain is not None,
        arguments=tuple(_argument(terms, argument) for argument in body.arguments or ()),
        missing=_missing(terms, body),
        assumed_directions=tuple(
            issue.name
            for issue in body.issues
            if issue.direction is None
            and not _is_by_role(issue, body.role)
            and issue.type not in UNORDERED_TYPES
            and _direction_by_worth(issue) is None
            and not issue.options
        ),
    )


def _argument(terms: Terms, body: ArgumentBody) -> Argument:
    """The fact; what would tell the user's limit or target is never said to the other side, whoever allowed it."""
    told = not tells_alternative(terms, body.fact) if body.shareable is None else body.shareable
    return Argument(body.fact, body.kind, body.issue, body.worth, told and not tells_limit(terms, body.fact))


def _canonical(mine: Preferences, name: str, value: Scalar) -> Scalar:
    issue = issue_named(mine.issues, name)
    return value if issue is None else canonical_value(issue.type, value)


def _worth(body: WorthBody | None) -> Worth | None:
    return None if body is None else Worth(body.package, body.utility)


def _estimate(mine: Preferences, theirs: TheirEstimate) -> Estimate | None:
    """Their walk-away as the user estimates it.

    Without a unit it is in money where one price is all, or where a figure cannot be a utility from 0 to 1.
    """
    body = theirs.walk_away
    if body is None:
        return None
    prices = [issue for issue in mine.issues if issue.type == "money"]
    in_money = len(mine.issues) == len(prices) == 1 or (bool(prices) and body.high > 1)
    unit = body.unit or ("money" if in_money else "utility")
    return Estimate(body.low, body.likely, body.high, unit)


def _other_party(body: Counterparty | None) -> OtherParty | None:
    return None if body is None else OtherParty(**body.model_dump())


def _alternative_details(body: Batna | None) -> AlternativeDetails | None:
    if body is None:
        return None
    return AlternativeDetails(
        description=body.description,
        probability=body.probability,
        cost=body.cost,
        available_until=milliseconds(body.available_until),
        override_reason=body.override_reason,
    )


def _authority(body: AuthorityBody | None) -> Authority:
    if body is None:
        return Authority()
    limit = body.limit
    return Authority(
        least=_worth(limit) if limit is not None and limit.amount is None else None,
        amount=limit.amount if limit else None,
        needs_approval_above=body.needs_approval_above,
        approver=body.approver,
        stated=True,
    )


def _baseline(body: BaselineBody | None) -> Baseline | None:
    if body is None:
        return None
    return Baseline(body.kind, body.value, body.as_of, tuple(body.evidence or ()))


def _side_facts(body: NegotiationBody) -> tuple[SideFacts, SideFacts]:
    """Facts of both sides: those given, and those that other members imply where none is given.

    The relationship counts for both sides alike. Whether the other side decides gives their authority, a limit the
    user's, and the confidence of the estimate how well the user knows their limits.
    """
    me = _given_facts(body.facts.me if body.facts else None)
    them = _given_facts(body.facts.them if body.facts else None)
    other = body.counterparty
    confidence = body.their_estimate.confidence if body.their_estimate else None
    if other is not None and other.relationship is not None:
        need = NEED_OF_RELATIONSHIP[other.relationship]
        me = replace(me, relationship=need if me.relationship is None else me.relationship)
        them = replace(them, relationship=need if them.relationship is None else them.relationship)
    if other is not None and them.authority is None and other.decision_maker is not None:
        them = replace(them, authority=AUTHORITY_OF_DECISION_MAKER.get(other.decision_maker))
    if me.authority is None and body.authority is not None:
        me = replace(me, authority=BOUND_AUTHORITY)
    if me.information is None and confidence is not None:
        me = replace(me, information=confidence)
    return me, them


def _given_facts(body: SideFactsBody | None) -> SideFacts:
    return NO_FACTS if body is None else SideFacts(**body.model_dump())


def _certain(terms: Terms, batna: Batna | None) -> float | None:
    """V = p · value + (1 - p) · worst package - cost, in utility; the cost is counted on the price, if there is one."""
    mine = terms.preferences
    value = utility_of_alternative(mine, terms.batna)
    if value is None or batna is None or terms.unvalued:
        return None
    low = utility_bounds(mine).low
    chance = 1.0 if batna.probability is None else batna.probability
    certain = chance * value + (1.0 - chance) * low
    price = terms.price
    if batna.cost is not None and price is not None and price.range and not price.options and not price.value_points:
        certain -= price.weight * float(Decimal(batna.cost) / (price.range.max - price.range.min))
    return max(certain, low)


def _missing(terms: Terms, body: NegotiationBody) -> tuple[str, ...]:
    """Names of what advice lacks, as pointers without their first slash."""
    names = [f"issues/{n}/range" for n, i in enumerate(terms.issues) if i.name in terms.unvalued]
    names += [
        f"issues/{place}/direction"
        for place, issue in enumerate(body.issues)
        if issue.direction is None
        and issue.type not in UNORDERED_TYPES
        and not issue.options
        and not issue.value_points
        and not _is_by_role(issue, body.role)
        and _direction_by_limits(issue, body) is None
    ]
    found = missing_inputs(
        terms.issues,
        currency="" if terms.price is None else terms.currency,
        target=terms.target,
        walk_away=terms.walk_away,
        batna=terms.batna,
        their_estimate=terms.their_walk_away or terms.their_batna,
        deadline=terms.deadline or terms.max_rounds,
    )
    return (*found, *names)
