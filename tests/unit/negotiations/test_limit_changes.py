"""Which edits loosen a limit: after one that loosens none, everything that was refused to an agent still is."""

from itertools import product
from typing import Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from negotiator.base.errors import ValidationFailed
from negotiator.negotiations.limit_changes import limit_changes
from negotiator.terms import limits
from negotiator.terms.issues import Package
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms import Terms
from negotiator.terms.terms_parsing import parse_terms

PRICES: Final = (10, 20, 30, 40, 50)
MONTHS: Final = (12, 24, 36)
SUPPORT: Final = ("none", "email", "phone")
PACKAGES: Final = [
    {"price": price, "months": months, "support": support}
    for price, months, support in product(PRICES, MONTHS, SUPPORT)
]


def parsed(**members: Any) -> Terms:
    body = {"title": "t", "currency": "EUR", "role": "buyer", **members}
    return parse_terms(NegotiationBody.model_validate(body))


def is_refused(terms: Terms, package: Package, *, binding: bool) -> bool:
    """Whether an agent may not record this package of its user without asking."""
    return (
        limits.is_below_floor(terms, package, binding=binding)
        or bool(limits.broken_constraints(terms, package))
        or bool(limits.unpaid_issues(terms, package))
        or limits.needs_approval(terms, package)
    )


_price = st.sampled_from(PRICES)
_months = st.sampled_from(MONTHS)
_support = st.sampled_from(SUPPORT)
_package: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {}, optional={"price": _price, "months": _months, "support": _support}
).filter(bool)
_worth: st.SearchStrategy[Any] = st.one_of(
    _package.map(lambda one: {"package": one}), st.sampled_from([{"utility": 0.2}, {"utility": 0.4}, {"utility": 0.6}])
)
_rules: st.SearchStrategy[Any] = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            {
                "issue": st.just("price"),
                "op": st.sampled_from(["<", "<=", ">", ">=", "==", "!="]),
                "value": _price,
                "hard": st.booleans(),
            }
        ),
        st.fixed_dictionaries(
            {
                "issue": st.just("support"),
                "op": st.sampled_from(["in", "not_in"]),
                "value": st.lists(_support, min_size=1, max_size=2, unique=True),
            }
        ),
    ),
    max_size=2,
)


@st.composite
def _issues(draw: st.DrawFn) -> list[dict[str, Any]]:
    def weight() -> int:
        return draw(st.sampled_from([1, 3]))

    price: dict[str, Any] = {"name": "price", "type": "money", "weight": weight()}
    price["range"] = {"min": 5, "max": draw(st.sampled_from([60, 100]))}
    months = {"name": "months", "type": "integer", "range": {"min": 6, "max": 36}}
    options = [{"value": "none", "utility": 0}, {"value": "email", "utility": 0.5}]
    options.append({"value": "phone", "utility": draw(st.sampled_from([0.3, 1]))})
    if draw(st.booleans()):
        price["limit"] = draw(_price)
    valued: dict[str, Any] = {}
    if draw(st.booleans()):
        valued = {"worth": draw(st.sampled_from([5, 40]))}
        options = [{**one, "worth": worth} for one, worth in zip(options, (0, 2, draw(st.integers(1, 9))), strict=True)]
    if draw(st.booleans()):
        price["value_points"] = [[5, 1], [draw(st.sampled_from([25, 35])), 0.8], [100, 0]]
    return [
        price,
        {**months, **valued, "weight": weight(), "direction": draw(st.sampled_from(["lower", "lower", "higher"]))},
        {"name": "support", "type": "enum", "options": options, "weight": weight()},
    ]  # fmt: skip


_authority: st.SearchStrategy[Any] = st.one_of(
    _price.map(lambda at: {"limit": str(at)}), _worth.map(lambda one: {"limit": one})
)


def _trade(at: int, back: int) -> list[dict[str, Any]]:
    return [{"issue": "months", "to": at, "in_return": {"price": back}}]


_trades: st.SearchStrategy[Any] = st.builds(_trade, _months, _price)
_MEMBERS: Final = ("issues", "walk_away", "target", "constraints", "authority", "allow")


