"""The promises of a plan over random negotiations; `make_plan` checks the rest itself and would raise."""

import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.advice.leverage.concessions import LedgerOffer
from negotiator.advice.plans.checks import figures_in, outward_texts
from negotiator.advice.plans.generator import make_plan
from negotiator.advice.plans.markdown import MAX_COLUMNS, MAX_LINES, plan_markdown
from negotiator.numbers.read import number_readings, numbers_in
from negotiator.terms.limits import private_numbers, utility_floor
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms_parsing import parse_terms
from negotiator.terms.utility import package_utility
from tests.unit.advice.plans.plan_cases import brief_of

SAID = {"opening", "concession", "equal_packages", "logrolling", "total"}
"""The engine's rules whose figures are values of packages, which are for saying."""
names = st.sampled_from(["price", "term", "scope", "delivery", "bonus"])


@st.composite
def issues(draw: st.DrawFn) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for name in draw(st.lists(names, min_size=1, max_size=3, unique=True)):
        kind = draw(st.sampled_from(["money", "integer", "enum", "boolean", "percent"]))
        row: dict[str, Any] = {"name": name, "type": kind, "weight": draw(st.integers(1, 9))}
        if draw(st.booleans()):
            row["their_weight"] = draw(st.integers(1, 9))
        if kind == "enum":
            worths = draw(st.lists(st.sampled_from([0, 0.25, 0.5, 1]), min_size=2, max_size=4))
            row["options"] = [{"value": f"v{n}", "utility": u} for n, u in enumerate(worths)]
        elif kind != "boolean":
            row["direction"] = draw(st.sampled_from(["higher", "lower"]))
            low = draw(st.integers(0, 5000))
            row["range"] = {"min": low, "max": low + draw(st.integers(2, 4000))}
        rows.append(row)
    return rows


@st.composite
def bodies(draw: st.DrawFn) -> NegotiationBody:
    rows = draw(issues())
    floor = draw(st.none() | st.floats(0, 1))
    goal = draw(st.none() | st.floats(0, 1))
    if floor is not None and goal is not None:
        floor, goal = min(floor, goal), max(floor, goal)
    return NegotiationBody.model_validate(
        {
            "title": "A talk",
            "role": draw(st.sampled_from(["buyer", "seller", "party", "candidate"])),
            "issues": rows,
            "walk_away": None if floor is None else {"utility": floor},
            "target": None if goal is None else {"utility": goal},
            "max_rounds": draw(st.none() | st.integers(1, 20)),
        }
    )


def values(package: dict[str, Any]) -> dict[str, Any]:
    return {name: figure["value"] for name, figure in package.items()}


@given(body=bodies())
@settings(max_examples=25)
def test_a_random_negotiation_gets_a_plan_that_keeps_its_promises(body: NegotiationBody) -> None:
    brief = brief_of(body)
    plan = make_plan(brief)
    floor = utility_floor(brief.terms)
    opening = plan["opening_offer"]
    rows = [*plan["concession_schedule"], *([opening] if opening else [])]
    for row in rows:
        worth = package_utility(brief.terms.preferences, values(row["package"])).low
        assert abs(worth - row["utility"]["value"]) < 1e-4
        assert floor is None or worth >= floor - 1e-9
    gives = [row["gives"]["value"] for row in plan["concession_schedule"]]
    assert all(gives[0] + 2e-6 > one > 0 for one in gives)
    assert all(figure["source"].partition(":")[2] for figure in figures_in(plan))


@given(body=bodies())
@settings(max_examples=15)
def test_no_utility_or_weight_is_ever_said_to_the_other_side(body: NegotiationBody) -> None:
    brief = brief_of(body)
    plan = make_plan(brief)
    public = number_readings(
        figure["value"]
        for section in ("opening_offer", "concession_schedule", "offered_together", "trades")
        for figure in figures_in(plan[section])
        if figure["source"].removeprefix("engine:") in SAID
    )
    hidden = private_numbers(brief.terms) - public
    for place, text in outward_texts(plan):
        if place[0] != "tactics":
            assert all(n.in_words or n.readings & public or not n.readings & hidden for n in numbers_in(text))


@given(
    low=st.integers(100, 5000),
    span=st.integers(10, 5000),
    shares=st.lists(st.floats(0, 1), min_size=2, max_size=2),
    buyer=st.booleans(),
    said=st.floats(0, 1),
)
@settings(max_examples=20)
def test_a_price_floor_is_neither_crossed_nor_spoken(
    low: int, span: int, shares: list[float], buyer: bool, said: float
) -> None:
    best, worst = (low, low + span) if buyer else (low + span, low)
    goal, limit = (round(best + (worst - best) * share) for share in sorted(shares))
    body = NegotiationBody.model_validate(
        {
            "title": "A price",
            "role": "buyer" if buyer else "seller",
            "issues": [{"name": "price", "range": {"min": low, "max": low + span}}],
            "target": {"package": {"price": goal}},
            "walk_away": {"package": {"price": limit}},
        }
    )
    mine = round(best + (limit - best) * said)
    ledger = (LedgerOffer(1, "me", {"price": str(mine)}),)
    for plan in (make_plan(brief_of(body)), make_plan(brief_of(body, ledger))):
        if goal == limit == best:  # the only figure there is
            continue
        rows = [*plan["concession_schedule"], plan["opening_offer"]]
        prices = [float(row["package"]["price"]["value"]) for row in rows]
        assert all(price <= limit if buyer else price >= limit for price in prices)
        if mine != limit:
            hidden = number_readings([limit])
            assert not any(number_readings([text]) & hidden for _, text in outward_texts(plan))


