"""The chapter with a whole negotiation: Grace's agent renews a contract, from preparation to signature."""

import math
from typing import Any, Final

from negotiator import values
from negotiator.cli.demo.context import DemoChapter, DemoContext, JsonObject
from negotiator.negotiations.routes import NEGOTIATIONS_PATH

OfferPackage = dict[str, Any]

_WEEKS: Final = 3 * 7 * values.DAY
_ROUNDS: Final = 3
_UTTERANCE: Final = "This is our final offer. Take it or leave it."
_FIRST: Final[OfferPackage] = {"price": 116_000, "payment_days": 14, "contract_months": 36}
_BETTER: Final[OfferPackage] = {"price": 104_000, "payment_days": 30, "contract_months": 24}
_BEST: Final[OfferPackage] = {"price": 94_000, "payment_days": 45, "contract_months": 24}
_TOO_MUCH: Final[OfferPackage] = {"price": 118_000, "payment_days": 14, "contract_months": 36}
_EXACT: Final = 1e-6
_ROUNDING: Final = 1e-3
_MOVE_MEMBERS: Final = (
    "action",
    "offer",
    "my_utility",
    "acceptance_probability",
    "reasons",
    "say",
    "floor",
)


def _case() -> JsonObject:
    """The renewal: three issues, Grace's target, limit and alternative."""
    price = {"name": "price", "label": "price per year", "type": "money", "weight": 6}
    days = {"name": "payment_days", "label": "days to pay", "type": "integer", "weight": 3}
    months = {"name": "contract_months", "label": "months bound", "type": "integer", "weight": 1}
    return {
        "title": "CRM renewal, 200 seats",
        "role": "buyer",
        "kind": "renewal",
        "category": "saas",
        "currency": "EUR",
        "counterparty": {"organisation": "Cloudwerk", "relationship": "ongoing"},
        "issues": [
            {**price, "their_weight": 5, "range": {"min": 80_000, "max": 120_000, "step": 1000}},
            {**days, "their_weight": 1, "direction": "higher", "range": {"min": 14, "max": 60}},
            {
                **months,
                "their_weight": 4,
                "direction": "lower",
                "range": {"min": 12, "max": 36, "step": 12},
            },
        ],
        "target": {"package": {"price": 90_000, "payment_days": 45, "contract_months": 24}},
        "walk_away": {"package": {"price": 108_000, "payment_days": 30, "contract_months": 24}},
        "batna": {
            "description": "The second vendor's written quote",
            "value": {"package": {"price": 110_000, "payment_days": 30, "contract_months": 24}},
        },
        "their_estimate": {
            "walk_away": {"low": 0.2, "likely": 0.3, "high": 0.45, "unit": "utility"}
        },
        "deadline": values.timestamp(values.now() + _WEEKS),
        "max_rounds": _ROUNDS,
    }


def _worth(package: OfferPackage) -> float:
    """The utility of a package for Grace, computed from `_case` independently of the server."""
    price = (120_000 - float(package["price"])) / 40_000
    days = (package["payment_days"] - 14) / 46
    months = (36 - package["contract_months"]) / 24
    return 0.6 * price + 0.3 * days + 0.1 * months


def _negotiate(journey: DemoContext) -> None:
    one = _open(journey)
    plan = _plan(journey, one)
    first = _their_offer(journey, one, _FIRST, says="Cloudwerk names its first price.")
    _leverage(journey, one)
    _suggestions(journey, one)
    _counter(journey, one, first)
    _refusal(journey, one)
    second = _their_offer(journey, one, _BETTER, says="Cloudwerk comes down a little.")
    _counter(journey, one, second)
    last = _their_offer(journey, one, _BEST, says="In the last round, Cloudwerk moves.")
    _agree(journey, one, last)
    _history(journey, one, plan)


def _open(journey: DemoContext) -> str:
    journey.narrator.step("Grace's contract runs out. Their agent records what it is about.")
    members = ("id", "state", "missing")
    opened = journey.post(NEGOTIATIONS_PATH, _case(), status=201, show=members)
    journey.check(opened["missing"] == [], "Nothing that advice needs is missing")
    return f"{NEGOTIATIONS_PATH}/{opened['id']}"


