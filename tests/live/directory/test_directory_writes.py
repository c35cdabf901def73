"""Submissions, reports and collections on both engines, under a crowd."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import pytest

from negotiator.base import values
from negotiator.base.caller import Caller
from negotiator.base.errors import Conflict
from negotiator.compose import ownership
from negotiator.directory import catalogue_queries, draft_checks, submissions_transitions
from negotiator.directory import collections_queries as bookmarks
from negotiator.directory import reports_queries as reports
from negotiator.directory import submissions_queries as submissions
from negotiator.directory.draft_checks import DraftScreening
from negotiator.directory.schemas_collections import NewCollection, PutItem
from negotiator.directory.schemas_submissions import NewReport
from negotiator.directory.tool_record import ToolDraft
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from tests.helpers.directory_agents import record

pytestmark = pytest.mark.asyncio
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
