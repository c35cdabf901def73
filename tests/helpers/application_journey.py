"""The whole way in through the application, once, as every engine has to allow it."""

from collections.abc import Callable
from typing import Any

import httpx2

from negotiator.agents import registration as agents
from negotiator.base import values
from negotiator.base.scopes import ASSISTANT
from negotiator.compose.application import build_application
from negotiator.config.settings import Settings
from negotiator.store.statement import Transaction
from negotiator.tokens import clients, consent_queries
from negotiator.tokens.clients import JWT_BEARER, NewClient
from negotiator.trust import issuer_queries
from negotiator.users import user_queries
from tests.conftest import bearer
from tests.helpers.code_flow import CALLBACK, PASSWORD, ClientApp, ConsentingUser
from tests.helpers.fake_issuer import FakeIssuer, registration
from tests.helpers.form_browser import BASE
from tests.helpers.opened_store import opened_store
from tests.helpers.sweep import sweep

REGISTER, LIST = "/api/agent/register", "/api/negotiations"
ISSUE = {"title": "Laptops 100 %", "role": "buyer", "issues": [{"name": "price", "type": "money"}]}


async def journey(client: httpx2.AsyncClient, settings: Settings) -> None:
    """Goes the way in as an operator, an anonymous agent, an enterprise agent and a user would."""
    idp = FakeIssuer(BASE)
    user, code, client_id, secret = await _prepare(settings, idp)
    agent = await _ok(client.post(REGISTER, json=_anonymous()), 201)
    kept = await _ok(client.post(LIST, json=ISSUE, headers=_once(agent)), 201)
    assert await _ok(client.post(LIST, json=ISSUE, headers=_once(agent)), 201) == kept
    claim = {"claim_token": code}
    wrong = {"claim_token": "BBBB-BBBB-BBBB"}
    refused = await client.post("/api/agent/claim", json=wrong, headers=bearer(agent))
    assert refused.json()["error"] == "invalid_claim_token"
    claimed = await _ok(client.post("/api/agent/claim", json=claim, headers=bearer(agent)))
    assert claimed["identity"] == {"user_id": user, "email": "ada@example.com"}
    assert (await client.get(LIST, headers=bearer(agent))).status_code == 401
    await _work(client, claimed, kept)
    text = idp.assertion()
    sent = await _ok(client.post(REGISTER, json=registration(text)), 201)
    assert sent["scopes"] == list(ASSISTANT)
    assert (await client.post(REGISTER, json=registration(text))).json()["error"] == "replay_detected"
    form = {"grant_type": JWT_BEARER, "assertion": idp.assertion(client_id=client_id)}
    basic = (client_id, secret)
    token = await _ok(client.post("/oauth/token", data=form, auth=basic))
    about = {"token": token["access_token"]}
    told = await _ok(client.post("/oauth/introspect", data=about, auth=basic))
    assert told["sub"] == sent["identity"]["user_id"]
    await client.post("/oauth/revoke", data=about, auth=basic)
    assert (await client.get(LIST, headers=bearer(token))).status_code == 401
    await _let_in(client, settings)
    mailed = {**registration("eve@example.com"), "assertion_type": "verified_email"}
    await _ok(client.post(REGISTER, json=mailed), 201)
    await _change(settings, lambda tx: agents.revoke(tx, claimed["client_id"], user_id=user))
    assert (await client.get(LIST, headers=bearer(claimed))).status_code == 401
    assert (await client.get("/api/health")).status_code == 200
    await _change(settings, lambda tx: sweep(tx, values.now() + 60 * 86_400_000))


