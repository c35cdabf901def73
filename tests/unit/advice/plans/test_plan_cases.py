"""Twelve realistic negotiations: what each plan has to get right."""

import re
from decimal import Decimal
from itertools import pairwise
from typing import Any, cast

import pytest

from negotiator.advice.leverage.power import logistic
from negotiator.advice.plans.checks import figures_in, outward_texts, texts_in
from negotiator.advice.plans.generator import ENGINE_SOURCES, make_plan
from negotiator.advice.tactics.catalogue import built_in_catalogue
from negotiator.numbers.read import number_readings, numbers_in
from negotiator.terms.limits import broken_constraints, is_below_floor
from negotiator.terms.terms_view import terms_view
from negotiator.terms.utility import package_utility
from tests.unit.advice.plans.plan_cases import CASES, Case, case

SECTIONS = {
    *("title", "case", "summary", "overview", "objectives", "interests", "standards", "zopa"),
    *("leverage", "expected", "opening_offer", "target", "floor", "walk_away_script", "concession_schedule"),
    *("offered_together", "trades", "allowed_trades", "questions", "tactics", "objections"),
    *("their_tactics", "red_lines", "approvals", "information_gaps", "alternatives", "script"),
    *("branches", "closing_asks", "low_cost_gives", "next_actions", "sources"),
}
SPOKEN = {"opening", "audit", "label", "recap", "pivot", "final", "silence", "deadline", "close"}
each_case = pytest.mark.parametrize("name", CASES)


def plain(package: dict[str, Any]) -> dict[str, Any]:
    return {issue: figure["value"] for issue, figure in package.items()}


def packages(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """Every whole package the plan proposes."""
    opening = plan["opening_offer"]
    rows = [*plan["concession_schedule"], *([opening, *opening["alternatives"]] if opening else [])]
    return [plain(row["package"]) for row in rows]


def resolve(found: Case, pointer: str) -> Any:
    """What stands at a `session:` pointer of the negotiation as its owner sees it."""
    place: Any = terms_view(found.brief.terms)
    for part in pointer.strip("/").split("/"):
        place = place[int(part) if part.isdigit() else part]
    return place


@each_case
def test_every_section_is_there_whatever_is_known(name: str) -> None:
    plan = make_plan(case(name).brief)
    assert set(plan) == SECTIONS
    assert len(plan["next_actions"]) == 3
    assert plan["questions"]
    assert plan["objections"]
    assert plan["case"] == case(name).expect.get("case", plan["case"])
    assert plan["script"].keys() >= SPOKEN


@each_case
def test_no_package_of_the_plan_crosses_the_floor_or_a_hard_rule(name: str) -> None:
    found = case(name)
    terms = found.brief.terms
    for package in packages(make_plan(found.brief)):
        assert not is_below_floor(terms, package, binding=True) or terms.unvalued
        assert not broken_constraints(terms, package)
    never = found.expect.get("never")
    if never:
        seen = [p[never["issue"]] for p in packages(make_plan(found.brief))]
        assert seen
        assert min(seen) >= never["before"]


@each_case
def test_the_schedule_falls_by_ever_smaller_steps_and_keeps_a_reserve(name: str) -> None:
    found = case(name)
    plan = make_plan(found.brief)
    levels = [row["utility"]["value"] for row in plan["concession_schedule"]]
    gives = [row["gives"]["value"] for row in plan["concession_schedule"]]
    if found.expect.get("no_offer"):
        assert levels == []
        return
    if found.expect.get("no_floor"):
        assert levels[-1] >= plan["target"]["utility"]["value"] - 1e-6 if plan["target"] else levels
        return
    assert len(levels) >= 3
    assert levels[0] < plan["opening_offer"]["utility"]["value"]
    assert all(a > b for a, b in pairwise(levels))
    assert all(gives[0] + 2e-6 > one > 0 for one in gives)
    assert levels[-1] > plan["floor"]["utility"]["value"]


@each_case
def test_the_arithmetic_of_the_plan_is_that_of_the_preferences(name: str) -> None:
    found = case(name)
    terms, plan = found.brief.terms, make_plan(found.brief)
    if terms.unvalued:
        return
    opening = plan["opening_offer"]
    for row in [*plan["concession_schedule"], opening]:
        worth = package_utility(terms.preferences, plain(row["package"])).low
        assert row["utility"]["value"] == pytest.approx(worth, abs=1e-4)
    before = opening["utility"]["value"]
    for row in plan["concession_schedule"]:
        assert row["gives"]["value"] == pytest.approx(before - row["utility"]["value"], abs=1e-4)
        before = row["utility"]["value"]
    factors = plan["leverage"]["factors"]
    logit = sum(factor["contribution"]["value"] for factor in factors)
    assert plan["leverage"]["alpha"]["value"] == pytest.approx(logistic(logit), abs=1e-3)
    for trade in plan["trades"]:
        assert trade["my_net_utility"]["value"] >= 0
        assert trade["their_estimated_gain"]["value"] > 0


@each_case
def test_every_number_says_where_it_comes_from(name: str) -> None:
    found = case(name)
    plan = make_plan(found.brief)
    ids = {f"benchmark:{one.id}" for one in found.brief.benchmarks}
    ids |= {f"memory:{one.id}" for one in found.brief.memories}
    for figure in figures_in(plan):
        kind, _, rest = figure["source"].partition(":")
        match kind:
            case "session":
                assert resolve(found, rest) is not None, figure
            case "engine":
                assert ":".join(figure["source"].split(":")[:2]) in ENGINE_SOURCES.keys() & plan["sources"].keys()
            case "leverage":
                assert rest.startswith(("/position", "/power"))
            case "offer":
                assert int(rest) in {row.seq for row in found.brief.ledger}
            case _:
                assert figure["source"] in ids
    assert not [place for place, value in leaves(plan) if is_number(value)]


def leaves(part: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, Any]]:
    """Values of a plan that stand outside its figures."""
    pairs: list[tuple[Any, Any]] = []
    if isinstance(part, dict):
        members = cast(dict[str, Any], part)
        pairs = [] if members.keys() == {"value", "source"} else list(members.items())
    elif isinstance(part, list):
        pairs = list(enumerate(cast(list[Any], part)))
    else:
        return [(place, part)]
    return [leaf for key, value in pairs for leaf in leaves(value, (*place, key))]


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


