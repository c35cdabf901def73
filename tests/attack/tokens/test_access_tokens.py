"""Tokens and what they open: where one may stand, which kind, whose, and for whose things."""

import base64
import json
from typing import Any

import httpx2
import pytest

from negotiator.base.scopes import ASSISTANT, ordered
from negotiator.compose.application import build_application
from negotiator.config.settings import Settings
from negotiator.http.operation import Operation
from negotiator.keys.keyring import FolderKeyring
from tests.conftest import Mint, Register, bearer
from tests.contract.requirements import covers
from tests.helpers.answer_checks import CHALLENGE, limited
from tests.helpers.forger import IDP, Forger, Forgery, refused
from tests.helpers.form_browser import BASE

LIST = "/api/negotiations"
INVALID = (401, "invalid_token")
REQUEST = (400, "invalid_request")
ISSUE = {"title": "Laptops", "role": "buyer", "issues": [{"name": "price", "type": "money"}]}


def _operations(settings: Settings) -> list[Operation]:
    return [operation for operation in build_application(settings).service.operations if operation.access == "bearer"]


_BODIES = {
    "play_turn": b'{"action": "wait"}',
    "move_negotiation": b'{"to": "cancelled"}',
    "record_offer": b'{"by": "me", "kind": "offer", "package": {"price": "10"}}',
    "hear_utterance": b'{"utterance_id": "u1", "text": "Hello."}',
    "judge_cue": b'{"action": "used"}',
}


async def _call(
    client: httpx2.AsyncClient, operation: Operation, headers: dict[str, str], **ids: str
) -> httpx2.Response:
    path = operation.path.format(**dict.fromkeys(operation.path_parameters, "neg_x") | ids)
    body = None if operation.reads_query else _BODIES.get(operation.name, b"{}")
    sent = {**headers, "content-type": "application/json"} if body else headers
    return await client.request(operation.method, path, headers=sent, content=body)


async def _client_token(forger: Forger, **form: str) -> dict[str, Any]:
    data = {"grant_type": "client_credentials", **form}
    result: dict[str, Any] = (await forger.client.post("/oauth/token", data=data, auth=forger.basic)).json()
    return result


@pytest.mark.asyncio
@covers("1.4:bearer")
async def test_every_operation_asks_for_a_token_in_the_header_only(
    forger: Forger, register: Register, settings: Settings
) -> None:
    """104, 105: none, another scheme, the query, the form; the challenge says where to learn more."""
    token = (await register())["access_token"]
    for operation in _operations(settings):
        for headers in ({}, {"authorization": "Basic YTpi"}, {"x-access-token": token}):
            answer = await _call(forger.client, operation, headers)
            refused(answer, INVALID)
            challenge = answer.headers["www-authenticate"]
            assert challenge.startswith("Bearer ")
            assert f'resource_metadata="{BASE}/.well-known/' in challenge
            assert "error=" not in challenge
    query = await forger.client.get(LIST, params={"access_token": token})
    refused(query, INVALID, token)
    form = await forger.client.post(LIST, data={"access_token": token})
    refused(form, INVALID, token)
    assert (await forger.client.get(LIST, headers={"authorization": f"bEaReR {token}"})).is_success


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "value", ["Bearer", "Bearer ", "Bearer a b", 'Bearer "x"', "Bearer {0}, Bearer {0}", "Bearer {0},"]
)
@covers("1.3:shape", "1.3:never-500")
async def test_a_malformed_header_is_malformed(forger: Forger, register: Register, value: str) -> None:
    token = (await register())["access_token"]
    header = {"authorization": value.format(token)}
    refused(await forger.client.get(LIST, headers=header), REQUEST, token)
    assert (await forger.client.get(LIST, headers={"authorization": f"Bearer {token}"})).is_success


@pytest.mark.asyncio
async def test_two_authorization_headers_are_one_too_many(forger: Forger, register: Register) -> None:
    """105: whichever comes first, neither is picked."""
    good = ("authorization", f"Bearer {(await register())['access_token']}")
    for other in ("Bearer x.y.z", "Basic YTpi", good[1]):
        for headers in ([good, ("authorization", other)], [("authorization", other), good]):
            answer = await forger.client.get(LIST, headers=headers)
            assert answer.status_code in {400, 401}
            assert good[1].split()[1] not in answer.text
    basic = "Basic " + base64.b64encode(":".join(forger.basic).encode()).decode()
    twice = [("authorization", basic), ("authorization", basic)]
    data = {"grant_type": "client_credentials"}
    refused(await forger.client.post("/oauth/token", headers=twice, data=data), REQUEST)
    assert (await forger.client.get(LIST, headers=[good])).is_success


def _resigned(keyring: FolderKeyring, token: str, typ: str = "at+jwt", **claims: Any) -> str:
    payload = token.split(".")[1]
    told = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    changed = {name: value for name, value in {**told, **claims}.items() if value is not None}
    return keyring.sign(changed, typ)


