"""The record of an agent's calls, on each engine: what differs only in time is one row, and the oldest rows go."""

import asyncio

import pytest

from negotiator.agents import call_record, registration
from negotiator.agents.call_record import KEPT, AgentCallRecord
from negotiator.agents.tables import Agent
from negotiator.base import values
from negotiator.base.caller import Caller
from negotiator.base.errors import InsufficientScope, NotFound
from negotiator.store.store import Store


async def scout(store: Store) -> Caller:
    """An agent that acts for a user."""
    agent = Agent(
        id=values.new_id("agt"),
        service="assistant",
        name="scout",
        identity_type="anonymous",
        user_id="usr_1",
        created_at=values.now(),
    )
    await store.write(lambda tx: registration.add(tx, agent, actor="::1"))
    return Caller("agent", "usr_1", "jti", frozenset(), client_id=agent.id, user_id="usr_1")


@pytest.mark.asyncio
async def test_calls_that_differ_only_in_time_are_one_row(store: Store) -> None:
    record, caller = AgentCallRecord(store), await scout(store)
    for _ in range(2):
        record.note(caller, "remember", "", InsufficientScope(["memories:write"]))
        record.note(caller, "get_negotiation", "neg_1", None)
        await record.flush()
    record.note(caller, "get_negotiation", "neg_1", NotFound("There is no such negotiation."))
    await record.close()
    calls = await store.read(lambda tx: call_record.latest_calls(tx, caller.client_id))
    told = {(one.operation, one.subject, one.error): one for one in calls}
    assert {key: one.count for key, one in told.items()} == {
        ("remember", "", "insufficient_scope"): 2,
        ("get_negotiation", "neg_1", ""): 2,
        ("get_negotiation", "neg_1", "not_found"): 1,
    }
    assert told["remember", "", "insufficient_scope"].needs == "memories:write"
    assert told["get_negotiation", "neg_1", "not_found"].description.startswith("There is no")


@pytest.mark.asyncio
async def test_an_agent_keeps_its_newest_rows_and_nobody_else_is_noted(store: Store) -> None:
    record, caller = AgentCallRecord(store), await scout(store)
    unbound = Caller("agent", "agt_2", "jti", frozenset(), client_id="agt_2")
    user = Caller("user", "usr_1", "ses", frozenset(), user_id="usr_1")
    for other in (unbound, user):
        record.note(other, "list_negotiations", "", None)
    for number in range(KEPT):
        record.note(caller, "get_negotiation", f"neg_old{number}", None)
        await asyncio.sleep(0.002)  # rows of one millisecond go together
    await record.flush()
    for number in range(10):
        record.note(caller, "get_negotiation", f"neg_new{number}", None)
    await record.flush()
    calls = await store.read(lambda tx: call_record.latest_calls(tx, caller.client_id, 500))
    assert {f"neg_new{number}" for number in range(10)} <= {one.subject for one in calls}
    assert len(calls) <= KEPT + 9
    for other in ("agt_2", ""):
        assert await store.read(lambda tx, other=other: call_record.latest_calls(tx, other)) == []


@pytest.mark.asyncio
async def test_a_refusal_is_stored_by_itself(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_record, "STORE_AFTER", 0.05)
    record, caller = AgentCallRecord(store), await scout(store)
    record.note(caller, "remember", "", InsufficientScope(["memories:write"]))
    await asyncio.sleep(0.5)
    assert await store.read(lambda tx: call_record.latest_calls(tx, caller.client_id))
