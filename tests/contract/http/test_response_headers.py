"""Headers that every answer has, health, and the OpenAPI document."""

import re

import httpx2
import pytest

from negotiator.config.settings import Settings
from tests.conftest import Register, bearer, connect, make_settings, running
from tests.contract.requirements import covers
from tests.helpers.answer_checks import OPENING, limited

NEGOTIATIONS = "/api/negotiations"


@pytest.mark.asyncio
@covers("1.11:request-id")
async def test_a_sane_request_id_is_kept_and_another_is_replaced(client: httpx2.AsyncClient) -> None:
    for path in ("/api/health", NEGOTIATIONS, "/auth.md", "/nothing"):
        kept = await client.get(path, headers={"x-request-id": "trace-0001.a_b"})
        assert kept.headers.get_list("x-request-id") == ["trace-0001.a_b"]
        for given in ("short", "x" * 65, "with space in it", "semi;colon;here", ""):
            made = await client.get(path, headers={"x-request-id": given})
            assert re.fullmatch("req_[0-9a-z]{26}", made.headers["x-request-id"])


@pytest.mark.asyncio
@covers("1.11:request-id")
async def test_a_browser_gets_the_same_headers_as_a_program(client: httpx2.AsyncClient, register: Register) -> None:
    """Requests for HTML pass the middleware, all others do not."""
    agent = bearer(await register())
    for path in ("/api/health", NEGOTIATIONS):
        program = await client.get(path, headers=agent)
        browser = await client.get(path, headers={**agent, "accept": "text/html"})
        assert program.content == browser.content or path == "/api/health"
        assert program.headers.keys() == browser.headers.keys()


@pytest.mark.asyncio
@covers("1.11:no-store")
async def test_what_carries_a_secret_is_never_stored(client: httpx2.AsyncClient, register: Register) -> None:
    body = {"agent_name": "a", "identity_type": "anonymous"}
    registered = await client.post("/api/agent/register", json=body)
    listed = await client.get(NEGOTIATIONS, headers=bearer(await register()))
    refusal = await client.post("/oauth/token", data={"grant_type": "x"})
    for answer in (registered, listed, refusal):
        assert answer.headers["cache-control"] == "no-store"


@pytest.mark.asyncio
@covers("1.11:hsts")
async def test_transport_security_is_announced_with_an_https_base_only(
    client: httpx2.AsyncClient, settings: Settings
) -> None:
    for path in ("/api/health", "/auth.md", "/nothing", NEGOTIATIONS):
        answer = await client.get(path)
        assert answer.headers["strict-transport-security"].startswith("max-age=31536000")
        assert answer.headers["x-content-type-options"] == "nosniff"
    plain = make_settings(settings.data_dir, settings.keys_dir, base_url="http://127.0.0.1:8000")
    async with running(plain) as application, connect(application) as other:
        answer = await other.get("/api/health")
        assert "strict-transport-security" not in answer.headers


@pytest.mark.asyncio
async def test_no_window_of_another_origin_reaches_into_a_page_except_one_that_waits_for_consent(
    client: httpx2.AsyncClient,
) -> None:
    for path in ("/", "/docs", "/tools", "/account", "/nothing"):
        assert (await client.get(path)).headers["cross-origin-opener-policy"] == "same-origin", path
    for path in ("/sign-in", "/oauth/authorize?client_id=x"):
        assert "cross-origin-opener-policy" not in (await client.get(path)).headers, path


@pytest.mark.asyncio
@covers("1.10:headers")
async def test_head_is_get_without_a_body(client: httpx2.AsyncClient, register: Register) -> None:
    headers = bearer(await register())
    made = (await client.post(NEGOTIATIONS, json=OPENING, headers=headers)).json()
    for path in ("/api/health", NEGOTIATIONS, f"{NEGOTIATIONS}/{made['id']}"):
        read = await client.get(path, headers=headers)
        looked = await client.head(path, headers=headers)
        assert (looked.status_code, looked.content) == (200, b"")
        for name in ("content-type", "content-length", "etag"):
            assert looked.headers.get(name) == read.headers.get(name)
        limited(looked)


@pytest.mark.asyncio
@covers("1.13:health")
async def test_health_says_what_is_well(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/api/health")
    assert answer.status_code == 200
    body = answer.json()
    assert list(body) == ["status", "version", "services", "checks"]
    assert body["status"] == "ok"
    assert re.fullmatch(r"\d+\.\d+\.\d+", body["version"])
    assert "assistant" in body["services"]
    assert body["checks"]["database"] == "ok"
    limited(answer)


@pytest.mark.asyncio
@covers("1.13:openapi")
async def test_openapi_describes_every_operation(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/openapi.json")
    document = answer.json()
    assert document["openapi"].startswith("3.1")
    assert document["servers"] == [{"url": "https://negotiator.example"}]
    operations = [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    names = [operation["operationId"] for _, _, operation in operations]
    assert len(names) == len(set(names))
    assert {"/api/agent/register", "/api/agent/claim", NEGOTIATIONS} <= set(document["paths"])
    for path, method, operation in operations:
        assert operation["summary"]
        assert ("429" in operation["responses"]) == (path not in {"/livez", "/readyz"})
        named = [p["name"] for p in operation["parameters"] if p["in"] == "path"]
        assert named == re.findall(r"\{(\w+)\}", path)
        if "x-required-scopes" in operation:
            assert {"401", "403"} <= set(operation["responses"])
            assert operation["security"] == [{"bearer": []}, {"oauth2": operation["x-required-scopes"]}]
        if method in {"post", "patch"}:
            assert {"413", "415"} <= set(operation["responses"])
    found = set(re.findall(r'"\$ref":\s*"#/components/schemas/([^"]+)"', answer.text))
    assert "Refusal" in found
    assert found <= set(document["components"]["schemas"])
    assert answer.text.count('"$ref"') == answer.text.count("#/components/schemas/")


@pytest.mark.asyncio
@covers("1.1:no-version")
async def test_no_path_of_the_assistant_carries_a_version(client: httpx2.AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()
    assistant = [path for path in document["paths"] if not path.startswith(("/api/v1", "/v0.1"))]
    assert not [path for path in assistant if re.search(r"/v\d", path)]
