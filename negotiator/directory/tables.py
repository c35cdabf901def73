"""Tables of the directory: tools and their changes, agents and their proofs, collections, submissions, reports."""

from sqlalchemy import BigInteger, Index, LargeBinary
from sqlmodel import Field

from negotiator.base.values import DAY
from negotiator.store.model import TableModel, table_options


class ToolRow(TableModel, table=True):
    """A tool. `document` is the record as answers carry it; `seq` the number of its last change."""

    __tablename__ = "tools"
    __table_args__ = (
        Index("ix_tools_external_id", "external_id", unique=True),
        Index("ix_tools_seq", "seq", unique=True),
        table_options(kept="the catalogue is public; a moderator deletes tools"),
    )

    id: str = Field(primary_key=True)
    slug: str = Field(unique=True)
    external_id: str | None
    status: str
    saves: int
    seq: int = Field(sa_type=BigInteger)
    revision: int
    document: bytes = Field(sa_type=LargeBinary)
    created_at: int = Field(sa_type=BigInteger)
    updated_at: int = Field(sa_type=BigInteger)


class ToolSlug(TableModel, table=True):
    """Every slug that a tool has or had; no other tool gets it."""

    __tablename__ = "tool_slugs"
    __table_args__ = table_options(sqlite_with_rowid=False, kept="a slug is never given to another tool")

    slug: str = Field(primary_key=True)
    tool: str


class ToolKey(TableModel, table=True):
    """A canonical key of a tool: URL, repository, package, endpoint. Kept when the tool is deleted."""

    __tablename__ = "tool_keys"
    __table_args__ = (
        Index("ix_tool_keys_tool", "tool"),
        table_options(sqlite_with_rowid=False, kept="a deleted tool keeps its coordinates"),
    )

    kind: str = Field(primary_key=True)
    value: str = Field(primary_key=True)
    tool: str = Field(primary_key=True)


class ToolChange(TableModel, table=True):
    """A change, numbered without gaps from 1 in commit order; rows are only added."""

    __tablename__ = "tool_changes"
    __table_args__ = (
        Index("ix_tool_changes_tool", "tool"),
        table_options(sqlite_with_rowid=False, kept="mirrors have read the feed; it is append-only"),
    )

    seq: int = Field(sa_type=BigInteger, primary_key=True)
    tool: str
    kind: str
    slug: str
    status: str
    revision: int
    actor: str
    at: int = Field(sa_type=BigInteger)


class IdentityProof(TableModel, table=True):
    """A proven identity; the primary key allows one agent per identity.

    `thumbprint` belongs to the key that signed (RFC 7638), empty for a mailbox. `checked_at` is the last check,
    `failures` the number of failed checks since the last success.
    """

    __tablename__ = "directory_proofs"
    __table_args__ = table_options(part_of={"agent_id": "agents"})

    type: str = Field(primary_key=True)
    value: str = Field(primary_key=True)
    agent_id: str = Field(unique=True, foreign_key="agents.id")
    thumbprint: str
    proven_at: int = Field(sa_type=BigInteger)
    checked_at: int = Field(sa_type=BigInteger, index=True)
    failures: int


class IdentityChallenge(TableModel, table=True):
    """The newest challenge of an agent. `code_digest` is keyed; None when no mail was sent."""

    __tablename__ = "directory_challenges"
    __table_args__ = table_options(part_of={"agent_id": "agents"}, expires={"expires_at": DAY})

    id: str = Field(primary_key=True)
    agent_id: str = Field(unique=True, foreign_key="agents.id")
    method: str
    nonce: str
    code_digest: str | None
    attempts: int
    created_at: int = Field(sa_type=BigInteger)
    expires_at: int = Field(sa_type=BigInteger, index=True)
    used_at: int | None = Field(sa_type=BigInteger)


class Collection(TableModel, table=True):
    """A saved collection. `origin` is the agent that made it before its user claimed it.

    `share` is the token of its public link, in clear.
    """

    __tablename__ = "collections"
    __table_args__ = (
        Index("ix_collections_owner_id", "owner", "id"),
        Index("ix_collections_share", "share", unique=True),
        table_options(owner="owner", origin="origin"),
    )

    id: str = Field(primary_key=True)
    owner: str
    origin: str | None
    name: str
    description: str
    visibility: str
    share: str | None
    size: int
    revision: int
    created_at: int = Field(sa_type=BigInteger)
    updated_at: int = Field(sa_type=BigInteger)


class CollectionItem(TableModel, table=True):
    """A tool of a collection; `position` counts from 0 without gaps."""

    __tablename__ = "collection_items"
    __table_args__ = (
        Index("ix_collection_items_tool", "tool"),
        table_options(sqlite_with_rowid=False, part_of={"collection": "collections"}),
    )

    collection: str = Field(primary_key=True)
    tool: str = Field(primary_key=True)
    position: int
    note: str
    added_at: int = Field(sa_type=BigInteger)


class DueSaveCount(TableModel, table=True):
    """A tool that was added to or removed from a collection since its saves were counted."""

    __tablename__ = "collection_counts_due"
    __table_args__ = table_options(kept="collections_queries.recount_due_saves empties it")

    tool: str = Field(primary_key=True)


class Submission(TableModel, table=True):
    """A proposed change of the catalogue. `owner` is the principal, `agent` the agent whose proofs count.

    `proposed` is a whole draft for a new tool or a merge patch for a change; `tool` is the tool that it concerns.
    `proven_host` is the host that the owner proved by a file while it waited.
    """

    __tablename__ = "submissions"
    __table_args__ = (
        Index("ix_submissions_owner_id", "owner", "id"),
        Index("ix_submissions_status_id", "status", "id"),
        Index("ix_submissions_expires_at", "expires_at"),
        Index("ix_submissions_tool", "tool"),
        table_options(
            owner="owner",
            origin="origin",
            kept="an open submission expires into another state; submissions_queries deletes withdrawn ones",
        ),
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
    proven_host: str | None = None


class SubmissionKey(TableModel, table=True):
    """A canonical key that an open submission claims for a new tool."""

    __tablename__ = "submission_keys"
    __table_args__ = (
        Index("ix_submission_keys_submission", "submission"),
        table_options(sqlite_with_rowid=False, part_of={"submission": "submissions"}),
    )

    kind: str = Field(primary_key=True)
    value: str = Field(primary_key=True)
    submission: str = Field(primary_key=True)


class Report(TableModel, table=True):
    """A report about a tool. `voice` identifies the user or agent it counts for, so that a user's agents count once;
    `weight` is what it counts.

    `status` is `open` until a moderator upholds or dismisses it.
    """

    __tablename__ = "tool_reports"
    __table_args__ = (
        Index("ix_tool_reports_tool_status", "tool", "status"),
        Index("ix_tool_reports_reporter_created_at", "reporter", "created_at"),
        table_options(owner="reporter"),
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
