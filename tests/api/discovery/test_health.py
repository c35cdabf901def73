"""Health when a needed part is down."""

from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette

from negotiator.settings import Settings
from negotiator.store.store import make_store
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
