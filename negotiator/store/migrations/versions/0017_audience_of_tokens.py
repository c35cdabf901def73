"""What a token is limited to (RFC 8707)"""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Tokens that are alive at the moment of the change open everything, as they did.
    op.add_column(
        "access_tokens", sa.Column("resource", sa.String(), nullable=False, server_default="")
    )


def downgrade() -> None:
    op.drop_column("access_tokens", "resource")
