"""Creates the tables of `directory.search_rows` on PostgreSQL; on any other database nothing.

They hold nothing that the catalogue does not hold, and are filled from its feed of changes by any worker that searches
them. `tool_vectors` is made only where the server has pgvector, and may be made later.
"""

from typing import Final

from sqlalchemy import Connection, text

from negotiator.store.migrations.memory_search import has_vectors

_ROWS: Final = (
    """
    create table if not exists tool_search (
        tool varchar collate "C" primary key,
        seq bigint not null,
        form integer not null,
        status varchar not null,
        name varchar collate "C" not null,
        saves bigint not null,
        proven bigint not null,
        created bigint not null,
        updated bigint not null,
        factor double precision not null,
        standing real not null,
        worth real not null,
        digest bytea not null,
        waits boolean not null,
        facets varchar[] not null,
        terms tsvector not null,
        postings bytea not null
    )
    """,
    # A search counts and orders many rows by their facts alone, and finds their terms in an index: what is long is
    # stored beside the rows, so that a page has seven times as many. PostgreSQL does so with rows above 2 kB, which the
    # filler makes of all; compressed it takes 35 bytes.
    "alter table tool_search add column if not exists filler varchar not null default repeat(' ', 2000)",
    "alter table tool_search set (toast_tuple_target = 128)",
    """
    alter table tool_search alter tool set storage plain, alter name set storage plain, alter status set storage plain,
        alter filler set storage main, alter terms set storage external, alter postings set storage external
    """,
    "create unique index if not exists ix_tool_search_seq on tool_search (seq)",
    "create index if not exists ix_tool_search_form on tool_search (form)",
    "create index if not exists ix_tool_search_status on tool_search (status)",
    "create index if not exists ix_tool_search_waits on tool_search (tool) where waits",
    # Without a list of pending entries, which every search would read.
    "create index if not exists ix_tool_search_terms on tool_search using gin (terms) with (fastupdate = off)",
    # One of 64 tools, by which numbers are estimated.
    """
    create index if not exists ix_tool_search_sample on tool_search using gin (terms) with (fastupdate = off)
    where get_byte(digest, 0) < 4
    """,
    *(
        f"create index if not exists ix_tool_search_{name} on tool_search ({name}, tool)"
        for name in ("name", "saves", "proven", "created", "updated", "factor")
    ),
    """
    create table if not exists tool_words (
        field varchar not null,
        word varchar not null,
        sound varchar not null,
        letters integer not null,
        primary key (field, word)
    )
    """,
    "create index if not exists ix_tool_words_sound on tool_words (field, sound)",
    # All that the comparison of a misspelt word with those of its length needs.
    "create index if not exists ix_tool_words_length on tool_words (field, length(word), letters) include (word)",
)
_VECTORS: Final = (
    """
    create table if not exists tool_vectors (
        tool varchar collate "C" primary key,
        model varchar not null,
        digest bytea not null,
        embedding halfvec not null
    )
    """,
    # A comparison of every vector reads them where the row is.
    "alter table tool_vectors alter embedding set storage main",
    "update tool_search set waits = true where not waits",
)
# The cast is the one of `directory.search_rows`.
_VECTOR_INDEX: Final = """
    create index if not exists ix_tool_vectors_embedding on tool_vectors
    using hnsw (cast(embedding as halfvec(384)) halfvec_cosine_ops)
"""


def create_tool_rows(connection: Connection) -> None:
    """Create the tables that are not there yet."""
    if connection.dialect.name != "postgresql":
        return
    for statement in _ROWS:
        connection.execute(text(statement))
    if connection.scalar(text("select to_regclass('tool_vectors') is null")) and has_vectors(connection):
        for statement in _VECTORS:
            connection.execute(text(statement))
    if connection.scalar(text("select to_regclass('tool_vectors') is not null")):
        connection.execute(text(_VECTOR_INDEX))


def analyze_tool_rows(connection: Connection) -> None:
    """Tell the planner what is in the tables, after many rows were put."""
    connection.execute(text("analyze tool_search, tool_words"))
