"""Everything stored about an owner's memories as NDJSON: one JSON object per line."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import orjson
from sqlalchemy import bindparam, select
from sqlmodel import col

from negotiator.base import values
from negotiator.memory.tables import Memory, MemoryVersion
from negotiator.store.statement import Query, Transaction, table

EXPORT_FORMAT: Final = "negotiator-memories-1"

ExtraExport = Callable[[Transaction, str], Iterable[Mapping[str, Any]]]
"""Other objects of an owner to export, each with its own `type`."""

_MEMORIES = Query(
    select(col(Memory.document)).where(col(Memory.owner) == bindparam("holder")).order_by(col(Memory.id)),
    lambda row: b'{"type":"memory",%b' % bytes(row[0])[1:],
)
_VERSIONS = Query(
    select(*(table(MemoryVersion).c[name] for name in ("memory", "revision", "at", "actor", "change", "before")))
    .where(col(MemoryVersion.owner) == bindparam("holder"))
    .order_by(col(MemoryVersion.memory), col(MemoryVersion.revision)),
    lambda row: orjson.dumps(
        {
            "type": "memory_version",
            "memory": row[0],
            "revision": row[1],
            "at": values.timestamp(row[2]),
            "actor": row[3],
            "change": row[4],
            "before": orjson.Fragment(bytes(row[5])),
        }
    ),
)


def export_lines(tx: Transaction, owner: str, more: Sequence[ExtraExport]) -> bytes:
    """A header line with the counts, then every memory, every version, and the objects that `more` adds."""
    memories = tx.all(_MEMORIES, holder=owner)
    versions = tx.all(_VERSIONS, holder=owner)
    others = [orjson.dumps(one) for extra in more for one in extra(tx, owner)]
    head = {
        "type": "export",
        "format": EXPORT_FORMAT,
        "at": values.timestamp(values.now()),
        "memories": len(memories),
        "memory_versions": len(versions),
        "others": len(others),
    }
    return b"\n".join([orjson.dumps(head), *memories, *versions, *others, b""])
