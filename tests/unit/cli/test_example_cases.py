"""The example cases are what people meet: prices move towards each other, and nobody's limit is passed."""

from datetime import UTC, datetime
from typing import Any

import pytest

from negotiator.cli.demo.examples import CASES, read_case

NOW = datetime(2027, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("name", CASES)
def test_offers_come_closer_and_stay_on_the_user_s_side_of_the_limit(name: str) -> None:
    case = read_case(name, NOW)
    terms = case.negotiation
    price = terms["issues"][0]
    sign = 1 if price["direction"] == "higher" else -1
    prices = {
        by: [sign * offer["package"][price["name"]] for offer in case.offers if offer["by"] == by]
        for by in ("me", "them")
    }
    assert prices["me"] == sorted(prices["me"], reverse=True)
    assert prices["them"] == sorted(prices["them"])
    assert min(prices["me"]) > max(prices["them"]), "they have not met yet"
    target, limit = (sign * terms[one]["package"][price["name"]] for one in ("target", "walk_away"))
    assert target > limit
    assert min(prices["me"]) >= limit
    low, likely, high = (terms["their_estimate"]["walk_away"][one] for one in ("low", "likely", "high"))
    assert low < likely < high
    assert sign * likely > limit, "there is room for a deal"


@pytest.mark.parametrize("name", CASES)
def test_every_offer_has_a_value_for_each_issue_in_its_range(name: str) -> None:
    case = read_case(name, NOW)
    issues: dict[str, dict[str, Any]] = {one["name"]: one for one in case.negotiation["issues"]}
    for offer in case.offers:
        assert offer["package"].keys() == issues.keys()
        for issue, value in offer["package"].items():
            if "options" in issues[issue]:
                assert value in issues[issue]["options"]
            else:
                assert issues[issue]["range"]["min"] <= value <= issues[issue]["range"]["max"]


def test_days_count_from_now() -> None:
    case = read_case("salary", NOW)
    assert case.negotiation["deadline"] == "2027-03-10T16:00:00+00:00"
    assert case.negotiation["target"]["package"]["start"] == "2027-05-30"
    assert case.win["closed_at"] == "2026-05-05T16:00:00+00:00"
