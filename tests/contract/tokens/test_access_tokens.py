"""Access tokens: what they say, who can verify them, when they die."""

import httpx2
import pytest
from joserfc import jwt
from joserfc.jwk import KeySet
from joserfc.jws import extract_compact

from negotiator.tokens import clients
from negotiator.tokens.clients import NewClient
from tests.conftest import Change, Clock, Mint, Register, bearer
from tests.contract.requirements import covers
from tests.helpers.answer_checks import refused
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
@covers("2.2:lifetime", "2.1:expires-in")
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
