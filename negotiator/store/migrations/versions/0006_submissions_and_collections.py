"""Submissions, reports, the moderators' trail; saved collections"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "collections",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("description", sa.String(), nullable=False),
        sa.Column("visibility", sa.String(), nullable=False),
        sa.Column("share", sa.String(), nullable=True),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("collections", schema=None) as batch_op:
        batch_op.create_index("ix_collections_owner_id", ["owner", "id"], unique=False)
        batch_op.create_index("ix_collections_share", ["share"], unique=True)
    op.create_table(
        "collection_items",
        sa.Column("collection", sa.String(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("added_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("collection", "tool"),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("collection_items", schema=None) as batch_op:
        batch_op.create_index("ix_collection_items_tool", ["tool"], unique=False)
    op.create_table(
        "collection_counts_due",
        sa.Column("tool", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("tool"),
    )


def downgrade() -> None:
    op.drop_table("collection_counts_due")
    op.drop_table("collection_items")
    op.drop_table("collections")
