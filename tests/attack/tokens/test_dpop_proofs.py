"""Spoilt proofs at both doors: nothing is bound, nothing is let in."""

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from negotiator.config.settings import Settings
from tests.conftest import Clock, connect, running
from tests.contract.requirements import covers
from tests.helpers.dpop_proofs import DpopProver, encoded, register_bound
from tests.helpers.form_browser import BASE

LIST = "/api/negotiations"
Spoil = Callable[[DpopProver], dict[str, Any]]


def _private(prover: DpopProver) -> dict[str, Any]:
    return {"head": {"jwk": ECAlgorithm.to_jwk(prover.key, as_dict=True)}}


def _symmetric(_prover: DpopProver) -> dict[str, Any]:
    return {"key": "a shared secret of thirty-two octets", "head": {"alg": "HS256", "jwk": {"kty": "oct", "k": "YQ"}}}


def _small(_prover: DpopProver) -> dict[str, Any]:
    key = rsa.generate_private_key(65537, 1024)  # noqa: S505  that is the attack
    jwk = RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    return {"key": key, "head": {"alg": "RS256", "jwk": jwk}}


def _foreign(_prover: DpopProver) -> dict[str, Any]:
    return {"key": ec.generate_private_key(ec.SECP256R1())}


def _with(**changes: Any) -> Spoil:
    return lambda _prover: changes


SPOILT: dict[str, Spoil] = {
    "another method": _with(htm="DELETE"),
    "a method in lower case": _with(htm="get"),
    "another path": _with(htu=f"{BASE}/api/negotiations/other"),
    "another host": _with(htu="https://evil.example/api/negotiations"),
    "another scheme": _with(htu=BASE.replace("https", "http") + ":444" + LIST),
    "user info in the URL": _with(htu=BASE.replace("://", "://a@") + LIST),
    "a relative URL": _with(htu=LIST),
    "a port that is none": _with(htu="https://negotiator.example:99999/api/negotiations"),
    "no method": _with(htm=None),
    "no URL": _with(htu=None),
    "no id": _with(jti=None),
    "an empty id": _with(jti=""),
    "a long id": _with(jti="x" * 300),
    "no time": _with(iat=None),
    "a time that is a text": _with(iat="now"),
    "a time long ago": _with(iat=1_799_999_000),
    "a time to come": _with(iat=1_800_000_100),
    "no hash of the token": _with(ath=None),
    "a hash of another token": _with(ath="fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"),
    "another type": _with(head={"typ": "JWT"}),
    "the type of an ID-JAG": _with(head={"typ": "oauth-id-jag+jwt"}),
    "no key": _with(head={"jwk": None}),
    "a key that is a text": _with(head={"jwk": "key"}),
    "a critical extension": _with(head={"crit": ["b64"], "b64": False}),
    "a private key": _private,
    "a shared secret": _symmetric,
    "a short RSA key": _small,
    "the signature of another key": _foreign,
}


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
@covers("3.8:dpop")
@pytest.mark.asyncio
async def test_a_spoilt_proof_lets_nobody_in(client: httpx2.AsyncClient, clock: Clock) -> None:
    del clock
    prover = DpopProver()
    token = (await register_bound(client, prover))["access_token"]
    for case, spoil in SPOILT.items():
        headers = prover.headers(token, "GET", LIST, **spoil(prover))
        answer = await client.get(LIST, headers=headers)
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_dpop_proof"), case
        challenge = answer.headers["www-authenticate"]
        assert challenge.startswith("DPoP ")
        assert 'error="invalid_dpop_proof"' in challenge
        assert 'algs="RS256 PS256 ES256 ES384 EdDSA"' in challenge
        assert headers["DPoP"] not in answer.text
    good = await client.get(LIST, headers=prover.headers(token, "GET", LIST))
    assert good.status_code == 200


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/agent/register", {"json": {"agent_name": "x", "identity_type": "anonymous"}}),
        ("/oauth/token", {"data": {"grant_type": "client_credentials"}}),
    ],
)
async def test_a_spoilt_proof_gets_no_token(
    path: str, body: dict[str, Any], client: httpx2.AsyncClient, clock: Clock
) -> None:
    del clock
    prover = DpopProver()
    for case in (case for case in SPOILT if "hash" not in case):
        proof = prover.proof("POST", path, **SPOILT[case](prover))
        answer = await client.post(path, headers={"DPoP": proof}, **body)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_dpop_proof"), case
        assert "www-authenticate" not in answer.headers


