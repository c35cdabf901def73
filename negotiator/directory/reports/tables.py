"""Reports at rest."""
# pyright: reportAssignmentType=false
# SQLModel types __tablename__ as a declared attribute; a plain string is what it reads.

from sqlalchemy import BigInteger, Index
from sqlmodel import Field, SQLModel


class Report(SQLModel, table=True):
    """One report. `voice` is whom it counts for, once however many agents he has; `weight` what it counts.

    `status` is `open` until a moderator upholds or dismisses it; then it is a memory of the reporter's.
    """

    __tablename__ = "tool_reports"
    __table_args__ = (
        Index("ix_tool_reports_tool_status", "tool", "status"),
        Index("ix_tool_reports_reporter_created_at", "reporter", "created_at"),
    )

    id: str = Field(primary_key=True)
    tool: str
    reporter: str
    voice: str
    weight: int
    reason: str
    details: str
    status: str
    created_at: int = Field(sa_type=BigInteger)
