"""`GET /api/health`: whether the service can use its database, for monitors and load balancers.

`GET /livez` and `GET /readyz`: whether the process runs, and whether it may take traffic. Both are asked by proxies and
orchestrators many times a minute. They have no budget, wait in no queue and read no credential.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from sqlalchemy import literal, select
from typing_extensions import TypedDict

from negotiator.base.errors import Unavailable
from negotiator.http.operation import Call, Operation
from negotiator.store.migrate import has_usable_schema
from negotiator.store.statement import Query
from negotiator.store.store import Store

HEALTH_PATH: Final = "/api/health"
HEALTH_BUDGET: Final = "health"
"""A budget of their own, so that monitors and clients do not use up each other's calls."""

_PATIENCE: Final = 1.5
"""Seconds for which an answer waits for the database, so that it comes within two."""
_PROBE = Query(select(literal(1)), lambda row: int(row[0]))


HealthCheck = Callable[[], str]
"""Returns the state of a part in one word, with a detail where there is one."""


class HealthView(TypedDict):
    """`status` is `ok`, `read_only` while the database takes no changes, or `down` when a needed part is.

    `checks` has one word for each part. One that is `lesser` works with reduced quality; `status` is `ok` all the same.
    """

    status: str
    version: str
    services: list[str]
    checks: dict[str, str]


@dataclass(frozen=True, slots=True)
class HealthEndpoint:
    """`checks` are the health checks of the parts; each answers at once, without I/O."""

    store: Store
    version: str
    services: tuple[str, ...]
    checks: Mapping[str, HealthCheck]

    def operations(self) -> list[Operation]:
        return [
            Operation(
                name="get_health",
                method="GET",
                path=HEALTH_PATH,
                urgent=True,
                summary="Tell whether the service is well",
                run=self.get,
                output=HealthView,
                access="public",
                budget=lambda _: HEALTH_BUDGET,
                refusals=(503,),
                tag="health",
            )
        ]

    async def get(self, _call: Call[Any]) -> HealthView:
        """200 if the database answers, also where it takes no changes; else 503 with `status` `down`."""
        database = await self._database()
        view: HealthView = {
            "status": {"ok": "ok", "down": "down"}.get(database, "read_only"),
            "version": self.version,
            "services": list(self.services),
            "checks": {"database": database, **{name: check() for name, check in self.checks.items()}},
        }
        if database == "down":
            raise Unavailable("A part that is needed is down.", members={**view})
        return view

    async def _database(self) -> str:
        faults = self.store.faults
        read = asyncio.ensure_future(self.store.read(lambda tx: tx.one(_PROBE)))
        read.add_done_callback(lambda task: task.cancelled() or task.exception())  # is retrieved
        try:
            # Not `asyncio.timeout`, which would also wait until the cancelled read has closed its connection.
            done, _ = await asyncio.wait({read}, timeout=_PATIENCE)
        finally:
            read.cancel()
        try:
            if not done:
                raise TimeoutError(f"no answer within {_PATIENCE} s")
            read.result()
        except Unavailable:  # the store has logged that, or it is overload
            return "down"
        except Exception as fault:  # any error means that the database is down
            faults.failed(str(fault))
            return "down"
        faults.worked()
        return database_state(self.store)


def database_state(store: Store) -> str:
    """What the last read and the last change of the database came to."""
    if store.faults.error:
        return "down"
    return "failing: takes no changes" if store.write_faults.error else "ok"


LIVE_PATH: Final = "/livez"
READY_PATH: Final = "/readyz"

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
