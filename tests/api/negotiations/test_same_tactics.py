"""Suggestions and the teleprompter name the same tactics, with the same confidence, for the same sentence."""

import pytest

from tests.contract.requirements import covers
from tests.helpers.negotiation_client import NegotiationClient
from tests.helpers.teleprompter_client import SCOPES, NewTeleprompterClient, new_caller

__all__ = ["new_caller"]

SENTENCES = (
    "This is our final offer, we can't go any lower.",
    "Your competitor will do it for nine thousand.",
    "Sign today or the discount is gone.",
    "In the film he says it's his final offer, remember?",
    "The flat has three rooms and a balcony.",
)


@pytest.mark.asyncio
@covers("6.9:recognised")
@covers("8.3:tactics")
async def test_both_doors_name_the_same_tactics_of_a_sentence(new_caller: NewTeleprompterClient) -> None:
    client = await new_caller(scopes=[*SCOPES, "ai:tactics"])
    negotiator = NegotiationClient(client.client, client.headers)
    session = await client.open()
    heard: set[str] = set()
    for place, text in enumerate(SENTENCES):
        answer = await negotiator.post("/tactics/suggest", {"utterance": text})
        assert answer.status_code == 200, answer.text
        suggested = answer.json()
        assert suggested["recognised_by"] in {"phrases", "phrases_and_meaning"}
        said = await client.say(session, text, f"u{place}")
        assert said["tactics"] == suggested["recognised"], text
        heard |= {move["tactic"]["id"] for move in said["tactics"]}
    assert {"tac_final_offer_bluff", "tac_competitive_bid"} <= heard
    finals = [event for event in (await client.events(session))["items"] if event["type"] == "transcript.final"]
    assert [bool(final["tactics"]) for final in finals] == [True, True, True, False, False]
    mine = await client.say(session, SENTENCES[0], "mine", speaker="me")
    assert mine["tactics"] == []
