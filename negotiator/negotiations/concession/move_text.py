"""The words of a next move: what to say, why, and what to find out.

`say` is for the other side and holds nothing private; all else is for the user.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from negotiator.negotiations.concession.acceptance import RoundValue
from negotiator.negotiations.concession.aims import MAX_STRETCH, Aims, value_of_worth
from negotiator.negotiations.concession.move import PersonMove
from negotiator.negotiations.concession.path import PathStep, StepAsk, money_of_utility
from negotiator.negotiations.issues import Issue, Package, Scalar, coordinate, worth_of
from negotiator.negotiations.wording import Wording, join_words, sentence

MIN_WORTH_SAID: Final = Decimal("0.01")
MAX_QUESTIONS: Final = 4

_REACTIONS: Final = {
    "moved_a_lot": "Thank you, that is a real step.",
    "moved": "Thank you, that helps.",
    "moved_a_little": "Thank you for the step; there is still a way to go.",
    "moved_elsewhere": "I see what you gave and what you took back.",
    "did_not_move": "It sounds like this is hard for you.",
}
_HAPPENED: Final = {
    "moved_a_lot": "They made a large step. Thank them and answer with a smaller one: it works without you.",
    "moved": "They made a step of about the size of yours, so yours follows.",
    "moved_a_little": "They moved only a little, so the answer is smaller than planned.",
    "moved_elsewhere": "They gave on one point and took back on another; what counts is the whole.",
    "did_not_move": "They did not move. Ask what makes it hard, and give little until they do.",
    "moved_back": "They went back. Do not follow: name what was on the table and keep your offer.",
    "took_back": "They withdrew their offer. Ask what changed, and keep yours as it is.",
    "they_are_silent": "They have not answered your last offer. Wait, and do not bid against yourself.",
    "extreme_opening": "Their opening is far beyond your limit. Do not bargain from it: name yours, with its reason.",
    "they_opened": "They named their figure; answer with yours and its reason.",
}


@dataclass(frozen=True, slots=True)
class MissingInput:
    """Something that advice lacks: its name, the question that finds it out, and what the answer would change."""

    missing: str
    ask: str
    why: str


def say(move: PersonMove, words: Wording) -> str:
    """What to say to the other side now."""
    voice = words.voice
    if move.action == "accept" and move.package is not None:
        return (
            f"That works for {voice.me}: {words.package(move.package)}. Let us put it in writing."
        )
    if move.action == "walk_away" or move.step is None:
        return (
            f"Thank you for your time. As it stands {voice.i} cannot make it work. "
            f"If something changes on your side, {voice.i} would be glad to hear from you."
        )
    text = _offer_sentence(move, move.step, words)
    return " ".join(sentence(part) for part in (*_reaction(move, words), *text) if part)


def _offer_sentence(move: PersonMove, step: PathStep, words: Wording) -> list[str]:
    voice, package = words.voice, words.package(step.package)
    happening = move.reading.happening
    if move.why == "opening":
        if happening == "extreme_opening":
            return [
                f"{voice.i} cannot answer that figure, we are too far apart: what is it based on?",
                f"What {voice.i} can see is {package}",
            ]
        return [
            f"What {voice.i} have in mind is {package}",
            "How does that sit with you?",
        ]
    if move.trade is not None:
        issue = move.path.aims.terms.issue(move.trade.allowed.issue)
        given = words.phrase(issue, move.trade.allowed.to) if issue else ""
        asked = join_words(
            [
                words.phrase(one, value)
                for name, value in move.trade.allowed.in_return.items()
                if (one := move.path.aims.terms.issue(name))
            ]
        )
        return [f"If you can do {asked}, {voice.i} can go to {given}", f"That makes {package}"]
    if move.why == "hold":
        return _hold(move, step, words)
    ask = _ask_clause(step.ask, words)
    gives = join_words(
        [f"{_named(c.issue, words)}{words.change(c.issue, c.before, c.after)}" for c in step.gives]
    )
    if move.why == "last_offer":
        return [f"This is as far as {voice.i} can go: {package}", "Can we settle on that today?"]
    return [f"If you {ask}, {voice.i} can go to {gives}", _whole(step, words)]


def _whole(step: PathStep, words: Wording) -> str:
    return f"Together that is {words.package(step.package)}" if len(step.package) > 1 else ""


def _named(issue: Issue, words: Wording) -> str:
    """The label before a change of value where the value alone does not tell what it is about."""
    return (
        ""
        if issue.type == "money"
        else f"{words.label(issue)}: "
        if issue.type in {"enum", "date", "percent"}
        else ""
    )


def _ask_clause(ask: StepAsk | None, words: Wording) -> str:
    voice = words.voice
    if ask is None or ask.kind == "movement":
        return f"meet {voice.me} with a step of your own"
    if ask.kind == "close" or ask.issue is None:
        return "can settle it today"
    return f"agree to {words.phrase(ask.issue, ask.value)}"


def _hold(move: PersonMove, step: PathStep, words: Wording) -> list[str]:
    voice, package = words.voice, words.package(step.package)
    match move.reading.happening:
        case "they_are_silent":
            return [
                f"Have you had a chance to think about {package}?",
                "What would you need to say yes?",
            ]
        case "moved_back" | "took_back":
            theirs = move.reading.theirs
            before = (
                theirs[-2] if move.reading.happening == "moved_back" and len(theirs) > 1 else None
            )
            had = (
                f"You had {words.package(before, with_total=False)} on the table" if before else ""
            )
            return [had, "What changed?", f"{voice.my} offer stands: {package}"]
        case _:
            return [
                f"{package} is as far as {voice.i} can go",
                "What would it take for you to say yes to that?",
            ]


def _reaction(move: PersonMove, words: Wording) -> list[str]:
    reading, voice = move.reading, words.voice
    said: list[str] = []
    if reading.asks_limit:
        said.append(
            f"{voice.i} would rather not bargain over limits; let us look at what works for both of us"
        )
    if reading.proposes_split:
        said.append(
            "Splitting the difference rewards the side that started further out, so let us look at the reasons instead"
        )
    if reading.says_final:
        said.append("I hear that this is your last word. Before we leave it there, one thought")
    elif reading.names_deadline:
        said.append("What happens after that date?")
    if not said and move.why != "opening":
        said.append(_REACTIONS.get(reading.happening, ""))
        if reading.happening == "did_not_move":
            said.append("What makes it hard to move?")
    if move.why == "opening" and reading.happening == "they_opened":
        said.append("Thank you, that helps me to see where you stand")
    return said


def reasons(move: PersonMove, words: Wording) -> list[str]:
    """Why this move, for the user: what happened, what the figures say, and what the move rests on."""
    found: list[str] = []
    happened = _HAPPENED.get(move.reading.happening)
    if move.action == "accept":
        found += _why_accept(move, words)
    elif move.action == "walk_away":
        found += _why_leave(move, words)
    else:
        found += [happened] if happened else []
        found += _why_counter(move, words)
    if move.reading.names_deadline and move.action == "counter":
        found.append(
            "They named a deadline. Ask what happens after it, and keep your pace: it is theirs, not yours."
        )
    if move.reading.says_final and move.action == "counter":
        found.append(
            "They call it final. Many final words still move; one more reasoned offer is worth its risk here."
        )
    if move.reading.asks_limit:
        found.append(
            "They ask for your bottom line. Do not name it: every figure you give becomes the start."
        )
    return [sentence(one) for one in found]


def _why_counter(move: PersonMove, words: Wording) -> list[str]:
    aims, found = move.path.aims, list[str]()
    if move.why == "opening":
        found += [ground.text for ground in aims.grounds[:2]]
        found.append(_opening_reason(aims, words))
    elif move.why == "step":
        left = len(move.path.steps) - 1
        found.append(_steps_left(left))
    elif move.why == "hold" and not move.path.steps:
        found.append(
            "You have given what you planned to give. What is left is for closing, not for offering."
        )
    elif move.why == "last_offer":
        found.append("It is your last offer in the agreed rounds.")
    elif move.trade is not None:
        cost = move.trade.cost
        amount = words.amount_in_all(move.trade.package, cost) if cost else None
        price = f" It costs you about {words.money(amount)} against your limit." if amount else ""
        found.append(f"You allowed passing your limit on this for what you get in return.{price}")
    if move.round is not None and move.reading.theirs:
        found.append(_chance_sentence(move.round))
    return found


def _steps_left(count: int) -> str:
    if count < 1:
        return "After this there is little left to give."
    return (
        "One smaller step is left after this one."
        if count == 1
        else f"About {count} smaller steps are left after this one."
    )


def _chance_sentence(value: RoundValue) -> str:
    if _points(value.high) < 10:
        return "They are not likely to take it yet; it is a step on the way."
    return (
        f"The chance that they take it is {_percent(value.chance)} "
        f"(somewhere between {_points(value.low)} and {_points(value.high)} %)."
    )


def _opening_reason(aims: Aims, words: Wording) -> str:
    at_target = {
        aim.issue.name: aim.opening if aim.target is None else aim.target for aim in aims.issues
    }
    if at_target == aims.opening:
        return "It is your target."
    return "It is a little beyond your target, so that you have something to give."


def _why_accept(move: PersonMove, words: Wording) -> list[str]:
    aims, table = move.path.aims, move.package
    found: list[str] = []
    if table is not None:
        better = aims.worth(table) - max(aims.floor, 0.0)
        amount = money_of_utility(aims, better)
        if amount is not None and amount >= MIN_WORTH_SAID and len(aims.issues) == 1:
            found.append(f"It is {words.money(amount)} better than your walk-away.")
    match move.why:
        case "at_least_ask":
            found.append("It is worth about as much to you as what you would ask next, or more.")
        case "no_round_left":
            found.append(
                "No further offer of yours would be answered, and it is better than no deal."
            )
        case "no_room":
            found.append("Nothing that you listed is worth more and keeps your limits.")
        case _:
            risk = (
                ""
                if move.round is None
                else (
                    f" The risk that they leave in one more round is {_percent(move.round.risk)}."
                )
            )
            found.append(f"One more round is not expected to bring more than it could cost.{risk}")
    return found


def _why_leave(move: PersonMove, words: Wording) -> list[str]:
    found = {
        "below_floor_no_round": ["No round is left, and their offer is worse than no deal."],
        "no_room": ["No package keeps your limits and is worth as much as no deal."],
    }.get(move.why, ["They have not moved for some time, and their offer is worse than no deal."])
    batna = move.path.aims.terms.batna_details
    if batna is not None and batna.description:
        found.append(f"You have another way: {batna.description}")
    found.append("Leave the door open: a talk that ends politely can be taken up again.")
    return found


def summary(move: PersonMove, words: Wording) -> str:
    """The move in two or three sentences for the user."""
    if move.action == "accept" and move.package is not None:
        head = f"Accept: {words.package(move.package)}."
    elif move.action == "walk_away" or move.step is None:
        head = "Leave the table, politely."
    elif move.why == "hold":
        head = f"Stay at {words.package(move.step.package)}."
    elif move.why == "opening":
        head = f"Open with {words.package(move.step.package)}."
    else:
        head = f"Offer {words.package(move.step.package)}."
    return " ".join([sentence(head), *reasons(move, words)[:2]])


def assumptions(aims: Aims, words: Wording, package: Package | None) -> list[str]:
    """What the move takes for granted, each as a sentence that the user can correct."""
    found = list(aims.assumptions)
    found += [
        f"You named no limit on {words.label(aim.issue)}; the path goes no further than "
        f"{words.value(aim.issue, aim.last)}."
        for aim in aims.issues
        if aim.limit is None and len(aim.values) > 1 and len(aims.issues) > 1
    ]
    total = words.total(package) if package else None
    if total is not None and total.assumption:
        found.append(total.assumption)
    return [sentence(one) for one in dict.fromkeys(found)]


def missing_inputs(aims: Aims, words: Wording) -> list[MissingInput]:
    """What advice lacks, in the order of what the answers would change."""
    terms = aims.terms
    found: list[MissingInput] = []
    them = words.them
    if terms.target is None:
        found.append(
            MissingInput(
                "target",
                "What result would you call a success, and why is it realistic?",
                "The opening and every step start from it.",
            )
        )
    if terms.their_walk_away is None:
        found.append(
            MissingInput(
                "their_estimate",
                f"How far could {them} go at most? Who has dealt with them before?",
                _estimate_effect(aims, words),
            )
        )
    if terms.walk_away is not None and terms.batna is None:
        found.append(
            MissingInput(
                "batna",
                "What exactly do you do if there is no deal, and what is that worth?",
                "It decides when leaving is better, and gives you a sentence to say.",
            )
        )
    several = len(terms.issues) > 1
    if several and any(issue.weight_given is None for issue in terms.issues):
        found.append(
            MissingInput(
                "weights",
                "Which of the points matters most to you, and by how much?",
                "It decides what you give first and what you hold.",
            )
        )
    if several and any(issue.their_weight is None for issue in terms.issues):
        found.append(
            MissingInput(
                "their_weights",
                f"Which of the points matters most to {them}?",
                "It finds trades that cost you little and bring them much.",
            )
        )
    if terms.deadline is None and terms.max_rounds is None:
        found.append(
            MissingInput(
                "deadline",
                "By when must it be settled, on either side?",
                "It sets the pace of your steps.",
            )
        )
    return found[:MAX_QUESTIONS]


def _estimate_effect(aims: Aims, words: Wording) -> str:
    price = aims.terms.price
    aim = next((one for one in aims.issues if one.issue is price), None)
    if price is None or aim is None or len(aim.values) < 2:
        return "It decides how far beyond your target you can open, and when to accept."
    furthest = _furthest_opening(aims, price, aim.target, aim.limit)
    near = aim.target if aim.target is not None else aim.opening
    if furthest is None or coordinate(price.type, furthest) == coordinate(price.type, near):
        return "It decides how far beyond your target you can open, and when to accept."
    return (
        f"It decides where to open, anywhere between {words.value(price, near)} and "
        f"{words.value(price, furthest)}, and when to accept."
    )


def _furthest_opening(
    aims: Aims, price: Issue, target: Scalar | None, limit: Scalar | None
) -> Scalar | None:
    goal, least = (None if value is None else worth_of(price, value) for value in (target, limit))
    if goal is None or least is None:
        return None
    return value_of_worth(aims.terms, price, min(1.0, goal + MAX_STRETCH * (goal - least)))


def _percent(share: float) -> str:
    """A share as people say it: in steps of five, `under 5 %` at the lower end."""
    points = _points(share)
    return "under 5 %" if points < 5 else f"about {points} %"


def _points(share: float) -> int:
    return min(round(share * 20) * 5, 95)
