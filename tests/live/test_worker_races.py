"""Races over four real workers: whatever may happen once happens once, and what ends has ended everywhere."""

import asyncio
from typing import Any

import httpx2
import pytest

from negotiator.base.scopes import ASSISTANT
from negotiator.compose.application import build_application
from negotiator.keys.keyring import FolderKeyring
from negotiator.store.statement import Transaction
from negotiator.tokens import clients
from negotiator.tokens.clients import JWT_BEARER, NewClient
from negotiator.trust import issuer_queries
from negotiator.users import user_queries
from tests.conftest import bearer
from tests.helpers.fake_issuer import FakeIssuer, registration
from tests.helpers.live_server import ROUNDS, Server

pytestmark = pytest.mark.asyncio
REGISTER, CLAIM, LIST = "/api/agent/register", "/api/agent/claim", "/api/negotiations"
ANONYMOUS = {"agent_name": "walker", "identity_type": "anonymous"}


async def _register(client: httpx2.AsyncClient) -> dict[str, Any]:
    answer = await client.post(REGISTER, json=ANONYMOUS)
    assert answer.status_code == 201, answer.text
    result: dict[str, Any] = answer.json()
    return result


async def _mint(server: Server, count: int) -> tuple[str, list[str]]:
    delegations = build_application(server.application_settings).delegations

    def unit(tx: Transaction) -> tuple[str, list[str]]:
        found = user_queries.by_email(tx, "ada@example.com")
        user = found.id if found else user_queries.add(tx, "ada@example.com", actor="operator")
        codes = [delegations.mint(tx, user, list(ASSISTANT)).code for _ in range(count)]
        return user, codes

    user, codes = await server.change(unit)
    return user, codes


async def test_of_fifty_agents_with_one_code_one_is_bound(server: Server) -> None:
    _, codes = await _mint(server, ROUNDS)
    for code in codes:
        async with server.connect() as client:
            agents = await asyncio.gather(*(_register(client) for _ in range(50)))
            answers = await asyncio.gather(
                *(client.post(CLAIM, json={"claim_token": code}, headers=bearer(agent)) for agent in agents)
            )
        told = sorted((answer.status_code, answer.json().get("error", "")) for answer in answers)
        assert told == [(200, ""), *[(409, "claim_used")] * 49]


async def test_of_fifty_uses_of_one_assertion_at_both_doors_one_wins(server: Server) -> None:
    idp = FakeIssuer(server.base)

    def unit(tx: Transaction) -> tuple[str, str]:
        client_id, secret = clients.add(tx, NewClient("c", clients.GRANTS, tuple(ASSISTANT)))
        issuer_queries.add(tx, idp.issuer(), own=server.base, allow_loopback=False)
        return client_id, secret

    basic = await server.change(unit)
    for _ in range(ROUNDS):
        text = idp.assertion(client_id=basic[0])
        form = {"grant_type": JWT_BEARER, "assertion": text}
        async with server.connect() as client:
            answers = await asyncio.gather(
                *(client.post(REGISTER, json=registration(text)) for _ in range(25)),
                *(client.post("/oauth/token", data=form, auth=basic) for _ in range(25)),
            )
        won = [answer for answer in answers if answer.is_success]
        assert len(won) == 1
        errors = {answer.json()["error"] for answer in answers if not answer.is_success}
        assert errors == {"replay_detected", "invalid_grant"}


async def test_the_registration_limit_is_exact_over_the_workers(server: Server) -> None:
    async with server.connect() as client:
        answers = await asyncio.gather(*(client.post(REGISTER, json=ANONYMOUS) for _ in range(100)))
    assert sorted(answer.status_code for answer in answers) == [201] * 60 + [429] * 40
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert 0 < int(refused.headers["retry-after"]) <= 60
    async with server.connect() as elsewhere:
        await _register(elsewhere)


async def test_a_revoked_token_is_dead_on_every_connection_at_the_next_request(server: Server) -> None:
    """Sixty-four open connections reach every worker, each of which has believed the token before."""
    async with server.connect(keep=64) as client:
        agent = await _register(client)

        async def ask() -> list[int]:
            asking = (client.get(LIST, headers=bearer(agent)) for _ in range(64))
            return [answer.status_code for answer in await asyncio.gather(*asking)]

        assert await ask() == [200] * 64
        form = {"token": agent["access_token"]}
        assert (await client.post("/oauth/revoke", data=form)).status_code == 200
        assert await ask() == [401] * 64


async def test_rotating_keys_under_load_fails_no_request(server: Server) -> None:
    """Registrations on one worker, their tokens at once on another, three rotations meanwhile, two of them at once."""
    done = asyncio.Event()
    kids: set[str] = set()

    async def walk() -> int:
        count = 0
        while not done.is_set():
            async with server.connect() as client:
                agent = await _register(client)
                answer = await client.get(LIST, headers=bearer(agent))
                assert answer.status_code == 200, answer.text
                kids.add(agent["access_token"].partition(".")[0])
                count += 1
        return count

    async def rotate() -> None:
        try:
            await asyncio.to_thread(server.run, "keys", "rotate")
            ring = FolderKeyring(server.folder / "keys")
            for _ in range(2):
                await asyncio.to_thread(ring.rotate)
            async with asyncio.timeout(30):
                while len(kids) < 2:  # a new key signs only once every worker can know it
                    await asyncio.sleep(0.05)
        finally:
            done.set()

    *counts, _ = await asyncio.gather(*(walk() for _ in range(4)), rotate())
    assert sum(count or 0 for count in counts) > 20
    assert len(kids) >= 2
