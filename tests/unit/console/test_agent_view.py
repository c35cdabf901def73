"""The words for what an agent called: the purpose that would allow it, and sentences without paths of programs."""

from negotiator.agents.tables import AgentCall
from negotiator.console.people.agents_page import calls_in_words, subjects
from negotiator.console.people.scope_words import WORDS, describe_scopes, purpose_scopes

HELD = describe_scopes(purpose_scopes("advise"))


def call(operation: str, error: str = "", **members: str) -> AgentCall:
    known = {"subject": "", "description": "", "needs": "", **members}
    return AgentCall(agent="agt_1", operation=operation, error=error, at=1, count=2, **known)


def test_a_missing_right_is_named_with_the_smallest_purpose_that_has_it() -> None:
    refused = call("remember", "insufficient_scope", needs="memories:write negotiations:read")
    (said,) = calls_in_words([refused], HELD)
    assert [one.words for one in said.lacks] == [WORDS["memories:write"]]
    assert said.purpose == "negotiate"
    (everything,) = calls_in_words([call("x", "insufficient_scope", needs="teleprompter:stream")], HELD)
    assert everything.purpose == "everything"
    (none,) = calls_in_words([call("x", "insufficient_scope", needs="tools:write")], HELD)
    assert none.purpose == ""


def test_a_refusal_is_a_sentence_for_people() -> None:
    wrong = call("record_offer", "validation_failed", description="/package/price: Must be a number.")
    (said,) = calls_in_words([wrong], HELD)
    assert said.why == "Price: must be a number."


def test_what_was_touched_is_listed_once_and_only_where_it_worked() -> None:
    calls = [
        call("next_move", subject="neg_2"),
        call("record_offer", subject="neg_2"),
        call("get_negotiation", "not_found", subject="neg_3"),
        call("remember", subject="mem_1"),
        call("get_negotiation", subject="neg_1"),
    ]
    assert subjects(calls, "neg_", 5) == ["neg_2", "neg_1"]
    assert subjects(calls, "neg_", 1) == ["neg_2"]
