"""The demo's negotiation: Grace buys a used car with advice, the example case `used_car`.

The seller's lines are written here; every figure and every sentence of advice comes from the server.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final

from negotiator.cli.demo.context import DemoChapter, DemoContext, DemoPrinter, JsonObject
from negotiator.cli.demo.examples import read_case
from negotiator.memory.schemas_wins import WINS_PATH
from negotiator.negotiations.routes import NEGOTIATIONS_PATH

_SELLER: Final = (
    (14_900, "€14,900, as in the listing. There is a lot of interest."),
    (14_300, "I could come down to €14,300. The tyres are nearly new."),
    (13_700, "€13,700. That is my final offer, take it or leave it."),
)
_SETTLES: Final = "All right, €{price:,} it is."
_TOO_MUCH: Final = 14_000


def introduce(out: DemoPrinter) -> None:
    """Say what the talk is about, while the server starts."""
    case = _case()
    listed, most = Decimal(case["baseline"]["value"]), case["walk_away"]["package"]["price"]
    aim, rival = case["target"]["package"]["price"], case["batna"]["value"]["package"]["price"]
    out.line("One negotiation. The server and each call are real; the seller is made up.", "italic")
    out.line()
    out.line(
        f"Grace wants a used VW Golf, listed at €{listed:,}; a dealer asks €{rival:,} for another. Their agent alone "
        f"knows that €{aim:,} would be a success and €{most:,} is the most that they pay."
    )


def _case() -> JsonObject:
    return read_case("used_car", datetime.now(UTC)).negotiation


def _negotiate(journey: DemoContext) -> None:
    """Run the talk from the listing to the signed deal."""
    case = _case()
    most: int = case["walk_away"]["package"]["price"]
    opened = journey.post(NEGOTIATIONS_PATH, case, status=201, show=("id", "state", "missing"))
    journey.check(opened["missing"] == [], "Nothing that advice needs is missing")
    one = f"{NEGOTIATIONS_PATH}/{opened['id']}"
    plan = journey.post(f"{one}/battle-plans", {}, status=201, show=("id", "version", "stale"))
    journey.printer.event(plan["summary"]["text"])
    journey.check(len(plan["concession_schedule"]) > 1, "The battle plan has the steps of the price")
    standing = journey.post(f"{one}/leverage", {}, show=("summary",))["summary"]
    journey.printer.line()
    journey.printer.said("Advice", standing["room"])
    made = [_turn(journey, one, price, words, limit=most) for price, words in _SELLER]
    _refused(journey, one)
    steps = [after - before for before, after in pairwise(made)]
    journey.check(
        all(step >= 0 for step in steps) and steps == sorted(steps, reverse=True),
        "The advised steps go one way and never grow",
    )
    agreed = _settle(journey, one, made[-1])
    stored = journey.get(f"{one}/battle-plans/{plan['id']}", show=("version", "stale"))
    journey.check(stored == {**plan, "stale": True}, "The plan is stored unchanged and marked as stale")
    _count(journey, listed=Decimal(case["baseline"]["value"]), agreed=agreed, limit=Decimal(most))


def _offer(journey: DemoContext, one: str, **offer: Any) -> JsonObject:
    return journey.post(f"{one}/offers", offer, status=201, show=("seq", "status"))


def _turn(journey: DemoContext, one: str, price: int, words: str, *, limit: int) -> Decimal:
    """Record the seller's offer, ask what to do, and make the advised counter-offer; returns its price."""
    move = _advice(journey, one, price, words)
    offer = Decimal(move["offer"]["price"])
    journey.check(
        move["action"] == "counter" and offer <= limit,
        f"Against €{price:,} the advice is a counter-offer within the limit",
    )
    journey.check(f"{limit:,}" not in move["say"], "The sentence to say does not name the limit")
    journey.printer.said("Grace", f"“{move['say']}”")
    made = _offer(journey, one, by="me", kind="counter", package=move["offer"])
    journey.check(made["status"] == "live", f"Offer {made['seq']} is live")
    return offer


def _advice(journey: DemoContext, one: str, price: int, words: str) -> JsonObject:
    """Record the seller's offer and print it with the advice on it; returns the next move."""
    journey.printer.line()
    journey.printer.said("Jens", f"“{words}”")
    _offer(journey, one, by="them", package={"price": price}, rationale=words)
    heard = journey.post(f"{one}/suggestions", {"utterance": words, "phase": "bargain"}, show=("summary",))
    move = journey.post(f"{one}/next-move", {"utterance": words}, show=("action", "offer", "my_utility", "floor"))
    tactic = _sentences(heard["summary"], 1) if heard["recognised"] else ""
    journey.printer.said("Advice", f"{tactic} {_sentences(move['summary'], 2)}".strip())
    return move


def _refused(journey: DemoContext, one: str) -> None:
    """Grace is tempted, and an offer past their limit is refused."""
    body = {"by": "me", "kind": "counter", "package": {"price": _TOO_MUCH}}
    refused = journey.post(f"{one}/offers", body, status=409, error="below_walk_away")
    journey.check(True, "An offer past the limit is refused")
    journey.printer.line()
    journey.printer.said("Grace", f"is tempted to offer €{_TOO_MUCH:,}.")
    journey.printer.said("Advice", f"Refused. {_sentences(refused['error_description'], 1)}")


def _settle(journey: DemoContext, one: str, price: Decimal) -> Decimal:
    """The seller takes Grace's price, Grace accepts, and the contract is signed."""
    move = _advice(journey, one, int(price), _SETTLES.format(price=int(price)))
    journey.check(move["action"] == "accept", "A price as good as the next step is accepted")
    journey.printer.said("Grace", f"“{move['say']}”")
    theirs = journey.get(f"{one}/offers?limit=1", show=())["items"][0]
    _offer(journey, one, by="me", kind="acceptance", in_reply_to=theirs["id"])
    won = journey.post(f"{one}/state", {"to": "won"}, show=("state", "outcome"))
    paid = Decimal(won["outcome"]["package"]["price"])
    journey.check(won["state"] == "won" and paid == price, "The deal is stored as it was accepted")
    return paid


def _count(journey: DemoContext, *, listed: Decimal, agreed: Decimal, limit: Decimal) -> None:
    """Record the win and print what it brought."""
    body: dict[str, Any] = {
        "category": "other",
        "kind": "new_purchase",
        "role": "buyer",
        "currency": "EUR",
        "baseline": {"kind": "list_price", "amount": str(listed)},
        "achieved": {"amount": str(agreed)},
    }
    win = journey.post(WINS_PATH, body, status=201, show=("savings_total", "savings_rate"))
    saved = Decimal(win["savings_total"])
    journey.check(saved == listed - agreed, "The server computes the savings to the cent")
    journey.printer.line()
    journey.printer.line(
        f"Deal at €{agreed:,.0f}: €{saved:,.0f} or {saved / listed:.0%} below the listing, and "
        f"€{limit - agreed:,.0f} better than the limit, which Jens never heard.",
        "bold",
    )


def _sentences(text: str, count: int) -> str:
    """The first sentences of a text."""
    parts: Sequence[str] = text.split(". ")
    return ". ".join(parts[:count]).rstrip(".") + "."


NEGOTIATION = DemoChapter(
    "negotiation",
    "A negotiation",
    "Plan, leverage, tactics, the next move: words to say, figures that can be checked, limits that hold.",
    (_negotiate,),
)
