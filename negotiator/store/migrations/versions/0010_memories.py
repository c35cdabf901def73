"""Memories, their versions and their owners' counters"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_LIVE = sa.text("status in ('active', 'pending')")


def upgrade() -> None:
    op.create_table(
        "memories",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=True),
        sa.Column("stamp", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("category", sa.String(), nullable=True),
        sa.Column("counterparty", sa.String(), nullable=True),
        sa.Column("negotiation", sa.String(), nullable=True),
        sa.Column("trust", sa.Integer(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_memories_owner_id", "memories", ["owner", "id"])
    op.create_index("ix_memories_owner_stamp", "memories", ["owner", "stamp"])
    op.create_index(
        "ix_memories_owner_digest",
        "memories",
        ["owner", "digest"],
        unique=True,
        sqlite_where=_LIVE,
        postgresql_where=_LIVE,
    )
    op.create_table(
        "memory_versions",
        sa.Column("memory", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("change", sa.String(), nullable=False),
        sa.Column("before", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("memory", "revision"),
    )
    op.create_index("ix_memory_versions_owner", "memory_versions", ["owner"])
    op.create_table(
        "memory_owners",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("stamp", sa.BigInteger(), nullable=False),
        sa.Column("removed", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("owner"),
    )


def downgrade() -> None:
    op.drop_table("memory_owners")
    op.drop_table("memory_versions")
    op.drop_table("memories")
