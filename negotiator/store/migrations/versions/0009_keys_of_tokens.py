"""Tokens bound to a key; what an issuer reported of its people"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("access_tokens", sa.Column("key", sa.String(), nullable=True))
    op.add_column("refresh_tokens", sa.Column("key", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("refresh_tokens", "key")
    op.drop_column("access_tokens", "key")