@pytest.mark.asyncio
async def test_no_other_kind_of_secret_is_a_token(
    forger: Forger, register: Register, mint: Mint, settings: Settings
) -> None:
    """107, 111, 112, 113: each on every operation; then the one thing that is a token."""
    token = (await register())["access_token"]
    _, code = await mint()
    keyring = FolderKeyring(settings.keys_dir)
    head, payload, signature = token.split(".")
    jag = forger.forge(Forgery(), "register")
    confused = {
        "an ID-JAG": jag,
        "a delegation code": code,
        "a client secret": forger.secret,
        "a client id": forger.client_id,
        "another type": _resigned(keyring, token, "JWT"),
        "our own ID-JAG": _resigned(keyring, token, "oauth-id-jag+jwt"),
        "an unknown id": _resigned(keyring, token, jti="0" * 26),
        "another audience": _resigned(keyring, token, aud=f"{BASE}/mcp"),
        "another issuer": _resigned(keyring, token, iss=IDP),
        "no expiry": _resigned(keyring, token, exp=None),
        "expired": _resigned(keyring, token, exp=1_600_000_000),
        "a stolen signature": f"{head}.{jag.split('.')[1]}.{signature}",
        "no signature": f"{head}.{payload}.",
        "half a token": f"{head}.{payload}",
        "a long text": "a" * 5000,
        "deep": base64.urlsafe_b64encode(b"[" * 2900).decode().rstrip("=") + ".e30.x",
        "a text": "null",
    }
    operations = _operations(settings)
    for kind, text in confused.items():
        for operation in operations:
            answer = await _call(forger.client, operation, {"authorization": f"Bearer {text}"})
            assert answer.status_code == 401, kind
            refused(answer, INVALID, text) if len(text) > 12 else None
            assert 'error="invalid_token"' in answer.headers["www-authenticate"]
    assert (await forger.client.get(LIST, headers={"authorization": f"Bearer {token}"})).is_success


@pytest.mark.asyncio
async def test_an_access_token_of_ours_is_no_assertion(forger: Forger, register: Register, settings: Settings) -> None:
    """30, 114: not as it is, not under the assertion's type, not with our name as the issuer's."""
    token = (await register())["access_token"]
    keyring = FolderKeyring(settings.keys_dir)
    for text in (token, _resigned(keyring, token, "oauth-id-jag+jwt")):
        before = forger.counts()
        for kind in ("urn:ietf:params:oauth:token-type:id-jag", "verified_email"):
            body = {"agent_name": "x", "identity_type": "identity_assertion", "assertion_type": kind, "assertion": text}
            answer = await forger.client.post("/api/agent/register", json=body)
            refused(answer, (400, answer.json()["error"]), text)
        refused(await forger.present("token", text), (400, "invalid_grant"), text)
        assert forger.counts() == before
    assert (await forger.present("token", forger.forge(Forgery(), "token"))).status_code == 200


@pytest.mark.asyncio
@covers("1.4:challenge-scope", "1.14:scope-read", "1.14:scope-write")
async def test_a_scope_that_was_not_granted_opens_nothing(forger: Forger, settings: Settings) -> None:
    """109: for each operation, a token with every scope but its own, then with its own alone."""
    for operation in _operations(settings):
        # The directory's scopes have their walk in tests/house: this client has the assistant's.
        if not operation.scopes or not operation.scopes <= ASSISTANT.keys():
            continue
        lacking = " ".join(scope for scope in ASSISTANT if scope not in operation.scopes)
        answer = await _call(forger.client, operation, bearer(await _client_token(forger, scope=lacking)))
        refused(answer, (403, "insufficient_scope"))
        limited(answer)
        needed = f'error="insufficient_scope", scope="{" ".join(ordered(operation.scopes))}"'
        assert answer.headers["www-authenticate"] == f"{CHALLENGE}, {needed}"
        enough = await _client_token(forger, scope=" ".join(operation.scopes))
        assert (await _call(forger.client, operation, bearer(enough))).status_code not in {401, 403}


@pytest.mark.asyncio
@pytest.mark.parametrize("odd", ["neg_%00", "..%2f..%2fkeys", "%ff", "neg_" + "z" * 5000, "'--", "%F0%9F"])
async def test_an_odd_id_is_only_an_unknown_one(forger: Forger, register: Register, odd: str) -> None:
    headers = bearer(await register())
    for method in ("GET", "DELETE"):
        answer = await forger.client.request(method, f"{LIST}/{odd}", headers=headers)
        assert answer.status_code == 404
    merge = await forger.client.patch(f"{LIST}/{odd}", headers=headers, json={"title": "x"})
    assert merge.status_code == 404


HOSTILE = [b'{"n": 123456789012345678901234567890}', rb'{"t": "\ud800"}', rb'{"t": "a\u0000"}', b'{"n": 1e999}']


@pytest.mark.asyncio
@pytest.mark.parametrize("issue", HOSTILE)
async def test_what_no_store_could_keep_is_a_bad_request(forger: Forger, register: Register, issue: bytes) -> None:
    headers = {**bearer(await register()), "content-type": "application/json"}
    body = b'{"title": "x", "role": "buyer", "issues": [' + issue + b"]}"
    refused(await forger.client.post(LIST, content=body, headers=headers), REQUEST)
    assert (await forger.client.post(LIST, json=ISSUE, headers=headers)).status_code == 201
