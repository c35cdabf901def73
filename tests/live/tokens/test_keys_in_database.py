"""Two machines with signing keys in the database: nothing but the database is shared."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest
import pytest_asyncio

from negotiator.config.settings import Settings
from negotiator.keys.database_keys import DatabaseKeyring
from negotiator.keys.keyring import ALGORITHM
from negotiator.store.store import Store, make_store
from tests.conftest import bearer, make_settings
from tests.helpers.live_server import PATIENCE, Server, wait_for
from tests.helpers.signing_keys import rotate, signer

pytestmark = pytest.mark.asyncio
BASE = "http://negotiator.test"
LIST = "/api/negotiations"
JWKS = "/.well-known/jwks.json"
SECRET = "the secret of the keys of both machines"


@pytest.fixture
def url(postgres: Callable[[], str]) -> str:
    return postgres()


@pytest_asyncio.fixture
async def machines(url: str, tmp_path: Path) -> AsyncGenerator[list[Server]]:
    """Two machines with data folders of their own, two workers each."""
    settings = {
        "base_url": BASE,
        "database_url": url,
        "secret": "the pepper of both machines",
        "keys_in": "database",
        "keys_secret": SECRET,
        "register_limit_anonymous": "1000000",
    }
    made: list[Server] = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        made.append(Server(tmp_path / name, workers=2, settings=settings))
    try:
        await asyncio.gather(*(asyncio.to_thread(each.start) for each in made))
        yield made
    finally:
        for each in made:
            each.stop()


@pytest.fixture
def shared(url: str, tmp_path: Path) -> Settings:
    """The settings of a command on a third machine."""
    return make_settings(
        tmp_path / "three",
        tmp_path / "three/keys",
        base_url=BASE,
        database_url=url,
        secret="the pepper of both machines",
        keys_in="database",
        keys_secret=SECRET,
    )


async def register(client: httpx2.AsyncClient) -> dict[str, Any]:
    body = {"agent_name": "a", "identity_type": "anonymous"}
    answer = await client.post("/api/agent/register", json=body)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def test_ten_rotations_under_load_fail_no_request_and_no_offline_verifier(
    machines: list[Server], shared: Settings
) -> None:
    """A token of one machine is used at once at the other; each key set has the keys of all tokens so far.

    One machine stands still for two seconds at a time, so that it reads the keys late.
    """
    one, two = machines
    done = asyncio.Event()
    seen: set[str] = set()

    async def walk(first: Server, second: Server) -> int:
        count = 0
        while not done.is_set():
            async with first.connect() as client, second.connect() as other:
                agent = await register(client)
                seen.add(signer(agent))
                answer = await other.get(LIST, headers=bearer(agent))
                assert answer.status_code == 200, answer.text
                expected = set(seen)
                for each in (client, other):
                    published = jwt.PyJWKSet.from_dict((await each.get(JWKS)).json())
                    assert expected <= {key.key_id for key in published.keys}
                    read = jwt.decode(
                        agent["access_token"],
                        published[signer(agent)],
                        algorithms=[ALGORITHM],
                        options={"verify_aud": False},
                    )
                    assert read["iss"] == BASE
                count += 1
        return count

    async def rotate_ten_times() -> list[str]:
        try:
            return [await rotate(shared) for _ in range(10)]
        finally:
            done.set()

    async def use(agent: dict[str, Any]) -> int:
        async with two.connect() as client:
            return (await client.get(LIST, headers=bearer(agent))).status_code

    async def stall() -> None:
        assert two.process is not None
        while not done.is_set():
            waiting: list[asyncio.Task[int]] = []
            os.killpg(two.process.pid, signal.SIGSTOP)
            try:
                async with one.connect() as client:
                    for _ in range(10):
                        waiting.append(asyncio.create_task(use(await register(client))))
                        await asyncio.sleep(0.2)
            finally:
                os.killpg(two.process.pid, signal.SIGCONT)
            assert await asyncio.gather(*waiting) == [200] * 10
            await asyncio.sleep(0.5)

    walks = [walk(one, two), walk(two, one), walk(one, two), walk(two, one)]
    *counts, _, signed = await asyncio.gather(*walks, stall(), rotate_ten_times())
    assert isinstance(signed, list)
    assert len(set(signed)) == 10
    assert {*signed[:-1]} <= seen, "every key signed something"
    assert all(counts)
    for machine in machines:
        await asyncio.to_thread(wait_for, lambda each=machine: signs_with(each, signed[-1]))


def signs_with(machine: Server, kid: str) -> bool:
    body = {"agent_name": "a", "identity_type": "anonymous"}
    made = httpx2.post(f"{machine.base}/api/agent/register", json=body).json()
    return signer(made) == kid


async def test_a_machine_that_stood_still_refuses_no_token_that_another_signed_meanwhile(
    machines: list[Server], shared: Settings
) -> None:
    one, two = machines
    assert two.process is not None
    os.killpg(two.process.pid, signal.SIGSTOP)
    try:
        await rotate(shared)
        current = await rotate(shared)
        await asyncio.to_thread(wait_for, lambda: signs_with(one, current))
        async with one.connect() as client:
            agent = await register(client)
    finally:
        os.killpg(two.process.pid, signal.SIGCONT)

    async def ask() -> tuple[int, set[str]]:
        async with two.connect() as client:
            answer, keys = await asyncio.gather(client.get(LIST, headers=bearer(agent)), client.get(JWKS))
        return answer.status_code, {key["kid"] for key in keys.json()["keys"]}

    answers = await asyncio.gather(*(ask() for _ in range(16)))
    assert {status for status, _ in answers} <= {200, 503}
    assert all(signer(agent) in kids for _, kids in answers)
    async with asyncio.timeout(PATIENCE):
        while (await ask())[0] != 200:
            await asyncio.sleep(0.05)


async def test_of_ten_machines_that_start_at_once_one_makes_the_keys(store: Store, database_url: str) -> None:
    del store
    stores = [make_store(database_url) for _ in range(10)]
    rings = [DatabaseKeyring(each, SECRET.encode()) for each in stores]
    try:
        await asyncio.gather(*(each.start() for each in stores))
        await asyncio.gather(*(each.start() for each in rings))
        [kids] = {tuple(key.kid for key in each.all()) for each in rings}
        assert len(kids) == 4
    finally:
        for each in stores:
            await each.close()
