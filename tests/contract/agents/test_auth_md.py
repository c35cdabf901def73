"""Both generations of auth.md, end to end: an identity first, or a credential first, and a user who claims."""

import re
from typing import Any

import httpx2
import pytest

from negotiator.base.scopes import ANONYMOUS, ASSISTANT
from negotiator.config.settings import Settings
from tests.conftest import Account, Browsers, Clock, bearer
from tests.contract.requirements import covers
from tests.helpers.dpop_proofs import DpopProver
from tests.helpers.email_registration import outbox
from tests.helpers.event_transmitter import CAEP, push, security_event
from tests.helpers.fake_issuer import ID_JAG, FakeIssuer
from tests.helpers.form_browser import BASE, FormBrowser

IDENTITY = "/api/agent/identity"
LIST = "/api/negotiations"
CODE = re.compile("([BCDFGHJKLMNPQRSTVWXZ]{4}-){2}[BCDFGHJKLMNPQRSTVWXZ]{4}")
SCOPES = {"purpose": "own", "scope__negotiations:read": "on", "scope__memories:write": "on"}


async def exchange(
    client: httpx2.AsyncClient, assertion: str, *, proof: str | None = None, **form: str
) -> httpx2.Response:
    """An identity for an access token."""
    grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    data = {"grant_type": grant, "assertion": assertion, **form}
    return await client.post("/oauth/token", data=data, headers={"DPoP": proof} if proof else {})


async def made(client: httpx2.AsyncClient, **body: Any) -> dict[str, Any]:
    """An agent by the newer door."""
    answer = await client.post(IDENTITY, json=body)
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    told: dict[str, Any] = answer.json()
    return told


async def approve(browser: FormBrowser, uri: str) -> str:
    """The code that the user reads on the page and tells their agent."""
    link = uri.removeprefix(BASE)
    granted = await browser.send(link, on=link, **SCOPES)
    code = CODE.search(granted.text)
    assert code, granted.text
    return code[0]


@covers("2.8:claim", "2.8:register")
@pytest.mark.asyncio
async def test_an_agent_of_the_newer_generation_registers_is_claimed_and_renews(
    client: httpx2.AsyncClient, browsers: Browsers, account: Account, clock: Clock
) -> None:
    user_id = await account()
    metadata = (await client.get("/.well-known/oauth-authorization-server")).json()
    block = metadata["agent_auth"]
    first = await made(client, type="anonymous")
    assert block["identity_endpoint"] == f"{BASE}{IDENTITY}"
    assert first["scopes"] == {"pre_claim": list(ANONYMOUS), "post_claim": list(ASSISTANT)}
    assert first["claim"]["url"] == block["claim_endpoint"]
    early = await exchange(client, first["identity"]["assertion"])
    assert early.json()["scope"] == " ".join(ANONYMOUS)
    assert "refresh_token" not in early.json()
    assert (await client.get(LIST, headers=bearer(early.json()))).status_code == 200
    again = await exchange(client, first["identity"]["assertion"], scope="memories:read")
    assert again.json()["scope"] == "memories:read"

    claim = {"claim_token": first["claim"]["token"]}
    body = {"type": "service_auth", "login_hint": "ada@example.com", **claim}
    asked = (await client.post(f"{IDENTITY}/claim", json=body)).json()
    complete = f"{block['claim_endpoint']}/complete"
    hasty = await client.post(complete, json={**claim, "user_code": "BCDF-GHJK-LMNP"})
    assert (hasty.status_code, hasty.json()["error"]) == (409, "claim_not_confirmed")
    browser = browsers()
    await browser.sign_in()
    code = await approve(browser, asked["attempt"]["verification_uri"])
    wrong = await client.post(complete, json={**claim, "user_code": "BCDF-GHJK-LMNP"})
    assert (wrong.status_code, wrong.json()["error"]) == (401, "invalid_user_code")
    assert wrong.json()["message"] == wrong.json()["error_description"]
    clock.advance(1)
    claimed = await client.post(complete, json={**claim, "user_code": code})
    assert claimed.status_code == 200, claimed.text
    assert claimed.json()["status"] == "claimed"
    assert claimed.json()["id"] == first["id"]
    for dead in (early.json(), again.json()):
        assert (await client.get(LIST, headers=bearer(dead))).status_code == 401
    late = await exchange(client, first["identity"]["assertion"])
    assert (late.status_code, late.json()["error"]) == (400, "invalid_grant")
    twice = await client.post(complete, json={**claim, "user_code": code})
    assert (twice.status_code, twice.json()["error"]) == (409, "already_claimed")

    identity = claimed.json()["identity"]
    token = (await exchange(client, identity["assertion"])).json()
    assert token["scope"] == "negotiations:read memories:write"
    assert (await client.get(LIST, headers=bearer(token))).status_code == 200
    renewed = await made(client, type="refresh", refresh_token=identity["refresh_token"]["value"])
    fresh = (await exchange(client, renewed["identity"]["assertion"])).json()
    assert (await client.get(LIST, headers=bearer(fresh))).status_code == 200
    stolen = {"type": "refresh", "refresh_token": identity["refresh_token"]["value"]}
    retried = await made(client, **stolen)
    assert retried["identity"]["refresh_token"] == renewed["identity"]["refresh_token"]
    client.headers["user-agent"] = "thief"
    replay = await client.post(IDENTITY, json=stolen)
    assert (replay.status_code, replay.json()["error"]) == (400, "invalid_refresh_token")
    for dead in (token, fresh):
        assert (await client.get(LIST, headers=bearer(dead))).status_code == 401
    assert user_id


