"""What every machine of one database must have alike: fingerprints of the secrets, and the base URL."""

from sqlalchemy import select
from sqlmodel import Field, col

from negotiator.store.model import TableModel, table_options
from negotiator.store.statement import Query, Transaction, replacement


class Fingerprint(TableModel, table=True):
    """A digest of the pepper, the id of a signing key, or the base URL: nothing in it is secret."""

    __tablename__ = "fingerprints"
    __table_args__ = table_options(kept="one row for each secret, which changes with it")

    name: str = Field(primary_key=True)
    value: str


_LIST = Query(select(col(Fingerprint.name), col(Fingerprint.value)), lambda row: (str(row[0]), str(row[1])))
_SAVE = replacement(Fingerprint, ("name",), ("value",))


def recorded(tx: Transaction) -> dict[str, str]:
    """The fingerprints by the names of the secrets."""
    return dict(tx.all(_LIST))


def record(tx: Transaction, name: str, value: str) -> None:
    """Store the fingerprint of a secret, in place of an earlier one."""
    tx.run(_SAVE, name=name, value=value)
