"""Where a client's keys are, and how it authenticated when a user let it in"""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("clients", sa.Column("jwks_uri", sa.String(), nullable=True))
    op.add_column("consents", sa.Column("auth_method", sa.String(), nullable=True))
