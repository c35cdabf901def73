"""Submissions at rest, and the coordinates that the open ones ask for."""
# pyright: reportAssignmentType=false
# SQLModel types __tablename__ as a declared attribute; a plain string is what it reads.

from sqlalchemy import BigInteger, Index, LargeBinary
from sqlmodel import Field, SQLModel


class Submission(SQLModel, table=True):
    """One request for the catalogue. `owner` is the principal, `agent` who sent it and whose proofs count.

    `proposed` is a whole draft for a new tool, a merge patch for a change; `tool` what came or is to come of it.
    """

    __tablename__ = "submissions"
    __table_args__ = (
        Index("ix_submissions_owner_id", "owner", "id"),
        Index("ix_submissions_status_id", "status", "id"),
        Index("ix_submissions_expires_at", "expires_at"),
    )

    id: str = Field(primary_key=True)
    owner: str
    origin: str | None
    agent: str
    type: str
    status: str
    tool: str | None
    proposed: bytes = Field(sa_type=LargeBinary)
    checks: bytes = Field(sa_type=LargeBinary)
    alike: bytes = Field(sa_type=LargeBinary)
    reason: str | None
    note: str
    appeal: str
    revision: int
    created_at: int = Field(sa_type=BigInteger)
    updated_at: int = Field(sa_type=BigInteger)
    expires_at: int | None = Field(sa_type=BigInteger)


class SubmissionKey(SQLModel, table=True):
    """An exact coordinate that an open submission would give to a new tool."""

    __tablename__ = "submission_keys"
    __table_args__ = (
        Index("ix_submission_keys_submission", "submission"),
        {"sqlite_with_rowid": False},
    )

    kind: str = Field(primary_key=True)
    value: str = Field(primary_key=True)
    submission: str = Field(primary_key=True)
