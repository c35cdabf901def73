"""Rehearsals through the application: begun, played, ended, debriefed, and kept apart from everything real."""

from typing import Any, Final

import httpx2
import pytest

from negotiator.base.scopes import NEGOTIATIONS_READ, NEGOTIATIONS_WRITE
from tests.conftest import Mint, bearer
from tests.contract.requirements import covers
from tests.helpers.negotiation_client import PRICE, TERM, NegotiationClient, NewNegotiationClient, pointers

pytestmark = pytest.mark.asyncio

CAR: Final[dict[str, Any]] = {
    "title": "Used VW Golf",
    "issues": [{**PRICE, "range": {"min": "9000", "max": "16000"}}],
    "target": {"package": {"price": "11000"}},
    "walk_away": {"package": {"price": "13500"}},
    "their_estimate": {"walk_away": {"low": "11500", "likely": "12000", "high": "12500"}},
}
SEED: Final = 7


async def car(client: NegotiationClient, **members: Any) -> str:
    """The path of the rehearsals of a talk about a car."""
    opened = await client.opened(**{**CAR, **members})
    return f"/negotiations/{opened['id']}/rehearsals"


async def begun(client: NegotiationClient, path: str, **members: Any) -> dict[str, Any]:
    answer = await client.post(path, {"seed": SEED, **members})
    assert answer.status_code == 201, answer.text
    view: dict[str, Any] = answer.json()
    return view


async def played(client: NegotiationClient, path: str, key: str, **turn: Any) -> dict[str, Any]:
    answer = await client.post(f"{path}/{key}/turns", turn)
    assert answer.status_code == 200, answer.text
    view: dict[str, Any] = answer.json()
    return view


async def removed(client: NegotiationClient, path: str) -> httpx2.Response:
    return await client.client.delete(f"/api{path}", headers=client.headers)


@covers("6.10:start")
async def test_a_rehearsal_is_begun_listed_read_and_erased(negotiation_client: NegotiationClient) -> None:
    path = await car(negotiation_client)
    first = await begun(negotiation_client, path)
    assert (first["rehearsal"], first["state"], first["kind"]) == (True, "running", "fair")
    assert [turn["by"] for turn in first["turns"]] == ["them"]
    assert first["their_offer"]["words"] in first["says"]
    second = await begun(negotiation_client, path, kind="stubborn", hardness="hard")
    listed = (await negotiation_client.get(path)).json()["items"]
    assert [one["id"] for one in listed] == [second["id"], first["id"]]
    assert (await negotiation_client.get(f"{path}/{first['id']}")).json() == first
    assert (await removed(negotiation_client, f"{path}/{first['id']}")).status_code == 204
    assert (await negotiation_client.get(f"{path}/{first['id']}")).status_code == 404


async def test_a_list_of_rehearsals_goes_on_where_its_page_ended(negotiation_client: NegotiationClient) -> None:
    path = await car(negotiation_client)
    made = [(await begun(negotiation_client, path))["id"] for _ in range(3)]
    page = (await negotiation_client.get(f"{path}?limit=2")).json()
    rest = (await negotiation_client.get(f"{path}?cursor={page['next_cursor']}")).json()
    assert [one["id"] for one in (*page["items"], *rest["items"])] == made[::-1]


@covers("6.10:draw")
async def test_the_counterpart_does_not_know_what_the_user_wants(negotiation_client: NegotiationClient) -> None:
    talks: list[list[Any]] = []
    wishes = {
        "target": {"package": {"price": "9500"}},
        "walk_away": {"package": {"price": "12300"}},
        "batna": {"value": {"package": {"price": "12800"}}},
    }
    for members in ({}, wishes):
        path = await car(negotiation_client, **members)
        said: list[Any] = []
        for seed in range(6):
            view = await begun(negotiation_client, path, seed=seed)
            for price in (11000, 11900, 12400):
                if view["state"] == "running":
                    view = await played(negotiation_client, path, view["id"], action="offer", package={"price": price})
            said.append([turn["said"] for turn in view["turns"]])
        talks.append(said)
    assert talks[0] == talks[1]
    assert len({tuple(said) for said in talks[0]}) > 1, "another seed is another person"


@covers("6.10:inputs")
async def test_without_anything_to_draw_from_it_says_what_is_missing(negotiation_client: NegotiationClient) -> None:
    path = await car(negotiation_client, issues=[{"name": "price", "type": "money"}], their_estimate=None)
    refused = await negotiation_client.post(path, {})
    assert (refused.status_code, refused.json()["error"]) == (409, "missing_inputs")
    assert "their_estimate/walk_away" in refused.json()["missing"]
    key = path.removesuffix("/rehearsals")
    await negotiation_client.post(f"{key}/offers", {"by": "them", "package": {"price": "13000"}})
    view = await begun(negotiation_client, path)
    assert view["their_offer"]["package"] == {"price": "13000.00"}, "their real offer is the first"


