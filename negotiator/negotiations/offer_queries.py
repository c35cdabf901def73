"""The ledger at rest."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import bindparam, select, update
from sqlmodel import col

from negotiator.negotiations.tables import Offer
from negotiator.store.statement import Query, Statement, Transaction, insertion, table


@dataclass(frozen=True, slots=True)
class OfferRow:
    """One row of a ledger; `content` is what its view says besides what has a member of its own here.

    `side` made it, `answers` names the row it replies to, `approval` is empty, pending, approved or refused.
    """

    id: str
    seq: int
    at: int
    side: str
    kind: str
    source: str
    answers: str | None
    confirms: str | None
    valid_until: int | None
    approval: str
    content: dict[str, Any]

    @property
    def package(self) -> dict[str, Any] | None:
        """The package offered, accepted or taken back."""
        return self.content["package"]


_columns = [
    table(Offer).c[name]
    for name in (
        *("id", "seq", "at", "side", "kind", "source"),
        *("answers", "confirms", "valid_until", "approval", "document"),
    )
]


def _row(values: Sequence[Any]) -> OfferRow:
    fields: list[Any] = [*values[:-1], orjson.loads(values[-1])]
    return OfferRow(*fields)


_ADD = Statement(insertion(Offer))
_ALL = Query(
    select(*_columns)
    .where(col(Offer.negotiation) == bindparam("negotiation"))
    .order_by(col(Offer.seq)),
    _row,
)
_DECIDE = Statement(
    update(Offer).where(col(Offer.id) == bindparam("offer")).values(approval=bindparam("decision"))
)


def add(tx: Transaction, negotiation: str, row: OfferRow) -> None:
    """Append a row."""
    tx.run(
        _ADD,
        id=row.id,
        negotiation=negotiation,
        seq=row.seq,
        at=row.at,
        side=row.side,
        kind=row.kind,
        source=row.source,
        answers=row.answers,
        confirms=row.confirms,
        valid_until=row.valid_until,
        approval=row.approval,
        document=orjson.dumps(row.content),
    )


def list_offers(tx: Transaction, negotiation: str) -> list[OfferRow]:
    """The whole ledger, oldest first."""
    return tx.all(_ALL, negotiation=negotiation)


def decide(tx: Transaction, offer: str, decision: str) -> None:
    """Write down what became of a held row: `approved` or `refused`."""
    tx.run(_DECIDE, offer=offer, decision=decision)
