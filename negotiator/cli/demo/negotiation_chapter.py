"""The chapter with a whole negotiation: Grace's agent renews a contract, from preparation to signature."""

import math
from itertools import pairwise
from typing import Any, Final

from negotiator.base import values
from negotiator.cli.demo.context import DemoChapter, DemoContext, JsonObject
from negotiator.negotiations.routes import NEGOTIATIONS_PATH

OfferPackage = dict[str, Any]

_WEEKS: Final = 3 * 7 * values.DAY
_STANDARD: Final = "This is our standard price."
_ULTIMATUM: Final = "This is our final offer. Take it or leave it."
_ANCHOR: Final[OfferPackage] = {"price": 72, "contract_months": 36, "payment_days": 14}
_BETTER: Final[OfferPackage] = {"price": 60, "contract_months": 36, "payment_days": 14}
_FINAL: Final[OfferPackage] = {"price": 57, "contract_months": 36, "payment_days": 30}
_BEST: Final[OfferPackage] = {"price": 46, "contract_months": 36, "payment_days": 45}
_TOO_MUCH: Final[OfferPackage] = {"price": 58, "contract_months": 36, "payment_days": 14}
_MOST_MONTHS: Final = 24
_ALLOWED_MONTHS: Final = 36
_ALLOWED_PRICE: Final = 46
_EXACT: Final = 1e-6
_ROUNDING: Final = 1e-3
_MOVE_MEMBERS: Final = ("action", "offer", "trade", "acceptance_probability", "my_utility", "floor")


def _case() -> JsonObject:
    """The renewal: three issues, Grace's target, limits and alternative, and the one limit that has its price."""
    price = {"name": "price", "label": "price per seat and month", "type": "money", "weight": 6}
    months = {"name": "contract_months", "label": "contract term", "type": "integer", "weight": 2}
    days = {"name": "payment_days", "label": "payment term", "type": "duration_days", "weight": 2}
    return {
        "title": "CRM renewal, 80 seats",
        "role": "buyer",
        "kind": "renewal",
        "category": "saas",
        "currency": "EUR",
        "counterparty": {"organisation": "Cloudwerk", "relationship": "ongoing"},
        "issues": [
            {
                **price,
                "their_weight": 5,
                "range": {"min": 38, "max": 65, "step": "0.50"},
                "multiples": [{"count": 80, "of": "seats"}, {"count": 12, "of": "months a year"}],
            },
            {
                **months,
                "unit": "months",
                "their_weight": 4,
                "direction": "lower",
                "range": {"min": 12, "max": 36, "step": 12},
            },
            {**days, "their_weight": 1, "direction": "higher", "range": {"min": 14, "max": 60}},
        ],
        "target": {"package": {"price": 45, "contract_months": 12, "payment_days": 45}},
        "walk_away": {"package": {"price": 54, "contract_months": _MOST_MONTHS, "payment_days": 30}},
        "batna": {
            "description": "the second vendor's written quote",
            "value": {"package": {"price": 56, "contract_months": 24, "payment_days": 30}},
        },
        "their_estimate": {"walk_away": {"low": 0.2, "likely": 0.3, "high": 0.45, "unit": "utility"}},
        "allow": [{"issue": "contract_months", "to": _ALLOWED_MONTHS, "in_return": {"price": _ALLOWED_PRICE}}],
        "deadline": values.timestamp(values.now() + _WEEKS),
    }


def _parts(package: OfferPackage) -> tuple[float, float, float]:
    """What each issue of a package is worth to Grace, 0 to 1; a price beyond the range counts as its end."""
    price = (65 - min(65.0, float(package["price"]))) / 27
    months = (36 - package["contract_months"]) / 24
    days = (package["payment_days"] - 14) / 46
    return price, months, days


def _worth(package: OfferPackage) -> float:
    """The utility of a package for Grace, computed from `_case` independently of the server."""
    price, months, days = _parts(package)
    return 0.6 * price + 0.2 * months + 0.2 * days


def _negotiate(journey: DemoContext) -> None:
    one = _open(journey)
    plan = _plan(journey, one)
    anchor = _their_offer(journey, one, _ANCHOR, says="Cloudwerk names its first price.")
    journey.check(anchor["outside_range"], "A price outside the range is recorded as it was said, and marked")
    _leverage(journey, one)
    opening = _counter(journey, one, anchor, utterance=_STANDARD)
    journey.check(
        opening["offer"] == _package(plan["opening_offer"]),
        "The next move opens with the offer of the plan, whatever they ask",
    )
    _refusal(journey, one)
    better = _their_offer(journey, one, _BETTER, says="Cloudwerk comes down.")
    step = _counter(journey, one, better)
    journey.check(
        step["trade"] is not None
        and _gives_only(opening["offer"], step["offer"])
        and step["offer"]["contract_months"] <= _MOST_MONTHS,
        "It gives and asks; nothing goes back in Grace's favour, and no limit is passed",
    )
    final = _their_offer(journey, one, _FINAL, says="Cloudwerk adds pressure to its next offer.")
    _suggestions(journey, one)
    traded = _counter(journey, one, final, utterance=_ULTIMATUM)
    journey.check(
        traded["trade"]["beyond_limit"]
        and traded["offer"]["contract_months"] == _ALLOWED_MONTHS
        and float(traded["offer"]["price"]) <= _ALLOWED_PRICE,
        "The limit on the term is passed only by the trade that Grace allowed, at its price",
    )
    last = _their_offer(journey, one, _BEST, says="Cloudwerk takes the trade, with 45 days to pay.")
    _agree(journey, one, last)
    _history(journey, one, plan)


