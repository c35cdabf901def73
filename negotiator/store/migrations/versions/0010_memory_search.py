"""Search rows of memories, on PostgreSQL with pgvector only"""

from alembic import op

from negotiator.store.migrations.memory_search import create_search_rows

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    create_search_rows(op.get_bind())
