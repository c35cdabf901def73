"""Whom a user let in by consent, as the Agents page lists and ends them."""

from collections.abc import Sequence
from dataclasses import dataclass

from negotiator.console.agents.overview import Connection
from negotiator.store.statement import Transaction
from negotiator.tokens import held
from negotiator.tokens.flow import consents


@dataclass(frozen=True, slots=True)
class LetIn:
    """The clients with a consent; a connection's id is the client's."""

    def of_user(self, tx: Transaction, user_id: str) -> Sequence[Connection]:
        """A user's connections, newest first."""
        found = consents.of_user(tx, user_id)
        used = held.last_issued(tx, user_id) if found else {}
        return [
            Connection(
                each.client_id,
                each.client_name,
                each.place,
                tuple(each.scope.split()),
                each.granted_at,
                used.get(each.client_id),
            )
            for each in found
        ]

    def revoke(self, tx: Transaction, connection_id: str, *, user_id: str) -> bool:
        """End one, with every code and token it stands behind; False when it is not his."""
        return consents.withdraw(tx, user_id, connection_id, actor=user_id)
