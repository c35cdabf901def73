"""No search rows of the catalogue and of memories on PostgreSQL: each worker searches its own index"""

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("DROP TABLE IF EXISTS memory_search")
    op.execute("DROP TABLE IF EXISTS memory_search_owners")
    op.execute("DROP TABLE IF EXISTS tool_vectors")
    op.execute("DROP TABLE IF EXISTS tool_words")
    op.execute("DROP TABLE IF EXISTS tool_search")
