"""The standard doors: token, revocation, introspection."""

import asyncio
from collections.abc import Awaitable, Callable

import httpx2
import pytest
import pytest_asyncio

from negotiator.tokens import clients
from negotiator.tokens.clients import JWT_BEARER, NewClient
from tests.conftest import Change, Register, bearer
from tests.contract.requirements import covers
from tests.helpers.answer_checks import limited, refused, refused_over_mcp
from tests.helpers.fake_issuer import FakeIssuer
from tests.helpers.form_browser import BASE
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
@covers("3.1:token-errors", "3.1:resource")
async def test_the_token_endpoint_speaks_in_the_words_of_oauth(client: httpx2.AsyncClient, add: Add) -> None:
    pair = await add()
    for form, error in (
        ({"x": "1"}, "invalid_request"),
        ({"grant_type": ""}, "invalid_request"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": "implicit"}, "unsupported_grant_type"),
        ({"grant_type": JWT_BEARER}, "invalid_request"),
        ({"grant_type": "client_credentials", "scope": "memories:write"}, "invalid_scope"),
        ({"grant_type": "client_credentials", "scope": "root"}, "invalid_scope"),
        ({"grant_type": "client_credentials", "resource": "https://x.example"}, "invalid_target"),
    ):
        answer = await client.post(TOKEN, data=form, auth=pair)
        body = refused(answer, 400, error)
        assert not set(body["error_description"]) & {'"', "\\"}
        limited(answer)
    twice = b"grant_type=client_credentials&grant_type=client_credentials"
    form_type = {"content-type": "application/x-www-form-urlencoded"}
    answer = await client.post(TOKEN, content=twice, headers=form_type, auth=pair)
    refused(answer, 400, "invalid_request")
    answer = await client.post(TOKEN, json={"grant_type": "client_credentials"}, auth=pair)
    refused(answer, 415, "invalid_request")
    for resource in (BASE, f"{BASE}/mcp"):
        assert (await own(client, pair, resource=resource)).status_code == 200
    assert (await own(client, pair, color="blue")).status_code == 200


@pytest.mark.asyncio
@covers("3.2:client-auth", "1.3:no-echo")
async def test_a_client_proves_its_secret_in_one_way(client: httpx2.AsyncClient, add: Add) -> None:
    pair = await add()
    for wrong in ((pair[0], "wrong"), ("cli_nobody", pair[1]), (pair[0], "")):
        answer = await own(client, wrong)
        refused(answer, 401, "invalid_client")
        assert answer.headers["www-authenticate"].startswith("Basic ")
        assert pair[1] not in answer.text
    refused(await client.post(TOKEN, data={"grant_type": "client_credentials"}), 401, "invalid_client")
    answer = await own(client, pair, client_secret=pair[1])
    refused(answer, 400, "invalid_request")
    answer = await own(client, pair, client_id="cli_other")
    refused(answer, 400, "invalid_request")
    for value in ("Bearer x", "Basic !!!", "Basic"):
        form = {"grant_type": "client_credentials"}
        answer = await client.post(TOKEN, data=form, headers={"authorization": value})
        assert answer.status_code in {400, 401}


@pytest.mark.asyncio
@covers("3.1:token-errors")
async def test_a_client_uses_its_own_grants_only(client: httpx2.AsyncClient, add: Add, idp: FakeIssuer) -> None:
    answer = await own(client, await add((JWT_BEARER,)))
    refused(answer, 400, "unauthorized_client")
    pair = await add(("client_credentials",))
    answer = await exchange(client, pair, idp.assertion(client_id=pair[0]))
    refused(answer, 400, "unauthorized_client")


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
@covers("3.1:invalid_grant")
async def test_everything_wrong_with_the_assertion_is_an_invalid_grant(
    client: httpx2.AsyncClient, add: Add, idp: FakeIssuer
) -> None:
    pair = await add()
    used = idp.assertion(client_id=pair[0])
    assert (await exchange(client, pair, used)).status_code == 200
    for assertion in (
        used,
        "x",
        "a.b.c",
        idp.assertion(client_id="corp-agent"),
        idp.assertion(client_id=pair[0], aud="https://other.example"),
        idp.assertion(client_id=pair[0], iss="https://evil.example"),
        idp.assertion(client_id=pair[0], exp=1),
        idp.assertion(client_id=pair[0], headers={"typ": "JWT"}),
        FakeIssuer(BASE).assertion(client_id=pair[0]),
    ):
        refused(await exchange(client, pair, assertion), 400, "invalid_grant")
    wrong = await exchange(client, (pair[0], "wrong"), idp.assertion(client_id=pair[0]))
    refused(wrong, 401, "invalid_client")


@pytest.mark.asyncio
@covers("3.1:jwt-bearer", "2.5:replay_detected")
async def test_an_id_jag_at_both_doors_at_once_opens_one(client: httpx2.AsyncClient, add: Add, idp: FakeIssuer) -> None:
    pair = await add()
    answers = await asyncio.gather(
        *(exchange(client, pair, idp.assertion(client_id=pair[0], jti="j")) for _ in range(10))
    )
    assert sorted(answer.status_code for answer in answers) == [200, *[400] * 9]


@pytest.mark.asyncio
@covers("3.5:revoke", "3.7:dead-at-once")
async def test_a_revoked_token_is_dead_at_once(client: httpx2.AsyncClient, add: Add, register: Register) -> None:
    pair, other = await add(), await add()
    token = (await own(client, pair)).json()
    strange = await client.post("/oauth/revoke", data={"token": token["access_token"]}, auth=other)
    assert strange.status_code == 200
    assert (await client.get("/api/negotiations", headers=bearer(token))).status_code == 200
    for _ in range(2):
        form = {"token": token["access_token"], "token_type_hint": "refresh_token"}
        answer = await client.post("/oauth/revoke", data=form, auth=pair)
        assert answer.status_code == 200
        refused(await client.get("/api/negotiations", headers=bearer(token)), 401, "invalid_token")
    agent = await register()
    answer = await client.post("/oauth/revoke", data={"token": agent["access_token"]})
    assert answer.status_code == 200
    refused(await client.get("/api/negotiations", headers=bearer(agent)), 401, "invalid_token")
    for unknown in ("x", "a.b.c"):
        answer = await client.post("/oauth/revoke", data={"token": unknown})
        assert answer.status_code == 200
    refused(await client.post("/oauth/revoke", data={"x": "1"}), 400, "invalid_request")
    wrong = await client.post("/oauth/revoke", data={"token": "x"}, auth=(pair[0], "wrong"))
    refused(wrong, 401, "invalid_client")


@pytest.mark.asyncio
@covers("3.5:introspect")
async def test_a_client_sees_its_own_live_tokens_and_nothing_else(
    client: httpx2.AsyncClient, add: Add, register: Register
) -> None:
    pair, other = await add(), await add()
    token = (await own(client, pair)).json()["access_token"]

    async def look(text: str, who: Pair) -> dict[str, object]:
        answer = await client.post("/oauth/introspect", data={"token": text}, auth=who)
        assert answer.status_code == 200
        found: dict[str, object] = answer.json()
        return found

    found = await look(token, pair)
    assert found["active"] is True
    assert (found["client_id"], found["sub"], found["aud"]) == (pair[0], pair[0], BASE)
    assert {"scope", "exp", "iat", "iss", "jti", "token_type"} <= set(found)
    dead = {"active": False}
    assert await look(token, other) == dead
    assert await look("x", pair) == dead
    assert await look((await register())["access_token"], pair) == dead
    await client.post("/oauth/revoke", data={"token": token}, auth=pair)
    assert await look(token, pair) == dead
    refused(await client.post("/oauth/introspect", data={"token": token}), 401, "invalid_client")
    refused(await client.post("/oauth/introspect", data={"x": "1"}, auth=pair), 400, "invalid_request")
