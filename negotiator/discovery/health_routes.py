"""`GET /api/health`: whether the service can use its database, for monitors and load balancers."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import literal, select
from typing_extensions import TypedDict

from negotiator.base.errors import Unavailable
from negotiator.http.operation import Call, Operation
from negotiator.store.statement import Query
from negotiator.store.store import Store

HEALTH_PATH: Final = "/api/health"
HEALTH_BUDGET: Final = "health"
"""A budget of their own, so that monitors and clients do not use up each other's calls."""

_PATIENCE: Final = 1.5
"""Seconds for which a check waits for the database, so that it answers within two."""
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
