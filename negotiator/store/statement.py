"""Statements compiled once from SQLModel tables, the transaction they run in, and conditions on writes.

A statement is compiled when it first runs: no process runs all of them.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from sqlalchemy import Compiled, Dialect, Executable, Table
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.sqlite import Insert, insert
from sqlalchemy.sql import ClauseElement
from sqlmodel import SQLModel

_SQLITE = sqlite.dialect(paramstyle="named")

Values = dict[str, Any]
Row = TypeVar("Row")
Model = TypeVar("Model", bound=SQLModel)


class PositionalText(NamedTuple):
    """A statement for PostgreSQL: its text with `$n`, the names of the values in that order, and the tables it names.

    `tables` is None when a part of the statement is plain text, which may name any.
    """

    text: str
    names: Sequence[str]
    tables: frozenset[str] | None


class Statement:
    """A statement that changes rows. Its parameters are `bindparam`s, given by name when it runs."""

    __slots__ = ("_constants", "_named", "clause", "positional")

    def __init__(self, clause: ClauseElement) -> None:
        if not isinstance(clause, Executable):
            raise TypeError(f"{clause!r} cannot be executed")
        self.clause = clause
        self._constants: Values = {}
        """The parameters whose values the statement itself gives."""
        self._named: str | None = None
        self.positional: PositionalText | None = None
        """None until it first runs on PostgreSQL."""

    @property
    def sql(self) -> str:
        """The statement for SQLite: its text with `:name`."""
        if self._named is None:
            self._named = str(self.compiled(_SQLITE))
        return self._named

    @property
    def text(self) -> str:
        """The text as a database got it, without the values; empty before that."""
        return self._named or (self.positional.text if self.positional else "")

    def named(self, values: Values) -> tuple[str, Values]:
        """The statement for SQLite, and all its values."""
        return self.sql, self.bound(values)

    def compiled(self, dialect: Dialect) -> Compiled:
        """SQLAlchemy's compilation; without the values, since one named like a column would be its new content."""
        made: Any = self.clause.compile(dialect=dialect)
        self._constants |= {name: bind.value for name, bind in made.binds.items() if not bind.required}
        return made

    def bound(self, values: Values) -> Values:
        """The caller's values together with the statement's own; it has been compiled."""
        return {**self._constants, **values} if self._constants else values


class Query(Statement, Generic[Row]):
    """A statement that returns rows; `shape` turns one row, a tuple in column order, into its value."""

    __slots__ = ("shape",)

    def __init__(self, clause: ClauseElement, shape: Callable[[Sequence[Any]], Row]) -> None:
        super().__init__(clause)
        self.shape = shape


class Transaction(Protocol):
    """What a unit may do."""

    def run(self, statement: Statement, /, **values: Any) -> int:
        """Change rows and return their number."""
        ...

    def one(self, query: Query[Row], /, **values: Any) -> Row | None:
        """The first row, or None."""
        ...

    def all(self, query: Query[Row], /, **values: Any) -> list[Row]:
        """All rows."""
        ...

    def announce(self, subject: str) -> None:
        """Pass this subject to the store's listeners after the commit; nothing is passed when the unit raises."""
        ...


def table(model: type[SQLModel]) -> Table:
    """The SQLAlchemy table of a SQLModel class."""
    found: Table = getattr(model, "__table__")  # noqa: B009  the attribute exists on table models only
    return found


def insertion(model: type[SQLModel]) -> Insert:
    """`INSERT` of one whole row, with a parameter for each column, to which `ON CONFLICT` may be added.

    It is SQLite's construct, which the store of PostgreSQL compiles too.
    """
    return insert(table(model))


def replacement(model: type[SQLModel], key: Sequence[str], replaced: Sequence[str]) -> Statement:
    """`INSERT` of one whole row, or where a row has this `key`, of the `replaced` columns into that one."""
    row = insertion(model)
    return Statement(
        row.on_conflict_do_update(index_elements=key, set_={name: row.excluded[name] for name in replaced})
    )


class RowInsertion(Statement):
    """Inserts one whole row or fails. Units that share a commit may send their rows of a table together."""

    __slots__ = ("table",)

    def __init__(self, model: type[SQLModel]) -> None:
        super().__init__(insertion(model))
        self.table = table(model)


def entity(model: type[Model]) -> Callable[[Sequence[Any]], Model]:
    """A shape that makes a model instance of a row of `select(model)`; its attributes can be read, not assigned."""
    names = [column.name for column in table(model).columns]

    def shape(row: Sequence[Any]) -> Model:
        return read_only(model, dict(zip(names, row, strict=True)))

    return shape


def read_only(model: type[Model], columns: Values) -> Model:
    """A model instance with exactly these columns that no ORM session can track.

    The class's own constructor prepares an instance for a session, which takes fifty times as long.
    """
    made = model.__new__(model)
    vars(made).update(columns)
    return made


def column_values(row: SQLModel) -> Values:
    """The columns of a model instance by name: what `model_dump` gives, at a tenth of its time."""
    held = vars(row)
    return {name: held[name] for name in type(row).model_fields}


T = TypeVar("T")
WriteCondition = Callable[[Transaction], None]


_required: ContextVar[list[WriteCondition] | None] = ContextVar("required", default=None)
"""The condition of the block around this call, in a list that is empty once the block has ended."""


@contextmanager
def write_condition(check: WriteCondition) -> Generator[None]:
    """Inside this block every `Store.write` runs `check` first, in the unit's own transaction.

    If `check` raises, the unit does not run and the write raises the same. An inner block replaces the outer one. A
    task that was created inside and outlives the block writes without the condition.
    """
    required = [check]
    token = _required.set(required)
    try:
        yield
    finally:
        required.clear()
        _required.reset(token)


def under_write_condition(unit: Callable[[Transaction], T]) -> Callable[[Transaction], T]:
    """The unit, with the check of the `write_condition` around this call before it, if there is one."""
    if not (required := _required.get()):
        return unit
    [check] = required

    def run(tx: Transaction) -> T:
        check(tx)
        return unit(tx)

    return run
