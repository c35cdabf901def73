"""Nothing: the search rows that it made on PostgreSQL are dropped by 0016"""

revision = "0014"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass
