"""Clients that prove themselves by a key"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("clients", sa.Column("jwks", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("clients", "jwks")
