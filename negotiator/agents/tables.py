"""Tables of agents, of what they called last, and of the delegation codes that bind them to users."""

from typing import Literal

from sqlalchemy import BigInteger
from sqlmodel import Field

from negotiator.store.model import TableModel, table_options

AgentService = Literal["assistant", "directory"]


class Agent(TableModel, table=True):
    """A program that registered at one of the services. Each service uses some of the columns; times are milliseconds.

    An agent of the assistant is unclaimed while `user_id` is empty. `claim_attempts` counts the delegation codes that
    it tried. `seen_at` is when a claimed agent last used its token, to the minute. An agent of the directory has
    `scope`, `identity_value`, which is proven only when a row of `IdentityProof` exists, and `vetted_at` if the
    operator trusts it. At `expires_at` an agent is deleted with everything it owns: an unclaimed agent after its
    retention time, an agent of the directory some time after its end.
    """

    __tablename__ = "agents"
    __table_args__ = table_options(
        sqlite_with_rowid=False,
        kept="agents.registration deletes an agent at `expires_at` and reports it in the audit trail",
    )

    id: str = Field(primary_key=True)
    service: str
    name: str
    identity_type: str
    identity_value: str = ""
    contact_email: str | None = None
    scope: str = ""
    user_id: str | None = Field(default=None, index=True)
    issuer: str | None = None
    claim_attempts: int = 0
    created_at: int = Field(sa_type=BigInteger)
    claimed_at: int | None = Field(default=None, sa_type=BigInteger)
    vetted_at: int | None = Field(default=None, sa_type=BigInteger)
    expires_at: int | None = Field(default=None, sa_type=BigInteger, index=True)
    revoked_at: int | None = Field(default=None, sa_type=BigInteger)
    seen_at: int | None = Field(default=None, sa_type=BigInteger)


class AgentCall(TableModel, table=True):
    """Calls of an agent that acts for a user and that differ only in time: how often, and when last (milliseconds).

    `subject` is the id that they were about, `error` the word of their refusal (empty: they succeeded), `description`
    its sentence and `needs` the scopes that were missing, space-delimited.
    """

    __tablename__ = "agent_calls"
    __table_args__ = table_options(sqlite_with_rowid=False, part_of={"agent": "agents"})

    agent: str = Field(primary_key=True)
    operation: str = Field(primary_key=True)
    subject: str = Field(primary_key=True)
    error: str = Field(primary_key=True)
    at: int = Field(sa_type=BigInteger)
    count: int
    description: str
    needs: str


class Delegation(TableModel, table=True):
    """A delegation code, stored only as a keyed digest. With `agent_id`, only that agent can redeem it."""

    __tablename__ = "delegations"
    __table_args__ = table_options(
        part_of={"user_id": "users"}, kept="the user sees every code they made and the agent that it bound"
    )

    id: str = Field(primary_key=True)
    digest: str = Field(unique=True)
    user_id: str = Field(index=True, foreign_key="users.id")
    agent_id: str | None = Field(index=True)
    label: str
    scope: str
    created_at: int = Field(sa_type=BigInteger)
    expires_at: int = Field(sa_type=BigInteger)
    used_at: int | None = Field(sa_type=BigInteger)
    used_by: str | None
    revoked_at: int | None = Field(sa_type=BigInteger)