def _plan(journey: DemoContext, one: str) -> JsonObject:
    journey.narrator.step("It asks for a battle plan.")
    plan = journey.post(f"{one}/battle-plans", {}, status=201, show=("id", "version", "stale"))
    _print_plan(journey, plan)
    steps = plan["concession_schedule"]
    floor = _worth(_case()["walk_away"]["package"])
    worths = [_worth(_package(row)) for row in (plan["opening_offer"], *steps)]
    journey.check(
        len(steps) > 1
        and worths == sorted(worths, reverse=True)
        and all(row["ask_in_return"] for row in steps),
        "The concessions fall from the opening offer, each for something in return",
    )
    journey.check(
        min(worths) >= floor and abs(plan["floor"]["utility"]["value"] - floor) < _ROUNDING,
        "No step of the plan lies below the walk-away",
    )
    gains = [(row["my_net_utility"], row["their_estimated_gain"]) for row in plan["trades"]]
    journey.check(
        gains != [] and all(mine["value"] >= 0 < theirs["value"] for mine, theirs in gains),
        "Every trade helps them and costs Grace nothing",
    )
    return plan


def _print_plan(journey: DemoContext, plan: JsonObject) -> None:
    """Print the parts of the plan that a reader wants first."""
    line = journey.narrator.event
    line(plan["summary"]["text"])
    line(f"Open: {plan['script']['opening']}")
    for row in plan["concession_schedule"]:
        line(f"Step, worth {row['utility']['value']:.2f} then: {row['say']}")
    for row in plan["trades"]:
        line(f"Trade: {row['say']}")
    for row in plan["information_gaps"]:
        line(f"Find out ({row['missing']}): {row['ask']}")


def _leverage(journey: DemoContext, one: str) -> None:
    journey.narrator.step("Who needs this deal more?")
    found = journey.post(f"{one}/leverage", {}, show=("position", "expected"))
    power, nash = found["power"], found["points"]["nash"]
    for factor in power["factors"]:
        if factor["contribution"]:
            journey.narrator.event(f"{factor['contribution']:+.3f}  {factor['explanation']}")
    journey.narrator.event(f"Your share of what there is to gain: {power['alpha']:.3f}")
    journey.narrator.event(f"Nash point: {_plain(nash['package'])}")
    total = sum(factor["contribution"] for factor in power["factors"])
    journey.check(
        abs(1 / (1 + math.exp(-total)) - power["alpha"]) < _EXACT,
        "The factors add up to the split of power, to six places",
    )
    likely = found["position"]["their_walk_away"]["likely"]
    journey.check(
        _worth(nash["package"]) >= _worth(_case()["walk_away"]["package"])
        and nash["utility_them"] >= likely,
        "The Nash point leaves both sides better off than no deal",
    )


def _suggestions(journey: DemoContext, one: str) -> None:
    journey.narrator.step("Cloudwerk adds a sentence. Which tactic is it, and what answers it?")
    body = {"utterance": _UTTERANCE, "phase": "bargain"}
    found = journey.post(f"{one}/suggestions", body, show=("recognised",))
    for item in found["items"]:
        journey.narrator.event(f"{item['tactic']['name']}, {item['score']:.2f}: {item['why']}")
    recognised = {move["tactic"]["id"]: move for move in found["recognised"]}
    journey.check(
        recognised["tac_final_offer_bluff"]["deceptive"],
        "It recognises the final-offer bluff by its words",
    )
    answers = [item for item in found["items"] if "It answers" in item["why"]]
    journey.check(answers != [], "The suggestions contain an answer to it")
    suggested = {item["tactic"]["id"] for item in found["items"]}
    journey.check(
        not suggested & recognised.keys(), "It does not suggest the same deceptive tactic"
    )


