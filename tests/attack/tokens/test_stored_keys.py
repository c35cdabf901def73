"""Signing keys that leaked, were copied with the database, or were put there by somebody else."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any
from unittest.mock import Mock

import jwt
import pytest
import pytest_asyncio
from sqlalchemy import func
from sqlmodel import select

from negotiator.base.errors import Conflict, NotFound
from negotiator.compose.shared_secrets import open_keyring, remove_key, rotate_keys
from negotiator.config.settings import Settings
from negotiator.keys import database_keys
from negotiator.keys.database_keys import DatabaseKeyring, KeyWrapping, WrappedKey
from negotiator.keys.keyring import UnusableKeyError, new_key
from negotiator.store import fingerprints
from negotiator.store.statement import Query, RowInsertion, entity
from negotiator.store.store import Store, make_store
from tests.conftest import PEPPER, bearer, connect, make_settings, running

pytestmark = pytest.mark.asyncio
SECRET = "the secret of the keys of all machines"
_ROWS = Query(select(WrappedKey), entity(WrappedKey))
_COUNT = Query(select(func.count()).select_from(WrappedKey), lambda row: int(row[0]))
_INSERT = RowInsertion(WrappedKey)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_keys, "LEAD", 0)
    monkeypatch.setattr(database_keys, "_POLL", 0.001)
    monkeypatch.setattr("negotiator.keys.keyring._LOOK_EVERY", 0.001)


@pytest.fixture(params=["files", "database"])
def own(request: pytest.FixtureRequest, settings: Settings) -> Settings:
    """Settings with keys that only this test uses, in each place in turn."""
    keys: dict[str, Any] = {"keys_in": request.param, "keys_secret": SECRET}
    return make_settings(settings.data_dir, settings.data_dir / "keys", **keys)


@pytest.fixture
def in_database(settings: Settings) -> Settings:
    return make_settings(settings.data_dir, settings.data_dir / "keys", keys_in="database", keys_secret=SECRET)


@pytest_asyncio.fixture
async def store(settings: Settings) -> AsyncGenerator[Store]:
    """The database, open as for a command."""
    opened = make_store(settings.database_url)
    await opened.start()
    yield opened
    await opened.close()


async def test_what_a_deleted_key_signed_is_refused_also_where_it_was_accepted_before(
    own: Settings, store: Store
) -> None:
    async with running(own) as application, connect(application) as client:
        body = {"agent_name": "a", "identity_type": "anonymous"}
        agent = (await client.post("/api/agent/register", json=body)).json()
        kid = jwt.get_unverified_header(agent["access_token"])["kid"]

        async def ask() -> int:
            return (await client.get("/api/negotiations", headers=bearer(agent))).status_code

        assert await ask() == 200
        with pytest.raises(Conflict):
            await remove_key(store, own, kid)
        await rotate_keys(store, own)
        await asyncio.sleep(0.05)
        assert await ask() == 200
        await remove_key(store, own, kid)
        await asyncio.sleep(0.05)
        assert await ask() == 401
        published = (await client.get("/.well-known/jwks.json")).json()["keys"]
        assert kid not in {key["kid"] for key in published}
        with pytest.raises(NotFound):
            await remove_key(store, own, kid)


async def test_no_key_that_signs_or_will_sign_is_deleted(own: Settings, store: Store) -> None:
    keyring = await open_keyring(own, store)
    for key in keyring.all():
        with pytest.raises(Conflict, match="rotate first"):
            await remove_key(store, own, key.kid)
    for name in ("key_../../secret", "../secret", ""):
        with pytest.raises(NotFound):
            await remove_key(store, own, name)


async def test_a_copy_of_the_database_signs_nothing(in_database: Settings, store: Store) -> None:
    """Everything that the database knows of the secret opens no row, and neither does the pepper."""
    await open_keyring(in_database, store)
    rows = await store.read(lambda tx: tx.all(_ROWS))
    known = await store.read(fingerprints.recorded)
    for guess in ("", PEPPER, *known, *known.values(), *(row.kid for row in rows)):
        for row in rows:
            with pytest.raises(UnusableKeyError):
                KeyWrapping(guess.encode()).unwrap(row)


async def test_a_key_that_somebody_put_into_the_database_signs_and_verifies_nothing(
    in_database: Settings, store: Store
) -> None:
    """Wrapped under a secret of their own, newer than all others, and claiming to be the next key of the algorithm."""
    keyring = DatabaseKeyring(store, SECRET.encode())
    await keyring.start()
    theirs = [new_key("ES256") for _ in range(3)]
    wrapping = KeyWrapping(b"a secret of the intruder's own choice")
    for row in (wrapping.wrap(key, 1) for key in theirs):
        await store.write(lambda tx, row=row: tx.run(_INSERT, **row.model_dump()))
    before = keyring.current.kid
    async with watching(keyring):
        await asyncio.sleep(0.05)
        assert keyring.current.kid == before
        assert keyring.fault
        for key in theirs:
            forged = key.sign({"sub": "x"}, "at+jwt")
            assert keyring.verify(forged, "at+jwt", longest=1000) is None
            assert key.kid not in {each["kid"] for each in keyring.jwks()["keys"]}
    with pytest.raises(UnusableKeyError):
        await keyring.rotate(lambda _tx, _kid: None)
    assert await store.read(lambda tx: tx.one(_COUNT)) == 7


class watching:  # noqa: N801  used as `async with watching(keyring)`
    """Lets a keyring look at its database meanwhile."""

    def __init__(self, keyring: DatabaseKeyring) -> None:
        self._keyring = keyring

    async def __aenter__(self) -> None:
        self._task = asyncio.create_task(self._keyring.watch())

    async def __aexit__(self, *_raised: object) -> None:
        self._task.cancel()


async def test_neither_a_key_nor_the_secret_is_logged_or_shown(
    in_database: Settings, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = Mock()
    monkeypatch.setattr("negotiator.runtime.fault_log.log", lines)
    monkeypatch.setattr("negotiator.compose.app.log", lines)
    async with running(in_database):
        await rotate_keys(store, in_database)
        keyring = await open_keyring(in_database, store)
        row = KeyWrapping(b"another").wrap(new_key("ES256"), 1)
        await store.write(lambda tx: tx.run(_INSERT, **row.model_dump()))
        await asyncio.sleep(0.05)
        with pytest.raises(UnusableKeyError) as refused:
            await open_keyring(in_database, store)
    assert "cannot be used" in repr(lines.mock_calls), "the row was told of"
    assert row.kid in repr(lines.mock_calls)
    shown = [lines.mock_calls, in_database, keyring, keyring.current, refused.value]
    for text in map(repr, shown):
        assert SECRET not in text
        assert "PRIVATE" not in text
        assert "wrapped=" not in text
