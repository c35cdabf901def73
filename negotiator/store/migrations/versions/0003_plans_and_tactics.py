"""Battle plans and the user's own tactics"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "battle_plans",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("negotiation", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("made_from", sa.Integer(), nullable=False),
        sa.Column("worded_by", sa.String(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("battle_plans", schema=None) as batch_op:
        batch_op.create_index(
            "ix_battle_plans_negotiation_version", ["negotiation", "version"], unique=True
        )
        batch_op.create_index("ix_battle_plans_owner", ["owner"], unique=False)
    op.create_table(
        "tactics",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=True),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("tactics", schema=None) as batch_op:
        batch_op.create_index("ix_tactics_owner_id", ["owner", "id"], unique=False)


def downgrade() -> None:
    op.drop_table("tactics")
    op.drop_table("battle_plans")
