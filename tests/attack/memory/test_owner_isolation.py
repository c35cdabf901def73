"""Two owners: on no path does one see, change, delay or notice what is the other's."""

import json
import re
import sqlite3
from pathlib import Path
from types import ModuleType
from typing import Any, Final, cast

import pytest

from negotiator.memory import memories_queries, search, transfer_routes
from negotiator.store.statement import Statement
from tests.helpers.answer_checks import refused
from tests.helpers.memory_client import MemoryClient, NewMemoryClient

SECRET: Final = "Hers: the reservation price for Project Falcon is 77,123 EUR."
HOSTILE: Final = (
    "Falcon",
    "reservation price Falcon 77,123",
    'price" OR owner:usr_ OR text:("Falcon',
    "x' OR '1'='1",
    "*",
    "Falcon*",
    "owner:*",
    "NEAR(Falcon, 5)",
    "%' UNION SELECT document FROM memories --",
    '{"owner": {"ne": ""}}',
)


@pytest.mark.asyncio
async def test_no_memory_of_his_corrects_one_of_hers_or_shows_what_it_was(
    memory_client: MemoryClient, new_memory_client: NewMemoryClient
) -> None:
    eve = await new_memory_client("eve@example.com")
    adas = (await memory_client.said(SECRET))["id"]
    refused(await eve.call("GET", f"/{adas}?at=2030-01-01T00:00:00Z"), 404, "not_found")
    answer = await eve.call("POST", "", {"text": "Mine.", "supersedes": adas})
    other = await eve.call("POST", "", {"text": "Mine.", "supersedes": "mem_" + "0" * 26})
    assert refused(answer, 422, "validation_failed")["errors"] == other.json()["errors"]
    assert (await memory_client.call("GET", f"/{adas}")).json()["text"] == SECRET


@pytest.mark.asyncio
async def test_no_search_of_his_finds_what_is_hers(
    memory_client: MemoryClient, new_memory_client: NewMemoryClient
) -> None:
    eve = await new_memory_client("eve@example.com")
    await memory_client.said(SECRET, counterparty="Falcon", tags=["falcon"], attributes={"p": 1})
    await eve.said("Eve's: nothing.")
    for query in (*HOSTILE, SECRET):
        for mode in ("hybrid", "semantic", "keyword"):
            found = await eve.found(query, mode=mode, include=["superseded", "pending"])
            assert set(found) <= {"Eve's: nothing."}, (query, mode)
    filters: tuple[dict[str, Any], ...] = (
        {"counterparty": "Falcon"},
        {"NOT": {"counterparty": "nobody"}},
        {"OR": [{"trust": {"gte": 0}}, {"tags": {"exists": True}}]},
        {"attributes.p": 1},
        {"source.client_id": memory_client.agent},
    )
    for each in filters:
        assert set(await eve.found("price", filters=each)) <= {"Eve's: nothing."}
    for unknown in ({"owner": memory_client.owner}, {"owner": {"ne": ""}}, {"attributes": {"exists": 1}}):
        answer = await eve.call("POST", "/search", {"query": "x", "filters": unknown})
        refused(answer, 422, "validation_failed")


@pytest.mark.asyncio
async def test_lists_cursors_exports_and_imports_are_each_one_s_own(
    memory_client: MemoryClient, new_memory_client: NewMemoryClient
) -> None:
    eve = await new_memory_client("eve@example.com")
    made = await memory_client.said(SECRET)
    for number in range(3):
        await memory_client.call("PATCH", f"/{made['id']}", {"tags": [str(number)]})
        await memory_client.said(f"Another of Ada's, {number}.")
        await eve.said(f"Eve's, {number}.")
    adas = (await memory_client.call("GET", "?limit=1")).json()["next_cursor"]
    refused(await eve.call("GET", f"?limit=1&cursor={adas}"), 400, "invalid_cursor")
    past = (await memory_client.call("GET", f"/{made['id']}/history?limit=1")).json()["next_cursor"]
    eves = (await eve.listed())[0]["id"]
    refused(await eve.call("GET", f"/{eves}/history?cursor={past}"), 400, "invalid_cursor")
    for status in ("", "status=active", "kind=fact", "trust=2", f"counterparty={SECRET[:20]}"):
        assert all("Eve's" in one["text"] for one in await eve.listed(status))
    assert "Falcon" not in (await eve.call("GET", "/export")).text
    carried = (await memory_client.call("GET", "/export")).text.splitlines()
    stolen = [json.loads(line) for line in carried]
    await eve.call("POST", "/import", {"lines": stolen})
    assert (await memory_client.call("GET", f"/{made['id']}")).json()["revision"] == 4
    assert made["id"] not in {one["id"] for one in await eve.listed()}


