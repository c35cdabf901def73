"""Reads that may lag: a real replica that follows, lags, ends, comes back, and is none."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest
from sqlalchemy import text as sql_text
from structlog.testing import capture_logs

from negotiator.cli.doctor_checks import Patient, check_database
from negotiator.config.settings_files import SettingsSources
from negotiator.directory import catalogue_queries
from negotiator.runtime import fault_log, telemetry
from negotiator.store import atomic_updates, lagging_reads
from negotiator.store.lagging_reads import LaggingReads
from negotiator.store.statement import Query
from negotiator.store.store import Store, make_store
from tests.conftest import connect, make_settings, running
from tests.helpers.directory_agents import record
from tests.helpers.postgres_replica import PostgresReplica, running_replica

_SOON: Final = 30.0
_BOUND: Final = 2.0
_LATER: Final = 1 << 50
_AWAY: Final = "reads that may lag go to the primary, the replica cannot be used"
_AT_REPLICA: Final = Query(sql_text("select pg_is_in_recovery()"), lambda row: bool(row[0]))
_SPENT: Final = Query(sql_text("select count(*) from spent where kind = 'lag'"), lambda row: int(row[0]))


@pytest.fixture(scope="module")
def replica(postgres: Callable[[], str]) -> Generator[PostgresReplica]:
    with running_replica(postgres()) as running:
        yield running


@asynccontextmanager
async def _reads(replica: PostgresReplica, url: str = "") -> AsyncGenerator[tuple[Store, LaggingReads]]:
    primary, other = make_store(replica.primary), make_store(url or replica.url)
    reads = LaggingReads(primary, other, bound=_BOUND)
    await reads.start()
    try:
        yield primary, reads
    finally:
        await reads.close()
        await primary.close()


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lagging_reads, "CHECK_SECONDS", 0.05)


async def _is_at_replica(reads: LaggingReads) -> bool:
    found = {await reads.read(lambda tx: tx.one(_AT_REPLICA)), await reads.scan(lambda tx: tx.one(_AT_REPLICA))}
    return found == {True}


async def _until(holds: Callable[[], bool]) -> None:
    ends = time.monotonic() + _SOON
    while not holds():
        assert time.monotonic() < ends
        await asyncio.sleep(0.02)


async def _write(primary: Store, value: str) -> None:
    await primary.write(lambda tx: atomic_updates.spend(tx, "lag", value, expires_at=_LATER))


async def _spent(reads: LaggingReads | Store) -> int:
    return await reads.scan(lambda tx: tx.one(_SPENT)) or 0


@pytest.mark.asyncio
async def test_a_replica_that_lags_too_far_is_not_read_until_it_has_caught_up(replica: PostgresReplica) -> None:
    async with _reads(replica) as (primary, reads):
        await _until(lambda: reads.state() == "ok")
        assert await _is_at_replica(reads)
        before = await _spent(primary)
        replica.sql("select pg_wal_replay_pause()")
        await _write(primary, "while it is paused")
        began = time.monotonic()
        while reads.state() == "ok":
            assert await _spent(reads) in {before, before + 1}
            assert time.monotonic() - began < _SOON
            await asyncio.sleep(0.05)
        assert time.monotonic() - began > _BOUND / 2
        assert reads.state() == ("lesser: reads go to the primary: it is more than 2 s behind the primary")
        assert not await _is_at_replica(reads)
        assert await _spent(reads) == before + 1
        replica.sql("select pg_wal_replay_resume()")
        await _until(lambda: reads.state() == "ok")
        assert await _is_at_replica(reads)
        assert await _spent(reads) == before + 1


@pytest.mark.asyncio
async def test_an_idle_primary_does_not_make_the_replica_look_late(replica: PostgresReplica) -> None:
    async with _reads(replica) as (_, reads):
        await _until(lambda: reads.state() == "ok")
        ends = time.monotonic() + 2 * _BOUND
        while time.monotonic() < ends:
            assert reads.state() == "ok"
            await asyncio.sleep(0.05)


@pytest.mark.asyncio
async def test_no_read_fails_when_the_replica_ends_and_comes_back(
    replica: PostgresReplica, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The one in use may be cached with where an application of an earlier test writes.
    monkeypatch.setattr(fault_log, "log", telemetry.logger("faults"))
    with capture_logs() as lines:
        await _ends_and_comes_back(replica)
    told = [line["event"] for line in lines if "replica" in line["event"]]
    assert told == [_AWAY, f"{_AWAY}: over"]


async def _ends_and_comes_back(replica: PostgresReplica) -> None:
    async with _reads(replica) as (_, reads):
        await _until(lambda: reads.state() == "ok")
        answered, ended = 0, False

        async def read() -> None:
            nonlocal answered
            while not ended:
                await reads.scan(lambda tx: tx.one(_AT_REPLICA))
                answered += 1

        readers = [asyncio.create_task(read()) for _ in range(4)]
        await asyncio.to_thread(replica.kill)
        await _until(lambda: reads.state() != "ok")
        reached = answered
        await _until(lambda: answered > reached + 20)
        assert not await _is_at_replica(reads)
        await asyncio.to_thread(replica.start)
        await _until(lambda: reads.state() == "ok")
        assert await _is_at_replica(reads)
        assert not any(reader.done() for reader in readers), "a read failed"
        ended = True
        await asyncio.gather(*readers)


@pytest.mark.asyncio
async def test_another_database_is_not_read(replica: PostgresReplica, postgres: Callable[[], str]) -> None:
    for url in (replica.primary, postgres()):
        async with _reads(replica, url) as (primary, reads):
            assert reads.state() == ("lesser: reads go to the primary: it is no replica of this database")
            assert await _spent(reads) == await _spent(primary)


@pytest.mark.asyncio
async def test_without_a_replica_the_primary_is_read(replica: PostgresReplica) -> None:
    primary = make_store(replica.primary)
    reads = LaggingReads(primary)
    await reads.start()
    assert not await _is_at_replica(reads)
    await reads.close()
    await primary.close()


@pytest.mark.asyncio
async def test_what_may_lag_is_read_at_the_replica_and_everything_else_at_the_primary(
    replica: PostgresReplica, tmp_path: Path, signing_keys: Path
) -> None:
    settings = make_settings(
        *(tmp_path, signing_keys), database_url=replica.primary, replica_url=replica.url, replica_lag_seconds=600
    )
    primary = make_store(replica.primary)
    name = "Lantern"

    async with running(settings) as application, connect(application) as client:

        async def checked() -> str:
            return (await client.get("/api/health")).json()["checks"]["replica"]

        async def where(tool: str) -> dict[str, bool]:
            """Which answers have the tool."""
            found = (await client.get("/api/v1/tools", params={"query": name})).json()["items"]
            changes = (await client.get("/api/v1/changes", params={"since": made.seq - 1})).json()["items"]
            export = (await client.get("/api/v1/export.ndjson")).text
            sitemap = (await client.get("/sitemap/tools/1")).text
            return {
                "page": (await client.get(f"/api/v1/tools/{tool}")).status_code == 200,
                "search": tool in {each["id"] for each in found},
                "changes": tool in {each["tool_id"] for each in changes},
                "export": tool in export,
                "sitemap": f"/{made.slug}</loc>" in sitemap,
            }

        assert await checked() == "ok"
        replica.sql("select pg_wal_replay_pause()")
        made = await primary.write(lambda tx: catalogue_queries.put(tx, record(name), actor="operator"))
        assert await checked() == "ok"
        late = await where(made.id)
        replica.sql("select pg_wal_replay_resume()")
        ends = time.monotonic() + _SOON
        while not all((found := await where(made.id)).values()):
            assert time.monotonic() < ends, found
            await asyncio.sleep(0.2)
        findings = await check_database(Patient(settings, SettingsSources({}, ())))
    await primary.close()
    assert {answer for answer, has in late.items() if has} == {"page", "search"}
    told = next(each for each in findings if each.name == "replica")
    assert told.state == "ok", told
    assert "follows the database" in told.text


def test_a_replica_needs_a_primary_of_the_same_kind(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="replica_url: must start with postgresql"):
        make_settings(tmp_path, tmp_path, replica_url="postgresql+asyncpg://replica/x")
