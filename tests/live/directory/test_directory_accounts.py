"""Agents, submissions, reports and collections on both engines, over processes and under a crowd."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
import pytest_asyncio

from negotiator.base import values
from negotiator.base.caller import Caller
from negotiator.base.errors import Conflict
from negotiator.compose import ownership
from negotiator.config.settings import Settings
from negotiator.directory import accounts_queries, catalogue_queries, draft_checks, submissions_transitions
from negotiator.directory import collections_queries as bookmarks
from negotiator.directory import reports_queries as reports
from negotiator.directory import submissions_queries as submissions
from negotiator.directory.draft_checks import DraftScreening
from negotiator.directory.schemas_submissions import NewCollection, NewReport, PutItem
from negotiator.directory.tool_record import ToolDraft
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from tests.conftest import connect, make_settings, running
from tests.helpers.directory_agents import record
from tests.helpers.directory_identity import (
    CHALLENGE,
    REVOKE,
    ROTATE,
    StatementSigner,
    buy_token,
    is_accepted,
    key_header,
    prove,
    prove_did,
    register_account,
)
from tests.helpers.live_server import Server
from tests.helpers.sweep import sweep

pytestmark = pytest.mark.asyncio
Pair = tuple[httpx2.AsyncClient, httpx2.AsyncClient]


@pytest.fixture
def shared_settings(database_url: str, tmp_path: Path, signing_keys: Path) -> Settings:
    """Settings over each engine in turn."""
    return make_settings(tmp_path, signing_keys, database_url=database_url)


@pytest_asyncio.fixture
async def two_clients(shared_settings: Settings) -> AsyncGenerator[Pair]:
    """Two visitors, each at an application of its own over the same database."""
    async with (
        running(shared_settings) as one,
        running(shared_settings) as other,
        connect(one) as client,
        connect(other) as elsewhere,
    ):
        yield client, elsewhere


async def test_an_agent_s_whole_life_is_the_same_on_each_engine(two_clients: Pair) -> None:
    client, elsewhere = two_clients
    signer = StatementSigner()
    record = await register_account(client, "did", signer.did, requested_scopes=["tools:write"])
    assert await is_accepted(elsewhere, record["api_key"])
    refused = await prove(client, record, "a.b.c")
    assert refused.json()["error"] == "invalid_proof"
    proved = await prove(elsewhere, record, signer.statement(record))
    assert proved.json()["identity"]["trust_level"] == 2
    token = (await buy_token(client, record)).json()["access_token"]
    assert await is_accepted(elsewhere, token)
    rotated = (await elsewhere.post(ROTATE, json={}, headers=key_header(record))).json()
    answer = await client.get("/api/health", headers=key_header(record))
    assert "sunset" in answer.headers
    for credential in (record["api_key"], rotated["api_key"]):
        await client.post(REVOKE, json={"token": credential})
        assert not await is_accepted(elsewhere, credential)
    assert not await is_accepted(elsewhere, token)
    await prove_did(client, signer)
    mailed = await register_account(client, "email", "ada@example.com")
    assert mailed["identity"]["challenge"]["method"] == "email_code"


async def test_of_two_agents_with_one_identity_one_proves_it_on_each_engine(two_clients: Pair) -> None:
    client, elsewhere = two_clients
    signer = StatementSigner()
    records = [await register_account(client, "did", signer.did) for _ in range(2)]
    answers = await asyncio.gather(
        *(
            prove(each, record, signer.statement(record))
            for record in records
            for _ in range(3)
            for each in (client, elsewhere)
        )
    )
    words = [answer.json().get("error", "verified") for answer in answers]
    assert words.count("verified") == 1
    told = {"verified", "identity_taken", "challenge_used", "too_many_attempts"}
    assert set(words) <= told


async def test_the_sweep_and_the_operator_work_on_each_engine(shared_settings: Settings, store: Store) -> None:
    async with running(shared_settings) as one, connect(one) as client:
        record = await register_account(client)
        agent = record["client_id"]
        await store.write(lambda tx: accounts_queries.vet(tx, agent, vetted=True))
        await store.write(lambda tx: sweep(tx, values.now() + 86_400_000))
        (listed,) = await store.write(lambda tx: accounts_queries.newest(tx, 5))
        assert listed["trust_level"] == 3
        await store.write(lambda tx: accounts_queries.revoke(tx, agent, actor="operator"))
        assert not await is_accepted(client, record["api_key"])


async def test_a_rate_is_shared_by_four_workers_to_the_call(server: Server) -> None:
    async with server.connect() as client:
        record = await register_account(client)
        assert record["rate_limit"] == {"requests_per_minute": 60, "burst": 60}

    async def ask() -> httpx2.Response:
        async with server.connect() as visitor:
            return await visitor.post(CHALLENGE, headers=key_header(record))

    began = time.monotonic()
    answers = await asyncio.gather(*(ask() for _ in range(90)))
    statuses = [answer.status_code for answer in answers]
    taken = len(statuses) - statuses.count(429)
    back = int(time.monotonic() - began) + 1
    assert 60 <= taken <= 60 + back, "what comes back while the test runs, and no more"


ANY: Final = Caller("agent", "agt_1", "key_1", frozenset(), client_id="agt_1", level=1)
VETTED: Final = Caller("agent", "agt_2", "key_2", frozenset(), client_id="agt_2", level=3)


def draft(name: str = "Acme") -> ToolDraft:
    said = {"name": name, "summary": "Works", "kind": "app", "category": "coding"}
    return ToolDraft.model_validate({**said, "homepage_url": f"https://{name.lower()}.example"})


def seen(of: ToolDraft) -> DraftScreening:
    return DraftScreening(of, draft_checks.find_injection_flags(of))


async def crowd(store: Store, unit: Callable[[Transaction], Any], size: int = 12) -> tuple[list[Any], list[Conflict]]:
    """What came of running a unit so many times at once: the answers, and the conflicts."""
    found = await asyncio.gather(*(store.write(unit) for _ in range(size)), return_exceptions=True)
    odd = [each for each in found if isinstance(each, BaseException)]
    assert all(isinstance(each, Conflict) for each in odd), odd
    made = [each for each in found if not isinstance(each, BaseException)]
    return made, [each for each in odd if isinstance(each, Conflict)]


async def test_a_crowd_that_submits_the_same_makes_one_submission_and_one_tool(store: Store) -> None:
    acme = draft()
    made, refused = await crowd(store, lambda tx: submissions_transitions.propose(tx, ANY, acme, seen(acme)))
    assert (len(made), {each.error for each in refused}) == (1, {"duplicate"})
    approved, late = await crowd(store, lambda tx: submissions_transitions.approve(tx, made[0].id))
    assert (len(approved), {each.error for each in late}) == (1, {"illegal_transition"})
    beta = draft("Beta")
    listed, again = await crowd(store, lambda tx: submissions_transitions.propose(tx, VETTED, beta, seen(beta)))
    assert (len(listed), len(again)) == (1, 11)
    assert listed[0].status == "approved"


async def test_the_quota_of_waiting_submissions_holds(store: Store) -> None:
    def unit(tx: Transaction) -> Any:
        new = draft(f"T{values.new_ulid()}")
        return submissions_transitions.propose(tx, ANY, new, seen(new))

    made, refused = await crowd(store, unit)
    assert (len(made), {each.error for each in refused}) == (5, {"too_many_open"})


async def test_a_crowd_that_fills_one_collection_leaves_it_whole(store: Store) -> None:
    keys = [
        (await store.write(lambda tx, n=n: catalogue_queries.put(tx, record(f"T{n}"), actor="x"))).id for n in range(12)
    ]
    new = NewCollection.model_validate({"name": "All", "visibility": "unlisted"})
    kept = await store.write(lambda tx: bookmarks.add(tx, ANY, new))
    key = kept.row.id

    def put(tx: Transaction, tool: str) -> Any:
        before = bookmarks.load_own(tx, "agt_1", key, expected=None)
        return bookmarks.put(tx, before, PutItem.model_validate({"id": key, "tool_id": tool, "position": 0}))

    await asyncio.gather(*(store.write(lambda tx, t=t: put(tx, t)) for t in keys))
    found = await store.read(lambda tx: bookmarks.find_shared(tx, kept.row.share or ""))
    assert {item.tool for item in found.items} == set(keys)
    assert (found.row.size, found.row.revision) == (12, 13)
    shown = await store.read(lambda tx: bookmarks.entries_view(tx, found))
    assert [item["position"] for item in shown] == list(range(12))
    made, refused = await crowd(store, lambda tx: bookmarks.add(tx, ANY, new), 30)
    assert (len(made), len(refused)) == (19, 11)
    await store.write(lambda tx: bookmarks.recount_due_saves(tx, values.now(), 200))


async def test_a_report_is_one_and_what_a_principal_owned_goes(store: Store) -> None:
    tool = await store.write(lambda tx: catalogue_queries.put(tx, record("Acme"), actor="x"))
    report = NewReport.model_validate({"id": tool.id, "reason": "malware"})
    made, refused = await crowd(store, lambda tx: reports.add_report(tx, VETTED, report))
    assert (len(made), {each.error for each in refused}) == (1, {"already_reported"})
    assert (await store.read(lambda tx: catalogue_queries.require(tx, tool.id))).status == "quarantined"
    await store.write(lambda tx: reports.release(tx, tool.id))
    beta = draft("Beta")
    await store.write(lambda tx: submissions_transitions.propose(tx, ANY, beta, seen(beta)))
    await store.write(
        lambda tx: submissions_transitions.expire_overdue(tx, values.now() + submissions.SUBMISSION_LIFETIME + 1, 200)
    )
    page = await store.read(lambda tx: submissions.page(tx, "agt_1", status="expired", before=None, limit=5))
    assert len(page) == 1
    for principal in ("agt_1", "agt_2"):
        await store.write(lambda tx, owner=principal: ownership.erase(tx, owner))
    assert await store.read(lambda tx: submissions.queue(tx, status=None, limit=5)) == []
    assert await store.read(lambda tx: reports.list_reports(tx, tool=None, status=None, limit=5)) == []
