"""The audit trail lets an erasure take addresses and details out of an event"""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_REDACTED = (
    "NEW.id = OLD.id AND NEW.at = OLD.at AND NEW.event = OLD.event AND NEW.subject = OLD.subject "
    "AND NEW.actor IN (OLD.actor, '') AND NEW.detail = '{}'"
)


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TRIGGER audit_events_no_update")
        op.execute(
            f"CREATE TRIGGER audit_events_no_update BEFORE UPDATE ON audit_events WHEN NOT ({_REDACTED}) "
            "BEGIN SELECT RAISE(ABORT, 'audit_events is append-only'); END"
        )
    else:
        op.execute(
            "CREATE OR REPLACE FUNCTION audit_events_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"IF TG_OP = 'UPDATE' THEN IF {_REDACTED} THEN RETURN NEW; END IF; END IF; "
            "RAISE EXCEPTION 'audit_events is append-only'; END $$"
        )


def downgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TRIGGER audit_events_no_update")
        op.execute(
            "CREATE TRIGGER audit_events_no_update BEFORE UPDATE ON audit_events "
            "BEGIN SELECT RAISE(ABORT, 'audit_events is append-only'); END"
        )
    else:
        op.execute(
            "CREATE OR REPLACE FUNCTION audit_events_refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'audit_events is append-only'; END $$"
        )
