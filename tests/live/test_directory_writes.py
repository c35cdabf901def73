"""Submissions, reports and collections on both engines, under a crowd."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import pytest

from negotiator import values
from negotiator.caller import Caller
from negotiator.directory.bookmarks import changing, saves
from negotiator.directory.bookmarks import kept as bookmarks
from negotiator.directory.bookmarks.schemas import NewCollection, PutItem
from negotiator.directory.catalogue import tools
from negotiator.directory.checks import verdict
from negotiator.directory.checks.verdict import Seen
from negotiator.directory.record.tool import ToolDraft
from negotiator.directory.reports import kept as reports
from negotiator.directory.reports.schemas import NewReport
from negotiator.directory.submissions import deciding
from negotiator.directory.submissions import kept as submissions
from negotiator.errors import Conflict
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.wiring import owned
from tests.api.directory.agents import record

pytestmark = pytest.mark.asyncio
ANY: Final = Caller("agent", "agt_1", "key_1", frozenset(), client_id="agt_1", level=1)
VETTED: Final = Caller("agent", "agt_2", "key_2", frozenset(), client_id="agt_2", level=3)


def draft(name: str = "Acme") -> ToolDraft:
    said = {"name": name, "summary": "Works", "kind": "app", "category": "coding"}
    return ToolDraft.model_validate({**said, "homepage_url": f"https://{name.lower()}.example"})


def seen(of: ToolDraft) -> Seen:
    return Seen(of, verdict.read(of))


async def crowd(
    store: Store, unit: Callable[[Transaction], Any], size: int = 12
) -> tuple[list[Any], list[Conflict]]:
    """What came of running a unit so many times at once: the answers, and the conflicts."""
    found = await asyncio.gather(*(store.write(unit) for _ in range(size)), return_exceptions=True)
    odd = [each for each in found if isinstance(each, BaseException)]
    assert all(isinstance(each, Conflict) for each in odd), odd
    made = [each for each in found if not isinstance(each, BaseException)]
    return made, [each for each in odd if isinstance(each, Conflict)]


async def test_a_crowd_that_submits_the_same_makes_one_submission_and_one_tool(
    store: Store,
) -> None:
    acme = draft()
    made, refused = await crowd(store, lambda tx: deciding.propose(tx, ANY, acme, seen(acme)))
    assert (len(made), {each.error for each in refused}) == (1, {"duplicate"})
    approved, late = await crowd(store, lambda tx: deciding.approve(tx, made[0].id))
    assert (len(approved), {each.error for each in late}) == (1, {"illegal_transition"})
    beta = draft("Beta")
    listed, again = await crowd(store, lambda tx: deciding.propose(tx, VETTED, beta, seen(beta)))
    assert (len(listed), len(again)) == (1, 11)
    assert listed[0].status == "approved"


async def test_the_quota_of_waiting_submissions_holds(store: Store) -> None:
    def unit(tx: Transaction) -> Any:
        new = draft(f"T{values.new_ulid()}")
        return deciding.propose(tx, ANY, new, seen(new))

    made, refused = await crowd(store, unit)
    assert (len(made), {each.error for each in refused}) == (5, {"too_many_open"})


async def test_a_crowd_that_fills_one_collection_leaves_it_whole(store: Store) -> None:
    keys = [
        (await store.write(lambda tx, n=n: tools.put(tx, record(f"T{n}"), actor="x"))).id
        for n in range(12)
    ]
    new = NewCollection.model_validate({"name": "All", "visibility": "unlisted"})
    kept = await store.write(lambda tx: changing.add(tx, ANY, new))
    key = kept.row.id

    def put(tx: Transaction, tool: str) -> Any:
        before = bookmarks.load(tx, "agt_1", key, expected=None)
        return changing.put(
            tx, before, PutItem.model_validate({"id": key, "tool_id": tool, "position": 0})
        )

    await asyncio.gather(*(store.write(lambda tx, t=t: put(tx, t)) for t in keys))
    found = await store.read(lambda tx: bookmarks.shared(tx, kept.row.share or ""))
    assert {item.tool for item in found.items} == set(keys)
    assert (found.row.size, found.row.revision) == (12, 13)
    shown = await store.read(lambda tx: changing.shown(tx, found))
    assert [item["position"] for item in shown] == list(range(12))
    made, refused = await crowd(store, lambda tx: changing.add(tx, ANY, new), 30)
    assert (len(made), len(refused)) == (19, 11)
    await store.write(lambda tx: saves.sweep(tx, values.now()))


async def test_a_report_is_one_and_what_a_principal_owned_goes(store: Store) -> None:
    tool = await store.write(lambda tx: tools.put(tx, record("Acme"), actor="x"))
    report = NewReport.model_validate({"id": tool.id, "reason": "malware"})
    made, refused = await crowd(store, lambda tx: reports.make(tx, VETTED, report))
    assert (len(made), {each.error for each in refused}) == (1, {"already_reported"})
    assert (await store.read(lambda tx: tools.require(tx, tool.id))).status == "quarantined"
    await store.write(lambda tx: reports.release(tx, tool.id))
    beta = draft("Beta")
    await store.write(lambda tx: deciding.propose(tx, ANY, beta, seen(beta)))
    await store.write(lambda tx: deciding.sweep(tx, values.now() + submissions.LIFE + 1))
    page = await store.read(
        lambda tx: submissions.page(tx, "agt_1", status="expired", before=None, limit=5)
    )
    assert len(page) == 1
    for principal in ("agt_1", "agt_2"):
        for erase in owned.ERASURES:
            await store.write(lambda tx, e=erase, p=principal: e(tx, p))
    assert await store.read(lambda tx: submissions.queue(tx, status=None, limit=5)) == []
    assert await store.read(lambda tx: reports.listed(tx, tool=None, status=None, limit=5)) == []
