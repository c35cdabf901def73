"""The demo's short form: how Grace buys a used car with advice, and how their agent got in, in about thirty lines.

It runs the first chapters without printing them, then the talk of the example case `used_car`. The seller's lines are
written here; every figure and every sentence of advice comes from the server.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from negotiator.cli.demo.access_chapters import revoke_own_token
from negotiator.cli.demo.context import DemoContext, JsonObject
from negotiator.cli.demo.example_cases import read_case
from negotiator.memory.wins_routes import WINS_PATH
from negotiator.negotiations.routes import NEGOTIATIONS_PATH

_WIDTH: Final = 100
_COLOURS: Final = {"Jens": "yellow", "Advice": "cyan", "Grace": "green"}
_SELLER: Final = (
    (14_900, "€14,900, as in the listing. There is a lot of interest."),
    (14_300, "I could come down to €14,300. The tyres are nearly new."),
    (13_700, "€13,700. That is my final offer, take it or leave it."),
)
_SETTLES: Final = "All right, €{price:,}, if you pick it up this week."
_TOO_MUCH: Final = 14_000


class StoryPrinter:
    """Prints who says what, in two columns; nothing when `silent`."""

    def __init__(self, *, silent: bool) -> None:
        console = Console(quiet=silent, highlight=False)
        # What goes to a file or a pipe has no width of its own.
        self._width = min(_WIDTH, console.width) if console.is_terminal else _WIDTH
        self._console = Console(quiet=silent, highlight=False, width=self._width)

    def line(self, text: str = "", style: str = "") -> None:
        """A paragraph over the whole width."""
        self._console.print(Text(text, style=style))

    def command(self, what: str, command: str) -> None:
        """A command to copy, on one line."""
        self._console.print(Text(f"{what}: {command}"), soft_wrap=True)

    def said(self, who: str, text: str) -> None:
        """What a speaker says, beside their name."""
        row = Table.grid(padding=(0, 2))
        row.add_column(min_width=8)
        row.add_column()
        row.add_row(Text(f"  {who}", style=f"bold {_COLOURS[who]}"), Text(text))
        self._console.print(row)


def introduce(out: StoryPrinter) -> None:
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


def tell_story(journey: DemoContext, out: StoryPrinter) -> None:
    """Run the talk from the listing to the signed deal, then tell how the agent got in."""
    case = _case()
    most: int = case["walk_away"]["package"]["price"]
    opened = journey.post(NEGOTIATIONS_PATH, case, status=201)
    journey.check(opened["missing"] == [], "Nothing that advice needs is missing")
    one = f"{NEGOTIATIONS_PATH}/{opened['id']}"
    standing = journey.post(f"{one}/leverage", {})["summary"]
    out.line()
    out.said("Advice", standing["room"])
    made: list[Decimal] = []
    for price, words in _SELLER:
        made.append(_turn(journey, out, _Turn(one, price, words), limit=most))
    _refused(journey, out, one)
    steps = [after - before for before, after in pairwise(made)]
    journey.check(
        all(step > 0 for step in steps) and steps == sorted(steps, reverse=True),
        "The advised steps go one way and get smaller",
    )
    agreed = _settle(journey, out, one, made[-1])
    _count(journey, out, listed=Decimal(case["baseline"]["value"]), agreed=agreed, limit=Decimal(most))
    _identity(journey, out)


@dataclass(frozen=True, slots=True)
class _Turn:
    """The path of the negotiation, the seller's price and their words."""

    one: str
    price: int
    words: str


def _turn(journey: DemoContext, out: StoryPrinter, turn: _Turn, *, limit: int) -> Decimal:
    """Record the seller's offer, ask what to do, and make the advised counter-offer; returns its price."""
    move = _advice(journey, out, turn)
    offer = Decimal(move["offer"]["price"])
    journey.check(
        move["action"] == "counter" and offer <= limit,
        f"Against €{turn.price:,} the advice is a counter-offer within the limit",
    )
    journey.check(f"{limit:,}" not in move["say"], "The sentence to say does not name the limit")
    out.said("Grace", f"“{move['say']}”")
    body = {"by": "me", "kind": "counter", "package": move["offer"]}
    made = journey.post(f"{turn.one}/offers", body, status=201)
    journey.check(made["status"] == "live", f"Offer {made['seq']} is live")
    return offer