def _counter(journey: DemoContext, one: str, theirs: JsonObject) -> None:
    """Ask for the next move and make it."""
    journey.narrator.step("What is the next move?")
    move = journey.post(f"{one}/next-move", {}, show=_MOVE_MEMBERS)
    journey.check(
        move["action"] == "counter"
        and abs(_worth(move["offer"]) - move["my_utility"]) < _EXACT
        and move["my_utility"] >= move["floor"],
        f"A counter worth {move['my_utility']:.2f}, not below the floor of {move['floor']:.2f}",
    )
    journey.narrator.step("The agent makes it.")
    body = {"by": "me", "kind": "counter", "package": move["offer"], "in_reply_to": theirs["id"]}
    members = ("seq", "status", "utility_me", "utility_them_estimate", "concession_me")
    made = journey.post(f"{one}/offers", body, status=201, show=members)
    journey.check(made["status"] == "live", f"Offer {made['seq']} is live")


def _refusal(journey: DemoContext, one: str) -> None:
    journey.narrator.step("By mistake, an offer below the walk-away is entered.")
    body = {"by": "me", "kind": "counter", "package": _TOO_MUCH}
    token = journey.claimed["access_token"]
    refused = journey.ask("POST", f"{one}/offers", body=body, token=token)
    journey.answered(refused, 409, "below_walk_away")
    journey.check(True, "An offer below the walk-away is refused")


def _their_offer(journey: DemoContext, one: str, package: OfferPackage, *, says: str) -> JsonObject:
    journey.narrator.step(says)
    body = {"by": "them", "kind": "offer", "package": package}
    members = ("seq", "status", "utility_me", "utility_them_estimate", "concession_them")
    return journey.post(f"{one}/offers", body, status=201, show=members)


def _agree(journey: DemoContext, one: str, theirs: JsonObject) -> None:
    journey.narrator.step("The next move again:")
    move = journey.post(f"{one}/next-move", {}, show=_MOVE_MEMBERS)
    journey.check(
        move["action"] == "accept", "In the last round, an offer better than no deal is accepted"
    )
    journey.narrator.step("The agent accepts, and the contract is signed.")
    body = {"by": "me", "kind": "acceptance", "in_reply_to": theirs["id"]}
    journey.post(f"{one}/offers", body, status=201, show=("seq", "status", "utility_me"))
    agreed = journey.get(one, show=("state", "outcome"))
    journey.check(
        agreed["state"] == "agreed" and agreed["outcome"]["offer_id"] == theirs["id"],
        "The acceptance alone made it agreed, on exactly that offer",
    )
    won = journey.post(f"{one}/state", {"to": "won"}, show=("state", "outcome"))
    journey.check(won["state"] == "won", "The renewal is won and stored with its outcome")


def _history(journey: DemoContext, one: str, plan: JsonObject) -> None:
    journey.narrator.step("The history says what happened and who did it.")
    events = journey.get(f"{one}/events", show=())["items"]
    for event in reversed(events):
        what = event["to_state"] or f"{event['detail']['kind']} by {event['detail']['by']}"
        journey.narrator.event(f"{event['seq']:2}  {event['kind']:8}  {what}")
    states = [event["to_state"] for event in reversed(events) if event["to_state"]]
    agent = journey.claimed["client_id"]
    journey.check(
        states == ["draft", "planned", "active", "agreed", "won"]
        and all(event["actor"] == {"kind": "agent", "id": agent} for event in events),
        "Every state and every offer is in the history, with the agent's id",
    )
    journey.narrator.step("The plan after all these changes:")
    stored = journey.get(f"{one}/battle-plans/{plan['id']}", show=("version", "stale"))
    journey.check(
        stored == {**plan, "stale": True}, "The plan is stored unchanged and marked as stale"
    )


def _package(section: JsonObject) -> OfferPackage:
    """The package of a plan's section, without the source of each value."""
    return {name: figure["value"] for name, figure in section["package"].items()}


def _plain(package: OfferPackage) -> str:
    return ", ".join(f"{name} {value}" for name, value in package.items())


NEGOTIATION = DemoChapter(
    "negotiation",
    "A whole negotiation",
    "Plan, offers, leverage, tactics, the next move: numbers that can be checked, and a limit that holds.",
    _negotiate,
)
