"""Search rows of the catalogue that have their long values beside them, on PostgreSQL only"""

from alembic import op

from negotiator.store.migrations.tool_search import create_tool_rows

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    create_tool_rows(op.get_bind())
