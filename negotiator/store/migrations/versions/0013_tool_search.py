"""Search rows of the catalogue, on PostgreSQL only"""

from alembic import op
from sqlalchemy import text

from negotiator.store.migrations.tool_search import create_tool_rows

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        # A restore leaves them where they are; they are made of the catalogue that it replaces.
        connection.execute(text("drop table if exists tool_search, tool_words, tool_vectors"))
    create_tool_rows(connection)
