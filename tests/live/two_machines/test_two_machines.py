"""Two machines whose clocks are two seconds apart, behind nginx: one service for its clients."""

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncGenerator
from typing import Final

import httpx2
import pytest
import pytest_asyncio

from negotiator.store.statement import Transaction
from negotiator.trust import issuer_queries
from tests.conftest import bearer
from tests.contract.requirements import covers
from tests.helpers.fake_issuer import FakeIssuer, registration
from tests.helpers.negotiation_client import negotiation_body
from tests.helpers.neighbours import missing, require
from tests.live.two_machines.machines import APART, TwoMachines, two_machines
from tests.live.two_machines.network import missing_privilege

_REGISTER: Final = "/api/agent/register"
_NEGOTIATIONS: Final = "/api/negotiations"
_ANONYMOUS: Final = {"agent_name": "walker", "identity_type": "anonymous"}
_LIMIT: Final = 7
_addresses = itertools.count(1)

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def machines() -> AsyncGenerator[TwoMachines]:
    """Both machines, for every test here."""
    for package in ("iproute2", "nginx-light", "faketime"):
        require(package)
    if reason := missing_privilege():
        missing(reason)
    async with two_machines(register_limit_anonymous=str(_LIMIT)) as started:
        yield started


@pytest_asyncio.fixture(loop_scope="module")
async def client(machines: TwoMachines) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client of the proxy with an address of its own."""
    async with machines.connect() as connected:
        connected.headers["x-forwarded-for"] = f"192.0.2.{next(_addresses)}"
        yield connected


async def test_the_proxy_takes_machines_in_turn_whose_clocks_differ(
    machines: TwoMachines, client: httpx2.AsyncClient
) -> None:
    agent = bearer((await client.post(_REGISTER, json=_ANONYMOUS)).json())
    made = [(await client.post(_NEGOTIATIONS, json=negotiation_body(), headers=agent)).json()["id"] for _ in range(4)]
    assert len(set(made)) == 4
    for machine in (machines.a, machines.b):
        async with machine.connect() as direct:
            listed = (await direct.get(_NEGOTIATIONS, headers=agent)).json()["items"]
        assert {each["id"] for each in listed} == set(made)
    # Ids begin with the time of the machine that made them.
    assert made != sorted(made), f"machines {APART} s apart, in turn"


@covers("1.10:workers")
async def test_a_budget_is_one_over_both(client: httpx2.AsyncClient) -> None:
    asked = [client.post(_REGISTER, json=_ANONYMOUS) for _ in range(4 * _LIMIT)]
    statuses = Counter(answer.status_code for answer in await asyncio.gather(*asked))
    assert statuses == {201: _LIMIT, 429: 3 * _LIMIT}


async def test_a_revocation_by_one_holds_at_the_next_request_to_the_other(
    machines: TwoMachines, client: httpx2.AsyncClient
) -> None:
    async with machines.a.connect(keep=4) as a, machines.b.connect(keep=4) as b:
        for number in range(6):
            here, there = (a, b) if number % 2 else (b, a)
            agent = (await client.post(_REGISTER, json=_ANONYMOUS)).json()
            assert (await there.get(_NEGOTIATIONS, headers=bearer(agent))).status_code == 200
            revoked = await here.post("/oauth/revoke", data={"token": agent["access_token"]})
            assert revoked.status_code == 200
            assert (await there.get(_NEGOTIATIONS, headers=bearer(agent))).status_code == 401


async def test_what_may_be_used_once_is_used_once_over_both(machines: TwoMachines) -> None:
    issuer = FakeIssuer(machines.a.settings["base_url"])

    def trust(tx: Transaction) -> None:
        own = machines.a.settings["base_url"]
        issuer_queries.add(tx, issuer.issuer(), own=own, allow_loopback=False)

    await machines.a.change(trust)
    codes = await machines.a.delegation_codes(3)
    async with machines.a.connect() as a, machines.b.connect() as b:
        for code in codes:
            agents = [(await each.post(_REGISTER, json=_ANONYMOUS)).json() for each in (a, b)]
            claims = [
                each.post("/api/agent/claim", json={"claim_token": code}, headers=bearer(agent))
                for each, agent in zip((a, b), agents, strict=True)
            ]
            statuses = Counter(each.status_code for each in await asyncio.gather(*claims))
            assert statuses == {200: 1, 409: 1}
        for _ in range(8):
            body = registration(issuer.assertion())
            sent = [each.post(_REGISTER, json=body) for each in (a, b, a, b)]
            statuses = Counter(each.status_code for each in await asyncio.gather(*sent))
            assert statuses == {201: 1, 400: 3}
