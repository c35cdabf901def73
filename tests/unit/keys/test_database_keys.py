"""Signing keys in the database: what a process knows, when it signs with which key, and what it refuses to use."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from sqlalchemy import bindparam, delete, func, select, update
from sqlmodel import col

from negotiator.base import values
from negotiator.base.errors import Conflict, Unavailable
from negotiator.config.settings import Settings
from negotiator.keys import database_keys
from negotiator.keys.database_keys import DatabaseKeyring, WrappedKey
from negotiator.keys.keyring import ALGORITHM, RS256, UnusableKeyError
from negotiator.store import fingerprints
from negotiator.store.statement import Query, Statement, Transaction
from negotiator.store.store import Store, make_store

pytestmark = pytest.mark.asyncio
SECRET = b"a secret that only the operator has"
_COUNT = Query(select(func.count()).select_from(WrappedKey), lambda row: int(row[0]))
_CLEAR = Statement(delete(WrappedKey))
_SPOIL = Statement(update(WrappedKey).where(col(WrappedKey.kid) == bindparam("key")).values(wrapped=bindparam("by")))


@dataclass
class Elapsed:
    """A clock that nobody sets."""

    at: float = 1000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_keys, "LEAD", 0)
    monkeypatch.setattr(database_keys, "_POLL", 0.001)


@pytest_asyncio.fixture
async def store(settings: Settings) -> AsyncGenerator[Store]:
    opened = make_store(settings.database_url)
    await opened.start()
    yield opened
    await opened.close()


class Machine(DatabaseKeyring):
    """The keyring of one machine, with a clock of its own."""

    def __init__(self, store: Store, secret: bytes = SECRET) -> None:
        self.clock = Elapsed()
        super().__init__(store, secret, self.clock)

    async def poll(self) -> None:
        """One look at the database."""
        watching = asyncio.create_task(self.watch())
        await asyncio.sleep(0)
        watching.cancel()


@pytest_asyncio.fixture
async def machine(store: Store) -> Machine:
    made = Machine(store)
    await made.start()
    return made


def nothing(*_: object) -> None:
    """No note of a change."""


async def spoil(store: Store, kid: str) -> None:
    await store.write(lambda tx: tx.run(_SPOIL, key=kid, by=b"x" * 60))


async def test_of_ten_first_starts_one_makes_the_keys(store: Store) -> None:
    machines = [Machine(store) for _ in range(10)]
    await asyncio.gather(*(each.start() for each in machines))
    assert await store.read(lambda tx: tx.one(_COUNT)) == 4
    [kids] = {tuple(key.kid for key in each.all()) for each in machines}
    assert [len(machines[0].family(name)) for name in (ALGORITHM, RS256)] == [2, 2]
    recorded = await store.read(fingerprints.recorded)
    assert {recorded[ALGORITHM], recorded[RS256]} == {kids[0], kids[2]}


async def test_no_row_has_a_key_that_can_be_read(store: Store, machine: Machine) -> None:
    every = Query(select(col(WrappedKey.wrapped)), lambda row: bytes(row[0]))
    private = machine.current.private
    assert isinstance(private, EllipticCurvePrivateKey)
    number = private.private_numbers().private_value.to_bytes(32)
    for wrapped in await store.read(lambda tx: tx.all(every)):
        assert number not in wrapped
        assert b"PRIVATE" not in wrapped


async def test_two_rows_of_the_same_key_differ(machine: Machine) -> None:
    key = machine.current
    first, second = (machine.wrapping.wrap(key, 1) for _ in range(2))
    assert first.wrapped != second.wrapped
    assert machine.wrapping.unwrap(second).kid == key.kid


async def test_a_rotation_lets_the_next_key_sign_and_all_others_know_it_before(store: Store, machine: Machine) -> None:
    other = Machine(store)
    await other.start()
    following = machine.family(ALGORITHM)[-1].kid
    assert (await machine.rotate(nothing)).kid == following
    token = machine.sign({"sub": "x"}, "at+jwt")
    assert other.current.kid != following
    assert other.verify(token, "at+jwt", longest=1000) == {"sub": "x"}, "known since before"
    await other.poll()
    assert other.current.kid == following
    assert (await store.read(fingerprints.recorded))[ALGORITHM] == following


async def test_the_next_keys_are_waited_for_before_they_sign(
    store: Store, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_keys, "LEAD", 30)
    other, before = Machine(store), machine.current.kid
    rotation = asyncio.create_task(machine.rotate(nothing))
    for _ in range(20):
        await asyncio.sleep(0.005)
        await other.start()
        assert other.current.kid == before
    rotation.cancel()
    with pytest.raises(asyncio.CancelledError):
        await rotation
    assert await store.read(lambda tx: tx.one(_COUNT)) == 4, "nothing was done"


async def test_of_two_rotations_at_once_one_is_made_and_the_other_says_so(store: Store, machine: Machine) -> None:
    other = Machine(store)
    await other.start()
    done = await asyncio.gather(machine.rotate(nothing), other.rotate(nothing), return_exceptions=True)
    assert sorted(type(each).__name__ for each in done) == ["Conflict", "SigningKey"]
    assert await store.read(lambda tx: tx.one(_COUNT)) == 6


async def test_a_rotation_whose_note_fails_is_none(store: Store, machine: Machine) -> None:
    def refuse(_tx: Transaction, _kid: str) -> None:
        raise Conflict("no")

    before = machine.current.kid
    with pytest.raises(Conflict):
        await machine.rotate(refuse)
    await machine.load()
    assert machine.current.kid == before
    assert await store.read(lambda tx: tx.one(_COUNT)) == 4


async def test_an_unknown_key_is_refused_only_while_the_list_is_fresh(machine: Machine) -> None:
    assert machine.find("key_unknown") is None
    machine.clock.at += 10
    with pytest.raises(Unavailable):
        machine.find("key_unknown")
    assert machine.find(machine.current.kid), "what is known is verified"
    await machine.poll()
    assert machine.find("key_unknown") is None


async def test_a_machine_that_was_cut_off_knows_new_keys_before_it_refuses_them(store: Store, machine: Machine) -> None:
    """Two rotations while it read nothing: the key that signs is one that it has never seen."""
    cut_off = Machine(store)
    await cut_off.start()
    for _ in range(2):
        await machine.rotate(nothing)
    token = machine.sign({"sub": "x"}, "at+jwt")
    cut_off.clock.at += 10
    with pytest.raises(Unavailable):
        cut_off.verify(token, "at+jwt", longest=1000)
    await cut_off.freshen()
    assert cut_off.verify(token, "at+jwt", longest=1000) == {"sub": "x"}
    assert cut_off.jwks() == machine.jwks()


async def test_a_machine_that_reads_nothing_for_an_hour_signs_no_more(machine: Machine) -> None:
    machine.clock.at += 3599
    assert machine.sign({}, "at+jwt")
    machine.clock.at += 2
    with pytest.raises(Unavailable):
        machine.sign({}, "at+jwt")
    await machine.poll()
    assert machine.sign({}, "at+jwt")


async def test_a_key_that_was_retired_verifies_until_its_tokens_have_expired(
    store: Store, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = machine.sign({"sub": "x"}, "at+jwt")
    retired = machine.current.kid
    for _ in range(3):
        await machine.rotate(nothing)
    assert machine.verify(token, "at+jwt", longest=1000)
    later = values.now() + 3 * values.DAY
    monkeypatch.setattr(values, "now", lambda: later)
    await machine.rotate(nothing)
    assert machine.find(retired) is None
    assert machine.verify(token, "at+jwt", longest=1000) is None
    assert machine.verify(machine.sign({}, "at+jwt"), "at+jwt", longest=1000) == {}


@pytest.mark.parametrize("fast", ["database", "machine"])
async def test_a_clock_that_is_days_ahead_deletes_no_key_of_living_tokens(
    store: Store, machine: Machine, monkeypatch: pytest.MonkeyPatch, fast: str
) -> None:
    for _ in range(3):
        await machine.rotate(nothing)
    ahead = values.now() + 9 * values.DAY

    async def clock() -> int:
        return ahead if fast == "database" else ahead - 9 * values.DAY

    monkeypatch.setattr(store, "clock", clock)
    if fast == "machine":
        monkeypatch.setattr(values, "now", lambda: ahead)
    kids = [key.kid for key in machine.all()]
    await machine.rotate(nothing)
    assert {*kids} < {key.kid for key in machine.all()}


async def test_a_rotation_after_the_clock_was_set_back_is_a_rotation(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    following = machine.family(ALGORITHM)[-1].kid

    def an_hour_ago(kind: str) -> str:
        return values.first_id(kind, values.now() - values.HOUR)

    monkeypatch.setattr("negotiator.keys.keyring.new_id", an_hour_ago)
    assert (await machine.rotate(nothing)).kid == following
    assert len(machine.family(ALGORITHM)) == 3


async def test_another_secret_opens_nothing(store: Store, machine: Machine) -> None:
    del machine
    stranger = Machine(store, b"another secret of the same length, 35")
    with pytest.raises(UnusableKeyError, match="wrapped under another secret"):
        await stranger.start()


async def test_a_changed_row_is_refused_at_the_start_and_used_by_no_running_machine(
    store: Store, machine: Machine
) -> None:
    token, kid = machine.sign({"sub": "x"}, "at+jwt"), machine.current.kid
    await machine.rotate(nothing)
    await spoil(store, machine.family(ALGORITHM)[-1].kid)
    with pytest.raises(UnusableKeyError, match="cannot be decrypted"):
        await Machine(store).start()
    await machine.poll()
    assert machine.current.kid != kid
    assert machine.verify(token, "at+jwt", longest=1000) == {"sub": "x"}


@pytest.mark.parametrize("change", ["exchanged", "redated", "renamed", "cut"])
async def test_a_row_that_was_moved_redated_or_cut_does_not_open(machine: Machine, change: str) -> None:
    first, second = (machine.wrapping.wrap(key, 7) for key in machine.family(ALGORITHM))
    made: dict[str, dict[str, Any]] = {
        "exchanged": {"wrapped": second.wrapped},
        "redated": {"made_at": 8},
        "renamed": {"kid": second.kid},
        "cut": {"wrapped": first.wrapped[:11]},
    }
    with pytest.raises(UnusableKeyError):
        machine.wrapping.unwrap(WrappedKey(**{**first.model_dump(), **made[change]}))


async def test_loaded_keys_survive_a_database_that_lost_them(store: Store, machine: Machine) -> None:
    token = machine.sign({"sub": "x"}, "at+jwt")
    await store.write(lambda tx: tx.run(_CLEAR))
    await machine.poll()
    assert machine.fault == "The database has no signing keys."
    assert machine.verify(token, "at+jwt", longest=1000) == {"sub": "x"}
    assert machine.sign({}, "at+jwt")
    with pytest.raises(UnusableKeyError, match="has no signing keys"):
        await Machine(store).start()


async def test_loaded_keys_survive_a_database_that_is_away(
    store: Store, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(_unit: Callable[[Transaction], object]) -> None:
        raise Unavailable("away")

    token = machine.sign({"sub": "x"}, "at+jwt")
    with monkeypatch.context() as patch:
        patch.setattr(store, "read", away)
        late = Machine(store)
        await late.start()
        with pytest.raises(Unavailable, match="signing keys"):
            late.sign({}, "at+jwt")
        machine.clock.at += 100
        await machine.freshen()
        assert machine.verify(token, "at+jwt", longest=1000) == {"sub": "x"}
        assert len(machine.jwks()["keys"]) == 4
    await late.poll()
    assert late.verify(token, "at+jwt", longest=1000) == {"sub": "x"}
