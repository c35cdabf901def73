"""`GET /api/health`: whether the service can read its database, for monitors and load balancers."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import literal, select
from typing_extensions import TypedDict

from negotiator.edge.operation import Call, Operation
from negotiator.store.statement import Query
from negotiator.store.store import Store

_PROBE = Query(select(literal(1)), lambda row: int(row[0]))


class HealthView(TypedDict):
    """`status` is `ok`, or the request fails."""

    status: str
    version: str
    services: list[str]


@dataclass(frozen=True, slots=True)
class Health:
    """Answers for the process."""

    store: Store
    version: str
    services: tuple[str, ...]

    def operations(self) -> list[Operation]:
        """What this slice offers."""
        return [
            Operation(
                name="get_health",
                method="GET",
                path="/api/health",
                summary="Tell whether the service is well",
                run=self.get,
                output=HealthView,
                access="public",
                tag="health",
            )
        ]

    async def get(self, _call: Call[Any]) -> HealthView:
        """Well, if the database answers."""
        await self.store.read(lambda tx: tx.one(_PROBE))
        return {
            "status": "ok",
            "version": self.version,
            "services": list(self.services),
        }
