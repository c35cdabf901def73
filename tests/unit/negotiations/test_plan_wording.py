"""Which sentences of a plan the advisor is given, and where its words go."""

from typing import Any

import pytest

from negotiator.advice.plans.checks import outward_texts
from negotiator.advice.plans.generator import make_plan
from negotiator.negotiations.advisor_case import apply_wording
from negotiator.negotiations.plan_input import wording_request
from tests.unit.advice.plans.plan_cases import CASES, case


@pytest.mark.parametrize("name", CASES)
def test_the_advisor_is_given_what_is_said_and_the_summary_without_aims_and_limits(name: str) -> None:
    brief = case(name).brief
    plan = make_plan(brief)
    request = wording_request(plan, brief)
    outward = {"".join(f"/{part}" for part in place) for place, _ in outward_texts(plan)}
    more = set(request.texts) - outward
    assert outward <= set(request.texts)
    assert more
    assert more.isdisjoint({"/summary/aim", "/summary/limit"})
    assert all(pointer.startswith("/summary/") for pointer in more)
    assert request.case is not None
    assert request.case.role == brief.terms.role


def test_words_of_the_summary_are_put_into_its_joined_text() -> None:
    plan: dict[str, Any] = {
        "summary": {"text": "You buy. You aim for A. Ask for B.", "who": "You buy.", "aim": "A"},
        "script": {"opening": "Hello."},
        "questions": [{"question": "Why?"}],
    }
    words = {
        "/summary/who": "You are the buyer.",
        "/script/opening": "Good morning.",
        "/questions/0/question": "What for?",
    }
    changed = apply_wording(plan, words)
    assert changed["summary"]["text"] == "You are the buyer. You aim for A. Ask for B."
    assert changed["summary"]["who"] == "You are the buyer."
    assert changed["script"]["opening"] == "Good morning."
    assert changed["questions"][0]["question"] == "What for?"
    assert plan["summary"]["who"] == "You buy."
