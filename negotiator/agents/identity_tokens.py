"""Claim tokens: what an agent that nobody claimed yet proves itself by, until a user has bound it.

The text says which agent and until when, under a keyed digest: it needs no row, and being claimed ends it.

What an agent of auth.md's newer generation is given: an assertion of who it is here, and what renews it.

The assertion is a row like any token, so all that ends tokens ends it; it opens nothing by itself and is exchanged at
the token endpoint. What renews it is a refresh token like any client's: rotated, and a second use ends all of it.
"""

import re
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import bindparam
from sqlmodel import col, select

from negotiator import values
from negotiator.agents.tables import Delegation
from negotiator.errors import InvalidRequest, Refusal
from negotiator.store.statement import Query, Transaction
from negotiator.tokens import authorization_codes
from negotiator.tokens.access_tokens import (
    IDENTITY_ASSERTION_TYPE,
    AccessTokens,
    IssuedToken,
    TokenSubject,
)
from negotiator.tokens.refresh_tokens import NewRefreshToken, RefreshTokens

CLAIM_TOKEN_PREFIX: Final = "clm_"  # noqa: S105  a prefix, no secret
CLAIM_TOKEN_LIFE: Final = 86_400
_FORM = re.compile(r"(clm_([0-9a-z]{26})_([0-9]{10,13}))_([0-9a-f]{43})")


def make_claim_token(pepper: bytes, agent_id: str, *, now: int) -> tuple[str, int]:
    """A claim token of this agent, and when it ends (milliseconds)."""
    until = now + CLAIM_TOKEN_LIFE * 1000
    body = f"{CLAIM_TOKEN_PREFIX}{agent_id.partition('_')[2]}_{until}"
    return f"{body}_{_sum(pepper, body)}", until


def read_claim_token(pepper: bytes, text: str) -> tuple[str, int] | None:
    """The agent and the end of a claim token that we made; None for everything else."""
    found = _FORM.fullmatch(text)
    if found is None or not values.equal_in_constant_time(found[4], _sum(pepper, found[1])):
        return None
    return f"agt_{found[2]}", int(found[3])


def _sum(pepper: bytes, body: str) -> str:
    return values.keyed_digest(pepper, f"claim-token:{body}")[:43]


_CODE = Query(
    select(Delegation.id).where(col(Delegation.agent_id) == bindparam("agent")).limit(1),
    lambda row: str(row[0]),
)


@dataclass(frozen=True, slots=True)
class AgentIdentityTokens:
    """Gives and renews them; `life` of an assertion in seconds."""

    credentials: AccessTokens
    refreshing: RefreshTokens
    life: int

    def open(
        self, tx: Transaction, subject: TokenSubject, scopes: list[str], renewal: NewRefreshToken
    ) -> dict[str, Any]:
        """The first identity of an agent that a user has just bound, as the member of an answer."""
        return self.view(self._record(tx, subject, scopes), renewal)

    def renew(
        self, tx: Transaction, text: str, *, key: str | None
    ) -> tuple[IssuedToken, dict[str, Any]]:
        """The next identity for this refresh token; 400 `invalid_refresh_token` for anything wrong with it."""
        found = self.refreshing.find(tx, text)
        agent_id = found[1].client_id if found else ""
        if not agent_id.startswith("agt_"):
            raise _refuse(
                authorization_codes.invalid_grant_refusal("The refresh token is not valid.")
            )
        try:
            grant, following = self.refreshing.rotate(tx, text, client_id=agent_id, key=key)
        except InvalidRequest as refused:
            raise _refuse(refused) from None
        subject = replace(authorization_codes.subject(grant), key=key)
        made = self._record(tx, subject, grant.scope.split())
        return made, self.view(made, following)

    def view(self, made: IssuedToken, renewal: NewRefreshToken | None = None) -> dict[str, Any]:
        """The `identity` member of an answer."""
        until = values.timestamp((made.issued_at // 1000 + made.life) * 1000)
        shown: dict[str, Any] = {"assertion": made.text, "expires_at": until}
        if renewal:
            ends = values.timestamp(renewal.expires_at)
            shown["refresh_token"] = {"value": renewal.text, "expires_at": ends}
        return shown

    def _record(self, tx: Transaction, subject: TokenSubject, scopes: list[str]) -> IssuedToken:
        made = self.credentials.make(subject, scopes, life=self.life, typ=IDENTITY_ASSERTION_TYPE)
        self.credentials.record(tx, made)
        return made


def has_code(tx: Transaction, agent_id: str) -> bool:
    """Whether a user has ever made a code for this very agent."""
    return tx.one(_CODE, agent=agent_id) is not None


def _refuse(refused: InvalidRequest) -> Refusal:
    return InvalidRequest(
        refused.description, error="invalid_refresh_token", remember=refused.remember
    )
