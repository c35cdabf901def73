"""A language model may word the counterpart's sentences; it is never told what only the engine knows."""

import asyncio
import json
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from negotiator.numbers.read import numbers_in
from tests.conftest import bearer, connect, make_settings, running
from tests.contract.requirements import covers
from tests.helpers.fake_chat_model import fake_chat_model, reply
from tests.helpers.negotiation_client import PRICE, NegotiationClient

POLITE = "Thank you, and let me say this: "


async def politely(body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
    """Puts the same words before every sentence."""
    user: str = body["messages"][1]["content"]
    line = next(part for part in user.split("\n\n") if part.startswith("sentences = "))
    sentences: dict[str, str] = json.loads(line.removeprefix("sentences = "))
    content = json.dumps({name: f"{POLITE}{text}" for name, text in sentences.items()})
    whole = json.dumps({"choices": [{"message": {"content": content}}]})
    writer.write(reply("200 OK", whole.encode(), "content-type: application/json"))
    await writer.drain()


@pytest.mark.asyncio
@covers("6.10:worded")
async def test_a_model_words_the_sentences_and_is_never_told_the_floor(
    tmp_path: Path, migrated: Path, signing_keys: Path
) -> None:
    shutil.copy(migrated, tmp_path / "negotiator.db")
    seen: list[dict[str, Any]] = []
    async with fake_chat_model(politely, seen) as url:
        settings = make_settings(tmp_path, signing_keys, advisor_url=url, advisor_model="m")
        async with running(settings) as application, connect(application) as client:
            agent = {"agent_name": "tester", "identity_type": "anonymous"}
            headers = bearer((await client.post("/api/agent/register", json=agent)).json())
            one = NegotiationClient(client, headers)
            talk = await one.opened(
                issues=[{**PRICE, "range": {"min": "9000", "max": "16000"}}], walk_away={"package": {"price": "13500"}}
            )
            path = f"/negotiations/{talk['id']}/rehearsals"
            view = (await one.post(path, {"seed": 3})).json()
            turns = f"{path}/{view['id']}/turns"
            offer = {"action": "offer", "package": {"price": 10100}}
            view = (await one.post(turns, offer)).json()
            await one.post(turns, {"action": "leave"})
            debrief = (await one.get(f"{path}/{view['id']}/debrief")).json()
    said = [turn["said"] for turn in view["turns"] if turn["by"] == "them"]
    assert any(text.startswith(POLITE) for text in said)
    assert view["worded_by"] == ("advisor" if said[-1].startswith(POLITE) else "engine")
    assert view["their_offer"]["words"] in said[-1], "figures stay the engine's"
    floor = Decimal(debrief["floor"]["package"]["price"])
    assert seen
    told = {one for body in seen for number in numbers_in(json.dumps(body)) for one in number.readings}
    assert floor not in told
