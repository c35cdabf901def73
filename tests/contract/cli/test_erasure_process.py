"""An erasure by the real command, in a process that imports only what that command needs."""

import sqlite3
import subprocess
import sys

import httpx2
import pytest
from sqlmodel import SQLModel

from negotiator.agents.mail_queue import QueuedMail
from negotiator.base import values
from negotiator.base.scopes import AI_TACTICS, NEGOTIATIONS_WRITE
from negotiator.compose.application import build_application
from negotiator.config.settings import Settings
from negotiator.store.statement import RowInsertion, Transaction
from tests.conftest import Account, Change, Mint, Register, bearer
from tests.contract.requirements import covers
from tests.helpers.operator_commands import Operator
from tests.helpers.operator_commands import operator as operator
from tests.house.source_tree import ROOT

PRIVATE = "canarywharf"
EMAIL = f"{PRIVATE}@example.com"
CAR = {
    "title": PRIVATE,
    "role": "buyer",
    "issues": [{"name": "price", "type": "money", "range": {"min": "9000", "max": "16000"}}],
    "target": {"package": {"price": "11000"}},
    "walk_away": {"package": {"price": "13500"}},
}
_COUNTED = "from sqlmodel import SQLModel; print(*sorted(SQLModel.metadata.tables))"


def tables_after(module: str) -> list[str]:
    """The tables that a process knows once it has imported this module."""
    asked = f"import {module}; {_COUNTED}"
    said = subprocess.run([sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True)
    return said.stdout.split()


def held(settings: Settings) -> bytes:
    return b"".join(path.read_bytes() for path in settings.data_dir.glob("negotiator.db*"))


@pytest.mark.parametrize("module", ["negotiator.cli.users", "negotiator.cli.backups"])
def test_a_command_that_erases_knows_every_table_of_the_server(module: str) -> None:
    assert build_application, "the server has imported every table"
    assert tables_after(module) == sorted(SQLModel.metadata.tables)


@pytest.mark.asyncio
@pytest.mark.parametrize("who", ["users", "agents"])
@covers("5.2:erase")
async def test_no_byte_of_what_was_erased_is_left(
    client: httpx2.AsyncClient,
    operator: Operator,
    account: Account,
    mint: Mint,
    register: Register,
    change: Change,
    settings: Settings,
    who: str,
) -> None:
    await account(EMAIL, name=PRIVATE)
    agent = await register(PRIVATE)
    erased = agent["client_id"]
    if who == "users":
        _, code = await mint(EMAIL, scopes=[NEGOTIATIONS_WRITE, AI_TACTICS])
        claim = await client.post("/api/agent/claim", json={"claim_token": code}, headers=bearer(agent))
        agent, erased = claim.json(), EMAIL
    headers, told = bearer(agent), {**CAR, "counterparty": {"name": PRIVATE}}
    made = await client.post("/api/negotiations", json=told, headers=headers)
    assert made.status_code == 201, made.text
    begun = await client.post(f"/api/negotiations/{made.json()['id']}/rehearsals", json={"seed": 7}, headers=headers)
    assert begun.status_code == 201, begun.text

    def queue(tx: Transaction) -> None:
        end = values.now() + values.DAY
        texts = {"id": "mail_1", "recipient": EMAIL, "subject": PRIVATE, "text": b""}
        tx.run(RowInsertion(QueuedMail), **texts, attempts=0, next_at=end, until=end)

    if who == "users":
        await change(queue)
    assert PRIVATE.encode() in held(settings)
    said = await operator.spawn(who, "erase", erased, "--yes", folder=settings.data_dir)
    assert said.exit_code == 0, said
    assert "1 rehearsal" in said.out
    if who == "agents":
        done = await operator("users", "erase", EMAIL, "--yes")
        assert done.exit_code == 0, done
    assert PRIVATE.encode() not in held(settings)


@pytest.mark.asyncio
async def test_nothing_is_erased_from_a_database_with_unknown_tables(
    operator: Operator, account: Account, settings: Settings
) -> None:
    await account(EMAIL)
    with sqlite3.connect(settings.data_dir / "negotiator.db") as newer:
        newer.execute("create table of_the_future (owner text)")
    assert "does not know the tables of_the_future" in await operator.refused("users", "erase", EMAIL, "--yes")
    assert EMAIL.encode() in held(settings)
