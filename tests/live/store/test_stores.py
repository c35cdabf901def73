"""One conformance for both engines: a unit means the same on SQLite and on PostgreSQL."""

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import asyncpg  # pyright: ignore[reportMissingTypeStubs]
import psutil
import pytest
from sqlalchemy import bindparam, delete, func, select, text, update
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import create_async_engine

from negotiator.base import values
from negotiator.base.errors import NotFound, Unavailable
from negotiator.base.scopes import ASSISTANT
from negotiator.discovery.health_routes import HealthEndpoint
from negotiator.negotiations import event_queries
from negotiator.negotiations.event_queries import CLOCK_ACTOR, HistoryEvent
from negotiator.store import atomic_updates, audit, postgres_connections
from negotiator.store.audit import AuditEvent
from negotiator.store.migrate import migrate
from negotiator.store.statement import Query, Statement, Transaction, table, write_condition
from negotiator.store.store import Store, make_store
from negotiator.store.waiting import Priority, request_priority
from negotiator.tokens import access_tokens, clients
from negotiator.tokens.clients import NewClient
from negotiator.trust import issuer_queries, revocations
from negotiator.trust.issuers import Issuer
from negotiator.users import user_queries
from tests.conftest import connect, make_settings, running
from tests.helpers.application_journey import journey

pytestmark = pytest.mark.asyncio
LATER = values.now() + 3_600_000


async def test_of_fifty_who_spend_at_once_exactly_one_wins(store: Store, database_url: str) -> None:
    other = make_store(database_url)
    await other.start()

    def unit(tx: Transaction) -> bool:
        return atomic_updates.spend(tx, "jti", "once", expires_at=LATER)

    won = await asyncio.gather(*(each.write(unit) for each in (store, other) for _ in range(25)))
    await other.close()
    assert won.count(True) == 1
    assert not await store.write(unit)


async def test_a_budget_is_exact_however_many_take_at_once(store: Store, database_url: str) -> None:
    other = make_store(database_url)
    await other.start()

    def unit(tx: Transaction) -> int | None:
        return atomic_updates.charge_budget(tx, "key", now=1_000, interval=10, burst=7)

    taken = await asyncio.gather(*(each.write(unit) for each in (store, other) for _ in range(15)))
    await other.close()
    assert sorted(arrival for arrival in taken if arrival) == [1_010 + 10 * n for n in range(7)]
    assert await store.read(lambda tx: atomic_updates.read_budget(tx, "key")) == 1_070


async def test_a_unit_that_raises_leaves_nothing_and_harms_no_neighbour(store: Store) -> None:
    def bad(tx: Transaction) -> None:
        atomic_updates.spend(tx, "jti", "bad", expires_at=LATER)
        raise NotFound("on purpose")

    def good(tx: Transaction) -> bool:
        return atomic_updates.spend(tx, "jti", "good", expires_at=LATER)

    outcomes = await asyncio.gather(store.write(good), store.write(bad), store.write(good), return_exceptions=True)
    assert sorted(map(str, outcomes)) == ["False", "True", "on purpose"]
    assert await store.write(lambda tx: atomic_updates.spend(tx, "jti", "bad", expires_at=LATER))


async def test_units_that_share_a_commit_are_kept_or_undone_one_by_one(store: Store) -> None:
    """Some raise before they change anything, some after an insertion, some after a conditional change, some by it."""

    def unit(tx: Transaction, number: int) -> int:
        subject = f"usr_{number}"
        if number % 5 == 1:
            raise NotFound(subject)
        audit.record(tx, "user.created", subject, actor="test")
        if number % 5 == 2:
            raise NotFound(subject)
        seen = [event.subject for event in audit.latest_events(tx, 1)]
        assert seen == [subject]
        if number % 5 == 3:
            raise NotFound(subject)
        assert atomic_updates.spend(tx, "jti", subject, expires_at=LATER)
        if number % 5 == 4:
            tx.run(Statement(delete(AuditEvent)))
        tx.announce(subject)
        return number

    told: list[str] = []
    store.listen(told.extend)
    outcomes = await asyncio.gather(
        *(store.write(lambda tx, n=number: unit(tx, n)) for number in range(40)), return_exceptions=True
    )
    kept = [number for number in range(40) if number % 5 == 0]
    assert [each for each in outcomes if isinstance(each, int)] == kept
    assert [str(each) for each in outcomes if isinstance(each, NotFound)] == [
        f"usr_{number}" for number in range(40) if number % 5 in (1, 2, 3)
    ]
    subjects = sorted(f"usr_{number}" for number in kept)
    assert sorted(told) == subjects
    events = await store.read(lambda tx: audit.latest_events(tx, 100))
    assert sorted(event.subject for event in events) == subjects
    spent = await store.read(lambda tx: [atomic_updates.is_spent(tx, "jti", f"usr_{number}") for number in range(40)])
    assert [number for number, is_spent in enumerate(spent) if is_spent] == kept


