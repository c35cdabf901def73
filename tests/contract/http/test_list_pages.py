"""Lists: pages, cursors, times and ids."""

import re

import httpx2
import pytest

from tests.conftest import Register, bearer
from tests.contract.requirements import covers
from tests.helpers.answer_checks import OPENING, is_instant, refused

NEGOTIATIONS = "/api/negotiations"
Headers = dict[str, str]


async def opened(client: httpx2.AsyncClient, headers: Headers, count: int) -> list[str]:
    """The ids of freshly opened negotiations, newest first."""
    made = [(await client.post(NEGOTIATIONS, json=OPENING, headers=headers)).json()["id"] for _ in range(count)]
    return made[::-1]


@pytest.mark.asyncio
@covers("1.6:shape", "1.6:limit", "6.1:list")
async def test_pages_follow_each_other_newest_first_and_end(client: httpx2.AsyncClient, register: Register) -> None:
    headers = bearer(await register())
    ids = await opened(client, headers, 23)
    page = (await client.get(NEGOTIATIONS, headers=headers)).json()
    assert list(page) == ["items", "next_cursor"]
    assert [item["id"] for item in page["items"]] == ids[:20]
    found: list[str] = []
    query = {"limit": "10"}
    while True:
        page = (await client.get(NEGOTIATIONS, headers=headers, params=query)).json()
        found += [item["id"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert found == ids


@pytest.mark.asyncio
@covers("1.6:shape")
async def test_a_page_that_ends_exactly_has_no_next(client: httpx2.AsyncClient, register: Register) -> None:
    headers = bearer(await register())
    empty = await client.get(NEGOTIATIONS, headers=headers)
    assert empty.json() == {"items": [], "next_cursor": None}
    await opened(client, headers, 3)
    page = (await client.get(f"{NEGOTIATIONS}?limit=3", headers=headers)).json()
    assert len(page["items"]) == 3
    assert page["next_cursor"] is None


@pytest.mark.asyncio
@pytest.mark.parametrize("limit", ["0", "101", "-1", "x", "1.5", "1e1"])
@covers("1.6:limit")
async def test_a_limit_is_one_to_a_hundred(client: httpx2.AsyncClient, register: Register, limit: str) -> None:
    headers = bearer(await register())
    answer = await client.get(f"{NEGOTIATIONS}?limit={limit}", headers=headers)
    refusal = refused(answer, 422, "validation_failed")
    assert refusal["errors"][0]["pointer"] == "/limit"
    assert (await client.get(f"{NEGOTIATIONS}?limit=100", headers=headers)).status_code == 200


@pytest.mark.asyncio
@covers("1.6:cursor")
async def test_a_cursor_is_good_for_its_own_query_and_owner_only(
    client: httpx2.AsyncClient, register: Register
) -> None:
    headers, stranger = bearer(await register()), bearer(await register())
    await opened(client, headers, 2)
    page = (await client.get(f"{NEGOTIATIONS}?limit=1", headers=headers)).json()
    cursor = page["next_cursor"]
    for other in ({"state": "draft"}, {"category": "other"}, {"query": "a"}):
        answer = await client.get(NEGOTIATIONS, headers=headers, params={"cursor": cursor, **other})
        refused(answer, 400, "invalid_cursor")
    for text in (cursor[:-1], cursor + "A", "x", "neg_01jzzzzzzzzzzzzzzzzzzzzzzz", "x" * 3000):
        answer = await client.get(NEGOTIATIONS, headers=headers, params={"cursor": text})
        refused(answer, 400, "invalid_cursor")
    answer = await client.get(NEGOTIATIONS, headers=stranger, params={"cursor": cursor})
    refused(answer, 400, "invalid_cursor")
    longer = {"cursor": cursor, "limit": "50"}
    answer = await client.get(NEGOTIATIONS, headers=headers, params=longer)
    assert len(answer.json()["items"]) == 1


@pytest.mark.asyncio
@covers("1.5:ids", "1.5:time")
async def test_ids_and_times_have_the_form_of_the_contract(client: httpx2.AsyncClient, register: Register) -> None:
    registered = await register()
    assert re.fullmatch("agt_[0-9a-hjkmnp-tv-z]{26}", registered["client_id"])
    answer = await client.post(NEGOTIATIONS, json=OPENING, headers=bearer(registered))
    negotiation = answer.json()
    assert re.fullmatch("neg_[0-9a-hjkmnp-tv-z]{26}", negotiation["id"])
    assert is_instant(negotiation["created_at"])
    assert is_instant(negotiation["updated_at"])
    assert re.fullmatch("req_[0-9a-hjkmnp-tv-z]{26}", answer.headers["x-request-id"])
