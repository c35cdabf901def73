"""What is forgotten, and when: unclaimed agents with all they owned, never a claimed one."""

import httpx2
import pytest
from sqlmodel import func, select

from negotiator.agents import registration
from negotiator.base import values
from negotiator.negotiations.tables import Negotiation
from negotiator.store import audit
from negotiator.store.statement import Query, Transaction
from tests.conftest import Change, Clock, Mint, Register, bearer
from tests.contract.requirements import covers
from tests.helpers.answer_checks import OPENING
from tests.helpers.sweep import sweep

DAY = 86_400
_COUNT = Query(select(func.count()).select_from(Negotiation), lambda row: int(row[0]))


@pytest.mark.asyncio
@covers("2.2:retention")
async def test_an_unclaimed_agent_and_its_data_go_after_the_retention_and_a_claimed_one_stays(
    clock: Clock, client: httpx2.AsyncClient, register: Register, change: Change, mint: Mint
) -> None:
    forgotten, kept = await register(), await register()
    for agent in (forgotten, kept):
        answer = await client.post("/api/negotiations", json=OPENING, headers=bearer(agent))
        assert answer.status_code == 201
    claim = {"claim_token": (await mint())[1]}
    await client.post("/api/agent/claim", json=claim, headers=bearer(kept))

    def agents(tx: Transaction) -> tuple[bool, bool]:
        return (
            registration.find(tx, forgotten["client_id"]) is not None,
            registration.find(tx, kept["client_id"]) is not None,
        )

    clock.advance(30 * DAY - 1)
    await change(lambda tx: sweep(tx, values.now()))
    assert await change(agents) == (True, True)
    clock.advance(2)
    await change(lambda tx: sweep(tx, values.now()))
    assert await change(agents) == (False, True)
    assert await change(lambda tx: tx.one(_COUNT)) == 1
    (newest,) = await change(lambda tx: audit.latest_events(tx, 1))
    assert (newest.event, newest.subject) == ("agent.expired", forgotten["client_id"])