_SLEEP = Query(select(func.pg_sleep(0.2)), tuple)


async def test_a_write_that_ends_a_condition_answers_after_the_last_write_under_it(
    store: Store, database_url: str
) -> None:
    """Slow units that passed their check are either counted when the answer comes, or never kept."""
    other = make_store(database_url)
    await other.start()
    slow: Callable[[Transaction], object] = lambda tx: tx.all(_SLEEP)  # noqa: E731
    if database_url.startswith("sqlite"):
        slow = lambda _tx: time.sleep(0.02)  # noqa: E731

    def check(tx: Transaction) -> None:
        if revocations.revoked_before(tx, "agt_1"):
            raise NotFound("ended")

    async def write(writer: int) -> None:
        def unit(tx: Transaction) -> None:
            slow(tx)
            atomic_updates.spend(tx, "jti", f"{writer}.{len(kept)}.{values.new_ulid()}", expires_at=LATER)

        with contextlib.suppress(NotFound), write_condition(check):
            while True:
                await other.write(unit)
                kept.append(writer)

    kept: list[int] = []
    count = Query(select(func.count()).select_from(table(atomic_updates.SpentValue)), lambda row: int(row[0]))
    writing = [asyncio.create_task(write(number)) for number in range(6)]
    while not kept:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    await store.write(lambda tx: revocations.revoke(tx, "agt_1"))
    at_the_answer = await store.read(lambda tx: tx.one(count))
    await asyncio.gather(*writing)
    await other.close()
    assert await store.read(lambda tx: tx.one(count)) == at_the_answer == len(kept)


async def test_only_what_was_kept_is_announced(store: Store) -> None:
    told: list[str] = []
    store.listen(told.extend)

    def unit(tx: Transaction, subject: str, fault: Exception | None = None) -> None:
        tx.announce(subject)
        if fault is not None:
            raise fault

    await asyncio.gather(
        store.write(lambda tx: unit(tx, "one")),
        store.write(lambda tx: unit(tx, "none", NotFound("on purpose"))),
        store.write(lambda tx: unit(tx, "two")),
        return_exceptions=True,
    )
    assert sorted(told) == ["one", "two"]


async def test_what_was_read_is_still_so_when_the_unit_writes(store: Store, database_url: str) -> None:
    """Read, think, write: twenty at once lose no count, which read-committed would (write skew and lost update)."""
    other = make_store(database_url)
    await other.start()

    def unit(tx: Transaction) -> None:
        revocations.revoke(tx, "count", before=revocations.revoked_before(tx, "count") + 1)

    await asyncio.gather(*(each.write(unit) for each in (store, other) for _ in range(10)))
    await other.close()
    assert await store.read(lambda tx: revocations.revoked_before(tx, "count")) == 20


async def test_a_slow_unit_that_lost_a_race_to_requests_loses_none_again(postgres: Callable[[], str]) -> None:
    """As a claim, which reads and changes many tables, beside requests that are quicker."""
    url = postgres()
    slow, quick = make_store(url), make_store(url)
    count = Query(select(func.count()).select_from(table(atomic_updates.SpentValue)), lambda row: int(row[0]))
    runs = list[str]()

    def unit(tx: Transaction, kind: str) -> None:
        runs.append(kind)
        number = tx.one(count)
        if kind == "slow":
            tx.all(_SLEEP)
        value = f"{number}.{values.new_ulid()}"
        atomic_updates.spend(tx, kind, value, expires_at=LATER)

    async def request(store: Store, kind: str) -> None:
        with write_condition(lambda _tx: None):
            await store.write(lambda tx: unit(tx, kind))

    async def others() -> None:
        while True:
            await request(quick, "quick")

    writing = [asyncio.create_task(others()) for _ in range(4)]
    for _ in range(3):
        await request(slow, "slow")
    for task in writing:
        task.cancel()
    await asyncio.gather(*writing, return_exceptions=True)
    assert 3 < runs.count("slow") <= 6
    assert runs.count("quick") > 6
    await slow.close()
    await quick.close()


