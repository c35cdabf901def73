"""Bound tokens in the hands of thieves, and attempts to take a binding off."""

from typing import Any

import httpx2
import jwt
import pytest

from tests.conftest import Mint, Register, bearer
from tests.contract.requirements import covers
from tests.helpers.code_flow import ClientApp, ConsentingUser
from tests.helpers.dpop_proofs import DpopProver, register_bound
from tests.helpers.fake_issuer import registration
from tests.helpers.forger import ASSERTION_ENDPOINTS, AssertionEndpoint, Forger, Forgery, refused

LIST = "/api/negotiations"
REGISTER = "/api/agent/register"
TOKEN = "/oauth/token"


@covers("3.8:dpop")
@pytest.mark.asyncio
async def test_a_stolen_token_is_worth_nothing_without_its_key(client: httpx2.AsyncClient) -> None:
    prover, thief = DpopProver(), DpopProver()
    made = await register_bound(client, prover)
    token = made["access_token"]
    assert made["token_type"] == "DPoP"
    claims = jwt.decode(token, options={"verify_signature": False})
    assert claims["cnf"] == {"jkt": prover.thumbprint}
    as_bearer = await client.get(LIST, headers=bearer(made))
    refused(as_bearer, (401, "invalid_token"), token)
    assert as_bearer.headers["www-authenticate"].startswith("DPoP ")
    assert 'error="invalid_token"' in as_bearer.headers["www-authenticate"]
    # Even with a good proof beside it: the scheme is the sender's word for what it is.
    proof = {"DPoP": prover.proof("GET", LIST, token=token)}
    refused(await client.get(LIST, headers={**bearer(made), **proof}), (401, "invalid_token"))
    stolen = await client.get(LIST, headers=thief.headers(token, "GET", LIST))
    refused(stolen, (401, "invalid_token"), token)
    own = await client.get(LIST, headers=prover.headers(token, "GET", LIST))
    assert own.status_code == 200


@pytest.mark.asyncio
async def test_an_unbound_token_gains_nothing_by_the_scheme(client: httpx2.AsyncClient, register: Register) -> None:
    prover, made = DpopProver(), await register()
    token = made["access_token"]
    refused(await client.get(LIST, headers=prover.headers(token, "GET", LIST)), (401, "invalid_token"))
    refused(await client.get(LIST, headers={"Authorization": f"DPoP {token}"}), (401, "invalid_dpop_proof"))
    refused(await client.get(LIST, headers=prover.headers("nothing", "GET", LIST)), (401, "invalid_token"))
    assert (await client.get(LIST, headers=bearer(made))).status_code == 200


@pytest.mark.asyncio
async def test_claiming_keeps_the_binding(client: httpx2.AsyncClient, mint: Mint) -> None:
    prover, path = DpopProver(), "/api/agent/claim"
    token = (await register_bound(client, prover))["access_token"]
    _, code = await mint()
    body = {"claim_token": code}
    as_bearer = await client.post(path, json=body, headers={"Authorization": f"Bearer {token}"})
    refused(as_bearer, (401, "invalid_token"))
    claimed = await client.post(path, json=body, headers=prover.headers(token, "POST", path))
    assert (claimed.status_code, claimed.json()["token_type"]) == (200, "DPoP")
    refused(await client.get(LIST, headers=bearer(claimed.json())), (401, "invalid_token"))
    fresh = claimed.json()["access_token"]
    assert (await client.get(LIST, headers=prover.headers(fresh, "GET", LIST))).status_code == 200


async def _knock(forger: Forger, door: AssertionEndpoint, text: str, proof: str | None) -> httpx2.Response:
    headers = {"DPoP": proof} if proof else {}
    if door == "register":
        return await forger.client.post(REGISTER, json=registration(text), headers=headers)
    grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    form = {"grant_type": grant, "assertion": text}
    return await forger.client.post(TOKEN, data=form, auth=forger.basic, headers=headers)


