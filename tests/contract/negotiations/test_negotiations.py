"""Negotiations: open, list, read, edit, erase."""

from typing import Any

import httpx2
import pytest

from tests.conftest import Register, bearer
from tests.contract.requirements import covers
from tests.helpers.answer_checks import OPENING, limited, refused

NEGOTIATIONS = "/api/negotiations"
Headers = dict[str, str]


async def opened(client: httpx2.AsyncClient, headers: Headers, **members: Any) -> dict[str, Any]:
    """A fresh negotiation."""
    answer = await client.post(NEGOTIATIONS, json={**OPENING, **members}, headers=headers)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


@pytest.mark.asyncio
@covers("6.1:open", "6.2:required", "6.1:read")
async def test_what_is_opened_is_what_is_read(client: httpx2.AsyncClient, register: Register) -> None:
    headers = bearer(await register())
    answer = await client.post(NEGOTIATIONS, json=OPENING, headers=headers)
    assert answer.status_code == 201
    limited(answer)
    made = answer.json()
    assert (await client.get(answer.headers["location"], headers=headers)).json() == made
    assert (made["title"], made["role"], made["state"]) == (OPENING["title"], "buyer", "draft")
    assert made["issues"][0]["name"] == "price"
    assert made["revision"] == 1
    assert made["created_at"] == made["updated_at"]
    assert "owner" not in made
    read = await client.get(f"{NEGOTIATIONS}/{made['id']}", headers=headers)
    assert read.json() == made
    assert (await client.get(NEGOTIATIONS, headers=headers)).json()["items"] == [made]


@pytest.mark.asyncio
@pytest.mark.parametrize("missing", ["title", "role", "issues"])
@covers("6.2:required")
async def test_title_role_and_an_issue_are_required(
    client: httpx2.AsyncClient, register: Register, missing: str
) -> None:
    body = {name: value for name, value in OPENING.items() if name != missing}
    answer = await client.post(NEGOTIATIONS, json=body, headers=bearer(await register()))
    refusal = refused(answer, 422, "validation_failed")
    assert refusal["errors"][0]["pointer"] == f"/{missing}"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "wrong",
    [
        {"title": ""},
        {"title": "x" * 201},
        {"title": 7},
        {"role": "observer"},
        {"issues": []},
        {"issues": {}},
        {"issues": ["support"]},
        {"issues": [OPENING["issues"][0]] * 51},
        {"category": ""},
        {"state": "won"},
        {"id": "neg_1"},
        {"revision": 7},
    ],
)
@covers("6.2:required", "1.2:unknown-refused")
async def test_what_does_not_fit_is_refused(
    client: httpx2.AsyncClient, register: Register, wrong: dict[str, Any]
) -> None:
    answer = await client.post(NEGOTIATIONS, json={**OPENING, **wrong}, headers=bearer(await register()))
    refusal = refused(answer, 422, "validation_failed")
    assert all(entry["pointer"].startswith(f"/{min(wrong)}") for entry in refusal["errors"])


@pytest.mark.asyncio
@pytest.mark.parametrize("role", ["buyer", "seller", "employer", "candidate", "landlord", "tenant", "party"])
@covers("6.1:open")
async def test_every_role_of_the_contract_opens_one(client: httpx2.AsyncClient, register: Register, role: str) -> None:
    assert (await opened(client, bearer(await register()), role=role))["role"] == role


@pytest.mark.asyncio
@covers("6.1:filters")
async def test_the_list_is_filtered_by_state_category_and_title(client: httpx2.AsyncClient, register: Register) -> None:
    headers = bearer(await register())
    rent = await opened(client, headers, title="Rent for 100% of the Loft", category="rent")
    car = await opened(client, headers, title="A_car, used", category="vehicle")

    async def found(**query: str) -> list[str]:
        answer = await client.get(NEGOTIATIONS, headers=headers, params=query)
        assert answer.status_code == 200, answer.text
        return [item["id"] for item in answer.json()["items"]]

    assert await found() == [car["id"], rent["id"]]
    assert await found(category="rent") == [rent["id"]]
    assert await found(query="LOFT") == [rent["id"]]
    assert await found(query="100%") == [rent["id"]]
    assert await found(query="%") == [rent["id"]]
    assert await found(query="_") == [car["id"]]
    assert await found(query="nowhere") == []
    assert await found(state="draft", category="vehicle") == [car["id"]]
    assert await found(state="won") == []
    answer = await client.get(f"{NEGOTIATIONS}?state=lost%20", headers=headers)
    refused(answer, 422, "validation_failed")


@pytest.mark.asyncio
@covers("6.1:patch")
async def test_a_merge_patch_changes_what_it_names_and_nothing_else(
    client: httpx2.AsyncClient, register: Register
) -> None:
    headers = bearer(await register())
    made = await opened(client, headers, category="rent")
    path = f"{NEGOTIATIONS}/{made['id']}"
    merge = {**headers, "content-type": "application/merge-patch+json"}
    answer = await client.patch(path, content=b'{"title": "New"}', headers=merge)
    assert answer.status_code == 200
    changed = answer.json()
    assert changed["title"] == "New"
    kept = {name for name in made if name not in {"title", "revision", "updated_at"}}
    assert {name: changed[name] for name in kept} == {name: made[name] for name in kept}
    assert changed["revision"] == 2
    assert (await client.get(path, headers=headers)).json() == changed
    removed = await client.patch(path, json={"category": None}, headers=headers)
    assert removed.json()["category"] == "other"


@pytest.mark.asyncio
@pytest.mark.parametrize("wrong", [{"title": None}, {"title": ""}, {"id": "neg_1"}, {"revision": 9}, {"owner": "me"}])
@covers("6.1:patch", "1.2:unknown-refused")
async def test_a_patch_that_does_not_fit_changes_nothing(
    client: httpx2.AsyncClient, register: Register, wrong: dict[str, Any]
) -> None:
    headers = bearer(await register())
    made = await opened(client, headers)
    path = f"{NEGOTIATIONS}/{made['id']}"
    refused(await client.patch(path, json=wrong, headers=headers), 422, "validation_failed")
    assert (await client.get(path, headers=headers)).json() == made


@pytest.mark.asyncio
@covers("6.1:delete")
async def test_an_erased_negotiation_is_gone(client: httpx2.AsyncClient, register: Register) -> None:
    headers = bearer(await register())
    made, kept = await opened(client, headers), await opened(client, headers)
    path = f"{NEGOTIATIONS}/{made['id']}"
    answer = await client.delete(path, headers=headers)
    assert (answer.status_code, answer.content) == (204, b"")
    assert "content-type" not in answer.headers
    for method in ("GET", "DELETE"):
        refused(await client.request(method, path, headers=headers), 404, "not_found")
    refused(await client.patch(path, json={"title": "x"}, headers=headers), 404, "not_found")
    listed = (await client.get(NEGOTIATIONS, headers=headers)).json()
    assert listed["items"] == [kept]
