"""Tokens bound to a key; codes made for one agent found by it"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("access_tokens", sa.Column("key", sa.String(), nullable=True))
    op.add_column("refresh_tokens", sa.Column("key", sa.String(), nullable=True))
    op.create_index("ix_delegations_agent_id", "delegations", ["agent_id"])


def downgrade() -> None:
    op.drop_index("ix_delegations_agent_id", "delegations")
    op.drop_column("refresh_tokens", "key")
    op.drop_column("access_tokens", "key")
