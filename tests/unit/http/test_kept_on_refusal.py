"""What must survive a refusal is kept first; where it cannot be, the refusal is a 503 and never a crash."""

import dataclasses
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from negotiator.base.errors import InvalidRequest, Unavailable
from negotiator.compose.application import build_application
from negotiator.config.settings import Settings
from negotiator.http.endpoint import Endpoint
from negotiator.http.operation import Call, Operation
from negotiator.store.statement import Transaction


class Memory:
    """A store that can only write, and does, or fails as it was told."""

    def __init__(self, fault: Exception | None) -> None:
        self.fault = fault
        self.kept = 0

    async def write(self, unit: Callable[[Transaction], Any]) -> Any:
        del unit
        if self.fault:
            raise self.fault
        self.kept += 1


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("fault", "status", "kept"), [(None, 400, 1), (Unavailable("busy"), 503, 0), (RuntimeError("broken"), 500, 0)]
)
async def test_a_refusal_waits_for_what_it_leaves_behind(
    settings: Settings, fault: Exception | None, status: int, kept: int
) -> None:
    async def run(_call: Call[Any]) -> None:
        raise InvalidRequest("No.", remember=lambda _tx: None)

    memory: Any = Memory(fault)
    door = dataclasses.replace(build_application(settings).pipeline, store=memory)
    operation = Operation(name="x", method="GET", path="/x", summary="x", run=run, access="open")
    transport = httpx2.ASGITransport(Endpoint(operation, door))
    async with httpx2.AsyncClient(transport=transport, base_url="https://x.example") as client:
        answer = await client.get("/x")
    await door.limits.close()
    assert answer.status_code == status
    assert "broken" not in answer.text
    assert memory.kept == kept
