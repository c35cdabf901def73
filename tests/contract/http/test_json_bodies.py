"""Bodies: strict JSON, bounded, of the right type."""

from collections.abc import AsyncGenerator

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
@pytest.mark.parametrize("body", ["[]", "null", '"anonymous"', "7", "", " ", "{", "{}{}"])
@covers("1.2:json-object")
async def test_a_body_that_is_no_object_is_malformed(client: httpx2.AsyncClient, body: str) -> None:
    refused(await client.post(REGISTER, content=body, headers=JSON), 400, "invalid_request")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "body",
    [
        b'{"agent_name": "a", "identity_type": "anonymous", "agent_name": "b"}',
        b'{"agent_name": "a", "identity_type": "anonymous", "x": {"y": 1, "y": 1}}',
        b'{"agent_name": "a", "identity_type": "anonymous", "x": NaN}',
        b'{"agent_name": "a", "identity_type": "anonymous", "x": [Infinity]}',
        b'{"agent_name": "a", "identity_type": "anonymous", "x": 1e400}',
        b'{"agent_name": "a\xff", "identity_type": "anonymous"}',
        b'{"agent_name": "\\ud800", "identity_type": "anonymous"}',
        '{"agent_name": "a", "identity_type": "anonymous"}'.encode("utf-16"),
    ],
)
@covers("1.2:json-strict", "1.3:never-500")
async def test_json_is_read_strictly(client: httpx2.AsyncClient, body: bytes) -> None:
    refused(await client.post(REGISTER, content=body, headers=JSON), 400, "invalid_request")


@pytest.mark.asyncio
@pytest.mark.parametrize("levels", [20, 21, 3000])
@covers("1.2:json-depth")
async def test_twenty_levels_are_enough(client: httpx2.AsyncClient, levels: int) -> None:
    inner = "[" * (levels - 1) + "]" * (levels - 1)
    body = f'{{"agent_name": "deep", "identity_type": "anonymous", "x": {inner}}}'
    answer = await client.post(REGISTER, content=body, headers=JSON)
    if levels > 20:
        refused(answer, 400, "invalid_request")
    else:
        assert answer.status_code == 201


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "declared", ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "", "json", None]
)
@covers("1.2:media-type", "1.2:media-type-sent")
async def test_json_is_declared_as_json(client: httpx2.AsyncClient, declared: str | None) -> None:
    body = b'{"agent_name": "a", "identity_type": "anonymous"}'
    headers = {} if declared is None else {"content-type": declared}
    refused(await client.post(REGISTER, content=body, headers=headers), 415, "invalid_request")


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
@covers("1.2:size-reading")
async def test_a_body_without_a_length_is_cut_off_at_its_limit(client: httpx2.AsyncClient) -> None:
    given = 0

    async def endless() -> AsyncGenerator[bytes]:
        nonlocal given
        for _ in range(10_000):
            given += 1024
            yield b" " * 1024

    answer = await client.post(REGISTER, content=endless(), headers=JSON)
    refused(answer, 413, "invalid_request")
    assert given <= 16 * 1024


@pytest.mark.asyncio
@covers("1.2:size-reading", "1.3:never-500")
async def test_a_declared_length_is_believed_before_reading(client: httpx2.AsyncClient) -> None:
    for length in ("8193", "9" * 300):
        headers = {**JSON, "content-length": length}
        answer = await client.post(REGISTER, content=padded(100), headers=headers)
        refused(answer, 413, "invalid_request")


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
