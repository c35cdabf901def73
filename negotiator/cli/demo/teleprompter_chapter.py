"""The chapter with a live call: utterances come in as text, and cards say what to answer."""

from typing import Any, Final

from negotiator.cli.demo.context import DemoChapter, DemoContext
from negotiator.negotiations.routes import NEGOTIATIONS_PATH
from negotiator.teleprompter.session_routes import SESSIONS_PATH

_TALK: Final = {
    "title": "CRM add-on",
    "role": "buyer",
    "category": "saas",
    "currency": "EUR",
    "issues": [{"name": "price", "type": "money", "range": {"min": 8_000, "max": 30_000, "step": 500}}],
    "target": {"package": {"price": 12_000}},
    "walk_away": {"package": {"price": 18_000}},
}
_CONSENT: Final = {"basis": "all_parties", "confirmed_by": "Grace"}


def _live(journey: DemoContext) -> None:
    step, check = journey.narrator.step, journey.check
    step("Before the call: its subject, and who consented to the analysis.")
    talk = journey.post(NEGOTIATIONS_PATH, _TALK, status=201, show=("id", "state"))
    opening = {"negotiation_id": talk["id"], "consent": _CONSENT}
    session = journey.post(SESSIONS_PATH, opening, status=201, show=("id", "state", "keep", "notice_text"))
    check(session["notice_text"] != "", "There is a notice to read to the others first")
    one = f"{SESSIONS_PATH}/{session['id']}"
    step("They object.")
    card = _utter(journey, one, "u1", "Honestly, that is way over our budget.")
    check(card["family"] == "budget", "The card answers the objection that was made")
    step("They name a figure beyond Grace's limit.")
    card = _utter(journey, one, "u2", "We could do it for twenty five thousand euros a year.")
    check(card["source"] == "plan", "A figure past the limit takes precedence over phrases")
    limits = ("18", "12000", "12,000")
    words = " ".join((card["title"], card["say"], card["why"]))
    check(not any(limit in words for limit in limits), "The card does not reveal a limit")
    offers = journey.get(f"{NEGOTIATIONS_PATH}/{talk['id']}/offers", show=())["items"]
    check(
        [offer["status"] for offer in offers] == ["unconfirmed"],
        "A heard offer stays unconfirmed until the user confirms it",
    )
    step("Someone reads out a card number.")
    _utter(journey, one, "u3", "Just charge it to 4111 1111 1111 1111.", shown=False)
    journey.post(f"{one}/end", {}, show=("state", "forget_at"))
    lines = journey.get(f"{one}/transcript", show=())["lines"]
    for line in lines:
        journey.narrator.event(f"{line['speaker']}: {line['text']}")
    check("4111" not in str(lines), "The card number was removed before the transcript was stored")
    token = journey.claimed["access_token"]
    journey.ask("DELETE", one, token=token)
    journey.answered(journey.ask("GET", one, token=token, show=("error",)), 404, "not_found")
    check(True, "After deletion the call and its transcript are gone")


def _utter(journey: DemoContext, one: str, name: str, text: str, *, shown: bool = True) -> Any:
    """Send an utterance; returns the first card, or None unless a card is expected (`shown`)."""
    body = {"utterance_id": name, "speaker": "them", "text": text}
    answer = journey.post(f"{one}/utterances", body, show=("seq",))
    for card in answer["cues"]:
        journey.narrator.event(f"{card['title']}: “{card['say']}” ({card['why']})")
    if shown:
        journey.check(answer["cues"] != [], f"“{text}” raises a card at once")
        return answer["cues"][0]
    return None


TELEPROMPTER = DemoChapter(
    "teleprompter",
    "A call",
    "A card within a second of their sentence; the transcript is redacted and deleted when its time is over.",
    _live,
)