@covers("2.8:service-auth")
@pytest.mark.asyncio
async def test_an_agent_that_names_its_user_gets_nothing_before_they_approve(
    client: httpx2.AsyncClient, browsers: Browsers, account: Account
) -> None:
    await account()
    hint = "Ada@example.com"
    first = await made(client, type="service_auth", login_hint=hint)
    assert "identity" not in first
    unknown = await made(client, type="service_auth", login_hint="nobody@example.com")
    assert unknown.keys() == first.keys()
    browser = browsers()
    await browser.sign_in()
    code = await approve(browser, first["claim"]["attempt"]["verification_uri"])
    told = {"claim_token": first["claim"]["token"], "user_code": code}
    claimed = await client.post(f"{IDENTITY}/claim/complete", json=told)
    token = await exchange(client, claimed.json()["identity"]["assertion"])
    assert (await client.get(LIST, headers=bearer(token.json()))).status_code == 200


@covers("2.8:register")
@pytest.mark.asyncio
async def test_an_id_jag_gives_an_identity_that_dies_by_a_report(client: httpx2.AsyncClient, idp: FakeIssuer) -> None:
    body = {"type": "identity_assertion", "assertion_type": ID_JAG, "assertion": idp.assertion()}
    first = await made(client, **body)
    assert first["scopes"] == list(ASSISTANT)
    replay = await client.post(IDENTITY, json=body)
    assert (replay.status_code, replay.json()["error"]) == (400, "replay_detected")
    token = (await exchange(client, first["identity"]["assertion"])).json()
    assert (await client.get(LIST, headers=bearer(token))).status_code == 200
    await push(client, security_event(idp, f"{CAEP}session-revoked"))
    assert (await client.get(LIST, headers=bearer(token))).status_code == 401
    dead = await exchange(client, first["identity"]["assertion"])
    assert (dead.status_code, dead.json()["error"]) == (400, "invalid_grant")


@pytest.mark.asyncio
async def test_a_report_ends_what_a_claimed_agent_could_renew(
    client: httpx2.AsyncClient, idp: FakeIssuer, browsers: Browsers, account: Account, clock: Clock
) -> None:
    await account("ada@corp.example")
    body = {"type": "identity_assertion", "assertion_type": ID_JAG}
    linking = idp.assertion(email="ada@corp.example", email_verified=True)
    asked = await client.post(IDENTITY, json={**body, "assertion": linking})
    assert (asked.status_code, asked.json()["error"]) == (401, "interaction_required")
    assert asked.headers["www-authenticate"].startswith("AgentAuth ")
    browser = browsers()
    await browser.sign_in("ada@corp.example")
    link = asked.json()["claim"]["attempt"]["verification_uri"].removeprefix(BASE)
    assert (await browser.send(link, on=link)).status_code == 200

    first = await made(client, type="service_auth", login_hint="ada@corp.example")
    code = await approve(browser, first["claim"]["attempt"]["verification_uri"])
    told = {"claim_token": first["claim"]["token"], "user_code": code}
    claimed = (await client.post(f"{IDENTITY}/claim/complete", json=told)).json()
    clock.advance(1)
    await push(client, security_event(idp, f"{CAEP}session-revoked"))
    late = {"type": "refresh", "refresh_token": claimed["identity"]["refresh_token"]["value"]}
    refused = await client.post(IDENTITY, json=late)
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_refresh_token")
    dead = await exchange(client, claimed["identity"]["assertion"])
    assert dead.json()["error"] == "invalid_grant"