@covers("6.10:same-person")
async def test_the_same_seed_meets_the_same_person_again(negotiation_client: NegotiationClient) -> None:
    path = await car(negotiation_client)
    talks: list[list[tuple[Any, ...]]] = []
    for _ in range(2):
        view = await begun(negotiation_client, path, kind="takes_back")
        for price in (11000, 11400, 11700):
            view = await played(negotiation_client, path, view["id"], action="offer", package={"price": price})
            if view["state"] != "running":
                break
        talks.append([(turn["by"], turn["package"], turn["said"]) for turn in view["turns"]])
    assert talks[0] == talks[1]


@covers("6.10:turns")
async def test_words_silence_and_offers_are_answered(negotiation_client: NegotiationClient) -> None:
    path = await car(
        negotiation_client,
        issues=[{**PRICE, "range": {"min": "9000", "max": "16000"}, "weight": 3}, {**TERM, "weight": 1}],
        target=None,
        walk_away={"utility": 0.2},
    )
    view = await begun(negotiation_client, path)
    key = view["id"]
    asked = await played(negotiation_client, path, key, action="say", text="What matters most to you?")
    assert asked["turns"][-1]["action"] == "wait"
    assert asked["turns"][-2]["heard"] == ["question_interest"]
    assert asked["their_offer"] == view["their_offer"]
    silent = await played(negotiation_client, path, key, action="wait")
    assert silent["turns"][-2]["said"] == ""
    offered = await played(
        negotiation_client, path, key, action="offer", package={"price": 11200}, text="Because two dealers ask less."
    )
    mine = offered["turns"][-2]
    assert mine["package"]["price"] == "11200.00"
    assert mine["package"]["term"] == view["their_offer"]["package"]["term"], "left out: as theirs"
    assert "reason" in mine["heard"]


async def test_a_turn_that_makes_no_sense_is_refused_and_loses_nothing(negotiation_client: NegotiationClient) -> None:
    path = await car(negotiation_client)
    view = await begun(negotiation_client, path)
    turns = f"{path}/{view['id']}/turns"
    refused: list[tuple[dict[str, Any], str]] = [
        ({"action": "offer"}, "/package"),
        ({"action": "offer", "package": {}}, "/package"),
        ({"action": "offer", "package": {"price": "much"}}, "/package/price"),
        ({"action": "offer", "package": {"colour": "red"}}, "/package/colour"),
        ({"action": "shout"}, "/action"),
    ]
    for bad, place in refused:
        assert pointers(await negotiation_client.post(turns, bad)) == {place}
    assert (await negotiation_client.get(f"{path}/{view['id']}")).json() == view
    for wrong in ({"kind": "kind"}, {"hardness": 3}, {"seed": -1}, {"seed": 2**31}, {"floor": 1}):
        assert (await negotiation_client.post(path, wrong)).status_code == 422


@covers("6.10:over", "6.10:debrief")
async def test_an_agreed_rehearsal_is_over_and_debriefed(negotiation_client: NegotiationClient) -> None:
    path = await car(negotiation_client)
    key = (await begun(negotiation_client, path))["id"]
    early = await negotiation_client.get(f"{path}/{key}/debrief")
    assert (early.status_code, early.json()["error"]) == (409, "rehearsal_running")
    agreed = await played(negotiation_client, path, key, action="accept")
    assert (agreed["state"], agreed["outcome"]) == ("agreed", agreed["their_offer"])
    assert agreed["says"] not in [turn["said"] for turn in agreed["turns"]], "their farewell"
    late = await negotiation_client.post(f"{path}/{key}/turns", {"action": "wait"})
    assert (late.status_code, late.json()["error"]) == (409, "rehearsal_over")
    debrief = (await negotiation_client.get(f"{path}/{key}/debrief")).json()
    assert debrief["score"] < 50, "their first figure was accepted"
    floor = float(debrief["floor"]["package"]["price"])
    assert 11000 <= floor <= 13000
    assert debrief["left_on_table"]["turn"] == 2
    assert len(debrief["sentences"]) == 3
    assert debrief["attempts"] == []
    again = (await begun(negotiation_client, path))["id"]
    await played(negotiation_client, path, again, action="leave")
    others = (await negotiation_client.get(f"{path}/{again}/debrief")).json()["attempts"]
    assert [(one["id"], one["score"]) for one in others] == [(key, debrief["score"])]
    assert agreed["result"]["score"] == debrief["score"]


