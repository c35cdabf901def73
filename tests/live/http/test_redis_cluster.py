"""Budgets over a Redis Cluster that loses a shard, and what the doctor says of it."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from redis.asyncio import Redis

from negotiator.cli.doctor_checks import Finding, Patient, check_redis
from negotiator.config.settings_files import SettingsSources
from negotiator.http.limit_stores import FileLimitStore, RedisClusterLimitStore
from negotiator.http.limits import RateBudget
from tests.conftest import make_settings
from tests.helpers.live_server import free_port
from tests.helpers.redis_cluster import SHARDS, running_redis_cluster
from tests.live.conftest import RedisServer

BUDGET: Final = RateBudget("default", 10, 36_000, 10)
KEYS: Final = [f"default:agent{number}" for number in range(30)]


async def _take(stores: Sequence[RedisClusterLimitStore], calls: int) -> dict[str, int]:
    """So many calls on each key from every machine at once; how many passed, by key."""
    readings = {
        key: await asyncio.gather(*(store.take(BUDGET, key) for store in stores for _ in range(calls))) for key in KEYS
    }
    return {key: sum(each.taken for each in found) for key, found in readings.items()}


@pytest.mark.asyncio
async def test_a_budget_is_exact_over_machines_and_lasts_when_a_server_is_lost(tmp_path: Path) -> None:
    with running_redis_cluster() as cluster:
        machines = [
            RedisClusterLimitStore(cluster.url, FileLimitStore(tmp_path / name, b"pepper")) for name in ("a", "b")
        ]
        for machine in machines:
            await machine.start()
        taken = await _take(machines, 3)
        assert set(taken.values()) == {6}
        assert [machine.state() for machine in machines] == ["ok", "ok"]

        cluster.kill(cluster.owner(f"negotiator:limit:{KEYS[0]}"))
        lost = await _take(machines, 1)
        assert set(lost.values()) == {2}, "nobody is refused what is left"
        assert machines[0].state().startswith("lesser: away")
        ends = time.monotonic() + 20
        while any(machine.state() != "ok" for machine in machines):
            await asyncio.sleep(0.05)
            assert time.monotonic() < ends, "the replica serves the slots of the lost server"
        after = await _take(machines, 20)
        assert all(2 <= count <= 4 for count in after.values()), after
        assert [machine.state() for machine in machines] == ["ok", "ok"]
        for machine in machines:
            await machine.close()


def test_the_url_of_a_cluster_names_one_of_its_servers(tmp_path: Path) -> None:
    settings = make_settings(tmp_path, tmp_path, redis_url="rediss+cluster://redis.example:6379")
    assert settings.is_redis_cluster
    assert settings.redis_server_url == "rediss://redis.example:6379"


@pytest.mark.asyncio
async def test_doctor_says_whether_the_cluster_serves_all_slots(tmp_path: Path) -> None:
    async def finding(url: str) -> Finding:
        settings = make_settings(tmp_path, tmp_path, redis_url=url)
        return (await check_redis(Patient(settings, SettingsSources({}, ()))))[0]

    with running_redis_cluster() as cluster:
        url = cluster.url.replace("redis:", "redis+cluster:")
        assert await finding(url) == Finding("redis", "ok", "127.0.0.1 answers, its cluster serves all slots")
        for number in (1, 1 + SHARDS):
            cluster.kill(number)
        ends = time.monotonic() + 20
        while (found := await finding(url)).state == "ok":
            await asyncio.sleep(0.05)
            assert time.monotonic() < ends
    assert (found.state, found.text) == ("fault", "the cluster of 127.0.0.1 does not serve all slots")


@pytest.mark.asyncio
async def test_doctor_tells_a_single_server_from_a_cluster(tmp_path: Path, redis: RedisServer) -> None:
    port = free_port()
    client: Any = Redis.from_url(redis[0])  # pyright: ignore[reportUnknownMemberType]
    await client.config_set("port", str(port))
    await client.aclose()
    settings = make_settings(tmp_path, tmp_path, redis_url=f"redis+cluster://127.0.0.1:{port}")
    (finding,) = await check_redis(Patient(settings, SettingsSources({}, ())))
    assert (finding.state, finding.text) == ("fault", "127.0.0.1 is not in cluster mode")
