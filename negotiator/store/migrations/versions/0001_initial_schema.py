"""The first schema: every table, its indexes, and the triggers that keep two tables append-only"""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_APPEND_ONLY: Final = ("audit_events", "tool_changes")
"""Tables whose rows the database itself refuses to change or delete."""


def upgrade() -> None:
    op.create_table(
        "access_tokens",
        sa.Column("jti", sa.String(), nullable=False),
        sa.Column("client_id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=True),
        sa.Column("issuer", sa.String(), nullable=True),
        sa.Column("identity", sa.String(), nullable=True),
        sa.Column("authorization", sa.String(), nullable=True),
        sa.Column("key", sa.String(), nullable=True),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("resource", sa.String(), nullable=False),
        sa.Column("issued_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("jti"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_access_tokens_user_id",
        "access_tokens",
        ["user_id", "issued_at"],
        sqlite_where=sa.text("user_id IS NOT NULL"),
        postgresql_where=sa.text("user_id IS NOT NULL"),
    )
    op.create_table(
        "agent_calls",
        sa.Column("agent", sa.String(), nullable=False),
        sa.Column("operation", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("error", sa.String(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("description", sa.String(), nullable=False),
        sa.Column("needs", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("agent", "operation", "subject", "error"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "agents",
        "agent_calls",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("service", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("identity_type", sa.String(), nullable=False),
        sa.Column("identity_value", sa.String(), nullable=False),
        sa.Column("contact_email", sa.String(), nullable=True),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=True),
        sa.Column("issuer", sa.String(), nullable=True),
        sa.Column("claim_attempts", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("claimed_at", sa.BigInteger(), nullable=True),
        sa.Column("vetted_at", sa.BigInteger(), nullable=True),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.Column("seen_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_agents_expires_at", "agents", ["expires_at"])
    op.create_index("ix_agents_user_id", "agents", ["user_id"])
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("client_id", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("retired_at", sa.BigInteger(), nullable=True),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True),
        sa.Column("last_used_from", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_api_keys_client_id", "api_keys", ["client_id"])
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
    op.create_index("ix_approvals_expires_at", "approvals", ["expires_at"])
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
        "authorizations",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("client_id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("issuer", sa.String(), nullable=True),
        sa.Column("identity", sa.String(), nullable=True),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("resource", sa.String(), nullable=False),
        sa.Column("redirect_uri", sa.String(), nullable=False),
        sa.Column("nonce", sa.String(), nullable=False),
        sa.Column("challenge", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=True),
        sa.Column("code_digest", sa.String(), nullable=False),
        sa.Column("code_expires_at", sa.BigInteger(), nullable=False),
        sa.Column("code_used_at", sa.BigInteger(), nullable=True),
        sa.Column("auth_time", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("renewed_at", sa.BigInteger(), nullable=True),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("code_digest"),
    )
    op.create_index("ix_authorizations_expires_at", "authorizations", ["expires_at"])
    op.create_index(
        "ix_authorizations_user_id_client_id", "authorizations", ["user_id", "client_id"]
    )
    op.create_table(
        "battle_plans",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("negotiation", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("made_from", sa.Integer(), nullable=False),
        sa.Column("worded_by", sa.String(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "ix_battle_plans_negotiation_version",
        "battle_plans",
        ["negotiation", "version"],
        unique=True,
    )
    op.create_index("ix_battle_plans_owner", "battle_plans", ["owner"])
    op.create_table(
        "budgets",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("arrival", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index("ix_budgets_arrival", "budgets", ["arrival"])
    op.create_table(
        "clients",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("secret_digest", sa.String(), nullable=False),
        sa.Column("auth_method", sa.String(), nullable=False),
        sa.Column("jwks", sa.String(), nullable=True),
        sa.Column("grants", sa.String(), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("redirect_uris", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("uri", sa.String(), nullable=False),
        sa.Column("id_token_alg", sa.String(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.Column("removed_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "collection_counts_due",
        sa.Column("tool", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("tool"),
    )
    op.create_table(
        "collection_items",
        sa.Column("collection", sa.String(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("added_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("collection", "tool"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_collection_items_tool", "collection_items", ["tool"])
    op.create_table(
        "collections",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("description", sa.String(), nullable=False),
        sa.Column("visibility", sa.String(), nullable=False),
        sa.Column("share", sa.String(), nullable=True),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_collections_owner_id", "collections", ["owner", "id"])
    op.create_index("ix_collections_share", "collections", ["share"], unique=True)
    op.create_table(
        "consents",
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("client_id", sa.String(), nullable=False),
        sa.Column("client_name", sa.String(), nullable=False),
        sa.Column("place", sa.String(), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("remembered", sa.String(), nullable=False),
        sa.Column("granted_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "client_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "cue_examples",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=True),
        sa.Column("cue", sa.String(), nullable=False),
        sa.Column("against", sa.String(), nullable=False),
        sa.Column("weight", sa.Float(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_cue_examples_owner_id", "cue_examples", ["owner", "id"])
    op.create_table(
        "idempotency_keys",
        sa.Column("caller", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("request", sa.String(), nullable=False),
        sa.Column("answer", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("caller", "key"),
    )
    op.create_index("ix_idempotency_keys_expires_at", "idempotency_keys", ["expires_at"])
    op.create_table(
        "memories",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=True),
        sa.Column("stamp", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("category", sa.String(), nullable=True),
        sa.Column("counterparty", sa.String(), nullable=True),
        sa.Column("negotiation", sa.String(), nullable=True),
        sa.Column("trust", sa.Integer(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "ix_memories_owner_digest",
        "memories",
        ["owner", "digest"],
        unique=True,
        sqlite_where=sa.text("status in ('active', 'pending')"),
        postgresql_where=sa.text("status in ('active', 'pending')"),
    )
    op.create_index("ix_memories_owner_id", "memories", ["owner", "id"])
    op.create_index("ix_memories_owner_stamp", "memories", ["owner", "stamp"])
    op.create_table(
        "memory_owners",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("stamp", sa.BigInteger(), nullable=False),
        sa.Column("removed", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("owner"),
    )
    op.create_table(
        "memory_versions",
        sa.Column("memory", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("change", sa.String(), nullable=False),
        sa.Column("before", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("memory", "revision"),
    )
    op.create_index("ix_memory_versions_owner", "memory_versions", ["owner"])
    op.create_table(
        "negotiation_events",
        sa.Column("negotiation", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("negotiation", "seq"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "negotiations",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=True),
        sa.Column("category", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("search", sa.String(), nullable=False),
        sa.Column("request", sa.LargeBinary(), nullable=False),
        sa.Column("terms", sa.LargeBinary(), nullable=False),
        sa.Column("progress", sa.LargeBinary(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.Column("offers", sa.Integer(), nullable=False),
        sa.Column("events", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_negotiations_due_at", "negotiations", ["due_at"])
    op.create_index("ix_negotiations_owner_id", "negotiations", ["owner", "id"])
    op.create_table(
        "offers",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("negotiation", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("side", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("answers", sa.String(), nullable=True),
        sa.Column("confirms", sa.String(), nullable=True),
        sa.Column("valid_until", sa.BigInteger(), nullable=True),
        sa.Column("approval", sa.String(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_offers_negotiation_seq", "offers", ["negotiation", "seq"], unique=True)
    op.create_table(
        "refresh_tokens",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("authorization", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=True),
        sa.Column("issued_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("digest"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_refresh_tokens_authorization", "refresh_tokens", ["authorization"])
    op.create_index("ix_refresh_tokens_expires_at", "refresh_tokens", ["expires_at"])
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
    op.create_index("ix_spent_expires_at", "spent", ["expires_at"])
    op.create_table(
        "submission_keys",
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.Column("submission", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "value", "submission"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_submission_keys_submission", "submission_keys", ["submission"])
    op.create_table(
        "submissions",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=True),
        sa.Column("agent", sa.String(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("tool", sa.String(), nullable=True),
        sa.Column("proposed", sa.LargeBinary(), nullable=False),
        sa.Column("checks", sa.LargeBinary(), nullable=False),
        sa.Column("alike", sa.LargeBinary(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("appeal", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_submissions_expires_at", "submissions", ["expires_at"])
    op.create_index("ix_submissions_owner_id", "submissions", ["owner", "id"])
    op.create_index("ix_submissions_status_id", "submissions", ["status", "id"])
    op.create_table(
        "tactics",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=True),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_tactics_owner_id", "tactics", ["owner", "id"])
    op.create_table(
        "teleprompter_events",
        sa.Column("session", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("utterance", sa.String(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("session", "seq"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_teleprompter_events_utterance", "teleprompter_events", ["session", "utterance"]
    )
    op.create_table(
        "teleprompter_sessions",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=True),
        sa.Column("negotiation", sa.String(), nullable=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("given", sa.LargeBinary(), nullable=False),
        sa.Column("screen", sa.LargeBinary(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("producer", sa.String(), nullable=False),
        sa.Column("heard_ms", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("active_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("ends_at", sa.BigInteger(), nullable=True),
        sa.Column("forget_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_teleprompter_sessions_ends_at", "teleprompter_sessions", ["ends_at"])
    op.create_index("ix_teleprompter_sessions_forget_at", "teleprompter_sessions", ["forget_at"])
    op.create_index("ix_teleprompter_sessions_owner_id", "teleprompter_sessions", ["owner", "id"])
    op.create_table(
        "teleprompter_tickets",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("session", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("caller", sa.LargeBinary(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("digest"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_teleprompter_tickets_expires_at", "teleprompter_tickets", ["expires_at"])
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
    op.create_index("ix_tool_changes_tool", "tool_changes", ["tool"])
    op.create_table(
        "tool_keys",
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "value", "tool"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_tool_keys_tool", "tool_keys", ["tool"])
    op.create_table(
        "tool_reports",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.Column("reporter", sa.String(), nullable=False),
        sa.Column("voice", sa.String(), nullable=False),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("details", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "ix_tool_reports_reporter_created_at", "tool_reports", ["reporter", "created_at"]
    )
    op.create_index("ix_tool_reports_tool_status", "tool_reports", ["tool", "status"])
    op.create_table(
        "tool_slugs",
        sa.Column("slug", sa.String(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("slug"),
        sqlite_with_rowid=False,
    )
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
    op.create_index("ix_tools_external_id", "tools", ["external_id"], unique=True)
    op.create_index("ix_tools_seq", "tools", ["seq"], unique=True)
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
        "wins",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=True),
        sa.Column("negotiation", sa.String(), nullable=True),
        sa.Column("counterparty", sa.String(), nullable=True),
        sa.Column("category", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("side", sa.String(), nullable=False),
        sa.Column("currency", sa.String(), nullable=False),
        sa.Column("closed_at", sa.BigInteger(), nullable=False),
        sa.Column("rate", sa.String(), nullable=False),
        sa.Column("weight", sa.String(), nullable=False),
        sa.Column("rounds", sa.Integer(), nullable=True),
        sa.Column("days", sa.Integer(), nullable=True),
        sa.Column("contributed", sa.Boolean(), nullable=False),
        sa.Column("memory", sa.String(), nullable=True),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_wins_contributed", "wins", ["contributed", "category", "side", "currency"])
    op.create_index("ix_wins_owner_id", "wins", ["owner", "id"])
    op.create_index("ix_wins_owner_negotiation", "wins", ["owner", "negotiation"], unique=True)
    op.create_table(
        "browser_sessions",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("issuer", sa.String(), nullable=True),
        sa.Column("identity", sa.String(), nullable=True),
        sa.Column("browser", sa.String(), nullable=False),
        sa.Column("address", sa.String(), nullable=False),
        sa.Column("signed_in_at", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("digest"),
    )
    op.create_index("ix_browser_sessions_expires_at", "browser_sessions", ["expires_at"])
    op.create_index("ix_browser_sessions_user_id", "browser_sessions", ["user_id"])
    op.create_table(
        "passkeys",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("credential_id", sa.String(), nullable=False),
        sa.Column("public_key", sa.String(), nullable=False),
        sa.Column("sign_count", sa.BigInteger(), nullable=False),
        sa.Column("is_synced", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("credential_id"),
    )
    op.create_index("ix_passkeys_user_id", "passkeys", ["user_id"])
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
    op.create_index("ix_delegations_agent_id", "delegations", ["agent_id"])
    op.create_index("ix_delegations_user_id", "delegations", ["user_id"])
    op.create_table(
        "directory_challenges",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("agent_id", sa.String(), nullable=False),
        sa.Column("method", sa.String(), nullable=False),
        sa.Column("nonce", sa.String(), nullable=False),
        sa.Column("code_digest", sa.String(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["agent_id"],
            ["agents.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("agent_id"),
    )
    op.create_index("ix_directory_challenges_expires_at", "directory_challenges", ["expires_at"])
    op.create_table(
        "directory_proofs",
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.Column("agent_id", sa.String(), nullable=False),
        sa.Column("thumbprint", sa.String(), nullable=False),
        sa.Column("proven_at", sa.BigInteger(), nullable=False),
        sa.Column("checked_at", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["agent_id"],
            ["agents.id"],
        ),
        sa.PrimaryKeyConstraint("type", "value"),
        sa.UniqueConstraint("agent_id"),
    )
    op.create_index("ix_directory_proofs_checked_at", "directory_proofs", ["checked_at"])
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
    op.create_index("ix_identities_user_id", "identities", ["user_id"])

    for name in _APPEND_ONLY:
        for statement in _append_only(name):
            op.execute(statement)


def downgrade() -> None:
    for name in (
        "identities",
        "directory_proofs",
        "directory_challenges",
        "delegations",
        "passkeys",
        "browser_sessions",
        "wins",
        "users",
        "trusted_issuers",
        "tools",
        "tool_slugs",
        "tool_reports",
        "tool_keys",
        "tool_changes",
        "teleprompter_tickets",
        "teleprompter_sessions",
        "teleprompter_events",
        "tactics",
        "submissions",
        "submission_keys",
        "spent",
        "revocations",
        "refresh_tokens",
        "offers",
        "negotiations",
        "negotiation_events",
        "memory_versions",
        "memory_owners",
        "memories",
        "idempotency_keys",
        "cue_examples",
        "consents",
        "collections",
        "collection_items",
        "collection_counts_due",
        "clients",
        "budgets",
        "battle_plans",
        "authorizations",
        "audit_events",
        "approvals",
        "api_keys",
        "agents",
        "access_tokens",
    ):
        op.drop_table(name)
    if op.get_bind().dialect.name == "postgresql":
        for name in _APPEND_ONLY:
            op.execute(f"DROP FUNCTION {name}_refuse()")


def _append_only(name: str) -> list[str]:
    """The statements that make a table append-only, in the dialect of the connection."""
    if op.get_bind().dialect.name == "sqlite":
        return [
            f"CREATE TRIGGER {name}_no_{verb} BEFORE {verb} ON {name} "
            f"BEGIN SELECT RAISE(ABORT, '{name} is append-only'); END"
            for verb in ("update", "delete")
        ]
    return [
        f"CREATE FUNCTION {name}_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{name} is append-only'; END $$",
        f"CREATE TRIGGER {name}_append_only BEFORE UPDATE OR DELETE ON {name} "
        f"FOR EACH ROW EXECUTE FUNCTION {name}_refuse()",
    ]
