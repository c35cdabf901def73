"""What an edit does to the user's limits: each limit before and after in words, and whether the edit loosens it.

A limit is the worst value on an issue, the walk-away, the alternative, a hard constraint, the authority and an allowed
trade. It is loosened too by a change of what it is measured by, such as its unit, or the weights of a walk-away that is
a utility, and by a new amount of money that is negotiated beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from negotiator.terms import limits
from negotiator.terms.issues import Issue, Scalar, coordinate, same_value
from negotiator.terms.plain_text import join_words
from negotiator.terms.terms import Constraint, Terms
from negotiator.terms.terms_view import terms_view
from negotiator.terms.utility import Worth, utility_of_worth
from negotiator.terms.wording import Wording

_PERCENT: Final = 100
_RULES: Final = {
    "<=": "at most ",
    ">=": "at least ",
    "<": "less than ",
    ">": "more than ",
    "==": "",
    "!=": "not ",
    "in": "one of ",
    "not_in": "none of ",
}
_BELOW: Final = frozenset({"<", "<="})
_ABOVE: Final = frozenset({">", ">="})


@dataclass(frozen=True, slots=True)
class LimitChange:
    """One limit that an edit changes: its name in words, and its figures before and after, None where there is none."""

    member: str
    name: str
    was: str | None
    now: str | None
    loosens: bool

    def view(self) -> dict[str, Any]:
        """The members on the wire."""
        return {"limit": self.member, "name": self.name, "was": self.was, "now": self.now}


def limit_changes(before: Terms, after: Terms) -> list[LimitChange]:
    """The limits that differ between two versions of the terms of one negotiation."""
    of_issues = _issue_limits(before, after)
    found = [
        *of_issues,
        *_worth_changes(before, after, loosened=any(change.loosens for change in of_issues)),
        *_constraint_changes(before, after),
        *_allowed_changes(before, after),
        *_amount_changes(before, after),
    ]
    if not any(change.loosens for change in found):
        found += _measure_changes(before, after)
    return found


# Limits of single issues


def _issue_limits(before: Terms, after: Terms) -> list[LimitChange]:
    found: list[LimitChange] = []
    names = dict.fromkeys(issue.name for terms in (before, after) for issue in terms.issues)
    for name in names:
        (issue, old), (later, new) = (_limit_of(terms, name) for terms in (before, after))
        if issue is None or old is None:
            if later is not None and new is not None:
                found.append(_issue_change(before, after, name, loosens=False))
        elif later is None or new is None or not _measures_alike(before, issue, later, after):
            found.append(_issue_change(before, after, name, loosens=True))
        elif not same_value(issue.type, old, new):
            found.append(_issue_change(before, after, name, loosens=not limits.falls_short(issue, old, new)))
    return found


def _limit_of(terms: Terms, name: str) -> tuple[Issue | None, Scalar | None]:
    issue = terms.issue(name)
    return issue, None if issue is None else limits.own_limit(terms, issue)


def _issue_change(before: Terms, after: Terms, name: str, *, loosens: bool) -> LimitChange:
    known = [one for one in (before, after) if one.issue(name) is not None]
    issue = known[0].issue(name)
    label = Wording(known[0]).label(issue) if issue else name
    was, now = (_limit_words(terms, name) for terms in (before, after))
    if was is not None and was == now:
        now = f"{now}, measured in another way"
    return LimitChange(f"issues/{name}/limit", f"limit on {label}", was, now, loosens)


def _limit_words(terms: Terms, name: str) -> str | None:
    issue, limit = _limit_of(terms, name)
    return None if issue is None or limit is None else Wording(terms).value(issue, limit)


def _measures_alike(before: Terms, issue: Issue, later: Issue, after: Terms) -> bool:
    """Whether a value of the issue means the same before and after, and is as good or bad beside its other values."""
    return (
        _means_alike(before, issue, later, after)
        and issue.direction == later.direction
        and issue.options == later.options
        and issue.value_points == later.value_points
    )


def _means_alike(before: Terms, issue: Issue, later: Issue, after: Terms) -> bool:
    priced = issue.type == "money" and before.currency is not None
    return (issue.type, issue.unit, issue.multiples) == (later.type, later.unit, later.multiples) and (
        not priced or before.currency == after.currency
    )


# The walk-away, the alternative and the authority


def _worth_changes(before: Terms, after: Terms, *, loosened: bool) -> list[LimitChange]:
    """`loosened` says whether a limit on an issue is; a walk-away that is a package then needs no second mention."""
    found: list[LimitChange] = []
    least = _loosens(before, after, before.walk_away, after.walk_away)
    given = [one for one in (before.walk_away, after.walk_away) if one is not None]
    if (least and not loosened) or any(one.package is None for one in given):
        found.append(
            _change(
                "walk_away",
                "walk-away",
                _worth_words(before, before.walk_away),
                _worth_words(after, after.walk_away),
                loosens=least,
            )
        )
    found.append(
        _change(
            "batna",
            "alternative",
            _alternative_words(before),
            _alternative_words(after),
            loosens=_weakens_alternative(before, after),
        )
    )
    found.append(
        _change(
            "authority",
            "authority, what may be agreed without approval",
            _authority_words(before),
            _authority_words(after),
            loosens=_widens_authority(before, after),
        )
    )
    return [one for one in found if one.loosens or one.was != one.now]


def _change(member: str, name: str, was: str | None, now: str | None, *, loosens: bool) -> LimitChange:
    if loosens and was == now:
        now = f"{now or 'none'}, measured in another way"
    return LimitChange(member, name, was, now, loosens)


def _loosens(before: Terms, after: Terms, old: Worth | None, new: Worth | None) -> bool:
    """Whether a worth that the user gave is removed or lowered: on any issue that its package names, else in all.

    A utility in place of a package lets one issue make up for another.
    """
    if old is None:
        return False
    if new is None:
        return True
    if old.package is None:
        ends = [
            utility_of_worth(terms.preferences, worth, fill="low") for terms, worth in ((before, old), (after, new))
        ]
        return ends[0] is not None and (ends[1] is None or ends[1] < ends[0] - limits.TOLERANCE)
    if new.package is None:
        return True
    for name, value in old.package.items():
        issue, later = before.issue(name), after.issue(name)
        now = new.package.get(name)
        if issue is None:
            continue
        if now is None or later is None or not _means_alike(before, issue, later, after):
            return True
        if not (same_value(issue.type, value, now) or limits.falls_short(issue, value, now)):
            return True
    return False


def _weakens_alternative(before: Terms, after: Terms) -> bool:
    old, new = before.batna_details, after.batna_details
    if old is None:
        return False
    if new is None or _loosens(before, after, before.batna, after.batna):
        return True
    if before.batna is None:
        return False
    chances = [1.0 if one.probability is None else one.probability for one in (old, new)]
    costs = [one.cost or 0 for one in (old, new)]
    return chances[1] < chances[0] or costs[1] > costs[0]


def _widens_authority(before: Terms, after: Terms) -> bool:
    old, new = before.authority, after.authority
    alone, later = (len(one.least.package or ()) == 1 if one.least is not None else False for one in (old, new))
    if _loosens(before, after, old.least, new.least) or (alone and not later):
        return True
    price, later = before.price, after.price
    if not old.prices or price is None:
        return False
    if later is None or later.name != price.name or not new.prices:
        return True
    if not _means_alike(before, price, later, after) or later.direction != price.direction:
        return True
    pick = min if price.direction == "lower" else max
    strictest = pick(new.prices)
    return pick(strictest, pick(old.prices)) != strictest


def _worth_words(terms: Terms, worth: Worth | None) -> str | None:
    if worth is None:
        return None
    if worth.package is None:
        return f"{round((worth.utility or 0.0) * _PERCENT, 1):g} of 100 points"
    return Wording(terms).package(worth.package, with_total=False)


def _alternative_words(terms: Terms) -> str | None:
    details = terms.batna_details
    if details is None:
        return None
    words = Wording(terms)
    said = [
        _worth_words(terms, terms.batna),
        None if details.probability is None else f"a chance of {details.probability:.0%}",
        None if details.cost is None else f"a cost of {words.money(details.cost)}",
    ]
    return ", ".join(filter(None, said)) or details.description or "one without a value"


def _authority_words(terms: Terms) -> str | None:
    given, words = terms.authority, Wording(terms)
    said = [words.money(price) for price in given.prices]
    least = _worth_words(terms, given.least)
    return join_words([*said, *([least] if least else [])]) or None


# Rules and allowed trades


def _constraint_changes(before: Terms, after: Terms) -> list[LimitChange]:
    old, new = ([rule for rule in terms.constraints if rule.hard] for terms in (before, after))
    gone = [rule for rule in old if not any(_is_same(before, rule, one) for one in new)]
    found: list[LimitChange] = []
    paired: list[Constraint] = []
    for rule in old:
        issue, later = before.issue(rule.issue), after.issue(rule.issue)
        alike = issue is not None and later is not None and _means_alike(before, issue, later, after)
        holds = alike and any(_implies(before, one, rule) for one in new)
        if rule not in gone and holds:
            continue
        same_issue = [one for one in new if one.issue == rule.issue and one not in old]
        paired += same_issue
        found.append(
            _change(
                f"constraints/{rule.issue}",
                f"rule on {Wording(before).label(issue) if issue else rule.issue}",
                _rule_words(before, rule),
                " and ".join(_rule_words(after, one) for one in same_issue) or None,
                loosens=not holds,
            )
        )
    for rule in new:
        if rule in paired or any(_is_same(before, rule, one) for one in old):
            continue
        issue = after.issue(rule.issue)
        label = Wording(after).label(issue) if issue else rule.issue
        found.append(
            _change(f"constraints/{rule.issue}", f"rule on {label}", None, _rule_words(after, rule), loosens=False)
        )
    return found


def _is_same(terms: Terms, left: Constraint, right: Constraint) -> bool:
    return (left.issue, left.op) == (right.issue, right.op) and (
        _covers(terms, left, right) and _covers(terms, right, left)
    )


def _covers(terms: Terms, many: Constraint, few: Constraint) -> bool:
    """Whether every value of `few` is one of `many`."""
    issue = terms.issue(few.issue)
    return issue is not None and all(
        any(same_value(issue.type, one, value) for one in many.values) for value in few.values
    )


def _implies(terms: Terms, new: Constraint, old: Constraint) -> bool:
    """Whether a value that keeps the new rule keeps the old one, as far as the two rules alone tell."""
    if new.issue != old.issue:
        return False
    if new.op in {"==", "in"}:
        return all(limits.satisfies_constraint(terms, old, value) for value in new.values)
    if old.op in {"!=", "not_in"}:
        return new.op in {"!=", "not_in"} and _covers(terms, new, old)
    issue = terms.issue(old.issue)
    ends = [None if issue is None else coordinate(issue.type, one.values[0]) for one in (new, old)]
    at, limit = ends
    if at is None or limit is None:
        return False
    for side, closer in ((_BELOW, at < limit), (_ABOVE, at > limit)):
        if new.op in side and old.op in side:
            return closer or (at == limit and (old.op in {"<=", ">="} or new.op == old.op))
    return False


def _rule_words(terms: Terms, rule: Constraint) -> str:
    issue, words = terms.issue(rule.issue), Wording(terms)
    values: Sequence[str] = [words.value(issue, value) if issue else str(value) for value in rule.values]
    return f"{_RULES[rule.op]}{join_words(list(values))}"


def _allowed_changes(before: Terms, after: Terms) -> list[LimitChange]:
    old, new = (terms_view(terms)["allow"] for terms in (before, after))
    if old == new:
        return []
    return [LimitChange("allow", "allowed trades", _allowed_words(before), _allowed_words(after), loosens=True)]


def _allowed_words(terms: Terms) -> str | None:
    words = Wording(terms)
    said = [
        f"{words.package({trade.issue: trade.to}, with_total=False)} for "
        f"{words.package(trade.in_return, with_total=False)}"
        for trade in terms.allowed
    ]
    return "; ".join(said) or None


def _amount_changes(before: Terms, after: Terms) -> list[LimitChange]:
    """Amounts of money that are negotiated beside the limits and were not when the user set these."""
    old, new = ([one for one in terms.issues if one.type == "money"] for terms in (before, after))
    given = before.authority
    limited = before.walk_away or before.batna or before.constraints or given.prices or given.least
    limited = limited or any(limits.own_limit(before, one) is not None for one in before.issues)
    if not limited or {one.name for one in new} <= {one.name for one in old}:
        return []
    was, now = (
        join_words([Wording(terms).label(one) for one in amounts]) or None
        for terms, amounts in ((before, old), (after, new))
    )
    return [LimitChange("issues", "amounts of money", was, now, loosens=True)]


# What limits are measured by


def _measure_changes(before: Terms, after: Terms) -> list[LimitChange]:
    """A change of weights, ranges or worths on which a limit of the user rests that is counted in all."""
    changed = [
        issue
        for issue in before.issues
        if (later := after.issue(issue.name)) is None or not _weighs_alike(before, issue, later)
    ]
    if not changed:
        return []
    priced = {name for trade in before.allowed for name in trade.in_return}
    hollowed = rests_on_worth(before) or any(
        issue.name in priced
        and ((later := after.issue(issue.name)) is None or not _measures_alike(before, issue, later, after))
        for issue in changed
    )
    if not hollowed:
        return []
    return [
        _change(
            "issues",
            "weights and worths, by which your limits are measured",
            _weight_words(before),
            _weight_words(after),
            loosens=True,
        )
    ]


def rests_on_worth(terms: Terms) -> bool:
    """Whether a limit is kept by the worth of a package in all: the limits of single issues do not imply it."""
    if terms.authority.least is not None:
        return True
    if terms.walk_away is None:
        return False
    least = terms.walk_away.package
    if least is None or terms.allowed or any(issue.compensated for issue in terms.issues):
        return True
    return any(
        issue.name in least
        and (limit := limits.own_limit(terms, issue)) is not None
        and limits.falls_short(issue, limit, least[issue.name])
        for issue in terms.issues
    )


def _weighs_alike(terms: Terms, issue: Issue, later: Issue) -> bool:
    return (
        abs(issue.weight - later.weight) <= limits.TOLERANCE
        and (issue.range == later.range or issue.name in terms.unvalued)
        and (issue.type, issue.direction) == (later.type, later.direction)
        and (issue.options, issue.value_points) == (later.options, later.value_points)
    )


def _weight_words(terms: Terms) -> str:
    words = Wording(terms)
    return join_words([f"{words.label(issue)} {issue.weight:.0%}" for issue in terms.issues])
