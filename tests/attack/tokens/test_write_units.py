"""What changes between the check of a token request and its unit, and what a unit of these endpoints may do."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest

from negotiator.base.scopes import ASSISTANT
from negotiator.config.settings import Settings
from negotiator.keys.keyring import FolderKeyring
from negotiator.store.sqlite import SqliteStore
from negotiator.store.statement import Transaction
from negotiator.tokens import api_keys, clients
from negotiator.tokens.clients import JWT_BEARER, NewClient
from tests.conftest import Change
from tests.helpers.answer_checks import refused
from tests.helpers.directory_agents import join_directory
from tests.helpers.fake_issuer import FakeIssuer

TOKEN, INTROSPECT = "/oauth/token", "/oauth/introspect"
FORM = {"grant_type": "client_credentials"}
CLIENT = (401, "invalid_client")
Meanwhile = Callable[[Callable[[Transaction], Any]], None]
Read = Callable[[SqliteStore, Any], Awaitable[Any]]


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch, change: Change) -> Meanwhile:
    """Makes another process change the database right after the next token request was checked."""

    def once(unit: Callable[[Transaction], Any]) -> None:
        read: Read = SqliteStore.read
        left = [unit]

        async def then_changed(store: SqliteStore, check: Any) -> Any:
            found = await read(store, check)
            if check.__name__ == "validate" and left:
                await change(left.pop())
            return found

        monkeypatch.setattr(SqliteStore, "read", then_changed)

    return once


@pytest.mark.asyncio
@pytest.mark.parametrize("grant", ["client_credentials", JWT_BEARER])
@pytest.mark.parametrize("ending", [clients.change_secret, clients.remove])
async def test_a_client_that_ends_meanwhile_gets_no_token(
    client: httpx2.AsyncClient,
    change: Change,
    idp: FakeIssuer,
    meanwhile: Meanwhile,
    ending: Callable[[Transaction, str], Any],
    grant: str,
) -> None:
    new = NewClient("robot", clients.USERLESS_GRANTS, tuple(ASSISTANT))
    pair = await change(lambda tx: clients.add(tx, new))
    form = {"grant_type": grant, "assertion": idp.assertion(client_id=pair[0])}
    meanwhile(lambda tx: ending(tx, pair[0]))
    late = await client.post(TOKEN, data=form, auth=pair)
    later = await client.post(TOKEN, data=form, auth=pair)
    words = [refused(answer, *CLIENT)["error_description"] for answer in (late, later)]
    assert words[0] == words[1]
    assert late.headers["www-authenticate"] == later.headers["www-authenticate"]


@pytest.mark.asyncio
async def test_an_api_key_that_is_revoked_meanwhile_gets_no_token(
    client: httpx2.AsyncClient, change: Change, meanwhile: Meanwhile
) -> None:
    agent = await join_directory(client, change)
    key = agent.headers["Authorization"].removeprefix("Bearer ")

    def revoke(tx: Transaction) -> None:
        row = api_keys.by_id(tx, key.split("_")[2])
        assert row is not None
        api_keys.revoke(tx, row, actor=agent.id)

    meanwhile(revoke)
    refused(await client.post(TOKEN, data=FORM, auth=(agent.id, key)), *CLIENT)


@pytest.mark.asyncio
async def test_introspection_by_a_client_with_a_secret_writes_nothing(
    client: httpx2.AsyncClient, change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = NewClient("robot", clients.USERLESS_GRANTS, ("negotiations:read",))
    pair = await change(lambda tx: clients.add(tx, new))
    token = (await client.post(TOKEN, data=FORM, auth=pair)).json()
    units: list[Any] = []

    async def write(_store: SqliteStore, unit: Any) -> None:
        units.append(unit)

    monkeypatch.setattr(SqliteStore, "write", write)
    told = await client.post(INTROSPECT, data={"token": token["access_token"]}, auth=pair)
    assert told.json()["active"] is True
    assert units == []


@pytest.mark.asyncio
async def test_a_unit_that_signs_fails_the_test(change: Change, settings: Settings) -> None:
    keyring = FolderKeyring(settings.keys_dir)
    with pytest.raises(AssertionError, match="sign inside a write unit"):
        await change(lambda _tx: keyring.sign({}, "at+jwt"))
