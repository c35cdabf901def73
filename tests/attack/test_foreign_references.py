"""Rows that name what is somebody else's, and what an agent wrote before it was claimed."""

import json
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from negotiator.compose.ownership import claim
from tests.conftest import Change, Mint, Register, bearer
from tests.contract.requirements import covers
from tests.helpers.answer_checks import OPENING
from tests.helpers.directory_identity import key_header, register_account
from tests.helpers.forger import refused
from tests.helpers.memory_client import hashing_embedder as hashing_embedder

pytestmark = [pytest.mark.asyncio, pytest.mark.usefixtures("hashing_embedder")]
NOWHERE = "neg_" + "0" * 26
ABSENT = (404, "not_found")
WIN = {
    "category": "software",
    "role": "buyer",
    "currency": "EUR",
    "baseline": {"kind": "previous_price", "amount": "120.00"},
    "achieved": {"amount": "105.00"},
}
TACTIC = {
    "name": "Coffee first",
    "family": "relationship",
    "summary": "Talk about anything else for a while.",
    "effect": {"on": "relationship", "size": "small", "evidence": "practice"},
    "use_when": ["You hardly know them"],
    "lines": [{"role": "party", "text": "Shall we have a coffee before we start?"}],
}
SCOPES = [
    "openid",
    *("negotiations:read", "negotiations:write", "memories:read", "memories:write"),
    *("teleprompter:stream", "ai:tactics"),
]
CALL = {"consent": {"basis": "test", "confirmed_by": "Ada"}}


class Person:
    """An agent that acts for a user."""

    def __init__(self, client: httpx2.AsyncClient, headers: dict[str, str]) -> None:
        self.client, self.headers = client, headers

    async def send(self, method: str, path: str, sent: Any = None) -> httpx2.Response:
        return await self.client.request(method, path, json=sent, headers=self.headers)

    async def made(self, path: str, sent: Any) -> str:
        """The id of what this creates."""
        answer = await self.send("POST", path, sent)
        assert answer.status_code in {200, 201}, answer.text
        return answer.json()["id"]


@pytest_asyncio.fixture
async def ada_and_eve(client: httpx2.AsyncClient, register: Register, mint: Mint) -> tuple[Person, Person]:
    """Ada and Eve."""
    found: list[Person] = []
    for email in ("ada@example.com", "eve@example.com"):
        _, code = await mint(email, scopes=SCOPES)
        sent, agent = {"claim_token": code}, bearer(await register())
        claimed = (await client.post("/api/agent/claim", json=sent, headers=agent)).json()
        found.append(Person(client, bearer(claimed)))
    return found[0], found[1]


def alike(answers: list[httpx2.Response]) -> None:
    """Nothing in these refusals tells what exists from what does not."""
    told = [{name: value for name, value in answer.json().items() if name != "request_id"} for answer in answers]
    assert all(one == told[0] for one in told)


@covers("1.9:references")
async def test_no_row_names_a_negotiation_of_somebody_else_s(ada_and_eve: tuple[Person, Person]) -> None:
    ada, eve = ada_and_eve
    hers, own = [await each.made("/api/negotiations", OPENING) for each in (ada, eve)]
    memory = await eve.made("/api/memories", {"text": "Acme is slow.", "negotiation_id": own})
    win = await eve.made("/api/wins", {**WIN, "negotiation_id": own})
    for method, path, sent in (
        ("POST", "/api/memories", {"text": "Acme pays late."}),
        ("PATCH", f"/api/memories/{memory}", {}),
        ("POST", "/api/wins", WIN),
        ("PATCH", f"/api/wins/{win}", {}),
        ("POST", "/api/teleprompter/sessions", CALL),
    ):
        answers = [await eve.send(method, path, {**sent, "negotiation_id": other}) for other in (hers, NOWHERE)]
        for answer in answers:
            refused(answer, ABSENT)
        alike(answers)
    # Nothing was kept, and Eve may still record a win for her own.
    assert len((await eve.send("GET", "/api/memories?kind=fact")).json()["items"]) == 1
    assert len((await eve.send("GET", "/api/wins")).json()["items"]) == 1
    assert (await ada.made("/api/wins", {**WIN, "negotiation_id": hers})).startswith("win_")


