"""The first schema"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# The audit trail can only grow: the database itself refuses anything else.
_APPEND_ONLY = {
    "sqlite": [
        f"CREATE TRIGGER audit_events_no_{verb} BEFORE {verb} ON audit_events "
        "BEGIN SELECT RAISE(ABORT, 'audit_events is append-only'); END"
        for verb in ("update", "delete")
    ],
    "postgresql": [
        "CREATE FUNCTION audit_events_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'audit_events is append-only'; END $$",
        "CREATE TRIGGER audit_events_append_only BEFORE UPDATE OR DELETE ON audit_events "
        "FOR EACH ROW EXECUTE FUNCTION audit_events_refuse()",
    ],
}


def upgrade() -> None:
    op.create_table(
        "access_tokens",
        sa.Column("jti", sa.String(), nullable=False),
        sa.Column("client_id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=True),
        sa.Column("issuer", sa.String(), nullable=True),
        sa.Column("identity", sa.String(), nullable=True),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("issued_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("jti"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "agents",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("identity_type", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=True),
        sa.Column("issuer", sa.String(), nullable=True),
        sa.Column("claim_attempts", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("claimed_at", sa.BigInteger(), nullable=True),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("agents", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_agents_expires_at"), ["expires_at"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_agents_user_id"), ["user_id"], unique=False
        )

    op.create_table(
        "approvals",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("email", sa.String(), nullable=False),
        sa.Column("identity", sa.String(), nullable=False),
        sa.Column("issuer", sa.String(), nullable=False),
        sa.Column("agent_id", sa.String(), nullable=False),
        sa.Column("agent_name", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("decided_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("digest"),
    )
    with op.batch_alter_table("approvals", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_approvals_expires_at"), ["expires_at"], unique=False
        )

    op.create_table(
        "audit_events",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("event", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("detail", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "budgets",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("arrival", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    with op.batch_alter_table("budgets", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_budgets_arrival"), ["arrival"], unique=False
        )

    op.create_table(
        "clients",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("secret_digest", sa.String(), nullable=False),
        sa.Column("auth_method", sa.String(), nullable=False),
        sa.Column("grants", sa.String(), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("redirect_uris", sa.String(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("removed_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "idempotency_keys",
        sa.Column("caller", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("request", sa.String(), nullable=False),
        sa.Column("answer", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("caller", "key"),
    )
    with op.batch_alter_table("idempotency_keys", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_idempotency_keys_expires_at"), ["expires_at"], unique=False
        )

    op.create_table(
        "negotiations",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=True),
        sa.Column("category", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("search", sa.String(), nullable=False),
        sa.Column("given", sa.LargeBinary(), nullable=False),
        sa.Column("kept", sa.LargeBinary(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.Column("offers", sa.Integer(), nullable=False),
        sa.Column("events", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("negotiations", schema=None) as batch_op:
        batch_op.create_index("ix_negotiations_due_at", ["due_at"], unique=False)
        batch_op.create_index("ix_negotiations_owner_id", ["owner", "id"], unique=False)

    op.create_table(
        "revocations",
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("before", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("subject"),
    )
    op.create_table(
        "spent",
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "value"),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("spent", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_spent_expires_at"), ["expires_at"], unique=False
        )

    op.create_table(
        "trusted_issuers",
        sa.Column("issuer", sa.String(), nullable=False),
        sa.Column("algorithms", sa.String(), nullable=False),
        sa.Column("jwks", sa.String(), nullable=False),
        sa.Column("jwks_uri", sa.String(), nullable=False),
        sa.Column("clients", sa.String(), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("email_domains", sa.String(), nullable=False),
        sa.Column("email_verifier", sa.Integer(), nullable=False),
        sa.Column("max_auth_age", sa.Integer(), nullable=True),
        sa.Column("tenanted", sa.Integer(), nullable=False),
        sa.Column("added_at", sa.BigInteger(), nullable=False),
        sa.Column("removed_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("issuer"),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("email", sa.String(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("password_hash", sa.String(), nullable=False),
        sa.Column("is_admin", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("disabled_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("email"),
    )
    op.create_table(
        "delegations",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("agent_id", sa.String(), nullable=True),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.Column("used_by", sa.String(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("digest"),
    )
    with op.batch_alter_table("delegations", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_delegations_user_id"), ["user_id"], unique=False
        )

    op.create_table(
        "identities",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("issuer", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("linked_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
        ),
        sa.PrimaryKeyConstraint("key"),
    )
    with op.batch_alter_table("identities", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_identities_user_id"), ["user_id"], unique=False
        )

    for statement in _APPEND_ONLY[op.get_bind().dialect.name]:
        op.execute(statement)


def downgrade() -> None:
    with op.batch_alter_table("identities", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_identities_user_id"))

    op.drop_table("identities")
    with op.batch_alter_table("delegations", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_delegations_user_id"))

    op.drop_table("delegations")
    op.drop_table("users")
    op.drop_table("trusted_issuers")
    with op.batch_alter_table("spent", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_spent_expires_at"))

    op.drop_table("spent")
    op.drop_table("revocations")
    with op.batch_alter_table("negotiations", schema=None) as batch_op:
        batch_op.drop_index("ix_negotiations_owner_id")
        batch_op.drop_index("ix_negotiations_due_at")

    op.drop_table("negotiations")
    with op.batch_alter_table("idempotency_keys", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_idempotency_keys_expires_at"))

    op.drop_table("idempotency_keys")
    op.drop_table("clients")
    with op.batch_alter_table("budgets", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_budgets_arrival"))

    op.drop_table("budgets")
    op.drop_table("audit_events")
    with op.batch_alter_table("approvals", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_approvals_expires_at"))

    op.drop_table("approvals")
    with op.batch_alter_table("agents", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_agents_user_id"))
        batch_op.drop_index(batch_op.f("ix_agents_expires_at"))

    op.drop_table("agents")
    op.drop_table("access_tokens")
