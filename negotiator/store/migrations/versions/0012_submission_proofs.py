"""The host that a submitter proved by a file, and an index of submissions by tool"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("submissions", sa.Column("proven_host", sa.String(), nullable=True))
    op.create_index("ix_submissions_tool", "submissions", ["tool"])
