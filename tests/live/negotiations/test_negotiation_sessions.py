"""Open, find, change, offer, approve, accept, expire: sessions and their ledgers on both engines."""

from typing import Any

import httpx2
import pytest

from negotiator.base import values
from tests.conftest import Change, Clock
from tests.helpers.negotiation_client import NegotiationClient, NewNegotiationClient
from tests.helpers.sweep import sweep
from tests.live.negotiations.conftest import ISSUES, PACKAGE, pages

pytestmark = pytest.mark.asyncio


def _error(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


async def test_a_list_is_paged_and_filtered(user: NegotiationClient) -> None:
    other = {"name": "Ångström 100 %_\\", "organisation": "Acme"}
    opened = [await user.opened(title=f"Deal {n}", category="laptops" if n % 2 else "leases") for n in range(5)]
    named = await user.opened(title="Desks", issues=ISSUES, counterparty=other)
    await user.move(opened[0]["id"], "lost", reason="budget")
    ids = [one["id"] for one in (*opened, named)][::-1]

    async def found(**asked: Any) -> list[str]:
        return [item["id"] for item in await pages(user, "/negotiations", **asked)]

    assert await found() == ids
    assert await found(state="draft") == ids[:5]
    assert await found(state="lost") == [opened[0]["id"]]
    assert await found(category="laptops") == [opened[3]["id"], opened[1]["id"]]
    assert await found(category="leases", state="draft", query="EAL 4") == [opened[4]["id"]]
    for words in ("ACME", "desks", "ångström", "0 %_\\", "_\\"):
        assert await found(query=words) == [named["id"]], words
    assert await found(query="a_me") == []
    assert await found(state="won") == []


async def test_a_merge_patch_wins_once_for_each_revision(user: NegotiationClient) -> None:
    view = await user.opened(issues=ISSUES, baseline={"value": "1200"})
    tag = f'"{view["revision"]}"'
    change = {"title": "Tablets", "category": "tablets", "walk_away": None, "target": {"utility": 1}}
    answer = await user.patch(view["id"], change, **{"if-match": tag})
    edited = answer.json()
    assert answer.status_code == 200, answer.text
    assert (edited["title"], edited["walk_away"], edited["revision"]) == ("Tablets", None, 2)
    assert len(edited["issues"]) == 3
    assert (await user.patch(view["id"], change, **{"if-match": tag})).status_code == 412
    assert (await user.get(f"/negotiations/{view['id']}")).json() == edited
    assert [one["id"] for one in await pages(user, "/negotiations", category="tablets")] == [view["id"]]
    kept = (await user.patch(view["id"], {"baseline": {"value": "1150"}})).json()
    assert len(kept["baseline_history"]) == 1


async def test_both_sides_offer_and_one_accepts(new_negotiation_client: NewNegotiationClient) -> None:
    user = await new_negotiation_client()
    key = (await user.opened(issues=ISSUES))["id"]
    assert _error(await user.offer(key, "1150")) == (409, "below_walk_away")
    mine = await user.offered(key, "850", valid_until=_in(3600), conditions=["paid in 30 days"])
    body = {"by": "them", "kind": "counter", "package": {**PACKAGE, "price": "1050"}}
    theirs = (await user.post(f"/negotiations/{key}/offers", body)).json()
    await user.post(f"/negotiations/{key}/offers", {"by": "me", "kind": "withdrawal"})
    over = await user.offer(key, "1150", override=True, reason="We need them today.")
    assert over.status_code == 201, over.text
    accepted = await user.post(
        f"/negotiations/{key}/offers", {"by": "me", "kind": "acceptance", "in_reply_to": theirs["id"]}
    )
    assert accepted.status_code == 201, accepted.text
    rows = await pages(user, f"/negotiations/{key}/offers")
    assert [row["seq"] for row in rows] == [5, 4, 3, 2, 1]
    assert (rows[-1]["id"], rows[-1]["status"]) == (mine["id"], "withdrawn")
    assert rows[3]["status"] == "accepted"
    view = (await user.get(f"/negotiations/{key}")).json()
    assert (view["state"], view["outcome"]["offer_id"]) == ("agreed", theirs["id"])
    assert (await user.move(key, "won")).json()["outcome"]["package"] == theirs["package"]
    events = await pages(user, f"/negotiations/{key}/events")
    assert [event["seq"] for event in events] == [*range(len(events), 0, -1)]
    assert {"opened", "offer", "override", "state"} == {event["kind"] for event in events}


async def test_an_agent_that_passes_its_users_limit_waits_and_cannot_approve(user: NegotiationClient) -> None:
    key = (await user.opened(issues=ISSUES))["id"]
    over = await user.offered(key, "1150", override=True, reason="We need them today.")
    assert over["status"] == "awaiting_approval"
    held = (await user.get(f"/negotiations/{key}")).json()["pending_approval"]
    assert held["asked_by"]["kind"] == "agent"
    own = await user.move(key, "active", approved=True, package_sha256=held["package_sha256"])
    assert _error(own) == (403, "user_decides")
    assert (await user.move(key, "active", reason="Taken back.")).json()["state"] == "active"


async def test_a_held_package_is_approved_by_its_digest_or_refused(
    new_negotiation_client: NewNegotiationClient,
) -> None:
    user = await new_negotiation_client()
    key = (await user.opened(authority={"limit": "900", "approver": "Ada"}))["id"]
    theirs = await user.offered(key, "1000", "them")
    take = {"by": "me", "kind": "acceptance", "in_reply_to": theirs["id"]}
    held = (await user.post(f"/negotiations/{key}/offers", take)).json()
    assert held["status"] == "awaiting_approval"
    assert _error(await user.offer(key, "850")) == (409, "approval_pending")
    wrong = await user.move(key, "active", approved=True, package_sha256="0" * 64)
    assert _error(wrong) == (409, "approval_mismatch")
    refused = (await user.move(key, "active", reason="Too dear.")).json()
    assert (refused["state"], refused["pending_approval"]) == ("active", None)
    await user.post(f"/negotiations/{key}/offers", take)
    digest = (await user.get(f"/negotiations/{key}")).json()["pending_approval"]["package_sha256"]
    approved = await user.move(key, "active", approved=True, package_sha256=digest)
    assert (approved.status_code, approved.json()["state"]) == (200, "agreed"), approved.text
    rows = await pages(user, f"/negotiations/{key}/offers")
    assert [row["status"] for row in rows] == ["recorded", "not_approved", "accepted"]


@pytest.mark.parametrize("closed", ["lost", "walked_away", "cancelled"])
async def test_a_talk_is_paused_left_and_reopened(user: NegotiationClient, closed: str) -> None:
    key = (await user.opened(batna={"value": {"utility": 0.1}}))["id"]
    refused = await user.move(key, "won")
    assert _error(refused) == (409, "illegal_transition")
    for to in ("planned", "active", "paused"):
        moved = await user.move(key, to)
        assert (moved.status_code, moved.json()["state"]) == (200, to), moved.text
    assert _error(await user.offer(key, "900")) == (409, "not_active")
    left = (await user.move(key, closed, reason="budget")).json()
    assert (left["state"], left["outcome"]["reason"]) == (closed, "budget")
    again = await user.move(key, "active", reason="They called.")
    assert again.status_code == (409 if closed == "cancelled" else 200)
    listed = await pages(user, "/negotiations", state=again.json()["state"])
    assert [item["id"] for item in listed] == [key]
    told = [event["to_state"] for event in await pages(user, f"/negotiations/{key}/events")]
    before = [closed, "paused", "active", "planned", "draft"]
    assert told == (before if closed == "cancelled" else ["active", *before])


@pytest.mark.parametrize("door", ["list", "filter", "read", "offer", "sweep"])
async def test_the_clock_ends_what_is_due(user: NegotiationClient, clock: Clock, change: Change, door: str) -> None:
    key = (await user.opened(deadline=_in(60)))["id"]
    await user.opened(deadline=_in(600))
    clock.advance(61)
    if door == "sweep":
        await change(lambda tx: sweep(tx, values.now()))
    elif door == "offer":
        assert _error(await user.offer(key, "900")) == (409, "not_active")
    elif door == "read":
        assert await user.state(key) == "expired"
    asked = {"state": "expired"} if door == "filter" else {}
    listed = await pages(user, "/negotiations", **asked)
    states = ["expired"] if asked else ["draft", "expired"]
    assert [item["state"] for item in listed] == states
    events = await pages(user, f"/negotiations/{key}/events")
    assert [event["actor"]["kind"] for event in events] == ["clock", "agent"]
    reopened = await user.move(key, "active", reason="They called.")
    assert reopened.json()["state"] == "active"


async def test_the_same_key_is_answered_once_and_another_body_refused(user: NegotiationClient) -> None:
    once = {"idempotency-key": "k-1"}
    body = {"title": "Once", "role": "buyer", "issues": ISSUES}
    first, again = [await user.post("/negotiations", body, **once) for _ in range(2)]
    assert first.json() == again.json()
    key = first.json()["id"]
    for path, sent in (
        (f"/negotiations/{key}/offers", {"by": "me", "package": PACKAGE}),
        (f"/negotiations/{key}/state", {"to": "paused"}),
        (f"/negotiations/{key}/battle-plans", {}),
    ):
        one, two = [await user.post(path, sent, **{"idempotency-key": path}) for _ in range(2)]
        assert one.is_success, one.text
        assert one.json() == two.json()
    other = await user.post("/negotiations", {**body, "title": "Twice"}, **once)
    assert other.status_code == 422
    assert len(await pages(user, "/negotiations")) == 1


def _in(seconds: int) -> str:
    return values.timestamp(values.now() + seconds * 1000)
