"""Health when a needed part is down."""

import sqlite3
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette

from negotiator.config.settings import Settings
from negotiator.discovery import health_routes
from negotiator.store import sqlite
from negotiator.store.store import make_store
from negotiator.store.waiting import Batch
from tests.helpers.answer_checks import limited


@pytest.mark.asyncio
async def test_health_is_503_while_the_database_does_not_answer(
    application: Starlette, client: httpx2.AsyncClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    del application

    async def broken(_store: Any, _unit: Any) -> Any:
        raise OSError("the disk is gone")

    monkeypatch.setattr(type(make_store(settings.database_url)), "read", broken)
    answer = await client.get("/api/health")
    assert answer.status_code == 503
    assert answer.json()["status"] == "down"
    assert answer.json()["checks"]["database"] == "down"
    assert int(answer.headers["retry-after"]) >= 1
    assert "disk" not in answer.text
    limited(answer)


@pytest.mark.asyncio
async def test_health_and_readiness_say_so_while_nothing_can_be_written(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health_routes, "_LIFE", 0.0)
    agent = {"agent_name": "walker", "identity_type": "anonymous"}

    def fail(_connection: sqlite3.Connection, _batch: Batch) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    async def said() -> tuple[str, str, str]:
        health, ready = await client.get("/api/health"), await client.get("/readyz")
        assert health.status_code == ready.status_code == 200, "what reads is served"
        return health.json()["status"], health.json()["checks"]["database"], ready.json()["status"]

    with monkeypatch.context() as full:
        full.setattr(sqlite, "_commit", fail)
        assert (await client.post("/api/agent/register", json=agent)).status_code == 503
        assert await said() == ("read_only", "failing: takes no changes", "read_only")
    assert (await client.post("/api/agent/register", json=agent)).status_code == 201
    assert await said() == ("ok", "ok", "ready")
