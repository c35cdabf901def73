"""Clients that prove themselves by a key (RFC 7523 §2.2), and assertions that are none of theirs, or no more."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from negotiator.base.scopes import ASSISTANT
from negotiator.tokens import client_authentication, clients
from negotiator.tokens.clients import PRIVATE_KEY_JWT, NewClient
from tests.conftest import Change, Clock, bearer
from tests.contract.requirements import covers
from tests.helpers.client_assertions import ClientAssertionSigner
from tests.helpers.code_flow import CALLBACK, ConsentingUser, told
from tests.helpers.code_flow import ClientApp as _App
from tests.helpers.fake_issuer import FakeIssuer
from tests.helpers.forger import refused
from tests.helpers.form_browser import BASE

TOKEN, REVOKE, INTROSPECT = "/oauth/token", "/oauth/revoke", "/oauth/introspect"
LIST = "/api/negotiations"
CLIENT, REQUEST = (401, "invalid_client"), (400, "invalid_request")
BY_ITSELF = {"grant_type": "client_credentials", "scope": "negotiations:read"}

Spoil = Callable[[ClientAssertionSigner], str]


@pytest_asyncio.fixture
async def signer(change: Change) -> ClientAssertionSigner:
    """A client that an operator added with its key."""
    made = ClientAssertionSigner()
    new = NewClient(
        *("signer", clients.GRANTS, tuple(ASSISTANT), (CALLBACK,), PRIVATE_KEY_JWT),
        jwks=client_authentication.read_client_keys(made.jwks),
    )
    made.client_id, secret = await change(lambda tx: clients.add(tx, new))
    assert secret == ""
    return made


def _with(head: dict[str, Any] | None = None, **changes: Any) -> Spoil:
    return lambda signer: signer.assertion(head=head, **changes)


def _unsigned(signer: ClientAssertionSigner) -> str:
    head, body, _signature = signer.assertion().split(".")
    return f"{head}.{body}."


SPOILT: dict[str, Spoil] = {
    "an audience that is the token endpoint": _with(aud=f"{BASE}{TOKEN}"),
    "another audience": _with(aud="https://other.example"),
    "two audiences": _with(aud=[BASE, "https://other.example"]),
    "no audience": _with(aud=None),
    "another issuer": _with(iss="cli_other"),
    "another subject": _with(sub="cli_other"),
    "no subject": _with(sub=None),
    "no id": _with(jti=None),
    "no end": _with(exp=None),
    "an end long ago": _with(iat=1_799_999_000, exp=1_799_999_060),
    "an end in a year": _with(exp=1_831_536_000),
    "a start to come": _with(iat=1_800_000_100, exp=1_800_000_160),
    "a time that is a text": _with(exp="soon"),
    "the type of an ID-JAG": _with({"typ": "oauth-id-jag+jwt"}),
    "the type of an access token": _with({"typ": "at+jwt"}),
    "the type of a proof": _with({"typ": "dpop+jwt"}),
    "another key's id": _with({"kid": "client-2"}),
    "a critical extension": _with({"crit": ["b64"], "b64": False}),
    "another's signature": lambda signer: signer.assertion(key=ClientAssertionSigner().key),
    "a shared secret": lambda signer: signer.assertion(
        head={"alg": "HS256"}, key="a shared secret of thirty-two octets"
    ),
    "no signature": _unsigned,
    "no algorithm": lambda signer: signer.assertion(head={"alg": "none"}, key=""),
    "a text that is no JWT": lambda _signer: "x",
    "nothing": lambda _signer: "",
    "a long text": lambda _signer: "x" * 20_000,
}


@covers("3.2:private-key-jwt")
@pytest.mark.asyncio
async def test_a_spoilt_assertion_authenticates_nobody(
    client: httpx2.AsyncClient, signer: ClientAssertionSigner, clock: Clock
) -> None:
    del clock
    for case, spoil in SPOILT.items():
        text = spoil(signer)
        for more in ({}, {"client_id": signer.client_id}):
            answer = await client.post(TOKEN, data={**BY_ITSELF, **signer.form(text, **more)})
            # What names nobody, or somebody else than client_id does, is a request nobody can read.
            assert (answer.status_code, answer.json()["error"]) in (CLIENT, REQUEST), case
            assert len(text) < 20 or text not in answer.text
    assert (await client.post(TOKEN, data={**BY_ITSELF, **signer.form()})).status_code == 200


@covers("3.2:private-key-jwt")
@pytest.mark.asyncio
async def test_an_assertion_counts_once_however_many_bring_it(
    client: httpx2.AsyncClient, signer: ClientAssertionSigner, clock: Clock
) -> None:
    """Spent with the token it was for: a request that is refused for another reason spends nothing."""
    form = signer.form()
    refused(await client.post(TOKEN, data={**BY_ITSELF, "scope": "x", **form}), (400, "invalid_scope"))
    answers = await asyncio.gather(*(client.post(TOKEN, data={**BY_ITSELF, **form}) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [200, *[401] * 7]
    clock.advance(119)
    refused(await client.post(TOKEN, data={**BY_ITSELF, **form}), CLIENT)


@pytest.mark.asyncio
async def test_a_client_with_a_key_has_no_other_way_in(
    client: httpx2.AsyncClient, signer: ClientAssertionSigner, web_app: _App
) -> None:
    name = signer.client_id
    for secret in ("", "guess"):
        refused(await client.post(TOKEN, data=BY_ITSELF, auth=(name, secret)), CLIENT)
        posted = {**BY_ITSELF, "client_id": name, "client_secret": secret}
        refused(await client.post(TOKEN, data=posted), CLIENT)
    code = {"grant_type": "authorization_code", "code": "x", "redirect_uri": CALLBACK}
    bare = {**code, "code_verifier": "v" * 43, "client_id": name}
    refused(await client.post(TOKEN, data=bare), CLIENT)
    twice = signer.form(client_secret="guess")
    refused(await client.post(TOKEN, data={**BY_ITSELF, **twice}), REQUEST)
    both = await client.post(TOKEN, data={**BY_ITSELF, **signer.form()}, auth=(name, ""))
    refused(both, REQUEST)
    other = signer.form(client_id=web_app.client_id)
    refused(await client.post(TOKEN, data={**BY_ITSELF, **other}), REQUEST)
    # Nor does a key let in who has a secret.
    stranger = ClientAssertionSigner(web_app.client_id)
    refused(await client.post(TOKEN, data={**BY_ITSELF, **stranger.form()}), CLIENT)
    unknown = signer.form(client_assertion_type="urn:ietf:params:oauth:client-assertion-type:saml2")
    refused(await client.post(TOKEN, data={**BY_ITSELF, **unknown}), CLIENT)


@pytest.mark.asyncio
@pytest.mark.parametrize("head", [{"typ": None}, {"typ": "JWT"}, {"kid": None}])
async def test_an_assertion_of_the_older_kind_is_good(
    client: httpx2.AsyncClient, signer: ClientAssertionSigner, head: dict[str, Any]
) -> None:
    form = signer.form(signer.assertion(head=head, iat=None))
    assert (await client.post(TOKEN, data={**BY_ITSELF, **form})).status_code == 200


@covers("3.2:private-key-jwt")
@pytest.mark.asyncio
async def test_its_tokens_are_described_and_ended_for_its_key_only(
    client: httpx2.AsyncClient, signer: ClientAssertionSigner
) -> None:
    made = (await client.post(TOKEN, data={**BY_ITSELF, **signer.form()})).json()
    about = {"token": made["access_token"]}
    refused(await client.post(INTROSPECT, data={**about, "client_id": signer.client_id}), CLIENT)
    seen = await client.post(INTROSPECT, data={**about, **signer.form()})
    assert seen.json()["active"] is True
    refused(await client.post(REVOKE, data={**about, "client_id": signer.client_id}), CLIENT)
    assert (await client.post(REVOKE, data={**about, **signer.form()})).status_code == 200
    assert (await client.get(LIST, headers=bearer(made))).status_code == 401


@pytest.mark.asyncio
async def test_a_registered_client_signs_its_way_through_the_code_flow(
    client: httpx2.AsyncClient, ada: ConsentingUser
) -> None:
    """Registration with keys, code, refresh; the code is worth nothing to who only knows the client's name."""
    signer = ClientAssertionSigner()
    body = {
        "client_name": "signer",
        "redirect_uris": [CALLBACK],
        "token_endpoint_auth_method": PRIVATE_KEY_JWT,
        "token_endpoint_auth_signing_alg": "ES256",
        "grant_types": ["authorization_code", "refresh_token"],
        "jwks": signer.jwks,
    }
    registered = await client.post("/oauth/register", json=body)
    assert registered.status_code == 201, registered.text
    assert registered.json()["jwks"] == signer.jwks
    assert "client_secret" not in registered.json()
    signer.client_id = registered.json()["client_id"]
    app = _App(client, signer.client_id)
    code = told(await ada.decide(app.asks()))["code"]
    refused(await app.redeem(code), CLIENT)
    tokens = await app.redeem(code, **signer.form())
    assert tokens.status_code == 200, tokens.text
    refused(await app.refresh(tokens.json()["refresh_token"]), CLIENT)
    renewed = await app.refresh(tokens.json()["refresh_token"], **signer.form())
    assert renewed.status_code == 200, renewed.text


