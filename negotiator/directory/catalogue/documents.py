"""Many tools' documents at once, by one statement for every twenty."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import bindparam, select
from sqlmodel import col

from negotiator.directory.catalogue.tables import ToolRow
from negotiator.store.statement import Query, Transaction

_TOGETHER: Final = 20
_NO_TOOLS: Final = {f"tool{place}": "" for place in range(_TOGETHER)}
_DOCUMENTS = Query(
    select(col(ToolRow.id), col(ToolRow.document)).where(
        col(ToolRow.id).in_([bindparam(name) for name in _NO_TOOLS])
    ),
    lambda row: (str(row[0]), bytes(row[1])),
)


def read(tx: Transaction, ids: Sequence[str]) -> dict[str, bytes]:
    """The documents of these tools, deleted ones too, by id."""
    found: dict[str, bytes] = {}
    for start in range(0, len(ids), _TOGETHER):
        some = ids[start : start + _TOGETHER]
        chosen = {f"tool{place}": key for place, key in enumerate(some)}
        found.update(tx.all(_DOCUMENTS, **{**_NO_TOOLS, **chosen}))
    return found