async def test_whoever_leaves_has_a_debrief_too(negotiation_client: NegotiationClient) -> None:
    path = await car(negotiation_client)
    key = (await begun(negotiation_client, path))["id"]
    left = await played(negotiation_client, path, key, action="leave")
    assert (left["state"], left["outcome"]) == ("left_by_me", None)
    debrief = (await negotiation_client.get(f"{path}/{key}/debrief")).json()
    assert (debrief["score"], debrief["deal"]) == (0, None), "a deal was possible"


@covers("6.10:nothing")
async def test_an_insulting_offer_is_warned_about_and_then_ends_it(negotiation_client: NegotiationClient) -> None:
    path = await car(negotiation_client)
    key = (await begun(negotiation_client, path, hardness="hard"))["id"]
    states: list[str] = []
    for _ in range(10):
        view = await played(negotiation_client, path, key, action="offer", package={"price": 4000})
        states.append(view["state"])
        if view["state"] != "running":
            break
    assert (states[0], states[-1]) == ("running", "left_by_them")
    refused = await negotiation_client.post(f"{path}/{key}/turns", {"action": "accept"})
    assert refused.json()["error"] == "rehearsal_over"


@covers("6.10:apart")
async def test_a_rehearsal_changes_nothing_real(negotiation_client: NegotiationClient) -> None:
    path = await car(negotiation_client)
    real = path.removesuffix("/rehearsals")
    watched = (real, f"{real}/offers", f"{real}/events", "/wins", "/memories?query=car")
    before = [(await negotiation_client.get(one)).json() for one in watched]
    key = (await begun(negotiation_client, path))["id"]
    await played(negotiation_client, path, key, action="offer", package={"price": 11500})
    view = (await negotiation_client.get(f"{path}/{key}")).json()
    if view["state"] == "running":
        await played(negotiation_client, path, key, action="accept")
    assert [(await negotiation_client.get(one)).json() for one in watched] == before


@covers("6.10:rehearse")
async def test_one_operation_begins_plays_and_debriefs(negotiation_client: NegotiationClient) -> None:
    path = (await car(negotiation_client)).removesuffix("rehearsals") + "rehearse"
    first = (await negotiation_client.post(path, {"seed": SEED})).json()
    body = {"rehearsal_id": first["id"], "action": "say", "text": "What matters most to you?"}
    second = (await negotiation_client.post(path, body)).json()
    assert second["id"] == first["id"]
    assert "debrief" not in second
    last = await negotiation_client.post(path, {"rehearsal_id": first["id"], "action": "accept"})
    assert last.json()["debrief"]["rehearsal_id"] == first["id"]
    assert pointers(await negotiation_client.post(path, {"action": "wait"})) == {"/rehearsal_id"}
    assert pointers(await negotiation_client.post(path, {"rehearsal_id": first["id"]})) == {"/action"}


@covers("6.10:seed-secret")
async def test_another_user_s_people_are_others(
    negotiation_client: NegotiationClient, new_negotiation_client: NewNegotiationClient
) -> None:
    path = await car(negotiation_client)
    other = await new_negotiation_client()
    theirs = await car(other)
    mine = [(await begun(negotiation_client, path, seed=seed))["their_offer"] for seed in range(8)]
    others = [(await begun(other, theirs, seed=seed))["their_offer"] for seed in range(8)]
    assert mine != others


async def test_practice_needs_the_right_to_write_and_to_be_advised(
    negotiation_client: NegotiationClient, mint: Mint
) -> None:
    path = await car(negotiation_client)
    _, code = await mint(scopes=[NEGOTIATIONS_READ, NEGOTIATIONS_WRITE])
    claimed = await negotiation_client.post("/agent/claim", {"claim_token": code})
    reader = NegotiationClient(negotiation_client.client, bearer(claimed.json()))
    assert (await reader.post(path, {})).status_code == 403
    assert (await reader.get(path)).status_code == 403


async def test_a_repeated_turn_with_its_key_is_played_once(negotiation_client: NegotiationClient) -> None:
    path = await car(negotiation_client)
    key = (await begun(negotiation_client, path))["id"]
    turns, body = f"{path}/{key}/turns", {"action": "accept"}
    answers = [await negotiation_client.post(turns, body, **{"Idempotency-Key": "once"}) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    assert [answer.status_code for answer in answers] == [200, 200]


async def test_only_a_proposal_in_words_is_an_offer(negotiation_client: NegotiationClient) -> None:
    path = await car(negotiation_client)
    key = (await begun(negotiation_client, path))["id"]
    for fact in ("We pay 11900 today.", "Is 12000 your limit?", "Others ask 12500."):
        view = await played(negotiation_client, path, key, action="say", text=fact)
        assert (view["state"], view["my_offer"]) == ("running", None), fact
    view = await played(negotiation_client, path, key, action="say", text="I could do 10,500.")
    assert view["turns"][-2]["action"] == "offer"
    assert view["my_offer"]["package"] == {"price": "10500.00"}
