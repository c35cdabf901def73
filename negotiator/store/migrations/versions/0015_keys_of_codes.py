"""Codes bound to a key before they are issued"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("authorizations", sa.Column("key", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("authorizations", "key")
