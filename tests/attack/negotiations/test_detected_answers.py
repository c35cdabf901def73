"""A caller says that it detected an answer in speech: that decides nothing, over HTTP and MCP."""

from typing import Any, Final

import httpx2
import pytest

from tests.helpers.limited_negotiation import Opened
from tests.helpers.mcp_client import McpClient, told
from tests.helpers.negotiation_client import NegotiationClient, pointers

PAST: Final[dict[str, Any]] = {"price": 58, "months": 12, "support": "phone"}
OVERRIDE: Final[dict[str, Any]] = {"override": True, "reason": "They leave on Friday."}


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", ["acceptance", "rejection", "withdrawal"])
@pytest.mark.parametrize("by", ["me", "them"])
async def test_no_answer_is_detected_in_speech(
    agent: NegotiationClient, opened: Opened, client: httpx2.AsyncClient, by: str, kind: str
) -> None:
    view = await opened(constraints=None, authority=None)
    offers = f"/negotiations/{view['id']}/offers"
    side = by if kind == "withdrawal" else "me" if by == "them" else "them"
    package = PAST if side == "them" else {**PAST, "price": 50}
    made = (await agent.post(offers, {"by": side, "package": package})).json()
    answer = {"by": by, "kind": kind, "in_reply_to": made["id"], "source": "detected_in_speech"}
    for sent in (answer, {**answer, **OVERRIDE}):
        assert pointers(await agent.post(offers, sent)) == {"/source"}
    body = told(await McpClient(client, agent.headers).call("record_offer", id=view["id"], **answer, **OVERRIDE))
    assert body["error"] == "validation_failed"
    [row] = (await agent.get(offers)).json()["items"]
    assert (row["id"], row["status"]) == (made["id"], "live")
    assert await agent.state(view["id"]) == "active"


@pytest.mark.asyncio
async def test_a_detected_offer_overrides_nothing(agent: NegotiationClient, opened: Opened) -> None:
    view = await opened()
    offers = f"/negotiations/{view['id']}/offers"
    heard = {"by": "me", "package": PAST, "source": "detected_in_speech"}
    assert pointers(await agent.post(offers, {**heard, **OVERRIDE})) == {"/source"}
    events = (await agent.get(f"/negotiations/{view['id']}/events")).json()["items"]
    assert [one["kind"] for one in events] == ["opened"]
