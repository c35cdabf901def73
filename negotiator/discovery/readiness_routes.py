"""`GET /livez` and `GET /readyz`: whether the process runs, and whether it may take traffic.

Both are asked by proxies and orchestrators many times a minute. They have no budget, wait in no queue and read no
credential.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from typing_extensions import TypedDict

from negotiator.base.errors import Unavailable
from negotiator.http.operation import Call, Operation
from negotiator.store.migrate import has_usable_schema
from negotiator.store.store import Store

LIVE_PATH: Final = "/livez"
READY_PATH: Final = "/readyz"

_PATIENCE: Final = 1.5
"""Seconds for which an answer waits for the database."""
_LIFE: Final = 1.0
"""Seconds for which one look at the database answers all who ask, so that asking costs the database next to nothing."""

Condition = Literal["ready", "read_only", "stopping", "database", "schema"]


class LivenessView(TypedDict):
    """The process runs."""

    status: Literal["ok"]


class ReadinessView(TypedDict):
    """`status` is `ready`, or `read_only` while the database takes no changes: what reads is answered as ever.

    Otherwise it says why no traffic should come: `stopping`, or what cannot be used: `database`, `schema`.
    """

    status: Condition


@dataclass(slots=True)
class ReadinessEndpoints:
    """`is_stopping` tells whether the process will stop soon."""

    store: Store
    is_stopping: Callable[[], bool]
    _look: "asyncio.Task[Condition] | None" = field(default=None, init=False)
    _fresh_until: float = field(default=0.0, init=False)

    def operations(self) -> list[Operation]:
        return [
            Operation(
                name="get_liveness",
                method="GET",
                path=LIVE_PATH,
                probe=True,
                summary="Tell that the process runs",
                run=self.get_liveness,
                output=LivenessView,
                access="open",
                tag="health",
            ),
            Operation(
                name="get_readiness",
                method="GET",
                path=READY_PATH,
                probe=True,
                summary="Tell whether the process may take traffic",
                run=self.get_readiness,
                output=ReadinessView,
                access="open",
                refusals=(503,),
                tag="health",
            ),
        ]

    async def get_liveness(self, _call: Call[Any]) -> LivenessView:
        """Touches nothing, so that a process is not ended for what is wrong elsewhere."""
        return {"status": "ok"}

    async def get_readiness(self, _call: Call[Any]) -> ReadinessView:
        """200 with `ready` or `read_only`; else 503 with the reason, from the announcement of the end on."""
        condition = "stopping" if self.is_stopping() else await self._condition()
        if condition not in {"ready", "read_only"}:
            raise Unavailable("This process should get no traffic now.", retry_after=1, members={"status": condition})
        return {"status": condition}

    async def _condition(self) -> Condition:
        if self._look is None or (self._look.done() and time.monotonic() >= self._fresh_until):
            self._look = asyncio.create_task(self._look_at_database())
        done, _ = await asyncio.wait({self._look}, timeout=_PATIENCE)
        return self._look.result() if done else "database"

    async def _look_at_database(self) -> Condition:
        try:
            usable = await self.store.read(has_usable_schema)
        except Exception:  # any error means that the database cannot be used; the store logs it
            return "database"
        finally:
            self._fresh_until = time.monotonic() + _LIFE
        if not usable:
            return "schema"
        return "read_only" if self.store.write_faults.error else "ready"
