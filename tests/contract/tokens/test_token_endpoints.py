"""The standard doors: token, revocation, introspection."""

import asyncio
from collections.abc import Awaitable, Callable

import httpx2
import pytest
import pytest_asyncio

from negotiator.tokens import clients
from negotiator.tokens.clients import JWT_BEARER, NewClient
from tests.conftest import Change, bearer
from tests.contract.requirements import covers
from tests.helpers.answer_checks import limited, refused, refused_over_mcp
from tests.helpers.fake_issuer import FakeIssuer
from tests.helpers.mcp_client import McpClient

TOKEN = "/oauth/token"
Pair = tuple[str, str]
Add = Callable[..., Awaitable[Pair]]


@pytest_asyncio.fixture
async def add(change: Change) -> Add:
    """Adds an OAuth client and answers its id and secret."""

    async def call(
        grants: tuple[str, ...] = clients.GRANTS, scopes: tuple[str, ...] = ("negotiations:read", "negotiations:write")
    ) -> Pair:
        pair: Pair = await change(lambda tx: clients.add(tx, NewClient("app", grants, scopes)))
        return pair

    return call


async def own(client: httpx2.AsyncClient, pair: Pair, **form: str) -> httpx2.Response:
    """Ask for a token for the client itself."""
    fields = {"grant_type": "client_credentials", **form}
    return await client.post(TOKEN, data=fields, auth=pair)


async def exchange(client: httpx2.AsyncClient, pair: Pair, assertion: str, **form: str) -> httpx2.Response:
    """Ask for a token for the user of an ID-JAG."""
    fields = {"grant_type": JWT_BEARER, "assertion": assertion, **form}
    return await client.post(TOKEN, data=fields, auth=pair)


@pytest.mark.asyncio
@covers("3.1:client_credentials", "1.11:no-store")
async def test_a_client_gets_a_token_for_itself(client: httpx2.AsyncClient, add: Add) -> None:
    pair = await add()
    for answer in (
        await own(client, pair),
        await client.post(
            TOKEN, data={"grant_type": "client_credentials", "client_id": pair[0], "client_secret": pair[1]}
        ),
    ):
        assert answer.status_code == 200, answer.text
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["pragma"] == "no-cache"
        limited(answer)
        result = answer.json()
        assert set(result) == {"access_token", "token_type", "expires_in", "scope"}
        assert (result["token_type"], result["expires_in"]) == ("Bearer", 3600)
        assert result["scope"] == "negotiations:read negotiations:write"
        assert (await client.get("/api/negotiations", headers=bearer(result))).status_code == 200
    narrow = (await own(client, pair, scope="negotiations:write")).json()
    assert narrow["scope"] == "negotiations:write"
    refused(await client.get("/api/negotiations", headers=bearer(narrow)), 403, "insufficient_scope")


@pytest.mark.asyncio
@covers("3.1:jwt-bearer")
async def test_an_id_jag_is_exchanged_for_a_token_of_its_user(
    client: httpx2.AsyncClient, add: Add, idp: FakeIssuer
) -> None:
    pair = await add()
    answer = await exchange(client, pair, idp.assertion(client_id=pair[0], sub="u-9"))
    assert answer.status_code == 200, answer.text
    result = answer.json()
    assert "refresh_token" not in result
    assert result["scope"] == "negotiations:read negotiations:write"
    described = await client.post("/oauth/introspect", data={"token": result["access_token"]}, auth=pair)
    assert described.json()["sub"].startswith("usr_")
    cut = idp.assertion(client_id=pair[0], scope="negotiations:read ai:tactics")
    assert (await exchange(client, pair, cut)).json()["scope"] == "negotiations:read"


@pytest.mark.asyncio
@covers("3.1:narrowed")
async def test_one_scope_too_many_is_not_a_refusal(client: httpx2.AsyncClient, add: Add, idp: FakeIssuer) -> None:
    """The official TypeScript SDK asks for every scope of the challenge, whatever issuer and client were given."""
    pair = await add()
    challenge = (await client.post("/mcp", json={})).headers["www-authenticate"]
    asked = challenge.partition('scope="')[2].partition('"')[0]
    assert "bookmarks:write" in asked
    for scope in (asked, f"{asked} mcp:tools"):
        answer = await exchange(client, pair, idp.assertion(client_id=pair[0]), scope=scope)
        assert (answer.status_code, answer.json()["scope"]) == (200, "negotiations:read negotiations:write")
    vouched = McpClient(client, bearer(answer.json()))
    shown = {tool["name"] for tool in (await vouched.ask("tools/list")).json()["result"]["tools"]}
    assert shown >= {"open_negotiation", "list_negotiations"}
    assert not shown & {"remember", "submit_tool", "redeem_delegation_code"}
    said = refused_over_mcp(await vouched.call("remember", content="x"), 403, "insufficient_scope", id=7)["message"]
    assert "An administrator decides whether this client may have memories:write." in said
    none = await exchange(client, pair, idp.assertion(client_id=pair[0]), scope="bookmarks:write mcp:tools")
    body = refused(none, 400, "invalid_scope")
    assert body["error_description"] == (
        "None of these scopes can be granted to this client: bookmarks:write mcp:tools. "
        "It may have: negotiations:read negotiations:write."
    )


@pytest.mark.asyncio
@covers("3.1:jwt-bearer", "2.5:replay_detected")
async def test_an_id_jag_at_both_doors_at_once_opens_one(client: httpx2.AsyncClient, add: Add, idp: FakeIssuer) -> None:
    pair = await add()
    answers = await asyncio.gather(
        *(exchange(client, pair, idp.assertion(client_id=pair[0], jti="j")) for _ in range(10))
    )
    assert sorted(answer.status_code for answer in answers) == [200, *[400] * 9]
