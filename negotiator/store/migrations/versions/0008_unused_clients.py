"""An index of the clients that registered themselves and that no user let in"""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_clients_unused", "clients", ["origin", "used_at", "created_at"])
