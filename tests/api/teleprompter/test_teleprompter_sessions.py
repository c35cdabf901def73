"""Sessions over HTTP: opened, heard, followed, ended, erased."""

import pytest

from tests.helpers.teleprompter_client import TeleprompterClient


@pytest.mark.asyncio
async def test_an_objection_raises_a_card(teleprompter_client: TeleprompterClient) -> None:
    one = await teleprompter_client.open()
    heard = await teleprompter_client.say(one, "Honestly, that is way over our budget.")
    assert [card["cue"] for card in heard["cues"]] == ["no_budget"]