async def test_a_nudge_waits_for_the_row_and_never_runs_twice(store: Store, database_url: str) -> None:
    other = make_store(database_url)
    await other.start()
    runs: list[int] = []

    def unit(tx: Transaction) -> int | None:
        runs.append(1)
        return atomic_updates.charge_budget(tx, "hot", now=1_000, interval=10, burst=999)

    taken = await asyncio.gather(*(each.write_unserialized(unit) for each in (store, other) for _ in range(50)))
    await other.close()
    assert sorted(arrival or 0 for arrival in taken) == [1_010 + 10 * n for n in range(100)]
    assert len(runs) == 100


async def test_a_scan_sees_one_moment(store: Store, database_url: str) -> None:
    """What others change while it runs is not seen by its later statements."""

    def change() -> None:
        asyncio.run(_bumped(database_url))

    def unit(tx: Transaction) -> list[int | None]:
        seen = [atomic_updates.read_budget(tx, "key")]
        with ThreadPoolExecutor(1) as aside:
            aside.submit(change).result()
        return [*seen, atomic_updates.read_budget(tx, "key")]

    assert await store.scan(unit) == [None, None]
    assert await store.read(lambda tx: atomic_updates.read_budget(tx, "key")) == 1_010


async def _bumped(url: str) -> None:
    opened = make_store(url)
    await opened.start()
    await opened.write_unserialized(lambda tx: atomic_updates.charge_budget(tx, "key", now=1_000, interval=10, burst=9))
    await opened.close()