@given(
    is_buyer=st.booleans(),
    kind=st.sampled_from(["list_price", "first_quote", "previous_price", "budget", "market", "should_cost", "other"]),
    baseline=st.integers(1, 4000) | st.sampled_from(["1655.50", "1500", "1625", "1690", "1900"]),
    multiples=st.sampled_from([None, [(12, "months a year")], [(7, "seats"), (12, "months")]]),
    has_range=st.booleans(),
)
@settings(max_examples=60)
def test_a_baseline_better_or_worse_than_the_target_makes_a_plan(
    *, is_buyer: bool, kind: str, baseline: int | str, multiples: list[tuple[int, str]] | None, has_range: bool
) -> None:
    rent: dict[str, Any] = {"name": "rent", "label": "Rent per month", "direction": "lower" if is_buyer else "higher"}
    if has_range:
        rent["range"] = {"min": 1400, "max": 2000}
    body = NegotiationBody.model_validate(
        {
            "title": "Flat",
            "role": "tenant" if is_buyer else "landlord",
            "currency": "GBP",
            "issues": [rent | {"multiples": multiples and [{"count": count, "of": of} for count, of in multiples]}],
            "target": {"package": {"rent": 1690}},
            "walk_away": {"package": {"rent": 1800 if is_buyer else 1600}},
            "baseline": {"kind": kind, "value": baseline},
        }
    )
    assert make_plan(brief_of(body))["opening_offer"] is not None


def test_a_negotiation_whose_rules_leave_nothing_says_so_instead_of_crossing_them() -> None:
    body = NegotiationBody.model_validate(
        {
            "title": "No room",
            "role": "buyer",
            "issues": [{"name": "price", "range": {"min": 10, "max": 20}}],
            "constraints": [{"issue": "price", "op": ">", "value": 20, "hard": True}],
        }
    )
    plan = make_plan(brief_of(body))
    assert parse_terms(body).constraints
    assert plan["opening_offer"] is None
    assert plan["concession_schedule"] == []
    assert plan["red_lines"][0]["issue"] == "price"


odd = st.sampled_from(["1", "5", "0.00", "10", "½ day", "v²", "1,000", "3 k", "Q4 2027", "k", "BATNA", "{n0}", "٣"])


@given(label=odd, title=odd, unit=odd, values=st.lists(odd, min_size=2, max_size=4, unique=True))
@settings(max_examples=30)
def test_no_label_title_unit_or_option_makes_a_plan_fail(label: str, title: str, unit: str, values: list[str]) -> None:
    body = NegotiationBody.model_validate(
        {
            "title": title,
            "role": "seller",
            "category": label,
            "counterparty": {"name": title},
            "issues": [
                {"name": label, "type": "number", "unit": unit, "range": {"min": 0, "max": 1000}},
                {"name": f"{label} more", "type": "enum", "options": values, "their_weight": 3},
                {"name": "price", "label": unit, "range": {"min": 0, "max": 500}, "their_weight": 1},
            ],
            "walk_away": {"package": {label: 5, "price": "10.00"}},
            "target": {"utility": 0.9},
        }
    )
    plan = make_plan(brief_of(body))
    assert plan["opening_offer"] is not None


@given(body=bodies())
@settings(max_examples=30, deadline=None)
def test_the_page_of_a_random_negotiation_is_two_pages_of_sentences(body: NegotiationBody) -> None:
    head = {"version": 1, "stale": False, "created_at": "2026-11-22T09:00:00.000Z"}
    page = plan_markdown({**head, **make_plan(brief_of(body))})
    lines = page.splitlines()
    assert len(lines) <= MAX_LINES
    assert max(map(len, lines)) <= MAX_COLUMNS
    assert not re.search(r"engine:|session:|utility|\{|\}|\bNone\b", page)
    for said in re.findall(r"“([^”]*)”", page.replace("\n", " ")):
        assert re.search(r"\w", said)
        assert said == "that’s right" or said[-1] in ".?!", said


@given(label=odd, title=odd, unit=odd, them=odd)
@settings(max_examples=30, deadline=None)
def test_the_page_prints_any_label_title_and_name(label: str, title: str, unit: str, them: str) -> None:
    body = NegotiationBody.model_validate(
        {
            "title": title,
            "role": "buyer",
            "counterparty": {"name": them},
            "issues": [
                {"name": "a", "label": label, "unit": unit, "range": {"min": 0, "max": 1000}},
                {"name": "b", "label": f"{label} more", "type": "enum", "options": ["x", "y"]},
            ],
            "walk_away": {"package": {"a": 500, "b": "x"}},
            "target": {"package": {"a": 100, "b": "y"}},
        }
    )
    head = {"version": 1, "stale": True, "created_at": "2026-11-22T09:00:00.000Z"}
    page = plan_markdown({**head, **make_plan(brief_of(body))})
    assert max(map(len, page.splitlines())) <= MAX_COLUMNS
