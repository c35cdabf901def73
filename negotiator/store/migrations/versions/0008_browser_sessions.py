"""Browser sessions, and what a user sees of his agents"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "browser_sessions",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("issuer", sa.String(), nullable=True),
        sa.Column("identity", sa.String(), nullable=True),
        sa.Column("browser", sa.String(), nullable=False),
        sa.Column("address", sa.String(), nullable=False),
        sa.Column("signed_in_at", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("digest"),
    )
    with op.batch_alter_table("browser_sessions", schema=None) as batch_op:
        batch_op.create_index("ix_browser_sessions_user_id", ["user_id"], unique=False)
        batch_op.create_index("ix_browser_sessions_expires_at", ["expires_at"], unique=False)
    with op.batch_alter_table("agents", schema=None) as batch_op:
        batch_op.add_column(sa.Column("seen_at", sa.BigInteger(), nullable=True))
    op.create_index(
        "ix_access_tokens_user_id",
        "access_tokens",
        ["user_id", "issued_at"],
        unique=False,
        sqlite_where=sa.text("user_id IS NOT NULL"),
        postgresql_where=sa.text("user_id IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index("ix_access_tokens_user_id", table_name="access_tokens")
    with op.batch_alter_table("agents", schema=None) as batch_op:
        batch_op.drop_column("seen_at")
    op.drop_table("browser_sessions")
