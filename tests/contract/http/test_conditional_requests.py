"""Revisions and repetitions: If-Match, If-None-Match, Idempotency-Key."""

import asyncio

import httpx2
import pytest

from tests.conftest import Clock, Mint, Register, bearer
from tests.contract.requirements import covers
from tests.helpers.answer_checks import OPENING, limited, refused

NEGOTIATIONS = "/api/negotiations"


@pytest.mark.asyncio
@covers("1.7:etag", "1.7:if-none-match")
async def test_a_client_that_has_the_revision_gets_304(client: httpx2.AsyncClient, register: Register) -> None:
    headers = bearer(await register())
    opened = await client.post(NEGOTIATIONS, json=OPENING, headers=headers)
    path = f"{NEGOTIATIONS}/{opened.json()['id']}"
    assert opened.headers["etag"] == '"1"'
    read = await client.get(path, headers=headers)
    assert (read.headers["etag"], read.json()["revision"]) == ('"1"', 1)
    for known in ('"1"', 'W/"1"', '"0", "1"', "*"):
        answer = await client.get(path, headers={**headers, "if-none-match": known})
        assert answer.status_code == 304
        assert answer.content == b""
        assert answer.headers["etag"] == '"1"'
        limited(answer)
    for other in ('"2"', "1", '"01"'):
        answer = await client.get(path, headers={**headers, "if-none-match": other})
        assert answer.status_code == 200


@pytest.mark.asyncio
@covers("1.7:etag", "1.7:if-match")
async def test_a_change_needs_the_current_revision_when_it_names_one(
    client: httpx2.AsyncClient, register: Register
) -> None:
    headers = bearer(await register())
    opened = (await client.post(NEGOTIATIONS, json=OPENING, headers=headers)).json()
    path = f"{NEGOTIATIONS}/{opened['id']}"
    changed = await client.patch(path, json={"title": "New"}, headers={**headers, "if-match": '"1"'})
    assert (changed.status_code, changed.headers["etag"]) == (200, '"2"')
    assert changed.json()["revision"] == 2
    for stale in ('"1"', 'W/"2"', '"3"', '""', "2", '"x"'):
        conditional = {**headers, "if-match": stale}
        for method in ("PATCH", "DELETE"):
            body = {"title": "Lost"} if method == "PATCH" else None
            answer = await client.request(method, path, json=body, headers=conditional)
            refused(answer, 412, "precondition_failed")
    kept = (await client.get(path, headers=headers)).json()
    assert (kept["title"], kept["revision"]) == ("New", 2)
    any_revision = {**headers, "if-match": "*"}
    renamed = await client.patch(path, json={"title": "Newer"}, headers=any_revision)
    assert renamed.json()["revision"] == 3
    gone = await client.delete(path, headers={**headers, "if-match": '"3"'})
    assert (gone.status_code, gone.content) == (204, b"")
    limited(gone)
    refused(await client.get(path, headers=headers), 404, "not_found")


@pytest.mark.asyncio
@covers("1.7:if-match")
async def test_of_two_changes_to_one_revision_one_wins(client: httpx2.AsyncClient, register: Register) -> None:
    headers = bearer(await register())
    opened = (await client.post(NEGOTIATIONS, json=OPENING, headers=headers)).json()
    path = f"{NEGOTIATIONS}/{opened['id']}"
    conditional = {**headers, "if-match": '"1"'}
    answers = await asyncio.gather(
        *(client.patch(path, json={"title": f"T{n}"}, headers=conditional) for n in range(10))
    )
    assert sorted(answer.status_code for answer in answers) == [200, *[412] * 9]


@pytest.mark.asyncio
@covers("1.8:same-answer")
async def test_the_same_key_and_body_answer_the_first_result_again(
    client: httpx2.AsyncClient, register: Register
) -> None:
    headers = {**bearer(await register()), "idempotency-key": "order-1"}
    answers = await asyncio.gather(*(client.post(NEGOTIATIONS, json=OPENING, headers=headers) for _ in range(10)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.text for answer in answers}) == 1
    assert {answer.headers["etag"] for answer in answers} == {'"1"'}
    listed = (await client.get(NEGOTIATIONS, headers=headers)).json()
    assert len(listed["items"]) == 1


@pytest.mark.asyncio
@covers("1.8:other-body")
async def test_the_same_key_with_another_body_is_refused(client: httpx2.AsyncClient, register: Register) -> None:
    headers = {**bearer(await register()), "idempotency-key": "order-1"}
    assert (await client.post(NEGOTIATIONS, json=OPENING, headers=headers)).status_code == 201
    other = {**OPENING, "title": "Another"}
    answer = await client.post(NEGOTIATIONS, json=other, headers=headers)
    refusal = refused(answer, 422, "validation_failed")
    assert refusal["errors"][0]["pointer"] == "/Idempotency-Key"


@pytest.mark.asyncio
@covers("1.8:same-answer")
async def test_a_refused_request_leaves_its_key_free(client: httpx2.AsyncClient, register: Register) -> None:
    headers = {**bearer(await register()), "idempotency-key": "order-1"}
    answer = await client.post(NEGOTIATIONS, json={"title": "x"}, headers=headers)
    refused(answer, 422, "validation_failed")
    assert (await client.post(NEGOTIATIONS, json=OPENING, headers=headers)).status_code == 201


@pytest.mark.asyncio
@pytest.mark.parametrize("key", ["", "x" * 256])
@covers("1.8:same-answer")
async def test_a_key_has_1_to_255_characters(client: httpx2.AsyncClient, register: Register, key: str) -> None:
    headers = {**bearer(await register()), "idempotency-key": key}
    answer = await client.post(NEGOTIATIONS, json=OPENING, headers=headers)
    refused(answer, 400, "invalid_request")
    assert (await client.get(NEGOTIATIONS, headers=headers)).json()["items"] == []


@pytest.mark.asyncio
@covers("1.8:caller")
async def test_a_key_belongs_to_its_caller(client: httpx2.AsyncClient, register: Register) -> None:
    made = set[str]()
    for title in ("One", "Two"):
        headers = {**bearer(await register()), "idempotency-key": "order-1"}
        answer = await client.post(NEGOTIATIONS, json={**OPENING, "title": title}, headers=headers)
        assert answer.status_code == 201
        made.add(answer.json()["id"])
    assert len(made) == 2


@pytest.mark.asyncio
@covers("1.8:caller")
async def test_a_key_lives_a_day_for_every_agent_of_its_user(
    clock: Clock, client: httpx2.AsyncClient, register: Register, mint: Mint
) -> None:
    async def opened() -> str:
        claim = {"claim_token": (await mint())[1]}
        bound = await client.post("/api/agent/claim", json=claim, headers=bearer(await register()))
        headers = {**bearer(bound.json()), "idempotency-key": "order-1"}
        answer = await client.post(NEGOTIATIONS, json=OPENING, headers=headers)
        assert answer.status_code == 201, answer.text
        made: str = answer.json()["id"]
        return made

    first = await opened()
    clock.advance(24 * 3600 - 1)
    assert await opened() == first
    clock.advance(2)
    assert await opened() != first