async def test_no_win_names_a_tactic_of_somebody_else_s(ada_and_eve: tuple[Person, Person]) -> None:
    ada, eve = ada_and_eve
    hers, own = [await each.made("/api/tactics", TACTIC) for each in (ada, eve)]
    fine = [{"tactic_id": own}, {"tactic_id": "tac_mirroring"}]
    win = await eve.made("/api/wins", {**WIN, "tactics_used": fine})
    for method, path, sent in (("POST", "/api/wins", WIN), ("PATCH", f"/api/wins/{win}", {})):
        for other in (hers, "tac_none"):
            answer = await eve.send(method, path, {**sent, "tactics_used": [{"tactic_id": other}]})
            refused(answer, ABSENT)
    # What is deleted later blocks no edit.
    assert (await eve.send("DELETE", f"/api/tactics/{own}")).status_code == 204
    assert (await eve.send("PATCH", f"/api/wins/{win}", {"rounds": 3})).status_code == 200


async def test_a_memory_of_a_negotiation_that_was_deleted_can_still_be_edited(
    ada_and_eve: tuple[Person, Person],
) -> None:
    _, eve = ada_and_eve
    talk = await eve.made("/api/negotiations", OPENING)
    memory = await eve.made("/api/memories", {"text": "Acme is slow.", "negotiation_id": talk})
    assert (await eve.send("DELETE", f"/api/negotiations/{talk}")).status_code == 204
    edited = await eve.send("PATCH", f"/api/memories/{memory}", {"text": "Acme is very slow."})
    assert (edited.status_code, edited.json()["negotiation_id"]) == (200, talk)


@covers("1.9:references")
async def test_an_imported_line_keeps_its_memory_and_loses_a_foreign_reference(
    ada_and_eve: tuple[Person, Person],
) -> None:
    ada, eve = ada_and_eve
    hers, own = [await each.made("/api/negotiations", OPENING) for each in (ada, eve)]
    named = [("A.", hers), ("B.", NOWHERE), ("C.", own)]
    lines = [{"text": text, "negotiation_id": name} for text, name in named]
    content = "\n".join(json.dumps(line) for line in lines)
    sent = {**eve.headers, "content-type": "application/x-ndjson"}
    answer = await eve.client.post("/api/memories/import", content=content, headers=sent)
    told = answer.json()["lines"]
    assert [line["result"] for line in told] == ["kept"] * 3
    assert ["negotiation_id" in line.get("reason", "") for line in told] == [True, True, False]
    kept = {view["text"]: view["negotiation_id"] for view in (await eve.send("GET", "/api/memories")).json()["items"]}
    assert kept == {"A.": None, "B.": None, "C.": own}