@st.composite
def _bodies(draw: st.DrawFn) -> dict[str, Any]:
    body: dict[str, Any] = {"issues": draw(_issues())}
    choices: dict[str, st.SearchStrategy[Any]] = {
        "walk_away": _worth,
        "target": _package.map(lambda one: {"package": one}),
        "constraints": _rules,
        "authority": _authority,
        "allow": _trades,
    }
    for name, choice in choices.items():
        if draw(st.integers(0, 9)) < (7 if name == "walk_away" else 3):
            body[name] = draw(choice)
    return body


MEASURED: Final = [
    {"name": "price", "type": "money", "range": {"min": 5, "max": 60}},
    {"name": "months", "type": "integer", "range": {"min": 6, "max": 36}},
    {"name": "support", "type": "enum", "options": [{"value": one, "utility": n / 4} for n, one in enumerate(SUPPORT)]},
]


@settings(deadline=None, max_examples=400)
@given(_bodies(), _bodies(), st.sets(st.sampled_from(_MEMBERS), max_size=3))
@example(
    {"issues": MEASURED, "authority": {"limit": {"package": {"price": 10}}}},
    {"issues": MEASURED, "authority": {"limit": {"package": {"price": 10, "support": "none"}}}},
    {"authority"},
)  # one issue may then make up for the other
def test_what_was_refused_stays_refused(first: dict[str, Any], other: dict[str, Any], members: set[str]) -> None:
    patched = {**first, **{name: other[name] for name in members if name in other}}
    patched = {name: value for name, value in patched.items() if name in other or name not in members}
    try:
        before, after = parsed(**first), parsed(**patched)
    except ValidationFailed:
        return
    if any(change.loosens for change in limit_changes(before, after)):
        return
    for package in PACKAGES:
        for binding in (True, False):
            if is_refused(before, package, binding=binding):
                assert is_refused(after, package, binding=binding), package


@pytest.mark.parametrize(
    ("old", "new", "loosens"),
    [
        ({"op": "<=", "value": 30}, {"op": "<", "value": 30}, False),
        ({"op": "<", "value": 30}, {"op": "<=", "value": 30}, True),
        ({"op": "<=", "value": 30}, {"op": "<=", "value": 20}, False),
        ({"op": ">=", "value": 30}, {"op": ">", "value": 40}, False),
        ({"op": ">=", "value": 30}, {"op": "<=", "value": 40}, True),
        ({"op": "!=", "value": 30}, {"op": "not_in", "value": [30, 40]}, False),
        ({"op": "not_in", "value": [30, 40]}, {"op": "!=", "value": 30}, True),
        ({"op": "in", "value": [30, 40]}, {"op": "==", "value": 30}, False),
        ({"op": "==", "value": 30}, {"op": "in", "value": [30, 40]}, True),
        ({"op": "<=", "value": 30}, {"op": "<=", "value": 30, "hard": False}, True),
        ({"op": "<=", "value": 30, "hard": False}, {"op": "<=", "value": 60}, False),
    ],
)
def test_a_rule_is_kept_by_a_stricter_one(old: dict[str, Any], new: dict[str, Any], loosens: bool) -> None:
    issue = {"name": "price", "type": "money", "range": {"min": 5, "max": 100}}
    versions = [parsed(issues=[issue], constraints=[{"issue": "price", **rule}]) for rule in (old, new)]
    found = limit_changes(*versions)
    assert any(one.loosens for one in found) is loosens
    assert {one.member for one in found} <= {"constraints/price"}


def test_a_changed_limit_has_both_figures_in_words() -> None:
    issue = {"name": "price", "type": "money", "range": {"min": 5, "max": 100}}
    before, after = (parsed(issues=[issue], walk_away={"package": {"price": at}}) for at in (40, 45))
    [found] = limit_changes(before, after)
    assert found.view() == {"limit": "issues/price/limit", "name": "limit on price", "was": "€40", "now": "€45"}
    assert found.loosens
    assert [one.loosens for one in limit_changes(after, before)] == [False]
    assert limit_changes(before, before) == []


def test_another_money_issue_before_the_price_does_not_take_its_authority() -> None:
    issue = {"name": "price", "type": "money", "range": {"min": 5, "max": 100}}
    fee = {**issue, "name": "fee"}
    before = parsed(issues=[issue], authority={"limit": "40"})
    assert any(one.loosens for one in limit_changes(before, parsed(issues=[fee, issue], authority={"limit": "40"})))
