"""Submissions, reports, saved collections"""

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
    op.create_table(
        "submissions",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=True),
        sa.Column("agent", sa.String(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("tool", sa.String(), nullable=True),
        sa.Column("proposed", sa.LargeBinary(), nullable=False),
        sa.Column("checks", sa.LargeBinary(), nullable=False),
        sa.Column("alike", sa.LargeBinary(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("appeal", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("submissions", schema=None) as batch_op:
        batch_op.create_index("ix_submissions_owner_id", ["owner", "id"], unique=False)
        batch_op.create_index("ix_submissions_status_id", ["status", "id"], unique=False)
        batch_op.create_index("ix_submissions_expires_at", ["expires_at"], unique=False)
    op.create_table(
        "submission_keys",
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.Column("submission", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "value", "submission"),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("submission_keys", schema=None) as batch_op:
        batch_op.create_index("ix_submission_keys_submission", ["submission"], unique=False)
    op.create_table(
        "tool_reports",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.Column("reporter", sa.String(), nullable=False),
        sa.Column("voice", sa.String(), nullable=False),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("details", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("tool_reports", schema=None) as batch_op:
        batch_op.create_index("ix_tool_reports_tool_status", ["tool", "status"], unique=False)
        batch_op.create_index(
            "ix_tool_reports_reporter_created_at", ["reporter", "created_at"], unique=False
        )


def downgrade() -> None:
    op.drop_table("tool_reports")
    op.drop_table("submission_keys")
    op.drop_table("submissions")
    op.drop_table("collection_counts_due")
    op.drop_table("collection_items")
    op.drop_table("collections")
