"""The names of the agents and clients that work or worked for a user, for pages that say who did something."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, select
from sqlmodel import col

from negotiator.agents.tables import Agent
from negotiator.base.schema import NoInput
from negotiator.http.operation import Call, Operation
from negotiator.store.statement import Query, Transaction
from negotiator.store.store import Store
from negotiator.tokens import consent_queries

_NAMES = Query(select(col(Agent.id), col(Agent.name)).where(col(Agent.user_id) == bindparam("user")), tuple)


@dataclass(frozen=True, slots=True)
class AgentNames:
    """Offers the names to pages; the operation has no address."""

    store: Store

    def operations(self) -> list[Operation]:
        return [
            Operation(
                name="name_agents",
                method="GET",
                path="",
                summary="The names of the user's agents, ended ones too, and of connected clients, by id",
                run=self.name,
            )
        ]

    async def name(self, call: Call[NoInput]) -> Mapping[str, Any]:
        user = call.caller.user_id or ""

        def unit(tx: Transaction) -> dict[str, str]:
            clients = {one.client_id: one.client_name for one in consent_queries.of_user(tx, user)}
            return clients | dict(tx.all(_NAMES, user=user))

        return {"names": await self.store.scan(unit)}