@pytest.mark.asyncio
async def test_a_text_that_is_no_proof_is_refused(client: httpx2.AsyncClient) -> None:
    prover = DpopProver()
    token = (await register_bound(client, prover))["access_token"]
    head, body, _signature = prover.proof("GET", LIST, token=token).split(".")
    unsigned = [
        encoded(json.dumps({"typ": "dpop+jwt", "alg": name, "jwk": prover.jwk}).encode())
        for name in ("none", "nOnE", "HS256")
    ]
    texts = ["", "x", "a.b.c", "é.é.é", "." * 9000, "e30.e30.e30", f"{head}.{body}."]
    for text in [*texts, *(f"{each}.{body}." for each in unsigned)]:
        sent = [(b"authorization", f"DPoP {token}".encode()), (b"dpop", text.encode("latin-1"))]
        answer = await client.get(LIST, headers=sent)
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_dpop_proof"), text


@pytest.mark.asyncio
async def test_a_proof_counts_once_on_every_door(client: httpx2.AsyncClient) -> None:
    prover = DpopProver()
    token = (await register_bound(client, prover))["access_token"]
    headers = prover.headers(token, "GET", LIST)
    assert (await client.get(LIST, headers=headers)).status_code == 200
    again = await client.get(LIST, headers=headers)
    assert (again.status_code, again.json()["error"]) == (401, "invalid_dpop_proof")

    path = "/api/agent/register"
    proof = {"DPoP": prover.proof("POST", path)}
    body = {"agent_name": "x", "identity_type": "anonymous"}
    assert (await client.post(path, json=body, headers=proof)).status_code == 201
    assert (await client.post(path, json=body, headers=proof)).status_code == 400


@pytest.mark.asyncio
async def test_two_proofs_at_once_are_refused(client: httpx2.AsyncClient) -> None:
    prover = DpopProver()
    token = (await register_bound(client, prover))["access_token"]
    proofs = [("DPoP", prover.proof("GET", LIST, token=token)) for _ in range(2)]
    answer = await client.get(LIST, headers=[("Authorization", f"DPoP {token}"), *proofs])
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_dpop_proof")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "htu",
    [
        f"{BASE}{LIST}?limit=3#top",
        f"{BASE.upper().replace('HTTPS', 'https')}{LIST}",
        f"{BASE}:443{LIST}",
        f"{BASE}/api/negoti%61tions",
    ],
)
async def test_spellings_of_one_address_are_one(htu: str, client: httpx2.AsyncClient) -> None:
    prover = DpopProver()
    token = (await register_bound(client, prover))["access_token"]
    headers = prover.headers(token, "GET", LIST, htu=htu)
    assert (await client.get(f"{LIST}?limit=3", headers=headers)).status_code == 200


@pytest.mark.asyncio
async def test_a_nonce_is_asked_for_where_the_operator_wants_one(settings: Settings, clock: Clock) -> None:
    async with running(settings.model_copy(update={"dpop_nonce": True})) as application, connect(application) as client:
        prover, path = DpopProver(), "/api/agent/register"
        body = {"agent_name": "x", "identity_type": "anonymous"}
        asked = await client.post(path, json=body, headers={"DPoP": prover.proof("POST", path)})
        assert (asked.status_code, asked.json()["error"]) == (400, "use_dpop_nonce")
        nonce = asked.headers["dpop-nonce"]
        proof = {"DPoP": prover.proof("POST", path, nonce=nonce)}
        made = await client.post(path, json=body, headers=proof)
        assert made.status_code == 201
        token = made.json()["access_token"]

        refused = await client.get(LIST, headers=prover.headers(token, "GET", LIST))
        assert (refused.status_code, refused.json()["error"]) == (401, "use_dpop_nonce")
        assert refused.headers["dpop-nonce"] == nonce
        assert 'error="use_dpop_nonce"' in refused.headers["www-authenticate"]
        headers = prover.headers(token, "GET", LIST, nonce=nonce)
        assert (await client.get(LIST, headers=headers)).status_code == 200

        clock.advance(601)
        late = await client.get(LIST, headers=prover.headers(token, "GET", LIST, nonce=nonce))
        assert (late.status_code, late.json()["error"]) == (401, "use_dpop_nonce")
