"""A call that is listened to: what is said comes in as text, and cards say what to answer."""

from typing import Any, Final

from negotiator.cli.demo.context import DemoChapter, DemoContext
from negotiator.negotiations.routes import NEGOTIATIONS_PATH
from negotiator.teleprompter.session_routes import SESSIONS_PATH

_TALK: Final = {
    "title": "CRM add-on",
    "role": "buyer",
    "category": "saas",
    "currency": "EUR",
    "issues": [
        {"name": "price", "type": "money", "range": {"min": 8_000, "max": 30_000, "step": 500}}
    ],
    "target": {"package": {"price": 12_000}},
    "walk_away": {"package": {"price": 18_000}},
}
_CONSENT: Final = {"basis": "all_parties", "confirmed_by": "Grace"}


def _live(journey: DemoContext) -> None:
    step, check = journey.narrator.step, journey.check
    step("Before the call: what it is about, and who agreed that it is listened to.")
    talk = journey.post(NEGOTIATIONS_PATH, _TALK, status=201, show=("id", "state"))
    opening = {"negotiation_id": talk["id"], "consent": _CONSENT}
    session = journey.post(
        SESSIONS_PATH, opening, status=201, show=("id", "state", "keep", "notice_text")
    )
    check(session["notice_text"] != "", "There is a sentence to read to the others first")
    one = f"{SESSIONS_PATH}/{session['id']}"
    step("They object.")
    card = _hear(journey, one, "u1", "Honestly, that is way over our budget.")
    check(card["family"] == "budget", "The card answers the objection that was made")
    step("They name a figure. It lies beyond what Grace can live with.")
    card = _hear(journey, one, "u2", "We could do it for twenty five thousand euros a year.")
    check(card["source"] == "plan", "A figure past the limit beats every phrase")
    limits = ("18", "12000", "12,000")
    words = " ".join((card["title"], card["say"], card["why"]))
    check(not any(limit in words for limit in limits), "And the card gives no limit away")
    offers = journey.get(f"{NEGOTIATIONS_PATH}/{talk['id']}/offers", show=())["items"]
    check(
        [offer["status"] for offer in offers] == ["unconfirmed"],
        "What was heard waits in the ledger until somebody confirms it",
    )
    step("Somebody reads out a card number.")
    _hear(journey, one, "u3", "Just charge it to 4111 1111 1111 1111.", shown=False)
    journey.post(f"{one}/end", {}, show=("state", "forget_at"))
    lines = journey.get(f"{one}/transcript", show=())["lines"]
    for line in lines:
        journey.narrator.event(f"{line['speaker']}: {line['text']}")
    check("4111" not in str(lines), "What nobody needs was taken out before it was kept")
    token = journey.claimed["access_token"]
    journey.ask("DELETE", one, token=token)
    journey.answered(journey.ask("GET", one, token=token, show=("error",)), 404, "not_found")
    check(True, "Deleted, the call and every word of it are gone")


def _hear(journey: DemoContext, one: str, name: str, text: str, *, shown: bool = True) -> Any:
    """What is on the screen after this; the first card, or nothing."""
    body = {"utterance_id": name, "speaker": "them", "text": text}
    heard = journey.post(f"{one}/utterances", body, show=("seq",))
    for card in heard["cues"]:
        journey.narrator.event(f"{card['title']}: “{card['say']}” ({card['why']})")
    if shown:
        journey.check(heard["cues"] != [], f"“{text}” raises a card at once")
        return heard["cues"][0]
    return None


TELEPROMPTER = DemoChapter(
    "teleprompter",
    "A call",
    "Under a second from their sentence to a card; what is said is redacted, kept as long as chosen, then gone.",
    _live,
)