@pytest.mark.asyncio
async def test_an_id_jag_comes_with_the_signature_of_its_client(
    client: httpx2.AsyncClient, signer: ClientAssertionSigner, idp: FakeIssuer
) -> None:
    form = {"grant_type": clients.JWT_BEARER}
    jag = idp.assertion(client_id=signer.client_id)
    bare = {**form, "assertion": jag, "client_id": signer.client_id}
    refused(await client.post(TOKEN, data=bare), CLIENT, jag)
    answer = await client.post(TOKEN, data={**form, "assertion": jag, **signer.form()})
    assert answer.status_code == 200, answer.text
    # Neither stands in for the other.
    swapped = {**form, "assertion": signer.assertion(), **signer.form()}
    refused(await client.post(TOKEN, data=swapped), (400, "invalid_grant"))


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "change",
    [
        {"jwks": None},
        {"jwks": "text"},
        {"jwks": {"keys": []}},
        {"jwks": {"keys": [{"kty": "oct", "k": "YQ"}]}},
        {"jwks": {"keys": [{"kty": "EC", "crv": "P-256", "x": "x", "y": "y"}]}},
        {"jwks_uri": "https://app.example/jwks"},
        {"jwks": None, "jwks_uri": "http://app.example/jwks"},
        {"jwks": None, "jwks_uri": "https://u@app.example/jwks"},
        {"jwks": None, "jwks_uri": ["https://app.example/jwks"]},
        {"token_endpoint_auth_signing_alg": "HS256"},
        {"token_endpoint_auth_signing_alg": "none"},
    ],
)
async def test_keys_that_could_prove_nothing_are_not_taken(client: httpx2.AsyncClient, change: dict[str, Any]) -> None:
    body = {
        "redirect_uris": [CALLBACK],
        "token_endpoint_auth_method": PRIVATE_KEY_JWT,
        "jwks": ClientAssertionSigner().jwks,
    }
    answer = await client.post("/oauth/register", json={**body, **change})
    refused(answer, (400, "invalid_client_metadata"))


@covers("3.2:private-key-jwt")
@pytest.mark.asyncio
async def test_the_metadata_says_how_a_client_may_sign(client: httpx2.AsyncClient) -> None:
    for path in ("oauth-authorization-server", "openid-configuration"):
        document = (await client.get(f"/.well-known/{path}")).json()
        for door in ("token", "revocation", "introspection"):
            assert PRIVATE_KEY_JWT in document[f"{door}_endpoint_auth_methods_supported"]
            named = document[f"{door}_endpoint_auth_signing_alg_values_supported"]
            assert "ES256" in named
            assert not {"none", "HS256"} & set(named)
