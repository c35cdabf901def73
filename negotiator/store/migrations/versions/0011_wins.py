"""Wins"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "wins",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=True),
        sa.Column("negotiation", sa.String(), nullable=True),
        sa.Column("counterparty", sa.String(), nullable=True),
        sa.Column("category", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("side", sa.String(), nullable=False),
        sa.Column("currency", sa.String(), nullable=False),
        sa.Column("closed_at", sa.BigInteger(), nullable=False),
        sa.Column("rate", sa.String(), nullable=False),
        sa.Column("weight", sa.String(), nullable=False),
        sa.Column("rounds", sa.Integer(), nullable=True),
        sa.Column("days", sa.Integer(), nullable=True),
        sa.Column("contributed", sa.Boolean(), nullable=False),
        sa.Column("memory", sa.String(), nullable=True),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_wins_owner_id", "wins", ["owner", "id"])
    op.create_index(
        "ix_wins_contributed", "wins", ["contributed", "category", "side", "currency"]
    )
    op.create_index("ix_wins_owner_negotiation", "wins", ["owner", "negotiation"], unique=True)


def downgrade() -> None:
    op.drop_table("wins")
