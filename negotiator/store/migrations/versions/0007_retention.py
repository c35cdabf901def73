"""Old events of the audit trail may be deleted; revocations of agents that are gone end"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_REDACTED = (
    "NEW.id = OLD.id AND NEW.at = OLD.at AND NEW.event = OLD.event AND NEW.subject = OLD.subject "
    "AND NEW.actor IN (OLD.actor, '') AND NEW.detail = '{}'"
)
_MONTH = 30 * 86_400_000
_ERASURES = "('user.erased', 'agent.erased')"


def upgrade() -> None:
    op.add_column("revocations", sa.Column("forget_at", sa.BigInteger(), nullable=True))
    op.create_index("ix_revocations_forget_at", "revocations", ["forget_at"])
    if op.get_bind().dialect.name == "sqlite":
        now = "CAST(strftime('%s', 'now') AS INTEGER) * 1000"
        op.execute("DROP TRIGGER audit_events_no_delete")
        op.execute(
            "CREATE TRIGGER audit_events_no_delete BEFORE DELETE ON audit_events "
            f"WHEN OLD.at > {now} - {_MONTH} OR OLD.event IN {_ERASURES} "
            "BEGIN SELECT RAISE(ABORT, 'audit_events is append-only'); END"
        )
    else:
        now = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)"
        op.execute(
            "CREATE OR REPLACE FUNCTION audit_events_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"IF TG_OP = 'UPDATE' THEN IF {_REDACTED} THEN RETURN NEW; END IF; "
            f"ELSIF OLD.at <= {now} - {_MONTH} AND OLD.event NOT IN {_ERASURES} THEN RETURN OLD; END IF; "
            "RAISE EXCEPTION 'audit_events is append-only'; END $$"
        )
    op.execute(
        f"UPDATE revocations SET forget_at = {now} + {_MONTH} WHERE subject LIKE 'agt\\_%' ESCAPE '\\' "
        "AND NOT EXISTS (SELECT 1 FROM agents WHERE agents.id = revocations.subject)"
    )
