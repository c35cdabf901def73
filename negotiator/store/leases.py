"""Leases: at most one process of all that share the database does a job at a time."""

from sqlalchemy import BigInteger, bindparam, or_
from sqlmodel import Field, col

from negotiator.store.model import TableModel, table_options
from negotiator.store.statement import Statement, Transaction, insertion


class Lease(TableModel, table=True):
    """Which process holds a job, and until when (milliseconds by the database's clock)."""

    __tablename__ = "leases"
    __table_args__ = table_options(kept="one row for each job, whose holder changes")

    job: str = Field(primary_key=True)
    holder: str
    until: int = Field(sa_type=BigInteger)


_new = insertion(Lease)
_TAKE = Statement(
    _new.on_conflict_do_update(
        index_elements=["job"],
        set_={"holder": _new.excluded.holder, "until": _new.excluded.until},
        where=or_(
            col(Lease.holder) == _new.excluded.holder,
            col(Lease.until) <= bindparam("now", type_=BigInteger),
            col(Lease.until) > _new.excluded.until,
        ),
    )
)


def take(tx: Transaction, job: str, holder: str, *, now: int, life: int) -> bool:
    """Take or renew the lease of a job for `life` milliseconds; False while another process holds it.

    A lease that ends later than a new one would was taken before the clock was set back, and counts as ended.
    """
    return tx.run(_TAKE, job=job, holder=holder, now=now, until=now + life) == 1
