"""The ledger at rest."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import orjson
from sqlalchemy import and_, bindparam, func, or_, select, update
from sqlmodel import col

from negotiator.base import values
from negotiator.negotiations.tables import Negotiation, Offer
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, table


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


_MEMBERS: Final = tuple(one.name for one in fields(OfferRow) if one.name != "content")
"""The columns that are members of a row; `document` is its content."""
_columns = [table(Offer).c[name] for name in (*_MEMBERS, "document")]


def _row(values: Sequence[Any]) -> OfferRow:
    fields: list[Any] = [*values[:-1], orjson.loads(values[-1])]
    return OfferRow(*fields)


_ADD = RowInsertion(Offer)
_ALL = Query(select(*_columns).where(col(Offer.negotiation) == bindparam("negotiation")).order_by(col(Offer.seq)), _row)
_offers = table(Offer)
_answer = _offers.alias("answer")
_of_owner = (
    _offers.c.negotiation == col(Negotiation.id),
    col(Negotiation.owner) == bindparam("owner"),
    _offers.c.negotiation >= bindparam("first"),
    _offers.c.negotiation <= bindparam("last"),
)
_made = (
    or_(*(_offers.c.kind == kind for kind in ("offer", "counter", "final"))),
    _offers.c.source != "detected_in_speech",
    or_(_offers.c.approval == "", _offers.c.approval == "approved"),
)
_heard = _offers.alias("heard")
_said = func.coalesce(
    select(_heard.c.seq)
    .where(_heard.c.negotiation == _offers.c.negotiation, _heard.c.id == _offers.c.confirms)
    .scalar_subquery(),
    _offers.c.seq,
)
"""The place at which an offer was said: that of the detected offer that it confirms, or its own."""
_newest = (
    select(_offers.c.negotiation, _offers.c.side, func.max(_said).label("seq"))
    .where(*_of_owner, *_made)
    .group_by(_offers.c.negotiation, _offers.c.side)
    .subquery()
)
_LATEST = Query(
    select(*(_offers.c[name] for name in ("negotiation", "side", "id", "seq", "at", "document")))
    .where(
        _offers.c.negotiation == _newest.c.negotiation, _offers.c.side == _newest.c.side, _said == _newest.c.seq, *_made
    )
    .order_by(_offers.c.seq),
    tuple,
)
_UNCONFIRMED = Query(
    select(_offers.c.negotiation, func.count())
    .where(
        *_of_owner,
        _offers.c.source == "detected_in_speech",
        ~select(_answer.c.id)
        .where(
            _answer.c.negotiation == _offers.c.negotiation,
            or_(
                _answer.c.confirms == _offers.c.id,
                and_(_answer.c.kind == "withdrawal", _answer.c.answers == _offers.c.id),
            ),
        )
        .exists(),
    )
    .group_by(_offers.c.negotiation),
    tuple,
)
_DECIDE = Statement(update(Offer).where(col(Offer.id) == bindparam("offer")).values(approval=bindparam("decision")))


def add(tx: Transaction, negotiation: str, row: OfferRow) -> None:
    """Append a row."""
    tx.run(
        _ADD,
        negotiation=negotiation,
        document=orjson.dumps(row.content),
        **{name: getattr(row, name) for name in _MEMBERS},
    )


def list_offers(tx: Transaction, negotiation: str) -> list[OfferRow]:
    """The whole ledger, oldest first."""
    return tx.all(_ALL, negotiation=negotiation)


def last_offers(tx: Transaction, *, owner: str, first: str, last: str) -> dict[tuple[str, str], dict[str, Any]]:
    """The last offer of each side that counts (`offer_history.offers_made`), by negotiation and side.

    The negotiations are those of the owner whose ids lie between `first` and `last`.
    """
    found = tx.all(_LATEST, owner=owner, first=first, last=last)
    return {
        (negotiation, side): {
            "id": offer,
            "seq": seq,
            "at": values.timestamp(at),
            "package": orjson.loads(document)["package"],
        }
        for negotiation, side, offer, seq, at, document in found
    }


def unconfirmed_offers(tx: Transaction, *, owner: str, first: str, last: str) -> dict[str, int]:
    """How many offers heard in speech nobody has confirmed or dismissed, by negotiation; see `last_offers`."""
    return dict(tx.all(_UNCONFIRMED, owner=owner, first=first, last=last))


def decide(tx: Transaction, offer: str, decision: str) -> None:
    """Write down what became of a held row: `approved` or `refused`."""
    tx.run(_DECIDE, offer=offer, decision=decision)
