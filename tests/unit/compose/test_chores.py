"""What a chore costs: look-ups in indexes when nothing is due, few statements for an agent that owns nothing."""

import sqlite3
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from negotiator.agents.tables import Agent
from negotiator.base import values
from negotiator.compose.ownership import chores
from negotiator.store.ownership import Chore
from negotiator.store.sqlite import SqliteTransaction
from negotiator.store.statement import Query, Row, RowInsertion, Statement, column_values

_CHORES = chores(400)


class ExplainedTransaction(SqliteTransaction):
    """Collects how SQLite finds the rows of each statement."""

    __slots__ = ("_connection", "plans", "statements")

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        self._connection = connection
        self.plans: list[str] = []
        self.statements = 0

    def run(self, statement: Statement, /, **values: Any) -> int:
        self._explain(statement, values)
        return super().run(statement, **values)

    def one(self, query: Query[Row], /, **values: Any) -> Row | None:
        self._explain(query, values)
        return super().one(query, **values)

    def all(self, query: Query[Row], /, **values: Any) -> list[Row]:
        self._explain(query, values)
        return super().all(query, **values)

    def _explain(self, statement: Statement, values: dict[str, Any]) -> None:
        self.statements += 1
        sql, bound = statement.named(values)
        found = self._connection.execute(f"explain query plan {sql}", bound)
        self.plans += [str(row[3]) for row in found]


@pytest.fixture
def transaction(tmp_path: Path, migrated: Path) -> Generator[ExplainedTransaction]:
    path = tmp_path / "chores.db"
    path.write_bytes(migrated.read_bytes())
    connection = sqlite3.connect(path)
    yield ExplainedTransaction(connection)
    connection.close()


@pytest.mark.parametrize("chore", _CHORES, ids=[chore.name for chore in _CHORES])
def test_a_chore_with_nothing_due_scans_no_table_and_sorts_nothing(
    chore: Chore, transaction: ExplainedTransaction
) -> None:
    assert chore.run(transaction, values.now(), 100) == 0
    assert transaction.plans
    whole = ("SCAN", "USE TEMP B-TREE")
    due_alone = "SCAN collection_counts_due USING COVERING INDEX"
    assert not [plan for plan in transaction.plans if plan.startswith(whole) and not plan.startswith(due_alone)]


def test_an_agent_that_owns_nothing_is_deleted_by_few_statements_without_a_scan(
    transaction: ExplainedTransaction,
) -> None:
    [chore] = [each for each in _CHORES if each.name == "agents.expires_at"]
    expired = Agent(id="agt_1", service="assistant", name="a", identity_type="anonymous", created_at=0, expires_at=1)
    transaction.run(RowInsertion(Agent), **column_values(expired))
    transaction.plans.clear()
    transaction.statements = 0
    assert chore.run(transaction, values.now(), 100) == 1
    assert transaction.statements <= 10
    assert not [plan for plan in transaction.plans if plan.startswith("SCAN") and "CONSTANT" not in plan]
