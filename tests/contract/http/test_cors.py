"""What pages of other origins may call: everything that lives by bearer tokens, and never a page for people."""

from typing import Any, Final

import httpx2
import pytest

from negotiator.compose.application import build_application
from negotiator.config.settings import Settings
from tests.conftest import Account, Browsers, Mint, bearer
from tests.contract.requirements import covers

ORIGIN: Final = {"origin": "https://page.example"}
NEEDED: Final = {
    *("www-authenticate", "retry-after", "etag", "x-request-id", "location", "dpop-nonce"),
    *("ratelimit", "ratelimit-policy", "x-ratelimit-limit", "x-ratelimit-remaining"),
    "x-ratelimit-reset",
}
CALLED: Final = (
    ("POST", "/oauth/token"),
    ("POST", "/oauth/register"),
    ("POST", "/oauth/revoke"),
    ("GET", "/oauth/userinfo"),
    ("POST", "/api/agent/register"),
    ("POST", "/api/agent/claim"),
    ("POST", "/api/agent/identity/claim/complete"),
    ("POST", "/api/auth/register"),
    ("POST", "/api/auth/revoke"),
    ("PATCH", "/api/negotiations/neg_01jd0000000000000000000000"),
    ("DELETE", "/api/memories/mem_01jd0000000000000000000000"),
    ("PUT", "/api/v1/bookmarks/col_01jd0000000000000000000000"),
    ("GET", "/api/v1/tools"),
    ("GET", "/api/no-such-path"),
    ("GET", "/v0.1/servers"),
    ("POST", "/mcp"),
)
PAGES: Final = ("/sign-in", "/agents", "/account", "/oauth/authorize", "/approve/x", "/metrics")


@pytest.mark.asyncio
@pytest.mark.parametrize(("method", "path"), CALLED)
@covers("1.12:cors")
async def test_a_page_of_any_origin_may_call_what_lives_by_tokens(
    client: httpx2.AsyncClient, method: str, path: str
) -> None:
    asked = {"access-control-request-method": method}
    preflight = await client.options(path, headers={**ORIGIN, **asked})
    assert (preflight.status_code, preflight.content) == (204, b"")
    assert preflight.headers["access-control-allow-origin"] == "*"
    assert method in preflight.headers["access-control-allow-methods"].split(", ")
    read = set(preflight.headers["access-control-allow-headers"].lower().split(", "))
    assert read >= {"authorization", "dpop", "content-type", "idempotency-key", "if-match"}
    assert read >= {"if-none-match", "mcp-protocol-version", "mcp-method", "mcp-name"}
    for headers in ({}, ORIGIN, {**ORIGIN, "cookie": "__Host-negotiator-session=x"}):
        answer = await client.request(method, path, headers=headers)
        for given in (preflight, answer):
            assert given.headers.get_list("access-control-allow-origin") == ["*"]
            assert "access-control-allow-credentials" not in given.headers
            assert "origin" not in given.headers.get("vary", "").lower()
            assert given.headers["x-request-id"]
        exposed = answer.headers["access-control-expose-headers"].lower().split(", ")
        assert set(exposed) >= NEEDED


@pytest.mark.asyncio
@covers("1.12:cors")
async def test_pages_for_people_are_never_shared(client: httpx2.AsyncClient) -> None:
    asked = {"access-control-request-method": "GET"}
    for path in PAGES:
        for answer in (
            await client.get(path, headers=ORIGIN),
            await client.post(path, headers=ORIGIN),
            await client.options(path, headers={**ORIGIN, **asked}),
        ):
            assert not [name for name in answer.headers if name.startswith("access-control-")]


@pytest.mark.asyncio
@covers("1.12:no-cookies")
async def test_no_operation_reads_a_cookie(
    client: httpx2.AsyncClient, settings: Settings, account: Account, browsers: Browsers
) -> None:
    await account()
    browser = browsers()
    await browser.sign_in()
    cookies = {"cookie": "; ".join(f"{c.name}={c.value}" for c in browser.client.cookies.jar)}
    assert str(browser.session()) in cookies["cookie"]
    guarded = [each for each in build_application(settings).service.operations if each.access == "bearer"]
    assert len(guarded) > 60
    for operation in guarded:
        path = operation.path.replace("{", "").replace("}", "")
        answer = await client.request(operation.method, path, headers={**ORIGIN, **cookies})
        assert answer.status_code == 401, (operation.name, answer.text)
        assert 'error="' not in answer.headers["www-authenticate"]
        assert "set-cookie" not in answer.headers
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    answer = await client.post("/mcp", json=message, headers={**ORIGIN, **cookies})
    assert answer.status_code == 401
    form = {"grant_type": "client_credentials"}
    answer = await client.post("/oauth/token", data=form, headers={**ORIGIN, **cookies})
    assert answer.status_code == 401


@pytest.mark.asyncio
@covers("1.12:cors")
async def test_a_page_goes_from_registration_to_a_claim(client: httpx2.AsyncClient, mint: Mint) -> None:
    async def posted(path: str, headers: dict[str, str], **body: Any) -> dict[str, Any]:
        answer = await client.post(path, json=body, headers={**ORIGIN, **headers})
        assert answer.is_success, answer.text
        assert answer.headers["access-control-allow-origin"] == "*"
        found: dict[str, Any] = answer.json()
        return found

    entry = {"agent_name": "page", "identity_type": "anonymous"}
    agent = await posted("/api/agent/register", {}, **entry)
    _, code = await mint()
    bound = await posted("/api/agent/claim", bearer(agent), claim_token=code)
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert (await posted("/mcp", bearer(bound), **message))["result"]["tools"]
