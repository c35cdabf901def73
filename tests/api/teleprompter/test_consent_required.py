"""What may not be heard is refused before any engine has seen it."""

from typing import Any

import pytest

from negotiator.teleprompter.utterance_analyser import UtteranceAnalyser
from tests.helpers.teleprompter_client import CONSENT, TeleprompterClient


@pytest.mark.asyncio
async def test_words_that_may_not_be_heard_reach_no_engine(
    teleprompter_client: TeleprompterClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def overheard(*_about: Any, **_rest: Any) -> Any:
        raise AssertionError("heard all the same")

    monkeypatch.setattr(UtteranceAnalyser, "listen", overheard)
    own_side = await teleprompter_client.open(consent={**CONSENT, "basis": "own_side_only"})
    said = {"utterance_id": "u1", "speaker": "them", "text": "that is too expensive"}
    refused = await teleprompter_client.send("POST", f"{own_side}/utterances", said)
    assert (refused.status_code, refused.json()["error"]) == (409, "not_consented")
    over = await teleprompter_client.open()
    ended = await teleprompter_client.send("POST", f"{over}/end")
    assert ended.status_code == 200, ended.text
    late = await teleprompter_client.send("POST", f"{over}/utterances", said)
    assert (late.status_code, late.json()["error"]) == (409, "session_ended")
