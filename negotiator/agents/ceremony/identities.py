"""What an agent of auth.md's newer generation is given: an assertion of who it is here, and what renews it.

The assertion is a row like any token, so all that ends tokens ends it; it opens nothing by itself and is exchanged at
the token endpoint. What renews it is a refresh token like any client's: rotated, and a second use ends all of it.
"""

from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import bindparam
from sqlmodel import col, select

from negotiator import values
from negotiator.agents.tables import Delegation
from negotiator.errors import InvalidRequest, Refusal
from negotiator.store.statement import Query, Transaction
from negotiator.tokens.credentials import IDENTITY, Credentials, Issued, Subject
from negotiator.tokens.flow import authorizations
from negotiator.tokens.flow.refreshing import NewRefreshToken, Refreshing

_CODE = Query(
    select(Delegation.id).where(col(Delegation.agent_id) == bindparam("agent")).limit(1),
    lambda row: str(row[0]),
)


@dataclass(frozen=True, slots=True)
class Identities:
    """Gives and renews them; `life` of an assertion in seconds."""

    credentials: Credentials
    refreshing: Refreshing
    life: int

    def open(
        self, tx: Transaction, subject: Subject, scopes: list[str], renewal: NewRefreshToken
    ) -> dict[str, Any]:
        """The first identity of an agent that a user has just bound, as the member of an answer."""
        return self.view(self._record(tx, subject, scopes), renewal)

    def renew(
        self, tx: Transaction, text: str, *, key: str | None
    ) -> tuple[Issued, dict[str, Any]]:
        """The next identity for this refresh token; 400 `invalid_refresh_token` for anything wrong with it."""
        found = self.refreshing.find(tx, text)
        agent_id = found[1].client_id if found else ""
        if not agent_id.startswith("agt_"):
            raise _refuse(authorizations.refuse("The refresh token is not valid."))
        try:
            grant, following = self.refreshing.rotate(tx, text, client_id=agent_id, key=key)
        except InvalidRequest as refused:
            raise _refuse(refused) from None
        subject = replace(authorizations.subject(grant), key=key)
        made = self._record(tx, subject, grant.scope.split())
        return made, self.view(made, following)

    def view(self, made: Issued, renewal: NewRefreshToken | None = None) -> dict[str, Any]:
        """The `identity` member of an answer."""
        until = values.timestamp((made.issued_at // 1000 + made.life) * 1000)
        shown: dict[str, Any] = {"assertion": made.text, "expires_at": until}
        if renewal:
            ends = values.timestamp(renewal.expires_at)
            shown["refresh_token"] = {"value": renewal.text, "expires_at": ends}
        return shown

    def _record(self, tx: Transaction, subject: Subject, scopes: list[str]) -> Issued:
        made = self.credentials.make(subject, scopes, life=self.life, typ=IDENTITY)
        self.credentials.record(tx, made)
        return made


def has_code(tx: Transaction, agent_id: str) -> bool:
    """Whether a user has ever made a code for this very agent."""
    return tx.one(_CODE, agent=agent_id) is not None


def _refuse(refused: InvalidRequest) -> Refusal:
    return InvalidRequest(
        refused.description, error="invalid_refresh_token", remember=refused.remember
    )
