"""An index of tickets by owner: every agent that is forgotten looks for its own"""

from alembic import op

revision = "0011"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_teleprompter_tickets_owner", "teleprompter_tickets", ["owner"])