async def test_two_who_number_a_row_alike_both_get_a_number(
    postgres: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL may call a race a duplicate key; the unit that lost runs again. A fault of its own is told."""
    opened = make_store(postgres())
    await opened.start()
    tries: list[int] = []

    def unit(tx: Transaction) -> None:
        tries.append(len(tries))
        for _ in range(2 if len(tries) == 1 else 1):
            event_queries.append(tx, "neg_1", 1, actor=CLOCK_ACTOR, event=HistoryEvent(kind="opened"), revision=1)

    await opened.write(unit)
    assert tries == [0, 1]
    monkeypatch.setattr("negotiator.store.postgres._ATTEMPTS", 2)
    with pytest.raises(asyncpg.UniqueViolationError):
        await opened.write(unit)
    assert len(await opened.read(lambda tx: event_queries.page(tx, "neg_1", before=None, limit=9))) == 1
    await opened.close()


async def test_migrating_again_changes_nothing(store: Store, database_url: str) -> None:
    await store.write(lambda tx: atomic_updates.spend(tx, "jti", "kept", expires_at=LATER))
    await migrate(database_url)
    assert not await store.write(lambda tx: atomic_updates.spend(tx, "jti", "kept", expires_at=LATER))


@pytest.mark.parametrize(
    "statement",
    [Statement(delete(AuditEvent)), Statement(update(AuditEvent).values(event=bindparam("word")))],
    ids=["delete", "update"],
)
async def test_the_trail_can_only_grow(store: Store, statement: Statement) -> None:
    await store.write(lambda tx: audit.record(tx, "user.created", "usr_1", actor="test"))
    parameters: dict[str, Any] = {"word": "never"} if "UPDATE" in statement.sql else {}
    with pytest.raises((asyncpg.PostgresError, sqlite3.IntegrityError), match="append-only"):
        await store.write(lambda tx: tx.run(statement, **parameters))
    events = await store.read(lambda tx: audit.latest_events(tx, 10))
    assert [(event.event, event.subject) for event in events] == [("user.created", "usr_1")]


async def test_ids_are_listed_in_one_order(store: Store) -> None:
    """Keyset lists compare ids as text: digits before letters, on both engines."""
    ids = sorted(f"usr_{'0' * 20}{tail}" for tail in ("0a", "09", "a0", "9z", "z_", "zz"))
    await store.write(lambda tx: [_user(tx, each) for each in reversed(ids)])
    listed = await store.read(user_queries.list_users)
    assert [user.id for user in listed] == ids


def _user(tx: Transaction, user_id: str) -> None:
    row = {"email": None, "name": "", "password_hash": "", "is_admin": 0, "disabled_at": None}
    tx.run(user_queries._ADD, id=user_id, created_at=1, **row)  # pyright: ignore[reportPrivateUsage]


async def test_the_operator_s_statements_run_on_both(store: Store) -> None:
    """Add, change, list and remove of people, issuers and clients."""

    base = "https://negotiator.example"
    trusted = Issuer("https://idp.example", ("ES256",), jwks="{}", max_auth_age=60)

    def unit(tx: Transaction) -> None:
        for _ in range(2):
            issuer_queries.add(tx, trusted, own=base, allow_loopback=False)
        issuer_queries.revoke_subject(tx, trusted.issuer, "u-1")
        issuer_queries.remove(tx, trusted.issuer)
        issuer_queries.add(tx, trusted, own=base, allow_loopback=False)
        client_id, _ = clients.add(tx, NewClient("c", clients.GRANTS, tuple(ASSISTANT)))
        clients.remove(tx, client_id)
        user_queries.add(tx, "ada@example.com", actor="operator")
        user_queries.disable(tx, "ada@example.com")

    await store.write(unit)
    found = (await store.read(issuer_queries.list_issuers))[0]
    assert (found.issuer, found.max_auth_age) == (trusted.issuer, 60)
    assert await store.read(clients.list_clients) == []
    assert (await store.read(user_queries.list_users))[0].disabled_at is not None
    with contextlib.suppress(NotFound):
        await store.write(lambda tx: user_queries.disable(tx, "nobody@example.com"))


async def test_several_may_migrate_at_once(postgres: Callable[[], str], tmp_path: Path) -> None:
    url = postgres()
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.execute(text("drop schema public cascade"))
        await connection.execute(text("create schema public"))
    await engine.dispose()
    await asyncio.gather(*(migrate(url) for _ in range(3)))
    opened = make_store(url)
    await opened.start()
    assert await opened.read(user_queries.list_users) == []
    await opened.close()
    await asyncio.gather(*(migrate(f"sqlite+aiosqlite:///{tmp_path}/x.db") for _ in range(3)))


@pytest.mark.smoke
async def test_the_way_in_is_the_same_on_both(database_url: str, tmp_path: Path, signing_keys: Path) -> None:
    """Register, ID-JAG at both doors, work, claim, list, mail, revoke, replay: through the application."""
    settings = make_settings(tmp_path, signing_keys, database_url=database_url)
    async with running(settings) as application, connect(application) as client:
        await journey(client, settings)


async def test_a_database_that_hangs_is_a_503_within_seconds_and_serves_again_when_it_goes_on(
    postgres: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_connections, "_STATEMENT_PATIENCE", 1.0)
    monkeypatch.setattr(postgres_connections, "_CONNECT_PATIENCE", 1.0)
    url = postgres()
    opened = make_store(url)
    assert await opened.read(user_queries.list_users) == []
    health = HealthEndpoint(opened, "1", (), {})
    folder = Path(make_url(url).query["host"])  # pyright: ignore[reportArgumentType]  one host
    postmaster = psutil.Process(int((folder / "postmaster.pid").read_text().split()[0]))
    family = [postmaster, *postmaster.children()]
    for process in family:
        process.suspend()
    try:
        began = time.monotonic()
        outcomes = await asyncio.gather(
            *(opened.read(user_queries.list_users) for _ in range(40)), return_exceptions=True
        )
        assert all(isinstance(each, Unavailable) for each in outcomes), outcomes
        assert time.monotonic() - began < 8
        began = time.monotonic()
        with pytest.raises(Unavailable):
            await health.get(cast("Any", None))
        assert time.monotonic() - began < 3
    finally:
        for process in family:
            process.resume()
    assert await opened.read(user_queries.list_users) == []
    await opened.close()


async def test_a_database_that_is_away_is_a_503(postgres: Callable[[], str], tmp_path: Path) -> None:
    """Before the first connection, and when the connections that were open are cut."""
    nowhere = make_store(f"postgresql+asyncpg://postgres@/x?host={tmp_path}")
    for call in (nowhere.read, nowhere.write):
        with pytest.raises(Unavailable):
            await call(user_queries.list_users)
    await nowhere.close()
    url = postgres()
    opened, other = (make_store(url), create_async_engine(url.replace(url.split("/")[3].split("?")[0], "postgres")))
    cut = (
        "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
        " where pid <> pg_backend_pid() and backend_type = 'client backend'"
    )

    def unit(tx: Transaction) -> None:
        user_queries.list_users(tx)
        raise ConnectionResetError("as the driver would say in the middle of a unit")

    with pytest.raises(Unavailable):
        await opened.write(unit)
    async with other.begin() as connection:
        await connection.execute(text(cut))
    await other.dispose()
    assert await opened.read(user_queries.list_users) == []
    await opened.close()


async def test_connections_that_end_under_load_make_503s_and_nothing_else(postgres: Callable[[], str]) -> None:
    opened = make_store(postgres())
    cut = (
        "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
        " where pid <> pg_backend_pid() and backend_type = 'client backend'"
    )
    kept = list[str]()
    ended = False

    def read(tx: Transaction) -> bool:
        return atomic_updates.is_spent(tx, "jti", "none")

    async def write() -> None:
        value = values.new_ulid()
        await opened.write(lambda tx: atomic_updates.spend(tx, "jti", value, expires_at=LATER))
        kept.append(value)

    async def work(call: Callable[[], Awaitable[object]], priority: Priority | None) -> None:
        request_priority.set(priority)
        while not ended:
            with contextlib.suppress(Unavailable):
                await call()
            await asyncio.sleep(0)

    calls = (lambda: opened.read(read), lambda: opened.scan(read), write)
    async with asyncio.TaskGroup() as group:
        for call in calls:
            for priority in (None, Priority.READ, Priority.CHANGE):
                group.create_task(work(call, priority))
        for _ in range(20):
            await asyncio.sleep(0.02)
            with contextlib.suppress(Unavailable):
                await opened.read(lambda tx: tx.all(Query(text(cut), tuple)))
        ended = True
    spent = await opened.read(lambda tx: [atomic_updates.is_spent(tx, "jti", value) for value in kept])
    assert all(spent)
    await opened.close()


async def test_what_was_issued_while_the_clock_was_ahead_ends_with_its_identity(store: Store) -> None:
    """Judged by its date alone, it would outlive the revocation."""
    now = values.now()
    ahead = now + values.HOUR
    identity = revocations.identity_key("https://idp.example", "", "u-1")

    def issue(tx: Transaction, at: int, who: str) -> str:
        jti = values.first_id("", at + 1).lstrip("_")[:-1] + who
        tx.run(
            access_tokens._RECORD,  # pyright: ignore[reportPrivateUsage]
            **dict.fromkeys(("user_id", "issuer", "authorization", "key", "revoked_at")),
            **{"jti": jti, "client_id": f"agt_{who}", "scope": "", "resource": ""},
            identity=identity if who == "1" else "another",
            issued_at=at,
            expires_at=at + values.HOUR,
        )
        return jti

    def live(tx: Transaction, jti: str, at: int) -> bool:
        return tx.one(access_tokens._LIVE, jti=jti, now=at) is not None  # pyright: ignore[reportPrivateUsage]

    early = await store.write(lambda tx: issue(tx, ahead, "1"))
    other = await store.write(lambda tx: issue(tx, ahead, "2"))
    assert await store.read(lambda tx: live(tx, early, now))
    await store.write(lambda tx: revocations.revoke_issued(tx, identity, now=now))
    later = await store.write(lambda tx: issue(tx, now + 1, "1"))
    for at in (now, ahead + 1):
        found = await store.read(lambda tx, at=at: [live(tx, each, at) for each in (early, other)])
        assert found == [False, True]
    assert await store.read(lambda tx: live(tx, later, now))