async def _let_in(client: httpx2.AsyncClient, settings: Settings) -> None:
    """The code flow: a code, its replay, a chain of refresh tokens, a consent that is withdrawn."""
    hashed = user_queries.hash_password(PASSWORD)

    def unit(tx: Transaction) -> tuple[str, str]:
        user = user_queries.add(tx, "ida@example.com", password_hash=hashed, actor="operator")
        new = NewClient("app", clients.CODE_FLOW_GRANTS, tuple(ASSISTANT), (CALLBACK,), "none")
        return user, clients.add(tx, new)[0]

    user_id, app_id = await _change(settings, unit)
    user, app = ConsentingUser(client, user_id, "ida@example.com"), ClientApp(client, app_id)
    await user.sign_in()
    first = await user.tokens(app)
    second = (await app.refresh(first["refresh_token"])).json()
    assert (await client.get(LIST, headers=bearer(second))).status_code == 200
    assert (await client.get("/oauth/userinfo", headers=bearer(second))).json()["sub"] == user_id
    code = await user.code(app)
    third = await _ok(app.redeem(code))
    assert (await app.redeem(code)).json()["error"] == "invalid_grant"
    assert (await client.get(LIST, headers=bearer(third))).status_code == 401
    await _ok(app.refresh(second["refresh_token"]))
    assert (await app.refresh(first["refresh_token"])).json()["error"] == "invalid_grant"
    assert (await client.get(LIST, headers=bearer(second))).status_code == 401
    fourth = await user.tokens(app)
    await _change(settings, lambda tx: consent_queries.withdraw(tx, user_id, app_id, actor=user_id))
    assert (await client.get(LIST, headers=bearer(fourth))).status_code == 401
    await _ok(client.post("/oauth/register", json={"redirect_uris": [CALLBACK]}), 201)


async def _work(client: httpx2.AsyncClient, claimed: dict[str, Any], kept: dict[str, Any]) -> None:
    headers = bearer(claimed)
    for number in range(3):
        await _ok(client.post(LIST, json={**ISSUE, "title": f"N{number}"}, headers=headers), 201)
    page = await _ok(client.get(LIST, params={"limit": 3}, headers=headers))
    rest = await _ok(client.get(LIST, params={"limit": 3, "cursor": page["next_cursor"]}, headers=headers))
    titles = [item["title"] for item in (*page["items"], *rest["items"])]
    assert titles == ["N2", "N1", "N0", ISSUE["title"]]
    asked = {"query": "TOPS 100 %", "state": "draft"}
    found = await _ok(client.get(LIST, params=asked, headers=headers))
    assert [item["id"] for item in found["items"]] == [kept["id"]]
    one = f"{LIST}/{kept['id']}"
    edited = await _ok(client.patch(one, json={"title": "Screens"}, headers=headers))
    assert (edited["title"], edited["revision"]) == ("Screens", kept["revision"] + 1)
    stale = {**headers, "if-match": f'"{kept["revision"]}"'}
    assert (await client.delete(one, headers=stale)).status_code == 412
    assert (await client.delete(one, headers=headers)).status_code == 204
    assert (await client.get(one, headers=headers)).status_code == 404
    for odd in ("%00", "neg_x"):
        assert (await client.get(f"{LIST}/{odd}", headers=headers)).status_code == 404
    assert (await client.get(f"{LIST}?query=%00", headers=headers)).status_code == 400


async def _prepare(settings: Settings, idp: FakeIssuer) -> tuple[str, str, str, str]:
    def unit(tx: Transaction) -> tuple[str, str, str, str]:
        client_id, secret = clients.add(tx, NewClient("corp", clients.GRANTS, tuple(ASSISTANT)))
        trusted = idp.issuer(clients=frozenset({"corp-agent", client_id}))
        issuer_queries.add(tx, trusted, own=BASE, allow_loopback=False)
        user = user_queries.add(tx, "ada@example.com", actor="operator")
        scopes = ["negotiations:read", "negotiations:write"]
        code = build_application(settings).delegations.mint(tx, user, scopes).code
        return user, code, client_id, secret

    return await _change(settings, unit)


async def _change(settings: Settings, unit: Callable[[Transaction], Any]) -> Any:
    async with opened_store(settings.database_url) as store:
        return await store.write(unit)


async def _ok(sending: Any, status: int = 200) -> dict[str, Any]:
    answer: httpx2.Response = await sending
    assert answer.status_code == status, answer.text
    body: dict[str, Any] = answer.json()
    return body


def _anonymous() -> dict[str, str]:
    return {"agent_name": "walker", "identity_type": "anonymous"}


def _once(agent: dict[str, Any]) -> dict[str, str]:
    return {**bearer(agent), "idempotency-key": "first"}
