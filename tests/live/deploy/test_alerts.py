"""Each alert rule, tried by making the fault that it is for; promtool judges the metrics from before and after."""

import asyncio
import fcntl
import os
import signal
import sqlite3
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import psutil
import pytest
from starlette.applications import Starlette

from negotiator.compose.application import Application, build_application
from negotiator.compose.housekeeping import JOB
from negotiator.config.settings import Settings
from negotiator.store import atomic_updates, waiting
from tests.conftest import make_settings, running
from tests.helpers.form_browser import BASE
from tests.helpers.live_server import Server, free_port, wait_for
from tests.helpers.prometheus_rules import (
    ALERTS,
    OBSERVABILITY,
    alert_rules,
    firing,
    metric_names,
    named_metrics,
    promtool,
)
from tests.live.conftest import running_redis
from tests.live.faults.site import PostgresServer

TOKEN = "only the collector knows"
BODY = {"agent_name": "tester", "identity_type": "anonymous"}


@dataclass
class Watched:
    """A running application, and one beside it on the same database whose parts a test can reach."""

    client: httpx2.AsyncClient

    async def scrape(self) -> str:
        answer = await self.client.get("/metrics", headers={"authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 200
        return answer.text

    async def ask(self, path: str, times: int = 20) -> set[int]:
        """The statuses of so many requests."""
        return {(await self.client.get(path)).status_code for _ in range(times)}


def _client(application: Starlette) -> httpx2.AsyncClient:
    # Without the checks of the other tests: broken answers are what is wanted here.
    transport = httpx2.ASGITransport(application, raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url=BASE)


@asynccontextmanager
async def watched(settings: Settings, **more: Any) -> AsyncGenerator[Watched]:
    chosen = make_settings(settings.data_dir, settings.keys_dir, metrics_token=TOKEN, **more)
    async with running(chosen) as application, _client(application) as client:
        found = Watched(client)
        async with asyncio.timeout(30):  # the first round
            while "negotiator_housekeeping_timestamp_seconds 0\n" in await found.scrape():
                await asyncio.sleep(0.02)
        yield found


@asynccontextmanager
async def parts(settings: Settings, **more: Any) -> AsyncGenerator[Application]:
    """An application without its tasks, whose first round of housekeeping is done."""
    application = build_application(make_settings(settings.data_dir, settings.keys_dir, **more))
    application.services.meters.open()
    await application.store.start()
    await application.housekeeping.run()
    try:
        yield application
    finally:
        await application.close()


async def text(application: Application) -> str:
    return (await application.metrics.text()).decode()


def test_every_alert_is_valid_and_has_a_test() -> None:
    done = promtool("check", "rules", str(ALERTS))
    assert done.returncode == 0, done.stdout + done.stderr
    source = Path(__file__).read_text()
    for rule in alert_rules():
        assert f'"{rule["alert"]}"' in source
        assert set(rule["annotations"]) == {"summary", "action"}
        assert rule["labels"]["severity"] in {"page", "ticket"}


@pytest.mark.asyncio
async def test_alerts_name_metrics_that_exist_and_the_text_is_what_prometheus_reads(settings: Settings) -> None:
    async with watched(settings, redis_url="unix:///nowhere") as service:
        await service.ask("/api/health")
        shown = await service.scrape()
    for rule in alert_rules():
        assert named_metrics(rule["expr"]) <= metric_names(shown), rule["alert"]
    assert 'check="redis"' in shown
    assert promtool("check", "metrics", text=shown).returncode == 0
    assert sorted(each.name for each in OBSERVABILITY.iterdir()) == ["alerts.yaml", "dashboard.json"]


@pytest.mark.asyncio
async def test_a_healthy_service_makes_no_alert(settings: Settings, tmp_path: Path) -> None:
    async with parts(settings) as application:
        before = await text(application)
        await asyncio.sleep(1)  # a round is told in whole seconds
        await application.housekeeping.run()
        assert firing(tmp_path, [before, await text(application)]) == set()


@pytest.mark.asyncio
async def test_a_service_that_is_gone(settings: Settings, tmp_path: Path) -> None:
    async with watched(settings) as service:
        before = await service.scrape()
    assert "NegotiatorDown" in firing(tmp_path, [before, ""])


@pytest.mark.asyncio
async def test_errors(settings: Settings, tmp_path: Path) -> None:
    async with watched(settings) as service:
        registered = (await service.client.post("/api/agent/register", json=BODY)).json()
        service.client.headers["authorization"] = f"Bearer {registered['access_token']}"
        assert await service.ask("/api/negotiations") == {200}
        before = await service.scrape()
        with sqlite3.connect(settings.data_dir / "negotiator.db") as database:
            database.execute("alter table negotiations rename to lost")
        database.close()
        assert await service.ask("/api/negotiations") == {500}
        assert "NegotiatorErrors" in firing(tmp_path, [before, await service.scrape()])


@asynccontextmanager
async def slow_database(settings: Settings) -> AsyncGenerator[None]:
    """Changes wait here, as for a disk that stalls or another process that writes long."""
    with (settings.data_dir / "negotiator.db.turn").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield


@pytest.mark.asyncio
async def test_slow_answers(settings: Settings, tmp_path: Path) -> None:
    async with watched(settings) as service:
        await service.ask("/api/health")
        before = await service.scrape()
        async with slow_database(settings):
            register = service.client.post("/api/agent/register", json=BODY)
            waiting = [asyncio.ensure_future(register)]
            await asyncio.sleep(1.1)
        assert [answer.status_code for answer in await asyncio.gather(*waiting)] == [201]
        assert "NegotiatorSlow" in firing(tmp_path, [before, await service.scrape()])


@pytest.mark.asyncio
async def test_overload(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "LONGEST_WAIT", 0.1)
    async with watched(settings) as service:
        before = await service.scrape()
        async with slow_database(settings):
            first = asyncio.ensure_future(service.client.post("/api/agent/register", json=BODY))
            await asyncio.sleep(0.5)
            refused = await service.client.post("/api/agent/register", json=BODY)
        assert (refused.status_code, (await first).status_code) == (503, 201)
        assert "NegotiatorOverload" in firing(tmp_path, [before, await service.scrape()])


@pytest.mark.asyncio
async def test_a_database_that_is_away(settings: Settings, tmp_path: Path) -> None:
    server = PostgresServer(tmp_path / "pg")
    try:
        server.start()
        url = server.create_database("alerts")
        await asyncio.to_thread(_migrate, url)
        async with watched(settings, database_url=url) as service:
            assert await service.ask("/api/health", 3) == {200}
            before = await service.scrape()
            server.shut_down()
            assert await service.ask("/api/health", 3) == {503}
            found = firing(tmp_path, [before, await service.scrape()])
    finally:
        server.stop()
    assert {"NegotiatorDatabaseAway", "NegotiatorErrors"} <= found


def _migrate(url: str) -> None:
    from negotiator.store.migrate import migrate

    asyncio.run(migrate(url))


@pytest.mark.asyncio
async def test_a_redis_that_is_away(settings: Settings, tmp_path: Path) -> None:
    with running_redis() as (url, process):
        async with watched(settings, redis_url=url) as service:
            await service.ask("/api/health")
            before = await service.scrape()
            process.kill()
            assert await service.ask("/api/health") == {200}
            found = firing(tmp_path, [before, await service.scrape()])
    assert "NegotiatorRedisAway" in found


class Fault(NamedTuple):
    """A fault of one part, made on an application without its tasks."""

    alert: str
    settings: dict[str, Any]
    make: Callable[[Application, pytest.MonkeyPatch], Awaitable[None]]


async def mails_wait(application: Application, _patch: pytest.MonkeyPatch) -> None:
    mails = application.services.mails
    for number in range(8):
        address = f"user{number}@example.com"
        await application.store.write(lambda tx, to=address: mails.add(tx, to, "subject", "text", life=3_600_000))
    await mails.send_due()


async def another_holds_the_lease(application: Application, _patch: pytest.MonkeyPatch) -> None:
    """It holds it and does nothing, as a process that hangs in the middle of a round."""
    now = await application.store.clock() + 3_600_000
    holder = "proc_that_hangs"
    await application.store.write(
        lambda tx: atomic_updates.take_lease(tx, JOB, holder, now=now, life=-3_600_000 + 60_000)
    )
    await application.housekeeping.run()


async def the_disk_is_full(application: Application, patch: pytest.MonkeyPatch) -> None:
    del application

    class Space(NamedTuple):
        f_blocks: int = 1_000_000
        f_frsize: int = 4096
        f_bavail: int = 30_000

    patch.setattr(os, "statvfs", lambda _path: Space())  # pyright: ignore[reportUnknownLambdaType,reportUnknownArgumentType]


async def the_database_has_another_time(application: Application, patch: pytest.MonkeyPatch) -> None:
    clock = application.store.clock

    async def ahead() -> int:
        return await clock() + 30_000

    patch.setattr(application.store, "clock", ahead)
    await application.housekeeping.run()


async def the_advisor_is_asked(application: Application, _patch: pytest.MonkeyPatch) -> None:
    for component in application.components:
        for task in component.periodic_tasks:
            await task()


NOWHERE = "http://127.0.0.1:9/v1"
FAULTS = {
    "mails": Fault("NegotiatorMailsWaiting", {"smtp_url": "smtp://127.0.0.1:9"}, mails_wait),
    "housekeeping": Fault("NegotiatorHousekeepingStuck", {}, another_holds_the_lease),
    "disk": Fault("NegotiatorDiskAlmostFull", {}, the_disk_is_full),
    "clock": Fault("NegotiatorClockSkew", {}, the_database_has_another_time),
    "advisor": Fault("NegotiatorPartFailing", {"advisor_url": NOWHERE, "advisor_model": "m"}, the_advisor_is_asked),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_of_one_part(
    name: str, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = FAULTS[name]
    async with parts(settings, **fault.settings) as application:
        before = await text(application)
        await fault.make(application, monkeypatch)
        found = firing(tmp_path, [before, await text(application)])
    # No test lasts until the next round, so a round is always missing; only one test is about that.
    assert found - {"NegotiatorHousekeepingStuck"} == {fault.alert} - {"NegotiatorHousekeepingStuck"}
    assert fault.alert in found


def test_workers_that_end_again_and_again(tmp_path: Path) -> None:
    private = f"127.0.0.1:{free_port()}"
    server = Server(tmp_path, workers=2, settings={"metrics_listen": private})
    server.start()
    try:
        texts = [_alive(private, set())]
        for _ in range(3):
            assert server.process is not None
            worker = psutil.Process(server.process.pid).children(recursive=True)[-1]
            before = _starts(texts[-1])
            os.kill(worker.pid, signal.SIGKILL)
            texts.append(_alive(private, before))
    finally:
        server.stop()
    assert "NegotiatorWorkerRestarts" in firing(tmp_path, texts, minutes=12)


def _starts(shown: str) -> set[str]:
    """The lines that tell when the workers began."""
    return {line for line in shown.splitlines() if line.startswith("process_start_time_seconds{")}


def _alive(address: str, before: set[str]) -> str:
    """The metrics as soon as both workers are alive and one has begun that was not there before."""
    shown = ""

    def looks_well() -> bool:
        nonlocal shown
        try:
            shown = httpx2.get(f"http://{address}/metrics", timeout=5).text
        except httpx2.TransportError:
            return False
        return "negotiator_workers 2\n" in shown and _starts(shown) != before

    time.sleep(1)  # a start is told in whole seconds
    wait_for(looks_well)
    return shown
