"""What may not be heard is refused before any engine has seen it."""

from typing import Any

import pytest

from negotiator.teleprompter.utterance_analyser import UtteranceAnalyser
from tests.contract.requirements import covers
from tests.helpers.teleprompter_client import CONSENT, TeleprompterClient


@covers("8.2:consent")
@pytest.mark.asyncio
async def test_words_that_may_not_be_heard_reach_no_engine(
    caller: TeleprompterClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def overheard(*_about: Any, **_rest: Any) -> Any:
        raise AssertionError("heard all the same")

    with monkeypatch.context() as patch:
        patch.setattr(UtteranceAnalyser, "listen", overheard)
        own_side = await caller.open(consent={**CONSENT, "basis": "own_side_only"})
        said = {"utterance_id": "u1", "speaker": "them", "text": "that is too expensive"}
        refused = await caller.send("POST", f"{own_side}/utterances", said)
        assert (refused.status_code, refused.json()["error"]) == (409, "not_consented")
        over = await caller.open()
        ended = await caller.send("POST", f"{over}/end")
        assert ended.status_code == 200, ended.text
        late = await caller.send("POST", f"{over}/utterances", said)
        assert (late.status_code, late.json()["error"]) == (409, "session_ended")
    await caller.say(own_side, "I could come down a little.", "u2", speaker="me")
    assert (await caller.events(own_side))["items"][0]["utterance_id"] == "u2"
