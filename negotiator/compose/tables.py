"""Every module that defines tables. Whatever walks over all tables imports it, so that every process knows the same."""

from typing import Any, Final

from sqlalchemy import ClauseElement, Executable
from sqlalchemy.ext.compiler import compiles
from sqlmodel import SQLModel

from negotiator import audit
from negotiator.agents import mail_queue
from negotiator.agents import tables as agents
from negotiator.base.errors import Unavailable
from negotiator.directory import tables as directory
from negotiator.http import idempotency
from negotiator.keys import database_keys
from negotiator.memory import tables as memory
from negotiator.negotiations import tables as negotiations
from negotiator.rehearsals import tables as rehearsals
from negotiator.store import atomic_updates, fingerprints, migrate
from negotiator.store.statement import Query, Transaction
from negotiator.teleprompter import tables as teleprompter
from negotiator.tokens import tables as tokens
from negotiator.trust import tables as trust
from negotiator.users import tables as users

MODULES: Final = (
    *(agents, audit, atomic_updates, database_keys, directory, fingerprints, idempotency, mail_queue),
    *(memory, migrate, negotiations, rehearsals, teleprompter, tokens, trust, users),
)
_OF_MIGRATIONS: Final = {"alembic_version"}


class _TableNames(Executable, ClauseElement):
    """Each engine has a list of its tables of its own."""

    inherit_cache = True


@compiles(_TableNames, "sqlite")
def _of_sqlite(_names: _TableNames, _compiler: Any, **_options: Any) -> str:
    return "select name from sqlite_master where type = 'table' and name not like 'sqlite%'"


@compiles(_TableNames, "postgresql")
def _of_postgresql(_names: _TableNames, _compiler: Any, **_options: Any) -> str:
    return "select tablename from pg_tables where schemaname = current_schema()"


_NAMES: Final = Query(_TableNames(), lambda row: str(row[0]))


def require_known_tables(tx: Transaction) -> None:
    """Raise `Unavailable` when the database has a table that this release does not know: its rows would be left."""
    if unknown := {*tx.all(_NAMES)} - _OF_MIGRATIONS - SQLModel.metadata.tables.keys():
        raise Unavailable(
            f"Nothing is erased: this version of Negotiator does not know the tables {', '.join(sorted(unknown))} of "
            "the database, and would leave what they hold. Erase with the version that made them."
        )
