"""Claim tokens and identity assertions of agents that use auth.md's newer versions.

An unclaimed agent authenticates with its claim token. The token has the agent's id and its own end under a keyed
digest, so it needs no row; it ends when a user binds the agent.

An identity assertion is exchanged for access tokens at the token endpoint and gives no access by itself. It is stored
like an access token, so everything that ends tokens ends it. A refresh token renews it, as with any client
(`tokens.refresh_tokens`).
"""

import re
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import bindparam
from sqlmodel import col, select

from negotiator.agents.tables import Delegation
from negotiator.base import values
from negotiator.base.errors import InvalidRequest, Refusal
from negotiator.store.statement import Query, Transaction
from negotiator.tokens import authorization_codes
from negotiator.tokens.access_tokens import IDENTITY_ASSERTION_TYPE, AccessTokens, NewToken, TokenSubject
from negotiator.tokens.refresh_tokens import NewRefreshToken, RefreshTokens

CLAIM_TOKEN_PREFIX: Final = "clm_"  # noqa: S105  a prefix, no secret
CLAIM_TOKEN_LIFE: Final = 86_400
_FORM = re.compile(r"(clm_([0-9a-z]{26})_([0-9]{10,13}))_([0-9a-f]{43})")


def make_claim_token(pepper: bytes, agent_id: str, *, now: int) -> tuple[str, int]:
    """Return a claim token for this agent, and when it ends. Times are milliseconds."""
    until = now + CLAIM_TOKEN_LIFE * 1000
    body = f"{CLAIM_TOKEN_PREFIX}{agent_id.partition('_')[2]}_{until}"
    return f"{body}_{_sum(pepper, body)}", until


def read_claim_token(pepper: bytes, text: str) -> tuple[str, int] | None:
    """Return the agent's id and the end (milliseconds) of a valid claim token, also an expired one; else None."""
    found = _FORM.fullmatch(text)
    if found is None or not values.equal_in_constant_time(found[4], _sum(pepper, found[1])):
        return None
    return f"agt_{found[2]}", int(found[3])


def _sum(pepper: bytes, body: str) -> str:
    return values.keyed_digest(pepper, f"claim-token:{body}")[:43]


_CODE = Query(
    select(Delegation.id).where(col(Delegation.agent_id) == bindparam("agent")).limit(1), lambda row: str(row[0])
)


@dataclass(frozen=True, slots=True)
class AgentIdentityTokens:
    """Issues and renews identity assertions; `life` is their lifetime in seconds."""

    credentials: AccessTokens
    refreshing: RefreshTokens
    life: int

    def open(self, tx: Transaction, subject: TokenSubject, scopes: list[str]) -> NewToken:
        """Store the identity assertion of an agent that a user has just bound."""
        made = self.credentials.make(subject, scopes, life=self.life, typ=IDENTITY_ASSERTION_TYPE)
        self.credentials.record(tx, made)
        return made

    def renew(self, tx: Transaction, text: str, *, key: str | None, sender: str) -> tuple[NewToken, NewRefreshToken]:
        """Store the next assertion for a refresh token; returns it and the next refresh token.

        Raises 400 `invalid_refresh_token` when the refresh token is not valid.
        """
        found = self.refreshing.find(tx, text)
        agent_id = found[1].client_id if found else ""
        if not agent_id.startswith("agt_"):
            raise _refuse(authorization_codes.invalid_grant_refusal("The refresh token is not valid."))
        try:
            grant, following = self.refreshing.rotate(tx, text, client_id=agent_id, key=key, sender=sender)
        except InvalidRequest as refused:
            raise _refuse(refused) from None
        subject = replace(authorization_codes.subject(grant), key=key)
        return self.open(tx, subject, grant.scope.split()), following

    def view(self, made: NewToken, renewal: NewRefreshToken | None = None) -> dict[str, Any]:
        """Return the `identity` member of an answer, with the text of the stored assertion."""
        until = values.timestamp((made.issued_at // 1000 + made.life) * 1000)
        shown: dict[str, Any] = {"assertion": self.credentials.issue(made).text, "expires_at": until}
        if renewal:
            ends = values.timestamp(renewal.expires_at)
            shown["refresh_token"] = {"value": renewal.text, "expires_at": ends}
        return shown


def has_code(tx: Transaction, agent_id: str) -> bool:
    """Whether a user has created a delegation code that only this agent can redeem."""
    return tx.one(_CODE, agent=agent_id) is not None


def _refuse(refused: InvalidRequest) -> Refusal:
    return InvalidRequest(refused.description, error="invalid_refresh_token", remember=refused.remember)
