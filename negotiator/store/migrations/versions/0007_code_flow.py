"""The code flow: grants, refresh tokens, consents; clients that register themselves"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
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
        sa.Column("code_digest", sa.String(), nullable=False),
        sa.Column("code_expires_at", sa.BigInteger(), nullable=False),
        sa.Column("code_used_at", sa.BigInteger(), nullable=True),
        sa.Column("auth_time", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("code_digest"),
    )
    with op.batch_alter_table("authorizations", schema=None) as batch_op:
        batch_op.create_index("ix_authorizations_user_id_client_id", ["user_id", "client_id"])
        batch_op.create_index("ix_authorizations_expires_at", ["expires_at"])
    op.create_table(
        "refresh_tokens",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("authorization", sa.String(), nullable=False),
        sa.Column("issued_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("digest"),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("refresh_tokens", schema=None) as batch_op:
        batch_op.create_index("ix_refresh_tokens_authorization", ["authorization"])
        batch_op.create_index("ix_refresh_tokens_expires_at", ["expires_at"])
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
    op.add_column("access_tokens", sa.Column("authorization", sa.String(), nullable=True))
    for name, otherwise in (("origin", "operator"), ("uri", ""), ("id_token_alg", "RS256")):
        op.add_column(
            "clients", sa.Column(name, sa.String(), nullable=False, server_default=otherwise)
        )
    op.add_column("clients", sa.Column("used_at", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    for name in ("used_at", "id_token_alg", "uri", "origin"):
        op.drop_column("clients", name)
    op.drop_column("access_tokens", "authorization")
    op.drop_table("consents")
    op.drop_table("refresh_tokens")
    op.drop_table("authorizations")