@covers("3.8:dpop-assertion")
@pytest.mark.asyncio
@pytest.mark.parametrize("door", ASSERTION_ENDPOINTS)
async def test_a_bound_assertion_wants_the_proof_of_its_key(door: AssertionEndpoint, forger: Forger) -> None:
    prover, thief = DpopProver(), DpopProver()
    path = REGISTER if door == "register" else TOKEN
    before = forger.counts()

    def forged(cnf: Any) -> str:
        return forger.forge(Forgery({} if cnf is None else {"cnf": cnf}), door)

    good = {"jkt": prover.thumbprint}
    refusals: list[tuple[Any, str | None]] = [
        (good, None),
        (good, thief.proof("POST", path)),
        ({"x5t#S256": prover.thumbprint}, prover.proof("POST", path)),
        ({**good, "x5t#S256": "abc"}, prover.proof("POST", path)),
        ({"jkt": 1}, prover.proof("POST", path)),
        ({}, prover.proof("POST", path)),
    ]
    for cnf, proof in refusals:
        text = forged(cnf)
        refused(await _knock(forger, door, text, proof), (400, "invalid_grant"), text)
    spoilt = prover.proof("POST", path, htm="GET")
    refused(await _knock(forger, door, forged(good), spoilt), (400, "invalid_dpop_proof"))
    after = forger.counts()
    assert {**after, "spent": 0} == {**before, "spent": 0}

    for cnf in (good, None):
        answer = await _knock(forger, door, forged(cnf), prover.proof("POST", path))
        assert answer.json()["token_type"] == "DPoP", answer.text
        token = answer.json()["access_token"]
        refused(await forger.client.get(LIST, headers=bearer(answer.json())), (401, "invalid_token"))
        headers = prover.headers(token, "GET", LIST)
        assert (await forger.client.get(LIST, headers=headers)).status_code == 200
    plain = await _knock(forger, door, forged(None), None)
    assert plain.json()["token_type"] == "Bearer"


@covers("3.8:dpop-refresh")
@pytest.mark.asyncio
async def test_a_public_client_renews_with_its_key_only(ada: ConsentingUser, public_app: ClientApp) -> None:
    prover, thief = DpopProver(), DpopProver()
    http, client_id = public_app.http, public_app.client_id
    form: dict[str, str] = {
        "client_id": client_id,
        "grant_type": "authorization_code",
        "code": await ada.code(public_app),
        "redirect_uri": public_app.redirect_uri,
        "code_verifier": public_app.verifier,
    }
    first = await http.post(TOKEN, data=form, headers={"DPoP": prover.proof()})
    assert first.json()["token_type"] == "DPoP", first.text
    old = first.json()["refresh_token"]
    refresh = {"client_id": client_id, "grant_type": "refresh_token", "refresh_token": old}
    refused(await http.post(TOKEN, data=refresh), (400, "invalid_grant"), old)
    stolen = await http.post(TOKEN, data=refresh, headers={"DPoP": thief.proof()})
    refused(stolen, (400, "invalid_grant"), old)
    # Neither attempt used it up.
    second = await http.post(TOKEN, data=refresh, headers={"DPoP": prover.proof()})
    assert second.status_code == 200, second.text
    assert second.json()["token_type"] == "DPoP"
    again = {**refresh, "refresh_token": second.json()["refresh_token"]}
    refused(await http.post(TOKEN, data=again), (400, "invalid_grant"))
    assert (await http.post(TOKEN, data=again, headers={"DPoP": prover.proof()})).is_success


@pytest.mark.asyncio
async def test_a_client_with_a_secret_may_change_its_key(ada: ConsentingUser, web_app: ClientApp) -> None:
    first, second = DpopProver(), DpopProver()
    http, auth = web_app.http, (web_app.client_id, web_app.secret)
    tokens = await ada.tokens(web_app)
    assert tokens["token_type"] == "Bearer"
    for prover in (first, second):
        form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
        answer = await http.post(TOKEN, data=form, auth=auth, headers={"DPoP": prover.proof()})
        assert answer.status_code == 200, answer.text
        tokens = answer.json()
        described = await http.post("/oauth/introspect", data={"token": tokens["access_token"]}, auth=auth)
        assert described.json()["cnf"] == {"jkt": prover.thumbprint}
        assert described.json()["token_type"] == "DPoP"


@pytest.mark.asyncio
async def test_who_signed_in_is_told_to_the_holder_of_the_key(ada: ConsentingUser, public_app: ClientApp) -> None:
    prover, path = DpopProver(), "/oauth/userinfo"
    form = {
        "client_id": public_app.client_id,
        "grant_type": "authorization_code",
        "code": await ada.code(public_app),
        "redirect_uri": public_app.redirect_uri,
        "code_verifier": public_app.verifier,
    }
    answer = await public_app.http.post(TOKEN, data=form, headers={"DPoP": prover.proof()})
    token = answer.json()["access_token"]
    told = await public_app.http.get(path, headers=prover.headers(token, "GET", path))
    assert told.json()["sub"] == ada.user_id
    head = prover.headers(token, "HEAD", path)
    assert (await public_app.http.head(path, headers=head)).status_code == 200
    got = prover.headers(token, "GET", path)
    assert (await public_app.http.head(path, headers=got)).status_code == 401


@covers("3.8:dpop")
@pytest.mark.asyncio
async def test_metadata_says_which_algorithms_a_proof_may_have(client: httpx2.AsyncClient) -> None:
    for path in ("oauth-authorization-server", "openid-configuration", "oauth-protected-resource"):
        document = (await client.get(f"/.well-known/{path}")).json()
        named = document["dpop_signing_alg_values_supported"]
        assert "ES256" in named
        assert not {"none", "HS256", "HS384", "HS512"} & set(named)
