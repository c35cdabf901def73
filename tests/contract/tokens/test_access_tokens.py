"""Access tokens: what they say, who can verify them, when they die."""

import httpx2
import pytest
from joserfc import jwt
from joserfc.jwk import KeySet
from joserfc.jws import extract_compact

from negotiator.agents import registration as agents
from negotiator.tokens import clients
from negotiator.tokens.clients import NewClient
from negotiator.trust import issuer_queries
from negotiator.users import user_queries
from tests.conftest import Change, Clock, Mint, Register, bearer
from tests.contract.requirements import covers
from tests.helpers.answer_checks import refused
from tests.helpers.fake_issuer import FakeIssuer, registration
from tests.helpers.form_browser import BASE

JWKS = "/.well-known/jwks.json"


async def alive(client: httpx2.AsyncClient, token: dict[str, str]) -> bool:
    """Whether the token opens a door."""
    answer = await client.get("/api/negotiations", headers=bearer(token))
    if answer.status_code != 200:
        refused(answer, 401, "invalid_token")
    return answer.status_code == 200


@pytest.mark.asyncio
@covers("3.9:jwks")
async def test_the_key_set_is_public_and_has_the_current_and_the_next_key(client: httpx2.AsyncClient) -> None:
    answer = await client.get(JWKS)
    assert answer.headers["content-type"] == "application/jwk-set+json"
    keys = answer.json()["keys"]
    for algorithm in ("ES256", "RS256"):
        assert sum(key["alg"] == algorithm for key in keys) >= 2
    assert len({key["kid"] for key in keys}) == len(keys)
    for key in keys:
        parts = {"x", "y", "crv"} if key["alg"] == "ES256" else {"n", "e"}
        assert set(key) == {"kty", "use", "alg", "kid"} | parts
        kind = ("EC", "P-256") if key["alg"] == "ES256" else ("RSA", None)
        assert (key["kty"], key.get("crv"), key["use"]) == (*kind, "sig")


@pytest.mark.asyncio
@covers("3.7:at-jwt")
async def test_another_service_verifies_a_token_offline(client: httpx2.AsyncClient, register: Register) -> None:
    result = await register()
    keys = KeySet.import_key_set((await client.get(JWKS)).json())
    header = extract_compact(result["access_token"].encode()).headers()
    assert header["typ"] == "at+jwt"
    assert header["alg"] == "ES256"
    claims = jwt.decode(result["access_token"], keys, algorithms=["ES256"]).claims
    assert set(claims) == {"iss", "aud", "sub", "client_id", "jti", "iat", "exp", "scope"}
    assert (claims["iss"], claims["aud"]) == (BASE, BASE)
    assert claims["sub"] == claims["client_id"] == result["client_id"]
    assert claims["scope"].split() == result["scopes"]
    assert claims["exp"] - claims["iat"] == result["expires_in"]


@pytest.mark.asyncio
@covers("2.2:lifetime")
async def test_a_token_lives_to_the_millisecond_as_long_as_its_answer_says(
    client: httpx2.AsyncClient, register: Register, clock: Clock
) -> None:
    """A client counts `expires_in` from its answer; the JWT's `exp` has no part of a second."""
    clock.advance(0.999)
    result = await register()
    clock.advance(result["expires_in"] - 0.001)
    assert await alive(client, result)
    clock.advance(0.001)
    assert not await alive(client, result)


@pytest.mark.asyncio
@covers("3.7:namespaces")
async def test_users_agents_and_clients_share_no_names(
    client: httpx2.AsyncClient, register: Register, mint: Mint, change: Change
) -> None:
    user_id, _ = await mint()
    new = NewClient("app", clients.GRANTS, ("negotiations:read",))
    client_id, _ = await change(lambda tx: clients.add(tx, new))
    agent = await register()
    prefixes = {text.partition("_")[0] for text in (user_id, client_id, agent["client_id"])}
    assert prefixes == {"usr", "cli", "agt"}


