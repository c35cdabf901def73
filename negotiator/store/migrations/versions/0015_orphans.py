"""Rehearsals without their negotiation are deleted: an operator's erasure had left them"""

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute("PRAGMA secure_delete = ON")
    op.execute(
        "DELETE FROM rehearsals WHERE NOT EXISTS "
        "(SELECT 1 FROM negotiations WHERE negotiations.id = rehearsals.negotiation)"
    )
