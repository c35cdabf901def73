"""A figure that a real server hears in a call, and what the user says of it: the advice goes by the user's word."""

from typing import Any, Final

import httpx2
import pytest

from negotiator.base.scopes import AI_TACTICS
from tests.helpers.live_server import Server
from tests.live.teleprompter.socket_client import TeleprompterUser, bound

GOLF: Final[dict[str, Any]] = {
    "title": "Used VW Golf",
    "role": "buyer",
    "currency": "EUR",
    "counterparty": "Jens",
    "issues": [{"name": "price", "label": "Price", "type": "money", "range": {"min": 11000, "max": 16000}}],
    "target": {"package": {"price": 12600}},
    "walk_away": {"package": {"price": 13900}},
}


async def advice(client: httpx2.AsyncClient, caller: TeleprompterUser, talk: str) -> Any:
    """The next move, from whichever worker answers."""
    answer = await client.post(f"{talk}/next-move", json={}, headers=caller.headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def ledger(client: httpx2.AsyncClient, caller: TeleprompterUser, talk: str) -> list[dict[str, Any]]:
    answer = await client.get(f"{talk}/offers", headers=caller.headers)
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


@pytest.mark.asyncio
async def test_a_misheard_figure_counts_in_the_advice_as_the_user_corrects_it(two_workers: Server) -> None:
    caller = await bound(two_workers, AI_TACTICS)
    async with two_workers.connect() as client:
        opened = await client.post("/api/negotiations", json=GOLF, headers=caller.headers)
        assert opened.status_code == 201, opened.text
        talk = f"/api/negotiations/{opened.json()['id']}"
        call = await caller.open(client, negotiation_id=opened.json()["id"])

        async def record(**members: Any) -> None:
            answer = await client.post(f"{talk}/offers", json=members, headers=caller.headers)
            assert answer.status_code == 201, answer.text

        await caller.say(client, call, "u1", "I could let it go for 15,000 euros.")
        [first] = await ledger(client, caller, talk)
        assert (first["status"], first["package"]) == ("unconfirmed", {"price": "15000.00"})
        assert "named their figure" not in (await advice(client, caller, talk))["summary"]

        await record(by="them", package={"price": "15000"}, confirms=first["id"])
        named = await advice(client, caller, talk)
        assert "They named their figure." in named["summary"]
        await record(by="me", package=named["offer"])

        await caller.say(client, call, "u2", "All right, 13,400 euros then.")
        heard = (await ledger(client, caller, talk))[0]
        assert (heard["status"], heard["package"]) == ("unconfirmed", {"price": "13400.00"})
        waiting = await advice(client, caller, talk)
        assert "They have not answered your last offer." in waiting["summary"]

        await record(by="them", package={"price": "14300"}, confirms=heard["id"])
        corrected = await advice(client, caller, talk)
        assert "from €15,000 to €14,300" in corrected["summary"]
        assert "13,400" not in f"{corrected['summary']} {corrected['say']}"
        assert corrected["action"] == "counter"
        rows = await ledger(client, caller, talk)
        assert [(row["by"], row["status"], row["package"]) for row in rows[:2]] == [
            ("them", "live", {"price": "14300.00"}),
            ("them", "confirmed", {"price": "13400.00"}),
        ]

        await caller.say(client, call, "u3", "Fine, 12,000 euros.")
        wrong = (await ledger(client, caller, talk))[0]
        await record(by="them", kind="withdrawal", in_reply_to=wrong["id"])
        after = await advice(client, caller, talk)
        assert (after["action"], after["offer"], after["summary"]) == (
            corrected["action"],
            corrected["offer"],
            corrected["summary"],
        )
        await client.delete(call, headers=caller.headers)
