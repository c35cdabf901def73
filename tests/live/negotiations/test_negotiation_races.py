"""Many at once on one negotiation, through two applications on one database: nothing torn, nothing lost."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from negotiator.base import values
from negotiator.config.settings import Settings
from negotiator.negotiations import event_queries, offer_queries
from tests.conftest import Change, Clock, connect, running
from tests.helpers.live_server import ROUNDS
from tests.helpers.negotiation_client import NegotiationClient
from tests.helpers.sweep import sweep
from tests.live.negotiations.conftest import ISSUES, pages

pytestmark = pytest.mark.asyncio
CROWD = 20


@pytest_asyncio.fixture
async def negotiation_clients(user: NegotiationClient, settings: Settings) -> AsyncGenerator[list[NegotiationClient]]:
    """One user's agent before two applications on one database, in turn."""
    async with running(settings) as other, connect(other) as client:
        yield [user, NegotiationClient(client, user.headers)] * (CROWD // 2)


async def test_twenty_offers_at_once_leave_a_gapless_ledger(negotiation_clients: list[NegotiationClient]) -> None:
    for _ in range(ROUNDS):
        key = (await negotiation_clients[0].opened(issues=ISSUES))["id"]
        answers = await asyncio.gather(
            *(agent.offer(key, 800 + n, "me" if n % 2 else "them") for n, agent in enumerate(negotiation_clients))
        )
        assert Counter(answer.status_code for answer in answers) == {201: CROWD}
        ledger = await pages(negotiation_clients[0], f"/negotiations/{key}/offers")
        assert [row["seq"] for row in ledger] == [*range(CROWD, 0, -1)]
        assert {answer.json()["id"] for answer in answers} == {row["id"] for row in ledger}
        events = await pages(negotiation_clients[0], f"/negotiations/{key}/events")
        assert [event["seq"] for event in events] == [*range(CROWD + 2, 0, -1)]
        view = (await negotiation_clients[0].get(f"/negotiations/{key}")).json()
        assert view["revision"] == CROWD + 1


async def test_of_twenty_patches_of_one_revision_one_wins(negotiation_clients: list[NegotiationClient]) -> None:
    for _ in range(ROUNDS):
        view = await negotiation_clients[0].opened()
        tag = {"if-match": f'"{view["revision"]}"'}
        answers = await asyncio.gather(
            *(agent.patch(view["id"], {"title": f"T{n}"}, **tag) for n, agent in enumerate(negotiation_clients))
        )
        assert Counter(answer.status_code for answer in answers) == {200: 1, 412: CROWD - 1}
        won = next(answer.json() for answer in answers if answer.is_success)
        assert (await negotiation_clients[0].get(f"/negotiations/{view['id']}")).json() == won


async def test_twenty_plans_at_once_are_twenty_versions(negotiation_clients: list[NegotiationClient]) -> None:
    key = (await negotiation_clients[0].opened(issues=ISSUES))["id"]
    path = f"/negotiations/{key}/battle-plans"
    answers = await asyncio.gather(*(agent.post(path, {}) for agent in negotiation_clients))
    assert Counter(answer.status_code for answer in answers) == {201: CROWD}
    versions = [plan["version"] for plan in await pages(negotiation_clients[0], path)]
    assert versions == [*range(CROWD, 0, -1)]


async def test_twenty_creations_with_one_key_are_one(negotiation_clients: list[NegotiationClient]) -> None:
    body = {"title": "Once", "role": "buyer", "issues": ISSUES}
    answers = await asyncio.gather(
        *(agent.post("/negotiations", body, **{"idempotency-key": "k"}) for agent in negotiation_clients)
    )
    assert Counter(answer.status_code for answer in answers) == {201: CROWD}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert len(await pages(negotiation_clients[0], "/negotiations")) == 1


async def test_of_twenty_acceptances_one_agrees(negotiation_clients: list[NegotiationClient]) -> None:
    for _ in range(ROUNDS):
        key = (await negotiation_clients[0].opened())["id"]
        theirs = await negotiation_clients[0].offered(key, "1000", "them")
        take = {"by": "me", "kind": "acceptance", "in_reply_to": theirs["id"]}
        answers = await asyncio.gather(
            *(agent.post(f"/negotiations/{key}/offers", take) for agent in negotiation_clients)
        )
        assert Counter(answer.status_code for answer in answers) == {201: 1, 409: CROWD - 1}
        ledger = await pages(negotiation_clients[0], f"/negotiations/{key}/offers")
        assert [row["kind"] for row in ledger] == ["acceptance", "offer"]


async def test_whoever_comes_upon_a_passed_deadline_the_clock_ends_it_once(
    negotiation_clients: list[NegotiationClient], clock: Clock, change: Change
) -> None:
    deadline = values.timestamp(values.now() + 60_000)
    keys = [(await negotiation_clients[0].opened(deadline=deadline))["id"] for _ in range(3)]
    clock.advance(61)
    *seen, _ = await asyncio.gather(
        *(agent.state(keys[n % 3]) for n, agent in enumerate(negotiation_clients)),
        change(lambda tx: sweep(tx, values.now())),
    )
    assert seen == ["expired"] * CROWD
    for key in keys:
        events = await pages(negotiation_clients[0], f"/negotiations/{key}/events")
        assert [event["to_state"] for event in events] == ["expired", "draft"]


async def test_a_sweep_disturbs_nobody_at_work(negotiation_clients: list[NegotiationClient], change: Change) -> None:
    keys = [(await negotiation_clients[0].opened())["id"] for _ in range(4)]
    *answers, _, _ = await asyncio.gather(
        *(agent.offer(keys[n % 4], 900 + n) for n, agent in enumerate(negotiation_clients)),
        *(change(lambda tx: sweep(tx, values.now())) for _ in range(2)),
    )
    assert Counter(answer.status_code for answer in answers) == {201: CROWD}


async def test_deleting_while_others_offer_leaves_no_orphan(
    negotiation_clients: list[NegotiationClient], change: Change
) -> None:
    for _ in range(ROUNDS):
        key = (await negotiation_clients[0].opened())["id"]
        *offered, gone = await asyncio.gather(
            *(agent.offer(key, 900 + n) for n, agent in enumerate(negotiation_clients[:8])),
            negotiation_clients[8].delete(key),
        )
        assert gone.status_code == 204
        assert {answer.status_code for answer in offered} <= {201, 404}
        assert await change(lambda tx, key=key: offer_queries.list_offers(tx, key)) == []
        left = await change(lambda tx, key=key: event_queries.page(tx, key, before=None, limit=9))
        assert left == []