@pytest.mark.asyncio
@covers("3.7:dead-at-once")
async def test_a_token_dies_with_its_agent_and_no_other_does(
    client: httpx2.AsyncClient, register: Register, mint: Mint, change: Change
) -> None:
    bound: list[dict[str, str]] = []
    user_id, _ = await mint()
    for _ in range(2):
        _, code = await mint()
        answer = await client.post("/api/agent/claim", json={"claim_token": code}, headers=bearer(await register()))
        bound.append(answer.json())
    first, second = bound
    assert await alive(client, first)
    assert await change(lambda tx: agents.revoke(tx, first["client_id"], user_id=user_id))
    assert not await alive(client, first)
    assert await alive(client, second)
    await change(lambda tx: user_queries.disable(tx, "ada@example.com"))
    assert not await alive(client, second)


@pytest.mark.asyncio
@covers("3.7:dead-at-once", "2.5:access_denied")
async def test_a_closed_account_gets_no_new_token(
    client: httpx2.AsyncClient, idp: FakeIssuer, change: Change, mint: Mint, register: Register
) -> None:
    assertion = idp.assertion(email="bob@corp.example", email_verified=True)
    token = (await client.post("/api/agent/register", json=registration(assertion))).json()
    _, code = await mint("bob@corp.example")
    await change(lambda tx: user_queries.disable(tx, "bob@corp.example"))
    assert not await alive(client, token)
    answer = await client.post("/api/agent/register", json=registration(idp.assertion()))
    refused(answer, 403, "access_denied")
    answer = await client.post("/api/agent/claim", json={"claim_token": code}, headers=bearer(await register()))
    refused(answer, 410, "claim_revoked")


@pytest.mark.asyncio
@covers("3.7:dead-at-once", "2.5:issuer_not_enabled")
async def test_a_token_dies_with_its_issuer_and_stays_dead(
    clock: Clock, client: httpx2.AsyncClient, idp: FakeIssuer, change: Change, register: Register
) -> None:
    body = registration(idp.assertion())
    token = (await client.post("/api/agent/register", json=body)).json()
    anonymous = await register()
    await change(lambda tx: issuer_queries.remove(tx, idp.name))
    assert not await alive(client, token)
    assert await alive(client, anonymous)
    answer = await client.post("/api/agent/register", json=registration(idp.assertion()))
    refused(answer, 400, "issuer_not_enabled")
    held = registration(idp.assertion())
    clock.advance(5)
    again = idp.issuer()
    await change(lambda tx: issuer_queries.add(tx, again, own=BASE, allow_loopback=False))
    assert not await alive(client, token)
    refused(await client.post("/api/agent/register", json=held), 400, "expired")
    clock.advance(1)
    fresh = await client.post("/api/agent/register", json=registration(idp.assertion()))
    assert fresh.status_code == 201
    assert await alive(client, fresh.json())


@pytest.mark.asyncio
@covers("3.7:dead-at-once", "2.5:expired")
async def test_the_kill_switch_ends_one_person_s_tokens_and_unused_assertions(
    clock: Clock, client: httpx2.AsyncClient, idp: FakeIssuer, change: Change
) -> None:
    async def present(assertion: str) -> httpx2.Response:
        return await client.post("/api/agent/register", json=registration(assertion))

    token, other = [(await present(idp.assertion(sub=sub))).json() for sub in ("u-1", "u-2")]
    held = idp.assertion(sub="u-1")
    clock.advance(1)
    await change(lambda tx: issuer_queries.revoke_subject(tx, idp.name, "u-1"))
    assert not await alive(client, token)
    assert await alive(client, other)
    refused(await present(held), 400, "expired")
    clock.advance(1)
    fresh = await present(idp.assertion(sub="u-1"))
    assert fresh.status_code == 201
    assert await alive(client, fresh.json())


@pytest.mark.asyncio
@covers("3.7:dead-at-once", "3.2:client-auth")
async def test_a_token_dies_with_its_client(client: httpx2.AsyncClient, change: Change) -> None:
    new = NewClient("app", clients.GRANTS, ("negotiations:read",))
    pair = await change(lambda tx: clients.add(tx, new))
    form = {"grant_type": "client_credentials"}
    token = (await client.post("/oauth/token", data=form, auth=pair)).json()
    assert await alive(client, token)
    await change(lambda tx: clients.remove(tx, pair[0]))
    assert not await alive(client, token)
    refused(await client.post("/oauth/token", data=form, auth=pair), 401, "invalid_client")
