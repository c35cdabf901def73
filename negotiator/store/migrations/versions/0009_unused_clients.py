"""An index of the clients that registered themselves and that no user let in"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_clients_unused", "clients", ["origin", "used_at", "created_at"])
