"""What is deleted, claimed or forgotten goes whole, on both engines: no row of any table stays behind."""

from typing import Any, cast

import pytest
from sqlmodel import SQLModel, func, select

from negotiator.base import values
from negotiator.negotiations import tactic_queries
from negotiator.negotiations.schemas_tactics import NewTactic
from negotiator.negotiations.tables import BattlePlan, Negotiation, NegotiationEvent, Offer, OwnTactic
from negotiator.store.statement import Query, Transaction
from tests.conftest import Change, Clock, Mint, Register, bearer
from tests.helpers.negotiation_client import TACTIC, NegotiationClient, NewNegotiationClient
from tests.helpers.sweep import sweep
from tests.live.negotiations.conftest import ISSUES, PACKAGE, claimed, pages

pytestmark = pytest.mark.asyncio
TABLES: list[type[SQLModel]] = [Negotiation, NegotiationEvent, Offer, BattlePlan, OwnTactic]
_COUNTS = [Query(select(func.count()).select_from(each), lambda row: int(row[0])) for each in TABLES]


def _counts(tx: Transaction) -> list[int]:
    return [tx.one(query) or 0 for query in _COUNTS]


async def _filled(negotiation_client: NegotiationClient) -> str:
    """A negotiation with a row in every table of its own."""
    key: str = (await negotiation_client.opened(issues=ISSUES, target={"package": PACKAGE}))["id"]
    assert (await negotiation_client.post(f"/negotiations/{key}/battle-plans", {})).status_code == 201
    await negotiation_client.offered(key, "850")
    await negotiation_client.offered(key, "1050", "them")
    return key


async def test_deleting_erases_a_negotiation_and_nothing_of_its_neighbour(
    user: NegotiationClient, change: Change
) -> None:
    kept = await _filled(user)
    before = await change(_counts)
    gone = await _filled(user)
    view = (await user.get(f"/negotiations/{gone}")).json()
    stale = await user.delete(gone, **{"if-match": f'"{view["revision"] - 1}"'})
    assert stale.status_code == 412
    current = await user.delete(gone, **{"if-match": f'"{view["revision"]}"'})
    assert current.status_code == 204, current.text
    assert await change(_counts) == before
    for path in ("", "/offers", "/events", "/battle-plans"):
        assert (await user.get(f"/negotiations/{gone}{path}")).status_code == 404
        assert (await user.get(f"/negotiations/{kept}{path}")).status_code == 200


async def test_claiming_moves_everything_to_the_user(
    new_negotiation_client: NewNegotiationClient, mint: Mint, change: Change, register: Register
) -> None:
    registered = await register()
    agent = NegotiationClient((await new_negotiation_client()).client, bearer(registered))
    agent_id = registered["client_id"]
    key = await _filled(agent)
    await change(lambda tx: tactic_queries.add(tx, agent_id, NewTactic.model_validate(TACTIC)))
    told = await _told(agent, key)
    counts = await change(_counts)
    user = await claimed(agent, mint)
    assert (await agent.get(f"/negotiations/{key}")).status_code == 401
    moved = await _told(user, key)
    claim = moved[2].pop(0)
    assert (claim["kind"], claim["detail"]["agent_id"]) == ("claimed", agent_id)
    assert moved == _of(agent_id, told)
    counts[1] += 1  # the event of the claim
    assert await change(_counts) == counts
    assert await change(lambda tx: tactic_queries.list_own_tactics(tx, agent_id)) == []
    again = await claimed(await new_negotiation_client(), mint)
    seen = await _told(again, key)
    assert seen[2].pop(0) == claim
    assert seen == moved
    assert (await again.delete(key)).status_code == 204
    assert (await change(_counts))[:-1] == [0, 0, 0, 0]


def _of(origin: str, view: Any) -> Any:
    """The view with every `origin` set to this agent."""
    if isinstance(view, list):
        return [_of(origin, part) for part in cast("list[Any]", view)]
    if not isinstance(view, dict):
        return view
    members = cast("dict[str, Any]", view).items()
    return {name: origin if name == "origin" else _of(origin, part) for name, part in members}


async def _told(negotiation_client: NegotiationClient, key: str) -> list[Any]:
    one = f"/negotiations/{key}"
    lists = (f"{one}/offers", f"{one}/events", f"{one}/battle-plans", "/negotiations", "/tactics")
    return [
        (await negotiation_client.get(one)).json(),
        *[await pages(negotiation_client, path) for path in lists[:-1]],
        await pages(negotiation_client, "/tactics", owner="user"),
    ]


async def test_the_sweep_erases_an_unclaimed_agent_s_work_and_no_one_else_s(
    user: NegotiationClient, register: Register, change: Change, clock: Clock
) -> None:
    await _filled(user)
    await change(lambda tx: tactic_queries.add(tx, "usr_other", NewTactic.model_validate(TACTIC)))
    kept = await change(_counts)
    registered = await register()
    await _filled(NegotiationClient(user.client, bearer(registered)))
    body = NewTactic.model_validate(TACTIC)
    await change(lambda tx: tactic_queries.add(tx, registered["client_id"], body))
    assert all(now > before for now, before in zip(await change(_counts), kept, strict=True))
    clock.advance(31 * 86_400)
    await change(lambda tx: sweep(tx, values.now()))
    assert await change(_counts) == kept
