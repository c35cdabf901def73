"""States through the application: moves, guards, approval, history."""

import pytest

from negotiator.negotiations.states import ALLOWED_MOVES
from tests.contract.requirements import covers
from tests.helpers.negotiation_client import NegotiationClient


@pytest.mark.asyncio
@covers("6.4:allowed")
async def test_an_illegal_move_names_the_allowed_ones(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened())["id"]
    refused = await negotiation_client.move(key, "won")
    assert refused.status_code == 409
    body = refused.json()
    assert body["error"] == "illegal_transition"
    assert body["allowed"] == sorted(ALLOWED_MOVES["draft"])
    assert (await negotiation_client.move(key, "expired")).status_code == 409
    assert (await negotiation_client.move(key, "elsewhere")).status_code == 422


@pytest.mark.asyncio
async def test_a_talk_goes_from_draft_to_won(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened())["id"]
    for to in ("planned", "active", "paused", "active"):
        assert (await negotiation_client.move(key, to)).json()["state"] == to
    theirs = await negotiation_client.offered(key, 1000, "them")
    accepted = await negotiation_client.post(
        f"/negotiations/{key}/offers", {"by": "me", "kind": "acceptance", "in_reply_to": theirs["id"]}
    )
    assert accepted.status_code == 201, accepted.text
    agreed = (await negotiation_client.get(f"/negotiations/{key}")).json()
    assert agreed["state"] == "agreed"
    assert agreed["outcome"]["offer_id"] == theirs["id"]
    assert agreed["outcome"]["package"] == {"price": "1000.00"}
    won = (await negotiation_client.move(key, "won")).json()
    assert (won["state"], won["outcome"]["result"]) == ("won", "won")
    assert won["outcome"]["package"] == {"price": "1000.00"}
    assert (await negotiation_client.move(key, "active", reason="Again.")).json()["allowed"] == []


@pytest.mark.asyncio
@pytest.mark.parametrize("closed", ["lost", "walked_away"])
@covers("6.4:reopened")
async def test_a_closed_talk_is_reopened_with_a_reason(negotiation_client: NegotiationClient, closed: str) -> None:
    key = (await negotiation_client.opened())["id"]
    assert (await negotiation_client.move(key, closed, reason="budget")).json()["outcome"]["reason"] == "budget"
    assert (await negotiation_client.offer(key, 900)).status_code == 409
    unexplained = await negotiation_client.move(key, "active")
    assert unexplained.json()["errors"][0]["pointer"] == "/reason"
    reopened = (await negotiation_client.move(key, "active", reason="They called.")).json()
    assert (reopened["state"], reopened["outcome"]) == ("active", None)


@pytest.mark.asyncio
async def test_what_is_agreed_elsewhere_is_held_to_the_walk_away(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened())["id"]
    theirs = await negotiation_client.offered(key, 1150, "them")
    refused = await negotiation_client.move(key, "agreed")
    assert refused.json()["error"] == "below_walk_away"
    meant = await negotiation_client.move(key, "agreed", override=True, reason="We need them today.")
    assert meant.json()["outcome"]["offer_id"] == theirs["id"]
    kinds = [event["kind"] for event in (await negotiation_client.get(f"/negotiations/{key}/events")).json()["items"]]
    assert "override" in kinds


@pytest.mark.asyncio
async def test_history_tells_what_happened_and_who_did_it(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened())["id"]
    await negotiation_client.patch(key, {"title": "Tablets"})
    await negotiation_client.offered(key, 900)
    first = (await negotiation_client.get(f"/negotiations/{key}/events?limit=3")).json()
    rest = await negotiation_client.get(f"/negotiations/{key}/events?cursor={first['next_cursor']}")
    events = [*first["items"], *rest.json()["items"]]
    assert [event["seq"] for event in events] == [4, 3, 2, 1]
    assert [event["kind"] for event in events] == ["state", "offer", "edited", "opened"]
    assert events[0]["from_state"], events[0]["to_state"] == ("draft", "active")
    assert events[2]["detail"] == {"changed": ["title"]}
    assert {event["actor"]["kind"] for event in events} == {"agent"}
    assert events[0]["actor"]["id"].startswith("agt_")


@pytest.mark.asyncio
@covers("6.5:approval")
async def test_beyond_the_authority_a_package_waits_for_its_own_approval(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened(authority={"limit": "950", "approver": "Ada"}))["id"]
    held = await negotiation_client.offered(key, 1000)
    assert held["status"] == "awaiting_approval"
    digest = held["approval"]["package_sha256"]
    view = (await negotiation_client.get(f"/negotiations/{key}")).json()
    assert view["state"] == "awaiting_approval"
    assert view["pending_approval"]["package_sha256"] == digest
    assert (await negotiation_client.offer(key, 900)).json()["error"] == "approval_pending"
    other = await negotiation_client.move(key, "active", approved=True, package_sha256="0" * 64)
    assert other.json()["error"] == "approval_mismatch"
    assert (await negotiation_client.move(key, "active", approved=True)).status_code == 422
    approved = await negotiation_client.move(key, "active", approved=True, package_sha256=digest)
    assert approved.json()["state"] == "active"
    ledger = (await negotiation_client.get(f"/negotiations/{key}/offers")).json()["items"]
    assert (ledger[0]["status"], ledger[0]["approval"]["status"]) == ("live", "approved")


@pytest.mark.asyncio
async def test_a_refused_package_never_reaches_the_table(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened(authority={"needs_approval_above": "950"}))["id"]
    assert (await negotiation_client.offered(key, 900))["status"] == "live"
    await negotiation_client.offered(key, 1000)
    assert (await negotiation_client.move(key, "active")).json()["errors"][0]["pointer"] == "/reason"
    await negotiation_client.move(key, "active", reason="Too much.")
    ledger = (await negotiation_client.get(f"/negotiations/{key}/offers")).json()["items"]
    assert [row["status"] for row in ledger] == ["not_approved", "live"]


@pytest.mark.asyncio
async def test_an_approved_acceptance_agrees(negotiation_client: NegotiationClient) -> None:
    key = (await negotiation_client.opened(authority={"limit": {"package": {"price": 950}}}))["id"]
    theirs = await negotiation_client.offered(key, 1000, "them")
    body = {"by": "me", "kind": "acceptance", "in_reply_to": theirs["id"]}
    held = (await negotiation_client.post(f"/negotiations/{key}/offers", body)).json()
    assert await negotiation_client.state(key) == "awaiting_approval"
    digest = held["approval"]["package_sha256"]
    agreed = (await negotiation_client.move(key, "active", approved=True, package_sha256=digest)).json()
    assert agreed["state"] == "agreed"
    assert agreed["outcome"]["package"] == {"price": "1000.00"}
