"""Fills tables with copies of one of their rows by SQL: ten million rows in minutes."""

import sqlite3
from pathlib import Path
from typing import Final

from negotiator.agents.tables import Agent
from negotiator.base import values
from negotiator.memory.tables import Memory
from negotiator.negotiations.tables import Negotiation, NegotiationEvent, Offer
from negotiator.store.atomic_updates import SpentValue
from negotiator.store.audit import AuditEvent
from negotiator.store.model import TableModel
from negotiator.store.statement import table
from negotiator.tokens.tables import AccessToken
from tests.bench.growth import connect_postgres

_PART: Final = 500_000
_EACH: Final = 20
"""Rows of an owner."""
_ENDS: Final = str(values.now() + 1000 * values.DAY)
_OWNER: Final = "'agt_' || {owner}"
_COLUMNS: Final[dict[type[TableModel], dict[str, str]]] = {
    Agent: {"id": "'agt_' || {number}", "expires_at": _ENDS},
    AuditEvent: {"id": "'evt_' || {number}", "subject": "'agt_' || {number}"},
    Negotiation: {"id": "'neg_' || {number}", "owner": _OWNER},
    Offer: {"id": "'off_' || {number}", "negotiation": "'neg_' || {number}"},
    NegotiationEvent: {"negotiation": "'neg_' || {number}"},
    Memory: {"id": "'mem_' || {number}", "owner": _OWNER, "digest": "{number}"},
    AccessToken: {"jti": "{number}", "client_id": "'agt_' || {number}", "expires_at": _ENDS},
    SpentValue: {"kind": "'assertion'", "value": "'https://idp.example ' || {random}", "expires_at": _ENDS},
}
"""The columns that differ from the copied row; the others are as the API wrote them."""
OF_OWNERS: Final = (Agent, AuditEvent, Negotiation, Offer, NegotiationEvent, Memory)
EXPIRING: Final = (AccessToken, SpentValue)
_POSTGRES: Final = {
    "number": "lpad(g.i::text, 26, '0')",
    "owner": f"lpad((g.i / {_EACH})::text, 26, '0')",
    "random": "md5(g.i::text)",
}
_SQLITE: Final = {
    "number": "printf('%026d', g.i)",
    "owner": f"printf('%026d', g.i / {_EACH})",
    "random": "lower(hex(randomblob(16)))",
}


async def fill(url: str, model: type[TableModel], start: int, end: int) -> int:
    """Add the rows `start` to `end`; gives the bytes that each of them took, with its indexes."""
    is_sqlite = url.startswith("sqlite")
    words = _SQLITE if is_sqlite else _POSTGRES
    changed = _COLUMNS[model]
    names = [column.name for column in table(model).columns]
    cells = ", ".join(changed[each].format(**words) if each in changed else f'e."{each}"' for each in names)
    name = table(model).name
    # Without a row to copy all columns have to be given.
    copied = "" if set(names) <= changed.keys() else f"(select * from {name} limit 1) as e, "  # noqa: S608
    quoted = ", ".join(f'"{each}"' for each in names)
    into = f"insert into {name} ({quoted})"
    if is_sqlite:
        file = Path(url.partition("///")[2])
        return _fill_file(file, into, f"{cells} from {copied}", start, end)
    connection = await connect_postgres(url)
    before = await connection.fetchval(f"select pg_total_relation_size('{name}')")
    for first in range(start, end, _PART):
        last = min(first + _PART, end) - 1
        source = f"generate_series({first}, {last}) as g(i)"
        await connection.execute(f"{into} select {cells} from {copied}{source}")  # noqa: S608
    await connection.execute(f"vacuum analyze {name}")
    after = await connection.fetchval(f"select pg_total_relation_size('{name}')")
    await connection.close()
    return (after - before) // max(1, end - start)


def _fill_file(path: Path, into: str, picked: str, start: int, end: int) -> int:
    before = path.stat().st_size
    connection = sqlite3.connect(path, isolation_level=None, timeout=60)
    connection.execute("pragma synchronous=off")
    for first in range(start, end, _PART):
        last = min(first + _PART, end) - 1
        more = f"select {first} union all select i + 1 from g where i < {last}"  # noqa: S608
        connection.execute(f"with recursive g(i) as ({more}) {into} select {picked}g")
    connection.execute("pragma wal_checkpoint(truncate)")
    connection.close()
    return (path.stat().st_size - before) // max(1, end - start)