@covers("2.8:v0.1-claim")
@pytest.mark.asyncio
async def test_an_agent_of_the_first_generation_is_claimed_by_mail(
    client: httpx2.AsyncClient, settings: Settings, browsers: Browsers, account: Account
) -> None:
    await account()
    answer = await client.post("/api/agent/register", json={"type": "anonymous"})
    first = answer.json()
    assert first["credential"] == first["access_token"]
    assert first["post_claim_scopes"] == list(ASSISTANT)
    claim = {"claim_token": first["claim_token"]}
    asked = await client.post(first["claim_url"], json={**claim, "email": "ada@example.com"})
    assert (asked.status_code, asked.json()["status"]) == (200, "initiated")
    assert "/approve/" not in asked.text
    browser = browsers()
    await browser.sign_in()
    code = await approve(browser, f"{BASE}{outbox(settings)[-1][1]}")
    done = await client.post(f"{first['claim_url']}/complete", json={**claim, "otp": code})
    assert (done.status_code, done.json()["status"]) == (200, "claimed")
    assert done.json()["registration_id"] == first["client_id"]
    assert done.json()["credential"] == done.json()["access_token"]
    assert (await client.get(LIST, headers=bearer(done.json()))).status_code == 200
    assert (await client.get(LIST, headers=bearer(first))).status_code == 401


@pytest.mark.asyncio
async def test_an_identity_bound_to_a_key_wants_its_proof(client: httpx2.AsyncClient) -> None:
    prover, thief = DpopProver(), DpopProver()
    proof = prover.proof("POST", IDENTITY)
    answer = await client.post(IDENTITY, json={"type": "anonymous"}, headers={"DPoP": proof})
    assertion = answer.json()["identity"]["assertion"]
    for stolen in (None, thief.proof()):
        refused = await exchange(client, assertion, proof=stolen)
        assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")
    good = await exchange(client, assertion, proof=prover.proof())
    assert good.json()["token_type"] == "DPoP"


@pytest.mark.asyncio
async def test_identities_claim_tokens_and_assertions_do_not_pass_for_each_other(
    client: httpx2.AsyncClient, idp: FakeIssuer
) -> None:
    first = await made(client, type="anonymous")
    assertion, claim = first["identity"]["assertion"], first["claim"]["token"]
    for text in (assertion, claim):
        answer = await client.get(LIST, headers={"Authorization": f"Bearer {text}"})
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_token")
    token = (await exchange(client, assertion)).json()["access_token"]
    for text in (token, claim, idp.assertion(), assertion[:-4] + "AAAA"):
        answer = await exchange(client, text)
        assert answer.status_code in {400, 401}
        assert answer.json()["error"] in {"invalid_grant", "invalid_client"}
    body = {"type": "identity_assertion", "assertion_type": ID_JAG, "assertion": assertion}
    assert (await client.post(IDENTITY, json=body)).status_code == 400
    greedy = await exchange(client, assertion, scope="memories:write")
    assert (greedy.status_code, greedy.json()["error"]) == (400, "invalid_scope")
    assert "memories:write" in greedy.json()["error_description"]
    some = await exchange(client, assertion, scope="memories:write memories:read")
    assert (some.status_code, some.json()["scope"]) == (200, "memories:read")
    other = await exchange(client, assertion, client_id="agt_other")
    assert other.json()["error"] == "invalid_grant"


@pytest.mark.asyncio
async def test_a_claim_token_is_hard_to_guess_and_ends(client: httpx2.AsyncClient, clock: Clock) -> None:
    first = await made(client, type="anonymous")
    token, complete = first["claim"]["token"], f"{IDENTITY}/claim/complete"
    other = await made(client, type="anonymous")
    mixed = other["claim"]["token"][:30] + token[30:]
    for text in ("clm_x", "BCDF-GHJK-LMNP", token[:-1] + ("0" if token[-1] != "0" else "1"), mixed):
        answer = await client.post(complete, json={"claim_token": text, "user_code": "x"})
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_claim_token")
    for _ in range(5):
        answer = await client.post(complete, json={"claim_token": token, "user_code": "x"})
        assert answer.status_code == 409
    spent = await client.post(complete, json={"claim_token": token, "user_code": "x"})
    assert (spent.status_code, spent.json()["error"]) == (429, "too_many_attempts")
    clock.advance(86_400)
    late = await client.post(complete, json={"claim_token": token, "user_code": "x"})
    assert (late.status_code, late.json()["error"]) == (410, "claim_expired")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"type": "other"},
        {"type": "anonymous", "assertion": "x"},
        {"type": "identity_assertion"},
        {"type": "service_auth"},
        {"type": "refresh"},
        {"type": "refresh", "refresh_token": "x", "login_hint": "a@b.example"},
        {"type": "anonymous", "agent_name": "a\u202eb"},
    ],
)
async def test_a_body_that_is_no_variant_is_refused(body: dict[str, Any], client: httpx2.AsyncClient) -> None:
    answer = await client.post(IDENTITY, json=body)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
