"""How the service says no."""

import httpx2
import pytest

from tests.conftest import Register, bearer
from tests.contract.requirements import covers
from tests.helpers.answer_checks import CHALLENGE, limited, refused

NEGOTIATIONS = "/api/negotiations"


@pytest.mark.asyncio
@covers("1.4:challenge-none", "1.3:shape", "1.4:bearer")
async def test_without_a_credential_the_challenge_names_no_error(client: httpx2.AsyncClient) -> None:
    for headers in ({}, {"authorization": "Basic YTpi"}, {"authorization": "Digest x"}):
        answer = await client.get(NEGOTIATIONS, headers=headers)
        refused(answer, 401, "invalid_token")
        assert answer.headers["www-authenticate"] == CHALLENGE
        limited(answer)


@pytest.mark.asyncio
@pytest.mark.parametrize("credential", ["x", "a.b.c", "x" * 5000, "eyJhbGciOiJub25lIn0.e30."])
@covers("1.4:challenge-token", "1.3:no-echo")
async def test_a_bad_credential_is_told_so_and_never_repeated(client: httpx2.AsyncClient, credential: str) -> None:
    answer = await client.get(NEGOTIATIONS, headers={"authorization": f"Bearer {credential}"})
    refused(answer, 401, "invalid_token")
    assert answer.headers["www-authenticate"] == f'{CHALLENGE}, error="invalid_token"'
    assert credential == "x" or credential not in answer.text
    limited(answer)


@pytest.mark.asyncio
@covers("1.3:405", "1.10:headers")
async def test_a_method_that_is_not_there_names_those_that_are(client: httpx2.AsyncClient) -> None:
    for method, path, allowed in (
        ("PUT", NEGOTIATIONS, {"GET", "HEAD", "POST"}),
        ("DELETE", NEGOTIATIONS, {"GET", "HEAD", "POST"}),
        ("OPTIONS", NEGOTIATIONS, {"GET", "HEAD", "POST"}),
        ("POST", f"{NEGOTIATIONS}/neg_1", {"GET", "HEAD", "PATCH", "DELETE"}),
        ("GET", "/api/agent/register", {"POST"}),
        ("GET", "/api/agent/claim", {"POST"}),
        ("GET", "/oauth/token", {"POST"}),
        ("POST", "/api/health", {"GET", "HEAD"}),
    ):
        answer = await client.request(method, path)
        refused(answer, 405, "method_not_allowed")
        assert set(answer.headers["allow"].split(", ")) == allowed
        limited(answer)
    for path in ("/.well-known/oauth-protected-resource", "/openapi.json", "/auth.md"):
        answer = await client.post(path)
        refused(answer, 405, "method_not_allowed")
        assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD"}


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ["/nothing", "/api", "/api/", "/api/nothing", "/api/negotiations/", "/x/y"])
@covers("1.3:shape")
async def test_a_path_that_is_not_there_is_404_in_the_one_shape(client: httpx2.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    refused(answer, 404, "not_found")
    if path.startswith("/api/"):
        limited(answer)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "path",
    [
        "/api/negotiations/%00",
        "/api/negotiations/%ff%fe",
        "/api/negotiations/..%2f..%2fetc",
        f"/api/negotiations/{'x' * 5000}",
        "/api/negotiations?limit=%ff",
        "/api/negotiations?limit=1&limit=2",
        "/api/negotiations?limit=%D9%A1",
        "/api/negotiations?query=%00",
        "/api/negotiations?query=%25%5C_",
        "/api/negotiations?state=%F0%9F%98%80",
        "/api/negotiations?" + "&".join(f"a{n}=1" for n in range(200)),
        "/api/negotiations?cursor=%00",
    ],
)
@covers("1.3:never-500")
async def test_odd_addresses_are_answered_in_kind(client: httpx2.AsyncClient, register: Register, path: str) -> None:
    answer = await client.get(path, headers=bearer(await register()))
    assert answer.status_code in {200, 400, 404, 422}
    limited(answer)


@pytest.mark.asyncio
@covers("1.3:fields")
async def test_a_refused_field_is_pointed_to(client: httpx2.AsyncClient, register: Register) -> None:
    body = {"title": "", "role": "spy", "issues": [1]}
    answer = await client.post(NEGOTIATIONS, json=body, headers=bearer(await register()))
    refusal = refused(answer, 422, "validation_failed")
    assert {entry["pointer"] for entry in refusal["errors"]} == {"/title", "/role", "/issues/0"}
