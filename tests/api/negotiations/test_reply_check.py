"""A draft that is checked before it is sent, through the application."""

from typing import Any, Final

import pytest

from tests.conftest import Register, bearer
from tests.contract.requirements import covers
from tests.helpers.mcp_client import McpClient
from tests.helpers.negotiation_client import NegotiationClient, pointers

PRIVATE: Final[dict[str, Any]] = {"target": {"package": {"price": "900"}}}


async def talk(caller: NegotiationClient) -> tuple[str, dict[str, Any]]:
    """A negotiation with one offer of theirs: its path and the next move."""
    key = (await caller.opened(**PRIVATE))["id"]
    await caller.offered(key, 1190, "them")
    move = await caller.post(f"/negotiations/{key}/next-move", {})
    return f"/negotiations/{key}/check-reply", move.json()


@pytest.mark.asyncio
@covers("6.7:draft")
async def test_a_draft_is_held_against_the_next_move(negotiation_client: NegotiationClient) -> None:
    path, move = await talk(negotiation_client)
    fine = await negotiation_client.post(path, {"draft": move["say"]})
    assert fine.json() == {"ok": True, "problems": [], "package": move["offer"], "offers": [move["offer"]]}
    sent = {"draft": "My limit is 1,100, but I can do 1,020.", "utterance": "When can you collect them?"}
    answer = (await negotiation_client.post(path, sent)).json()
    assert not answer["ok"]
    assert answer["offers"][-1] == {"price": "1020.00"}
    kinds = {one["kind"] for one in answer["problems"]}
    assert kinds == {"other_figure", "missing_figure", "tells_private", "unanswered"}
    own = await negotiation_client.post(path, {"draft": "I can do 1,020.", "package": {"price": "1020"}})
    assert own.json() == {"ok": True, "problems": [], "package": {"price": "1020.00"}, "offers": [{"price": "1020.00"}]}


@pytest.mark.asyncio
@covers("6.7:draft")
async def test_a_draft_that_cannot_be_checked_is_refused(
    negotiation_client: NegotiationClient, register: Register
) -> None:
    path, _ = await talk(negotiation_client)
    other = NegotiationClient(negotiation_client.client, bearer(await register("other")))
    assert (await other.post(path, {"draft": "I can do 950."})).status_code == 404
    assert pointers(await negotiation_client.post(path, {"draft": "a" * 4001})) == {"/draft"}
    assert pointers(await negotiation_client.post(path, {"draft": "950?", "package": {"weight": 3}})) == {
        "/package/weight"
    }
    bare = await negotiation_client.opened(walk_away=None)
    refused = await negotiation_client.post(f"/negotiations/{bare['id']}/check-reply", {"draft": "I can do 950."})
    assert (refused.status_code, refused.json()["error"]) == (409, "missing_inputs")


@pytest.mark.asyncio
async def test_a_model_can_check_its_draft(negotiation_client: NegotiationClient) -> None:
    path, move = await talk(negotiation_client)
    line = McpClient(negotiation_client.client, negotiation_client.headers)
    names = {tool["name"] for tool in (await line.ask("tools/list")).json()["result"]["tools"]}
    assert "check_reply" in names
    assert "get_tactic" not in names
    assert (await line.done("check_reply", id=path.split("/")[2], draft=move["say"]))["ok"]
