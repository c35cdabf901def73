"""The catalogue of tools and its changes"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

# The feed can only grow: mirrors have read it.
_APPEND_ONLY = {
    "sqlite": [
        f"CREATE TRIGGER tool_changes_no_{verb} BEFORE {verb} ON tool_changes "
        "BEGIN SELECT RAISE(ABORT, 'tool_changes is append-only'); END"
        for verb in ("update", "delete")
    ],
    "postgresql": [
        "CREATE FUNCTION tool_changes_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'tool_changes is append-only'; END $$",
        "CREATE TRIGGER tool_changes_append_only BEFORE UPDATE OR DELETE ON tool_changes "
        "FOR EACH ROW EXECUTE FUNCTION tool_changes_refuse()",
    ],
}


def upgrade() -> None:
    op.create_table(
        "tools",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("slug", sa.String(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=True),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("saves", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("slug"),
    )
    with op.batch_alter_table("tools", schema=None) as batch_op:
        batch_op.create_index("ix_tools_external_id", ["external_id"], unique=True)
        batch_op.create_index("ix_tools_seq", ["seq"], unique=True)
    op.create_table(
        "tool_slugs",
        sa.Column("slug", sa.String(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("slug"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "tool_keys",
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "value", "tool"),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("tool_keys", schema=None) as batch_op:
        batch_op.create_index("ix_tool_keys_tool", ["tool"], unique=False)
    op.create_table(
        "tool_changes",
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("slug", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("tool_changes", schema=None) as batch_op:
        batch_op.create_index("ix_tool_changes_tool", ["tool"], unique=False)
    for statement in _APPEND_ONLY[op.get_bind().dialect.name]:
        op.execute(statement)


def downgrade() -> None:
    op.drop_table("tool_changes")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION tool_changes_refuse()")
    op.drop_table("tool_keys")
    op.drop_table("tool_slugs")
    op.drop_table("tools")
