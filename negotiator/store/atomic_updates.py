"""Changes by one conditional statement each, so that exactly one of any number of simultaneous callers succeeds."""

from typing import Final

from sqlalchemy import BigInteger, Integer, and_, bindparam, case, delete, or_
from sqlmodel import Field, col, select

from negotiator.base.values import DAY
from negotiator.store.model import TableModel, table_options
from negotiator.store.statement import Query, Statement, Transaction, insertion, table

_LEEWAY: Final = 1_000_000
_CLOCKS_APART: Final = 60_000_000
"""Microseconds by which machines that share a database may differ (`compose.housekeeping`)."""


class SpentValue(TableModel, table=True):
    """A value that may be used once, such as the `jti` of an assertion; kept until a day after its own end."""

    __tablename__ = "spent"
    __table_args__ = table_options(sqlite_with_rowid=False, expires={"expires_at": DAY})

    kind: str = Field(primary_key=True)
    value: str = Field(primary_key=True)
    expires_at: int = Field(sa_type=BigInteger, index=True)


class StoredRateBudget(TableModel, table=True):
    """A GCRA rate budget: its theoretical arrival time in microseconds (ITU-T I.371)."""

    __tablename__ = "budgets"
    __table_args__ = table_options(
        kept="atomic_updates.delete_full_budgets deletes refilled budgets, whose `arrival` is in microseconds"
    )

    key: str = Field(primary_key=True)
    arrival: int = Field(sa_type=BigInteger, index=True)


class Lease(TableModel, table=True):
    """Which process holds a job, and until when (milliseconds by the database's clock)."""

    __tablename__ = "leases"
    __table_args__ = table_options(kept="one row for each job, whose holder changes")

    job: str = Field(primary_key=True)
    holder: str
    until: int = Field(sa_type=BigInteger)


_SPEND = Statement(insertion(SpentValue).on_conflict_do_nothing())
_IS_SPENT = Query(
    select(SpentValue.expires_at).where(
        col(SpentValue.kind) == bindparam("kind"), col(SpentValue.value) == bindparam("value")
    ),
    tuple,
)
_DELETE_FULL = Statement(
    delete(StoredRateBudget).where(
        col(StoredRateBudget.key).in_(
            select(col(StoredRateBudget.key))
            .where(col(StoredRateBudget.arrival) < bindparam("now", type_=BigInteger))
            .order_by(col(StoredRateBudget.arrival))
            .limit(bindparam("limit", type_=Integer))
        )
    )
)

_FORGET = Statement(delete(StoredRateBudget).where(col(StoredRateBudget.key) == bindparam("key")))

_arrival = table(StoredRateBudget).c.arrival
_now = bindparam("now", type_=BigInteger)
_possible = bindparam("possible", type_=BigInteger)
_later = case((and_(_arrival > _now, _arrival <= _possible), _arrival), else_=_now)
_BUMP = Query(
    insertion(StoredRateBudget)
    .values(key=bindparam("key"), arrival=bindparam("first"))
    .on_conflict_do_update(
        index_elements=["key"],
        set_={"arrival": _later + bindparam("interval", type_=BigInteger)},
        where=_later <= bindparam("latest", type_=BigInteger),
    )
    .returning(_arrival),
    lambda row: int(row[0]),
)
_PEEK = Query(
    select(StoredRateBudget.arrival).where(col(StoredRateBudget.key) == bindparam("key")), lambda row: int(row[0])
)
_lease = insertion(Lease)
_TAKE_LEASE = Statement(
    _lease.on_conflict_do_update(
        index_elements=["job"],
        set_={"holder": _lease.excluded.holder, "until": _lease.excluded.until},
        where=or_(
            col(Lease.holder) == _lease.excluded.holder,
            col(Lease.until) <= bindparam("now", type_=BigInteger),
            col(Lease.until) > _lease.excluded.until,
        ),
    )
)


def spend(tx: Transaction, kind: str, value: str, *, expires_at: int) -> bool:
    """Mark `value` as used until `expires_at` (milliseconds); False when it was used before."""
    return tx.run(_SPEND, kind=kind, value=value, expires_at=expires_at) == 1


def is_spent(tx: Transaction, kind: str, value: str) -> bool:
    """Whether `value` was used; another caller may use it right after a False."""
    return tx.one(_IS_SPENT, kind=kind, value=value) is not None


def charge_budget(tx: Transaction, key: str, *, now: int, interval: int, burst: int) -> int | None:
    """Take one call from a budget that regains one every `interval` µs up to `burst`.

    Returns the new arrival time, None when the budget is empty. Simultaneous callers may have read different clocks, so
    a call that is early by less than a quarter of an interval, at most a second, is not refused; the size of a burst
    stays exact. An arrival time further ahead than a burst can be was stored before the clock was set back; it counts
    as now.
    """
    leeway = min(interval // 4, _LEEWAY)
    return tx.one(
        _BUMP,
        key=key,
        now=now,
        first=now + interval,
        interval=interval,
        latest=now + interval * (burst - 1) + leeway,
        possible=now + interval * burst + _CLOCKS_APART,
    )


def read_budget(tx: Transaction, key: str) -> int | None:
    """The arrival time of a budget, without taking from it."""
    return tx.one(_PEEK, key=key)


def forget_budget(tx: Transaction, key: str) -> None:
    """Delete a budget; it is full again."""
    tx.run(_FORGET, key=key)


def delete_full_budgets(tx: Transaction, now: int, limit: int) -> int:
    """Delete up to `limit` budgets that are full again; `now` in milliseconds. Returns their number."""
    return tx.run(_DELETE_FULL, now=now * 1000, limit=limit)


def take_lease(tx: Transaction, job: str, holder: str, *, now: int, life: int) -> bool:
    """Take or renew the lease of a job for `life` milliseconds; False while another process holds it.

    A lease that ends later than a new one would was taken before the clock was set back, and counts as ended.
    """
    return tx.run(_TAKE_LEASE, job=job, holder=holder, now=now, until=now + life) == 1