def _advice(journey: DemoContext, out: StoryPrinter, turn: _Turn) -> JsonObject:
    """Record the seller's offer and print it with the advice on it; returns the next move."""
    out.line()
    out.said("Jens", f"“{turn.words}”")
    offer = {"by": "them", "package": {"price": turn.price}, "rationale": turn.words}
    journey.post(f"{turn.one}/offers", offer, status=201)
    body = {"utterance": turn.words, "phase": "bargain"}
    heard = journey.post(f"{turn.one}/suggestions", body)
    move = journey.post(f"{turn.one}/next-move", {"utterance": turn.words})
    tactic = _sentences(heard["summary"], 1) if heard["recognised"] else ""
    out.said("Advice", f"{tactic} {_sentences(move['summary'], 2)}".strip())
    return move


def _refused(journey: DemoContext, out: StoryPrinter, one: str) -> None:
    """Grace is tempted, and an offer past their limit is refused."""
    body = {"by": "me", "kind": "counter", "package": {"price": _TOO_MUCH}}
    token = journey.claimed["access_token"]
    refused = journey.answered(journey.ask("POST", f"{one}/offers", body=body, token=token), 409, "below_walk_away")
    journey.check(True, "An offer past the limit is refused")
    out.line()
    out.said("Grace", f"is tempted to offer €{_TOO_MUCH:,}.")
    out.said("Advice", f"Refused. {_sentences(refused['error_description'], 1)}")


def _settle(journey: DemoContext, out: StoryPrinter, one: str, price: Decimal) -> Decimal:
    """The seller takes Grace's price, Grace accepts, and the contract is signed."""
    words = _SETTLES.format(price=int(price))
    move = _advice(journey, out, _Turn(one, int(price), words))
    journey.check(move["action"] == "accept", "A price as good as the next step is accepted")
    out.said("Grace", f"“{move['say']}”")
    theirs = journey.get(f"{one}/offers?limit=1")["items"][0]
    body = {"by": "me", "kind": "acceptance", "in_reply_to": theirs["id"]}
    journey.post(f"{one}/offers", body, status=201)
    won = journey.post(f"{one}/state", {"to": "won"})
    paid = Decimal(won["outcome"]["package"]["price"])
    journey.check(won["state"] == "won" and paid == price, "The deal is stored as it was accepted")
    return paid


def _count(journey: DemoContext, out: StoryPrinter, *, listed: Decimal, agreed: Decimal, limit: Decimal) -> None:
    """Record the win and print what it brought."""
    body: dict[str, Any] = {
        "category": "other",
        "kind": "new_purchase",
        "role": "buyer",
        "currency": "EUR",
        "baseline": {"kind": "list_price", "amount": str(listed)},
        "achieved": {"amount": str(agreed)},
    }
    win = journey.post(WINS_PATH, body, status=201)
    saved = Decimal(win["savings_total"])
    journey.check(saved == listed - agreed, "The server computes the savings to the cent")
    out.line()
    out.line(
        f"Deal at €{agreed:,.0f}: €{saved:,.0f} or {saved / listed:.0%} below the listing, and "
        f"€{limit - agreed:,.0f} better than the limit, which Jens never heard.",
        "bold",
    )


def _identity(journey: DemoContext, out: StoryPrinter) -> None:
    """What the silent chapters have checked, and the end of the agent's access."""
    revoke_own_token(journey)
    out.line()
    out.line("How the agent got in")
    scopes = len(journey.anonymous_agent["scopes"])
    for line in (
        "It asked without a token. The refusal named the document that says how to get one.",
        f"It registered with only a name, for one hour and {scopes} scopes.",
        "Grace gave it a code that works once. It has worked for Grace since, and kept what it had begun.",
        "The car is bought: it gave its token back, and its next request was refused.",
    ):
        out.line(f"  · {line}")


def _sentences(text: str, count: int) -> str:
    """The first sentences of a text."""
    parts: Sequence[str] = text.split(". ")
    return ". ".join(parts[:count]).rstrip(".") + "."
