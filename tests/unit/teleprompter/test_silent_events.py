"""Where nothing may be kept, an event is stored without what was said."""

from negotiator.teleprompter.session_transitions import EventBuilder


def test_a_silent_final_is_stored_with_its_tactics_and_without_their_words() -> None:
    telling = EventBuilder(0, 0, silent=True)
    tactic = {"id": "tac_final_offer_bluff", "name": "Final offer"}
    move = {"tactic": tactic, "quote": "final offer", "confidence": 0.8, "deceptive": True}
    body = {"text": "our final offer", "figures": [], "tactics": [move]}
    telling.tell("transcript.final", body)
    [told] = telling.told
    assert told.live.shown["tactics"] == [move]
    assert told.kept.shown["text"] is None
    assert told.kept.shown["tactics"] == [{**move, "quote": ""}]
