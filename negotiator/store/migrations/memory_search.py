"""Creates the tables of `memory.search_rows` on a PostgreSQL server that has pgvector; on any other database nothing.

They hold nothing that the memories do not hold, and are filled by the first search of each owner.
"""

from typing import Final

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

_OFFERED: Final = text("select 1 from pg_available_extensions where name = 'vector'")
_USABLE: Final = text("select to_regtype('halfvec') is not null")
_STATEMENTS: Final = (
    "drop table if exists memory_search, memory_search_owners",
    """
    create table memory_search_owners (
        owner varchar primary key references memory_owners on delete cascade,
        stamp bigint not null
    )
    """,
    """
    create table memory_search (
        memory varchar primary key references memories on delete cascade,
        owner varchar not null,
        stamp bigint not null,
        status varchar not null,
        expires_at bigint not null,
        model varchar not null,
        embedding halfvec,
        length integer not null,
        terms varchar[] not null,
        repeated jsonb not null
    )
    """,
    # A comparison of every vector of an owner reads them where the row is.
    "alter table memory_search alter embedding set storage main",
    "create index ix_memory_search_owner_model on memory_search (owner, model)",
    # Without a list of pending entries, which every search would read.
    "create index ix_memory_search_terms on memory_search using gin (terms) with (fastupdate = off)",
)


def create_search_rows(connection: Connection) -> bool:
    """Create the tables anew; returns whether the database can hold them."""
    if not has_vectors(connection):
        return False
    for statement in _STATEMENTS:
        connection.execute(text(statement))
    return True


def has_vectors(connection: Connection) -> bool:
    """Whether the database has pgvector's halfvec, which came with 0.7; creates the extension if this user may."""
    if connection.dialect.name != "postgresql":
        return False
    if connection.scalar(_OFFERED) is None:
        return False
    try:
        with connection.begin_nested():
            connection.execute(text("create extension if not exists vector"))
    except DBAPIError:
        return False
    return bool(connection.scalar(_USABLE))
