"""What tactics did for their owner: counts over the wins that name them."""

from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from sqlalchemy import bindparam, select
from sqlmodel import col

from negotiator.memory.wins.tables import Win
from negotiator.store.statement import Query, Transaction

_NEWEST: Final = 1000
_USED = Query(
    select(col(Win.document), col(Win.memory))
    .where(col(Win.owner) == bindparam("holder"))
    .order_by(col(Win.id).desc())
    .limit(_NEWEST),
    lambda row: (orjson.loads(row[0]), row[1]),
)


@dataclass(slots=True)
class Result:
    """One tactic's record: times used, times with a known effect, times it helped, the rates saved, the memories."""

    used: int = 0
    known: int = 0
    helped: int = 0
    rates: list[float] = field(default_factory=list[float])
    memories: list[str] = field(default_factory=list[str])

    @property
    def mean_rate(self) -> float | None:
        """The mean fraction saved where it was used."""
        return sum(self.rates) / len(self.rates) if self.rates else None


def results(tx: Transaction, owner: str) -> dict[str, Result]:
    """By tactic, over the owner's newest thousand wins."""
    found: dict[str, Result] = {}
    for win, memory in tx.all(_USED, holder=owner):
        _count(found, win, memory)
    return found


def _count(found: dict[str, Result], win: dict[str, Any], memory: str | None) -> None:
    for used in win["tactics_used"]:
        result = found.setdefault(used["tactic_id"], Result())
        result.used += 1
        result.known += used["helped"] != 0
        result.helped += used["helped"] > 0
        result.rates.append(win["savings_rate"])
        if memory is not None and used["helped"] > 0:
            result.memories.append(memory)
