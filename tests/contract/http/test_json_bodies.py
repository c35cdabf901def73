"""Bodies: strict JSON, bounded, of the right type."""

import httpx2
import pytest

from tests.conftest import Register, bearer
from tests.contract.requirements import covers
from tests.helpers.answer_checks import OPENING, limited, refused

REGISTER = "/api/agent/register"
CLAIM = "/api/agent/claim"
NEGOTIATIONS = "/api/negotiations"
JSON = {"content-type": "application/json"}


@pytest.mark.asyncio
@pytest.mark.parametrize("declared", ["application/json; charset=utf-8", "Application/JSON"])
@covers("1.2:media-type")
async def test_a_media_type_has_parameters_and_no_case(client: httpx2.AsyncClient, declared: str) -> None:
    body = b'{"agent_name": "a", "identity_type": "anonymous"}'
    answer = await client.post(REGISTER, content=body, headers={"content-type": declared})
    assert answer.status_code == 201


@pytest.mark.asyncio
@covers("1.2:media-type")
async def test_a_patch_is_plain_json_or_a_merge_patch(client: httpx2.AsyncClient, register: Register) -> None:
    headers = bearer(await register())
    opened = (await client.post(NEGOTIATIONS, json=OPENING, headers=headers)).json()
    path = f"{NEGOTIATIONS}/{opened['id']}"
    for declared in ("application/json", "application/merge-patch+json", "Application/Merge-Patch+JSON"):
        sent = {**headers, "content-type": declared}
        assert (await client.patch(path, content=b"{}", headers=sent)).status_code == 200
    for declared in ("application/merge-patch+jsonx", "application/json-patch+json"):
        sent = {**headers, "content-type": declared}
        refused(await client.patch(path, content=b"{}", headers=sent), 415, "invalid_request")


def padded(size: int) -> bytes:
    """A registration of exactly this many bytes."""
    start = b'{"agent_name": "a", "identity_type": "anonymous", "x": "'
    return start + b"x" * (size - len(start) - 2) + b'"}'


@pytest.mark.asyncio
@covers("1.2:size-entry")
async def test_registration_and_claim_take_eight_kibibytes(client: httpx2.AsyncClient, register: Register) -> None:
    full = await client.post(REGISTER, content=padded(8192), headers=JSON)
    assert full.status_code == 201
    over = await client.post(REGISTER, content=padded(8193), headers=JSON)
    refused(over, 413, "invalid_request")
    limited(over)
    sent = {**JSON, **bearer(await register())}
    refused(await client.post(CLAIM, content=padded(8193), headers=sent), 413, "invalid_request")


@pytest.mark.asyncio
@covers("1.2:size-others")
async def test_other_bodies_take_sixty_four_kibibytes(client: httpx2.AsyncClient, register: Register) -> None:
    sent = {**JSON, **bearer(await register())}
    full = await client.post(NEGOTIATIONS, content=padded(65_536), headers=sent)
    refused(full, 422, "validation_failed")
    over = await client.post(NEGOTIATIONS, content=padded(65_537), headers=sent)
    refused(over, 413, "invalid_request")
    limited(over)


@pytest.mark.asyncio
@covers("1.2:unknown-ignored")
async def test_bodies_of_registration_and_claim_ignore_unknown_members(
    client: httpx2.AsyncClient, register: Register
) -> None:
    body = {"agent_name": "a", "identity_type": "anonymous", "color": "blue", "x": {"y": [1]}}
    assert (await client.post(REGISTER, json=body)).status_code == 201
    claim = {"claim_token": "BCDF-GHJK-LMNP", "color": "blue"}
    answer = await client.post(CLAIM, json=claim, headers=bearer(await register()))
    refused(answer, 400, "invalid_claim_token")


@pytest.mark.asyncio
@covers("1.2:unknown-refused", "1.3:fields")
async def test_other_bodies_and_queries_refuse_what_they_do_not_know(
    client: httpx2.AsyncClient, register: Register
) -> None:
    headers = bearer(await register())
    body = {**OPENING, "color/~": "blue", "owner": "usr_1"}
    refusal = refused(await client.post(NEGOTIATIONS, json=body, headers=headers), 422, "validation_failed")
    assert {entry["pointer"] for entry in refusal["errors"]} == {"/color~1~0", "/owner"}
    listed = await client.get(f"{NEGOTIATIONS}?color=blue", headers=headers)
    refused(listed, 422, "validation_failed")


@pytest.mark.asyncio
async def test_no_body_is_no_body_whatever_type_its_library_names(client: httpx2.AsyncClient) -> None:
    octets = {"content-type": "application/octet-stream"}
    plain, named = await client.post(REGISTER), await client.post(REGISTER, headers=octets)
    assert named.status_code == plain.status_code != 415
    assert (await client.post(REGISTER, content=b"{}", headers=octets)).status_code == 415
