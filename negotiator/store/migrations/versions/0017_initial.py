"""All tables of the first release, and the triggers that keep two of them append-only.

The SQL is PostgreSQL's; a file takes its own names of types. Statements are parted by blank lines in the files of
triggers, by semicolons in that of tables.
"""

from pathlib import Path

from alembic import op

revision = "0017"
down_revision = None
branch_labels = None
depends_on = None

_OLDEST = "0003"
"""The oldest code that works with this schema."""


def upgrade() -> None:
    connection = op.get_bind()
    dialect, folder = connection.dialect.name, Path(__file__).parent
    tables = (folder / "0017_initial.sql").read_text("utf-8")
    if dialect == "sqlite":
        tables = tables.replace(" BYTEA", " BLOB").replace(" BIGSERIAL", " BIGINT")
    else:
        tables = tables.replace(" WITHOUT ROWID", "")
    triggers = (folder / f"0017_append_only.{dialect}.sql").read_text("utf-8")
    floor = f"INSERT INTO schema_floor (oldest) VALUES ('{_OLDEST}')"
    for statement in (*tables.split(";\n"), *triggers.split("\n\n"), floor):
        if statement.strip():
            connection.exec_driver_sql(statement)
