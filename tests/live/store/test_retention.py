"""What time deletes, on both engines: old events of the audit trail, agents that are gone, withdrawn submissions."""

from typing import Final

import pytest
from sqlalchemy import bindparam

from negotiator.agents import registration
from negotiator.agents.tables import Agent
from negotiator.base import values
from negotiator.compose.housekeeping import ClockComparison, Housekeeping
from negotiator.compose.ownership import chores
from negotiator.directory import submissions_queries
from negotiator.directory.tables import Submission
from negotiator.store import audit
from negotiator.store.statement import Statement, Transaction, insertion
from negotiator.store.statement import table as table_of
from negotiator.store.store import Store
from negotiator.trust import revocations
from tests.helpers.stored_texts import names, raw, texts

pytestmark = pytest.mark.asyncio
YEAR: Final = 365


async def housekeep(store: Store, audit_days: int = 0) -> None:
    await Housekeeping(store, chores(audit_days), ClockComparison()).run()


def record_at(tx: Transaction, event: str, subject: str, days: int) -> None:
    """Record an event as it was recorded `days` days ago."""
    at = values.now() - days * values.DAY
    row = {"id": f"{values.first_id('evt', at)}{subject}", "at": at, "event": event}
    tx.run(Statement(insertion(audit.AuditEvent)), **row, subject=subject, actor="", detail="{}")


async def test_events_older_than_the_retention_go_and_erasures_stay(store: Store) -> None:
    def add(tx: Transaction) -> None:
        for number in range(30):
            record_at(tx, "user.created", f"usr_old{number}", YEAR + 1)
        record_at(tx, audit.USER_ERASED, "usr_erased", YEAR + 1)
        record_at(tx, "user.created", "usr_kept", YEAR - 1)

    await store.write(add)
    assert "audit_events" not in {chore.name for chore in chores(0)}, "0 keeps all"
    await housekeep(store, YEAR)
    events = await store.read(lambda tx: audit.latest_events(tx, 100))
    assert [event.subject for event in events] == ["usr_kept", "usr_erased"]


async def test_the_database_refuses_to_delete_a_young_event_and_an_erasure(store: Store) -> None:
    events = {"usr_young": ("user.created", 29), "usr_erased": (audit.USER_ERASED, 3 * YEAR)}
    table = table_of(audit.AuditEvent)
    removal = Statement(table.delete().where(table.c.subject == bindparam("who")))
    for subject, (event, days) in events.items():
        await store.write(lambda tx, e=event, s=subject, d=days: record_at(tx, e, s, d))
        with pytest.raises(Exception, match="append-only"):
            await store.write(lambda tx, s=subject: tx.run(removal, who=s))


def unclaimed(name: str, days: int) -> Agent:
    """An agent that registered so many days ago and is to be forgotten now."""
    return Agent(
        id=values.new_id("agt"),
        service="assistant",
        name=name,
        identity_type="anonymous",
        identity_value="",
        created_at=values.now() - days * values.DAY,
        expires_at=values.now() - 1,
    )


async def test_nothing_stays_of_an_agent_that_expired_but_its_events(store: Store, database_url: str) -> None:
    agent = unclaimed("vandelayindustries", 30)
    await store.write(lambda tx: registration.add(tx, agent, actor="192.0.2.7"))
    await housekeep(store)
    after = await store.read(texts)
    assert names(after, agent.id) == {"audit_events"}
    assert names(after, agent.name) == set()
    assert agent.name.encode() not in raw(database_url)


async def test_one_round_forgets_every_agent_that_is_due(store: Store) -> None:
    def fill(tx: Transaction) -> None:
        for number in range(120):
            registration.add(tx, unclaimed(f"vandelay{number}", 30), actor="192.0.2.7")

    await store.write(fill)
    await housekeep(store)
    assert names(await store.read(texts), "vandelay") == set()


@pytest.mark.parametrize("ended", [True, False])
async def test_an_agent_whose_tokens_may_live_leaves_a_revocation_until_they_have_ended(
    store: Store, ended: bool
) -> None:
    agent = unclaimed("vandelayindustries", 30 if ended else 1)
    await store.write(lambda tx: registration.add(tx, agent, actor="192.0.2.7"))
    if ended:

        def end(tx: Transaction) -> bool:
            kept_for = -values.HOUR
            return registration.end(tx, agent.id, service="assistant", actor="clock", kept_for=kept_for)

        assert await store.write(end)
    await housekeep(store)
    assert await store.read(lambda tx: revocations.revoked_before(tx, agent.id))
    later = values.now() + 32 * values.DAY
    for chore in chores():
        await store.write(lambda tx, c=chore: c.run(tx, later, 10))
    assert names(await store.read(texts), agent.id) == {"audit_events"}


async def test_no_byte_of_a_submission_stays_thirty_days_after_it_was_withdrawn(
    store: Store, database_url: str
) -> None:
    def submission(word: str, days: int) -> Submission:
        at = values.now() - days * values.DAY
        return Submission(
            id=values.new_id("sub"),
            owner="usr_1",
            origin=None,
            agent="agt_1",
            type="new",
            status="withdrawn",
            tool=None,
            proposed=f'{{"name": "{word}"}}'.encode() * 40,
            checks=b"{}",
            alike=b"[]",
            reason=None,
            note=word,
            appeal="",
            revision=1,
            created_at=at,
            updated_at=at,
            expires_at=None,
        )

    def add(tx: Transaction) -> None:
        submissions_queries.add(tx, submission("vandelayindustries", 31))
        submissions_queries.add(tx, submission("kramerica", 29))

    await store.write(add)
    await housekeep(store)
    after = await store.read(texts)
    assert (names(after, "vandelay"), names(after, "kramerica")) == (set(), {"submissions"})
    if database_url.startswith("sqlite"):
        assert b"kramerica" in raw(database_url)
        assert b"vandelay" not in raw(database_url)