@each_case
def test_what_is_said_to_them_gives_nothing_private_away(name: str) -> None:
    found = case(name)
    plan = make_plan(found.brief)
    said = [text for _, text in outward_texts(plan)]
    assert len(said) > 8
    details = found.brief.terms.batna_details
    batna = details.description if details else None
    for text in said:
        spoken = [number.readings for number in numbers_in(text)]
        for secret in found.expect.get("unsaid", []):
            assert not re.search(rf"(?<![\d.]){re.escape(secret)}(?![\d])", text), (secret, text)
            assert not any(one <= number_readings([secret]) for one in spoken), (secret, text)
        assert batna is None or batna.lower() not in text.lower()
        assert not re.search(r"\b(batna|walk-away|utility|reservation|my weight)\b", text.lower())


@each_case
def test_missing_inputs_are_named_and_come_with_a_question(name: str) -> None:
    found = case(name)
    gaps = make_plan(found.brief)["information_gaps"]
    named = [gap["missing"] for gap in gaps]
    assert set(found.expect.get("missing", [])) <= set(named)
    assert set(found.brief.terms.missing) <= set(named)
    assert all(gap["ask"].endswith("?") for gap in gaps)


@each_case
def test_tactics_are_on_the_shelf_and_never_deceptive(name: str) -> None:
    shelf = built_in_catalogue().by_id
    plan = make_plan(case(name).brief)
    assert all(shelf[row["tactic_id"]].ethics != "deceptive" for row in plan["tactics"])
    for row in plan["their_tactics"]:
        assert row["counters"]
        assert all(shelf[one["tactic_id"]].ethics != "deceptive" for one in row["counters"])


@each_case
def test_the_same_brief_makes_the_same_plan(name: str) -> None:
    assert make_plan(case(name).brief) == make_plan(case(name).brief)