@covers("2.7:origin")
async def test_what_was_planted_before_a_claim_shows_whose_it_was(
    client: httpx2.AsyncClient, register: Register, mint: Mint
) -> None:
    """S10: the agent's negotiation with its offer and tactic, then the user's own."""
    user, code = await mint(scopes=[*SCOPES])
    agent = await register()
    before = Person(client, bearer(agent))
    priced = {"name": "price", "type": "money", "range": {"min": "1", "max": "9", "step": "1"}}
    planted = await before.made("/api/negotiations", {**OPENING, "issues": [priced]})
    await before.made(f"/api/negotiations/{planted}/offers", {"by": "them", "kind": "offer", "package": {"price": "5"}})
    plan = await before.send("POST", f"/api/negotiations/{planted}/battle-plans", {})
    assert plan.status_code == 201
    seen = (await before.send("GET", f"/api/negotiations/{planted}")).json()
    assert seen["origin"] is None
    sent = {"claim_token": code}
    claimed = await client.post("/api/agent/claim", json=sent, headers=before.headers)
    after = Person(client, bearer(claimed.json()))
    taken = (await after.send("GET", f"/api/negotiations/{planted}")).json()
    assert taken == {**seen, "origin": agent["client_id"]}
    events = (await after.send("GET", f"/api/negotiations/{planted}/events")).json()["items"]
    assert [event["kind"] for event in events] == ["claimed", "state", "offer", "opened"]
    assert events[0]["actor"] == {"kind": "user", "id": user}
    assert events[0]["detail"] == {"agent_id": agent["client_id"]}
    assert [event["seq"] for event in events] == [4, 3, 2, 1]
    plans = await after.send("GET", f"/api/negotiations/{planted}/battle-plans")
    assert plans.json()["items"][0]["stale"] is False
    # The mark survives edits, and lists show it.
    edited = await after.send("PATCH", f"/api/negotiations/{planted}", {"title": "Mine now"})
    assert edited.json()["origin"] == agent["client_id"]
    own = await after.made("/api/negotiations", OPENING)
    listed = (await after.send("GET", "/api/negotiations")).json()["items"]
    assert {one["id"]: one["origin"] for one in listed} == {planted: agent["client_id"], own: None}
    history = (await after.send("GET", f"/api/negotiations/{planted}/events")).json()["items"]
    assert [event["seq"] for event in history] == [5, 4, 3, 2, 1]


async def test_everything_that_is_taken_over_shows_its_origin(
    ada_and_eve: tuple[Person, Person], change: Change
) -> None:
    """Each kind of row that keeps an origin, moved as a claim moves it."""
    ada, eve = ada_and_eve
    owner = (await ada.send("GET", "/oauth/userinfo")).json().get("sub")
    taker = (await eve.send("GET", "/oauth/userinfo")).json().get("sub")
    made = {
        "/api/negotiations": OPENING,
        "/api/memories": {"text": "Acme pays in 45 days."},
        "/api/wins": WIN,
        "/api/tactics": TACTIC,
        "/api/teleprompter/sessions": CALL,
    }
    ids = {path: await ada.made(path, sent) for path, sent in made.items()}
    for path, key_ in ids.items():
        assert (await ada.send("GET", f"{path}/{key_}")).json()["origin"] is None
    await change(lambda tx: claim(tx, owner, taker))
    for path, key_ in ids.items():
        assert (await eve.send("GET", f"{path}/{key_}")).json()["origin"] == owner, path
        listed = (await eve.send("GET", path)).json()["items"]
        assert owner in [one["origin"] for one in listed], path
        refused(await ada.send("GET", f"{path}/{key_}"), ABSENT)


async def test_collections_and_submissions_show_their_origin_to_their_owner_alone(
    client: httpx2.AsyncClient, change: Change
) -> None:
    scopes = ["tools:write", "bookmarks:read", "bookmarks:write"]
    first, second, other = [await register_account(client, requested_scopes=scopes) for _ in range(3)]
    saved = {"name": "To try", "visibility": "public"}
    proposed = {
        "name": "Quiet Search",
        "summary": "Full-text search over your notes",
        "kind": "app",
        "category": "search-web",
        "homepage_url": "https://quiet-search.example",
    }
    collection = (await client.post("/api/v1/bookmarks", json=saved, headers=key_header(first))).json()
    submission = (await client.post("/api/v1/tools", json=proposed, headers=key_header(first))).json()
    assert (collection["origin"], submission["origin"]) == (None, None)
    agents = (first["client_id"], second["client_id"])
    await change(lambda tx: claim(tx, *agents))
    for path in (f"/api/v1/bookmarks/{collection['id']}", f"/api/v1/submissions/{submission['id']}"):
        assert (await client.get(path, headers=key_header(second))).json()["origin"] == agents[0]
    seen = await client.get(f"/api/v1/bookmarks/{collection['id']}", headers=key_header(other))
    assert (seen.status_code, seen.json()["origin"]) == (200, None)
    shared = await client.get(collection["share_url"])
    assert (shared.status_code, shared.json()["origin"]) == (200, None)