@pytest.mark.asyncio
async def test_the_same_key_and_text_of_two_owners_are_two_memories(
    memory_client: MemoryClient, new_memory_client: NewMemoryClient
) -> None:
    eve = await new_memory_client("eve@example.com")
    adas = await memory_client.call("POST", "", {"text": SECRET}, idempotency_key="k")
    eves = await eve.call("POST", "", {"text": SECRET}, idempotency_key="k")
    assert (adas.status_code, eves.status_code) == (201, 201)
    assert adas.json()["id"] != eves.json()["id"]
    assert eves.json()["similar_to"] is None
    assert (await eve.erased()).json() == {"erased": 1}
    assert await memory_client.found("Falcon") == [SECRET]
    again = await memory_client.call("POST", "", {"text": SECRET}, idempotency_key="k")
    assert again.content == adas.content


@pytest.mark.asyncio
async def test_two_agents_of_one_user_share(memory_client: MemoryClient, new_memory_client: NewMemoryClient) -> None:
    await memory_client.said(SECRET)
    second = await new_memory_client("ada@example.com")
    assert await second.found("Falcon") == [SECRET]


OF_ALL_OWNERS: Final = frozenset({"_OUTDATED", "_COUNT", "_ANY"})
"""Statements of the start and of re-embedding, a command of the operator."""


def _statements() -> list[tuple[str, Statement]]:
    """Those that an owner's request runs."""
    modules: tuple[ModuleType, ...] = (memories_queries, search, transfer_routes)
    found: list[tuple[str, Statement]] = []
    for module in modules:
        for name, value in vars(module).items():
            if module is search and name in OF_ALL_OWNERS:
                continue
            listed = cast("tuple[Any, ...]", value if isinstance(value, tuple) else (value,))
            found += [(f"{module.__name__}.{name}", one) for one in listed if isinstance(one, Statement)]
    return found


def test_every_statement_on_memories_names_the_owner() -> None:
    listed = [(name, one.sql.lower()) for name, one in _statements()]
    assert len(listed) >= 15
    for name, sql in listed:
        if not sql.startswith("insert"):
            assert "owner =" in sql, name
    for name in OF_ALL_OWNERS:
        assert "owner =" not in vars(search)[name].sql.lower(), name


def test_no_statement_walks_through_the_rows_of_others(migrated: Path) -> None:
    """The cost of what an owner does is counted in steps of the database's machine: others do not add to it."""

    def steps(others: int) -> dict[str, int]:
        connection = sqlite3.connect(migrated.as_uri() + "?mode=ro", uri=True)
        memory = sqlite3.connect(":memory:")
        connection.backup(memory)
        connection.close()
        columns = [row[1] for row in memory.execute("pragma table_info(memories)")]
        marks = ",".join("?" * len(columns))
        for number in range(others + 5):
            owner = "me" if number < 5 else f"other{number % 7}"
            values: dict[str, Any] = dict.fromkeys(columns, 0)
            values |= {"id": f"mem_{number:09}", "owner": owner, "digest": f"d{number}"}
            values |= {"status": "active", "document": b"{}", "vector": b"", "stamp": number}
            row = [values[column] for column in columns]
            memory.execute("insert into memories values (" + marks + ")", row)  # noqa: S608  only marks
        memory.execute("analyze")
        return {name: _counted(memory, one) for name, one in _statements()}

    few, many = steps(20), steps(4000)
    grown = {name: (few[name], many[name]) for name in few if many[name] > few[name] + 40}
    assert grown == {}


def _counted(connection: sqlite3.Connection, statement: Statement) -> int:
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    values: dict[str, Any] = dict.fromkeys(re.findall(r":(\w+)", statement.sql), 0)
    values |= {"holder": "me", "owner": "me", "limit": 10, "before": "mem_z", "stamp": 0}
    values |= {"newest": 99, "memory": "mem_000000001"}
    if statement.sql.lower().startswith("insert"):
        return 0
    connection.execute("savepoint measured")
    connection.set_progress_handler(step, 1)
    connection.execute(*statement.named(values)).fetchall()
    connection.set_progress_handler(None, 1)
    connection.execute("rollback to measured")
    return count