def _gives_only(before: OfferPackage, after: OfferPackage) -> bool:
    """Whether no issue of the second package is worth more to Grace than in the first."""
    pairs = zip(_parts(before), _parts(after), strict=True)
    return all(now <= was + _EXACT for was, now in pairs)


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
    packages = [_package(row) for row in (plan["opening_offer"], *steps)]
    worths = [_worth(package) for package in packages]
    gives = [was - now for was, now in pairwise(worths)]
    journey.check(
        len(steps) > 1
        and all(_gives_only(was, now) for was, now in pairwise(packages))
        and all(after <= before + _EXACT for before, after in pairwise(gives))
        and all(row["ask_in_return"] for row in steps),
        "The steps get smaller, take nothing back, and each asks for something in return",
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
    for row in plan["allowed_trades"]:
        line(f"Beyond a limit, as Grace allowed: {row['words']}")
    for row in plan["information_gaps"]:
        line(f"Find out ({row['missing']}): {row['ask']}")


def _leverage(journey: DemoContext, one: str) -> None:
    journey.narrator.step("Who needs this deal more?")
    found = journey.post(f"{one}/leverage", {}, show=("position",))
    journey.narrator.event(found["summary"]["text"])
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
        _worth(nash["package"]) >= _worth(_case()["walk_away"]["package"]) and nash["utility_them"] >= likely,
        "The Nash point leaves both sides better off than no deal",
    )


def _suggestions(journey: DemoContext, one: str) -> None:
    journey.narrator.step("Cloudwerk adds a sentence. Which tactic is it, and what answers it?")
    body = {"utterance": _ULTIMATUM, "phase": "bargain"}
    found = journey.post(f"{one}/suggestions", body, show=("recognised",))
    journey.narrator.event(found["summary"])
    recognised = {move["tactic"]["id"]: move for move in found["recognised"]}
    journey.check(recognised["tac_final_offer_bluff"]["deceptive"], "It recognises the final-offer bluff by its words")
    answers = [item for item in found["items"] if "It answers" in item["why"]]
    journey.check(answers != [], "The suggestions contain an answer to it")
    suggested = {item["tactic"]["id"] for item in found["items"]}
    journey.check(not suggested & recognised.keys(), "It does not suggest the same deceptive tactic")


def _counter(journey: DemoContext, one: str, theirs: JsonObject, *, utterance: str | None = None) -> JsonObject:
    """Ask for the next move, make it, and return it."""
    move = _next_move(journey, one, utterance)
    journey.check(
        move["action"] == "counter"
        and abs(_worth(move["offer"]) - move["my_utility"]) < _EXACT
        and move["my_utility"] >= move["floor"],
        f"A counter worth {move['my_utility']:.2f}, not below the floor of {move['floor']:.2f}",
    )
    journey.narrator.step("Grace says it, and their agent records it.")
    body = {"by": "me", "kind": "counter", "package": move["offer"], "in_reply_to": theirs["id"]}
    members = ("seq", "status", "utility_me", "utility_them_estimate", "concession_me")
    made = journey.post(f"{one}/offers", body, status=201, show=members)
    journey.check(made["status"] == "live", f"Offer {made['seq']} is live")
    return move


def _next_move(journey: DemoContext, one: str, utterance: str | None = None) -> JsonObject:
    """Ask for the next move, and print what to say and why."""
    journey.narrator.step("What is the next move?")
    body = {} if utterance is None else {"utterance": utterance}
    move = journey.post(f"{one}/next-move", body, show=_MOVE_MEMBERS)
    journey.narrator.event(f"Say: “{move['say']}”")
    for reason in move["reasons"]:
        journey.narrator.event(f"Why: {reason}")
    return move


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
    members = ("seq", "status", "outside_range", "utility_me", "concession_them")
    return journey.post(f"{one}/offers", body, status=201, show=members)


def _agree(journey: DemoContext, one: str, theirs: JsonObject) -> None:
    move = _next_move(journey, one)
    journey.check(move["action"] == "accept", "An offer worth as much as the next ask is accepted")
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
    journey.check(stored == {**plan, "stale": True}, "The plan is stored unchanged and marked as stale")


def _package(section: JsonObject) -> OfferPackage:
    """The package of a plan's section, without the source of each value."""
    return {name: figure["value"] for name, figure in section["package"].items()}


def _plain(package: OfferPackage) -> str:
    return ", ".join(f"{name} {value}" for name, value in package.items())


NEGOTIATION = DemoChapter(
    "negotiation",
    "A whole negotiation",
    "Plan, offers, leverage, tactics, the next move: words to say, numbers that can be checked, limits that hold.",
    _negotiate,
)