@pytest.mark.parametrize("name", [one for one in CASES if case(one).expect.get("has_trades")])
def test_differing_priorities_are_turned_into_trades(name: str) -> None:
    found = case(name)
    weights = {issue.name: issue for issue in found.brief.terms.issues}
    trades = make_plan(found.brief)["trades"]
    assert trades
    for trade in trades:
        give, get = weights[trade["give"]["issue"]], weights[trade["get"]["issue"]]
        total = sum(issue.their_weight or 0 for issue in weights.values())
        assert (give.their_weight or 0) / total / give.weight > (get.their_weight or 0) / total / get.weight


def test_the_least_input_makes_a_plan_that_invents_nothing() -> None:
    plan = make_plan(case("least_input").brief)
    assert plan["opening_offer"] is plan["target"] is plan["floor"] is None
    assert plan["zopa"]["probability"] is None
    outside = [f for f in figures_in(plan) if not f["source"].startswith("engine:tactic_score")]
    assert {figure["source"] for figure in outside} == {"session:/issues/0/weight"}


def test_without_a_walk_away_there_is_an_opening_and_no_promise_of_a_floor() -> None:
    plan = make_plan(case("only_a_range").brief)
    assert 100 < Decimal(plan["opening_offer"]["package"]["price"]["value"]) < 180
    assert plan["floor"] is None
    assert any("no walk-away" in text for text in plan["summary"]["assumptions"])


def test_a_missing_range_is_put_together_from_target_and_walk_away_and_marked() -> None:
    plan = make_plan(case("used_car").brief)
    assert any("You gave no range for price" in text for text in plan["summary"]["assumptions"])
    prices = [Decimal(package["price"]) for package in packages(plan)]
    assert all(price < Decimal(9400) for price in prices)
    assert prices[-1] < Decimal(8200)


def test_a_talk_that_has_begun_goes_on_from_my_last_offer() -> None:
    found = case("logistics")
    plan = make_plan(found.brief)
    opening = plan["opening_offer"]
    assert opening["made"]
    assert {figure["source"] for figure in opening["package"].values()} == {"offer:1"}
    assert plain(opening["package"]) == {"rate": "1700.00", "volume": 350, "free_days": 18}
    assert opening["first_or_wait"]["advice"] == "answer"
    assert plan["their_tactics"][0]["tactic_id"] == found.expect["seen"]


@pytest.mark.parametrize("name", ["saas_renewal", "enterprise_sale"])
def test_packages_beyond_the_authority_name_who_has_to_agree(name: str) -> None:
    found = case(name)
    rows = make_plan(found.brief)["approvals"]
    assert rows
    assert {row["approver"] for row in rows} == {found.expect["approver"]}


def test_evidence_and_alternatives_are_cited_by_id() -> None:
    found = case("saas_renewal")
    plan = make_plan(found.brief)
    cited = {row.get("source") or row.get("figure", {}).get("source") for row in plan["opening_offer"]["justification"]}
    assert set(found.expect["cites"]) <= cited
    assert plan["alternatives"] == [
        {"name": "Harbour CRM", "link": "/api/v1/tools/tool_x", "why": "Same category, imports our data."}
    ]
    assert "74.00" in plan["script"]["opening"]
    assert not any("12%" in text for _, text in outward_texts(plan))


@pytest.mark.parametrize("name", ["supplier_price_rise", "settlement"])
def test_a_price_talk_opens_at_or_past_the_better_end_of_their_limit(name: str) -> None:
    found = case(name)
    plan = make_plan(found.brief)
    assert plan["zopa"]["probability"]["value"] == pytest.approx(found.expect["zopa_probability"], abs=0.2)
    price = Decimal(next(iter(plan["opening_offer"]["package"].values()))["value"])
    estimate, issue = found.brief.terms.their_walk_away, found.brief.terms.issues[0]
    assert estimate is not None
    end = Decimal(str(estimate.low if issue.direction == "lower" else estimate.high))
    lower = issue.direction == "lower"
    assert price <= end * Decimal("1.01") if lower else price >= end * Decimal("0.99")


def test_every_sentence_is_a_sentence() -> None:
    plan = make_plan(case("enterprise_sale").brief)
    said = [text for place, text in texts_in(plan) if place[0] in {"script", "questions", "walk_away_script"}]
    prose = [text for text in said if " " in text]
    assert prose
    assert all(text[0].isupper() and text[-1] in ".?!" for text in prose)
