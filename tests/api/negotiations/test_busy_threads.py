"""Advice while all threads for it are busy."""

import asyncio
import threading

import pytest

from negotiator.runtime import thread_pools
from tests.contract.requirements import covers
from tests.helpers.answer_checks import refused
from tests.helpers.negotiation_client import NegotiationClient, negotiation_body


@pytest.mark.asyncio
@covers("1.13:health-threads")
async def test_advice_that_finds_no_thread_is_refused_and_health_names_the_pool(
    negotiation_client: NegotiationClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool, gate = thread_pools.ThreadPool("advice", 1), threading.Event()
    monkeypatch.setattr(thread_pools, "ADVICE", pool)
    monkeypatch.setattr(thread_pools, "POOLS", (pool,))
    monkeypatch.setattr(thread_pools, "PATIENCE", 0.02)
    caller = negotiation_client.client
    assert (await caller.get("/api/health")).json()["checks"]["threads"] == "ok"
    hanging = asyncio.create_task(pool.run_unhurried(gate.wait))
    await asyncio.sleep(0)
    try:
        answer = await negotiation_client.post("/negotiations/check", negotiation_body())
        health = await caller.get("/api/health")
        memories = await caller.get("/api/memories", headers=negotiation_client.headers)
    finally:
        gate.set()
        await hanging
    refused(answer, 503, "temporarily_unavailable")
    assert int(answer.headers["retry-after"]) >= 1
    assert (health.status_code, health.json()["status"]) == (200, "ok")
    assert health.json()["checks"]["threads"] == "lesser: no free thread for advice"
    assert memories.status_code == 200
