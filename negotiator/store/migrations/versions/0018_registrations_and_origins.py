"""No Idempotency-Key at the directory's registration; negotiations that show their origin"""

import orjson
import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("directory_agents", schema=None) as batch_op:
        batch_op.drop_column("once_request")
        batch_op.drop_column("once_key")
    _rewrite(lambda view, origin: {**view, "origin": origin})


def downgrade() -> None:
    with op.batch_alter_table("directory_agents", schema=None) as batch_op:
        batch_op.add_column(sa.Column("once_key", sa.String(), nullable=True))
        batch_op.add_column(sa.Column("once_request", sa.String(), nullable=True))
        batch_op.create_unique_constraint("uq_directory_agents_once_key", ["once_key"])
    _rewrite(lambda view, _: {name: value for name, value in view.items() if name != "origin"})


def _rewrite(change) -> None:
    """Write the ready view of every negotiation anew."""
    bind = op.get_bind()
    found = bind.execute(sa.text("SELECT id, origin, document FROM negotiations")).all()
    statement = sa.text("UPDATE negotiations SET document = :document WHERE id = :id")
    for key, origin, document in found:
        view = change(orjson.loads(bytes(document)), origin)
        bind.execute(statement, {"document": orjson.dumps(view), "id": key})
