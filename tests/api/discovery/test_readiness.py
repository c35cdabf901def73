"""`/livez` and `/readyz`: what they answer, what they cost, and what they do not wait for."""

from typing import Any

import httpx2
import pytest
from sqlalchemy import update

from negotiator.config.settings import Settings
from negotiator.runtime import stopping
from negotiator.store.migrate import SchemaFloor, has_usable_schema
from negotiator.store.statement import Statement
from negotiator.store.store import make_store
from tests.conftest import Change
from tests.contract.requirements import covers

LIVE, READY = "/livez", "/readyz"


async def _status(client: httpx2.AsyncClient) -> tuple[int, str]:
    answer = await client.get(READY)
    return answer.status_code, answer.json()["status"]


@pytest.mark.asyncio
@covers("1.13:live", "1.13:ready")
async def test_a_running_process_lives_and_is_ready(client: httpx2.AsyncClient) -> None:
    live, ready = await client.get(LIVE), await client.get(READY)
    assert (live.status_code, live.json()) == (200, {"status": "ok"})
    assert (ready.status_code, ready.json()) == (200, {"status": "ready"})
    for answer in (live, ready):
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["cache-control"] == "no-store"


@pytest.mark.asyncio
@covers("1.13:ready")
async def test_a_process_that_will_stop_lives_and_is_not_ready(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stopping, "_is_announced", False)
    stopping.announce()
    answer = await client.get(READY)
    assert (answer.status_code, answer.json()["status"]) == (503, "stopping")
    assert answer.json().keys() == {"status", "error", "error_description", "request_id"}
    assert (await client.get(LIVE)).status_code == 200
    assert (await client.get("/api/health")).status_code == 200, "requests are still served"


@pytest.mark.asyncio
@covers("1.13:live", "1.13:ready")
async def test_a_process_without_its_database_lives_and_is_not_ready(
    client: httpx2.AsyncClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(_store: Any, _unit: Any) -> Any:
        raise OSError("the disk is gone")

    monkeypatch.setattr(type(make_store(settings.database_url)), "read", broken)
    answer = await client.get(READY)
    assert (answer.status_code, answer.json()["status"]) == (503, "database")
    assert "disk" not in answer.text
    assert (await client.get(LIVE)).status_code == 200


@pytest.mark.asyncio
@pytest.mark.parametrize(("oldest", "found"), [("0000", (200, "ready")), ("9999", (503, "schema"))])
@covers("1.13:ready")
async def test_readiness_needs_a_schema_that_this_release_can_use(
    client: httpx2.AsyncClient, change: Change, oldest: str, found: tuple[int, str]
) -> None:
    floor = Statement(update(SchemaFloor).values(oldest=oldest))
    await change(lambda tx: tx.run(floor))
    assert await _status(client) == found


@pytest.mark.asyncio
@covers("1.13:probes-free")
async def test_probes_have_no_budget_and_share_a_look_at_the_database(
    client: httpx2.AsyncClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind: Any = type(make_store(settings.database_url))
    looks, read = 0, kind.read

    async def counted(store: Any, unit: Any) -> Any:
        nonlocal looks
        looks += unit is has_usable_schema
        return await read(store, unit)

    monkeypatch.setattr(kind, "read", counted)
    monkeypatch.setattr("negotiator.discovery.health_routes._LIFE", 3600)
    for path in (LIVE, READY):
        for _ in range(700):
            answer = await client.get(path, headers={"authorization": "Bearer nobody's"})
            assert answer.status_code == 200
            assert not [name for name in answer.headers if "ratelimit" in name]
    assert looks == 1
