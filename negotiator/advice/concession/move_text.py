"""The facts that the sentences of a next move are made from: what to say, why, and what to find out.

The sentences are in `negotiator/advice/words/move.jinja`. `say` is for the other side and holds nothing private; all
else is for the user. It has at most six sentences.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import pairwise, takewhile
from typing import Any, Final

from negotiator.advice.concession.aims import MAX_STRETCH, Aims, value_of_worth
from negotiator.advice.concession.move import PersonMove
from negotiator.advice.concession.path import PathStep, ValueChange, taken_over
from negotiator.advice.concession.reading import Reading
from negotiator.advice.concession.reply import alternative_line, main_point, picker, reply_to
from negotiator.advice.hearing.hear import LIKELY, SURE, HeardOffer
from negotiator.advice.words.sentences import said, table
from negotiator.terms import limits
from negotiator.terms.issues import Issue, Package, Scalar, coordinate, same_value, worth_of
from negotiator.terms.plain_text import join_words, noun_phrase, tidy
from negotiator.terms.terms import SELLING_ROLES
from negotiator.terms.wording import Wording

_NOTHING: Final = Decimal(0)
MAX_SENTENCES: Final = 6
MAX_QUESTIONS: Final = 5
MAX_POINTS_NAMED: Final = 2
ROUNDED_STEP: Final = 1.02
"""A step counts as no larger than the one before up to this ratio: figures are rounded."""
HALF_WAY: Final = 0.45
"""From this share on, a step goes about half of the way."""
MAX_CHANGES_SAID: Final = 3
MAX_WHOLE_ISSUES: Final = 3
"""Offers of so few issues are said as a whole in a choice."""
"""Two offers are said together where they have at most so many changes between them."""
PRACTICAL: Final = frozenset({"fact", "timing"})
"""The kinds of questions that are answered along with a yes."""
_FIGURE: Final = re.compile(r"[0-9]")
_CONDITION: Final = re.compile(r"\b(?:if|provided|assuming|as long as|on condition)\b[^.;!?]*", re.IGNORECASE)
_TIMES: Final = ("twice", *(f"{n} times" for n in ("three", "four", "five", "six", "seven")))


@dataclass(frozen=True, slots=True)
class MissingInput:
    """Something that advice lacks: its name, the question that finds it out, and what the answer would change."""

    missing: str
    ask: str
    why: str


@dataclass(frozen=True, slots=True)
class CaseLines:
    """Lines of this kind of case: how to open and to leave, and a question that was not asked yet.

    Each is a text of whole sentences, empty where there is none.
    """

    opening: str = ""
    leave: str = ""
    question: str = ""


NO_LINES: Final = CaseLines()


def say(move: PersonMove, words: Wording, lines: CaseLines = NO_LINES, *, approval: bool = False) -> str:
    """What to say to the other side now, in at most six sentences. With `approval` nothing is agreed to yet."""
    terms, price, step, words = move.path.aims.terms, move.path.aims.terms.price, move.step, words.spoken
    reply, main = reply_to(move.path.aims, move.reading, words), main_point(terms)
    final = move.reading.heard.act("final")
    facts: dict[str, Any] = {
        **_facts(move, words),
        "lines": lines,
        "approval": approval,
        "approver": tidy(words.terms.authority.approver or ""),
        "price": price,
        "is_seller": terms.role in SELLING_ROLES,
        "alternative_line": alternative_line(move.path.aims, move.reading, words),
        "reply": reply,
        "thanks": thanks(move, words),
        "surely_final": move.reading.says_final and (final is None or final.chance >= SURE),
        "is_price_alone": set(move.reading.better) == ({price.name} if price is not None else set[str]()),
        "pick": picker(move.reading, terms),
        "news": _news(move, words),
        "promised": _promised(move),
        "their_condition": _condition(move),
        "answered": [one for one in reply.questions if move.action != "accept" or one.of in PRACTICAL],
        "wish": _wish(move),
        "main_point": noun_phrase(words.label(main)) if main is not None else "",
        "says_whole": _says_whole(move, words),
        "taken_over": taken_over(move.path.aims, move.reading.own, move.reading.their_last),
        "gives": partial(_gives, words),
        "traded": _traded(move),
        "choice": None if step is None else _choice_facts(move, step, words),
    }
    offer = said("move.say", **facts)
    if move.action == "counter" and not facts["corrects"] and move.why != "ask_if_agreed":
        offer = [*said("move.reaction", **facts)[: MAX_SENTENCES - len(offer)], *offer]
    return " ".join(dict.fromkeys(offer))


def _news(move: PersonMove, words: Wording) -> str:
    """The package as a noun, without what they offer just so themselves."""
    package, theirs = move.package or {}, move.reading.their_last or {}
    kept = {
        issue.name: package[issue.name]
        for issue in words.terms.issues
        if issue.name in package
        and (issue is words.terms.price or not same_value(issue.type, package[issue.name], theirs.get(issue.name)))
    }
    rest = ", with the rest as you offer it" if len(kept) < len(package) else ""
    return words.deal(kept, with_total=False) + rest if kept else ""


def _promised(move: PersonMove) -> str:
    """A promise in their last words that no issue of the deal contains, as a sentence."""
    said = _condition(move)
    return f"And as you said: “{said}”" if said and not _FIGURE.search(said) else ""


def _condition(move: PersonMove) -> str:
    """The condition in their last words, without what it is a condition of."""
    held = move.reading.heard.act("if")
    clause = _CONDITION.search(held.quote) if held is not None else None
    return "" if held is None else (clause.group() if clause else held.quote).strip().rstrip(".")


def reasons(move: PersonMove, words: Wording) -> list[str]:
    """Why this move, for the user: what happened, what the figures say, and what the move rests on."""
    aims, step = move.path.aims, move.step
    beyond = [
        aim for aim in aims.issues if aim.target is not None and not same_value(aim.issue.type, aim.target, aim.opening)
    ]
    alone = beyond[0] if beyond and len(aims.issues) == 1 else None
    left = move.path.steps[1:]
    message, last = move.reading.message, move.reading.their_last
    reply = reply_to(aims, move.reading, words)
    cost = move.trade.cost if move.trade else None
    return said(
        "move.reasons",
        **_facts(move, words),
        still=_standstill(move, words),
        size=_step_size(move, words),
        gained=_gained(move, words),
        alternative=_alternative(move),
        taken=[_heard_offer(one, aims, words) for one in message.taken],
        is_beside=bool(message.others),
        unsure=[_heard_offer(one, aims, words) for one in message.unsure if one.chance >= LIKELY],
        takes=last is not None and aims.is_acceptable(last),
        past_limit="" if last is None or aims.is_acceptable(last) else _past(aims, last, words),
        reply=reply,
        wish=_wish(move),
        beyond_target=[aim.issue.name for aim in beyond],
        price_of_beyond=alone and alone.issue,
        target_price=words.price(alone.issue, alone.target) if alone and alone.target is not None else "",
        is_larger=_is_larger(move),
        way=_way(move),
        steps_after=len(left),
        paid_for=[
            aim.issue.name
            for aim in aims.issues
            if aim.wanted == "paid" and step is not None and aim.issue in [one.issue for one in step.gives]
        ],
        is_last_round=aims.terms.max_rounds is not None and move.path.made + 1 >= aims.terms.max_rounds,
        trade_cost=words.money(words.roughly(words.amount_in_all(move.trade.package, cost)))
        if move.trade and cost
        else "",
        choice=step is not None and _choice(move, step) is not None,
        percent=_percent,
        points=_points,
    )


def cost(move: PersonMove, words: Wording) -> str:
    """What the package gives up, in money: against the user's last offer, and what is left to target and limit.

    Empty without a package, and where nothing of it can be said in money.
    """
    aims, package = move.path.aims, move.package
    if package is None:
        return ""
    worth = aims.worth(package)
    given = aims.worth(move.reading.own[-1]) - worth if move.reading.own else None
    gap = aims.target_utility - worth
    is_target = abs(gap) <= limits.TOLERANCE
    beyond = _beyond(aims, package)
    passes = worth > aims.own_floor and not limits.allowed_by(aims.own, package)
    has_limit, has_target = aims.terms.walk_away is not None and not passes, aims.terms.target is not None
    return " ".join(
        said(
            "move.cost",
            about="" if len(aims.issues) == 1 else "about ",
            gives_up_nothing=given is not None and given <= limits.TOLERANCE,
            given="" if given is None else _amount(move, given, words),
            is_target=has_target and is_target,
            is_short_of_target=gap > 0,
            off_target=_amount(move, abs(gap), words, beyond=beyond if gap < 0 else _NOTHING)
            if has_target and not is_target
            else "",
            is_past_limit=worth <= aims.own_floor,
            off_limit=_amount(move, abs(worth - aims.own_floor), words, beyond=beyond) if has_limit else "",
        )
    )


def summary(move: PersonMove, words: Wording) -> str:
    """The move in two or three sentences for the user."""
    return " ".join([*said("move.summary", **_facts(move, words)), *reasons(move, words)[:2]])


def assumptions(aims: Aims, words: Wording, package: Package | None, reading: Reading | None = None) -> list[str]:
    """What the move takes for granted, each as a sentence that the user can correct."""
    last: Package = (reading.their_last if reading else None) or {}
    carried = reading.carried if reading and last else ()
    unnamed = reading.unnamed if reading and last else ()
    total = words.total(package) if package else None
    found = said(
        "move.assumptions",
        aims=aims,
        words=words,
        carried=[
            f"{words.label(issue)} {words.value(issue, last[issue.name])}"
            for issue in aims.terms.issues
            if issue.name in carried and issue.name in last
        ],
        unnamed=[noun_phrase(words.label(issue)) for name in unnamed if (issue := aims.terms.issue(name)) is not None],
        total_assumption=total.assumption if total else "",
    )
    return list(dict.fromkeys(found))


def missing_inputs(
    aims: Aims, words: Wording, *, opened: bool = False, reading: Reading | None = None
) -> list[MissingInput]:
    """What advice lacks, in the order of what the answers would change. `opened`: the user has made an offer.

    Where their offers in the `reading` have a value beyond the user's limit on an issue, the first question is whether
    that could be traded.
    """
    terms, texts = aims.terms, table("questions")["for_the_move"]
    several = len(terms.issues) > 1
    reach = None if opened else _opening_reach(aims, words)
    lacking = {
        "target": terms.target is None,
        "their_estimate": terms.their_walk_away is None,
        "batna": terms.walk_away is not None and terms.batna is None,
        "baseline": terms.price is not None and not any(ground.is_fair for ground in aims.grounds),
        "weights": any(name.endswith("/weight") for name in terms.missing),
        "their_weights": several and any(issue.their_weight is None for issue in terms.issues),
        "deadline": terms.deadline is None and terms.max_rounds is None,
    }
    described = terms.batna_details is not None and bool(terms.batna_details.description)
    ask = {"batna": "ask_its_worth"} if described else {}
    why = {"their_estimate": "why_opened" if opened else "why_between" if reach else "why"}
    directions = [
        MissingInput(
            f"issues/{place}/direction",
            texts["direction"]["ask"].format(label=noun_phrase(words.label(issue))),
            texts["direction"]["why"],
        )
        for place, issue in enumerate(terms.issues)
        if f"issues/{place}/direction" in terms.missing
    ]
    found = [
        MissingInput(
            name,
            texts[name][ask.get(name, "ask")].format(them=words.them),
            texts[name][why.get(name, "why")].format(**reach or {}),
        )
        for name, is_lacking in lacking.items()
        if is_lacking
    ]
    trades = [
        MissingInput(
            f"issues/{place}/limit",
            texts["trade"]["ask"].format(value=words.phrase(issue, value), label=words.label(issue)),
            texts["trade"]["why"],
        )
        for place, issue in enumerate(terms.issues)
        if issue is not terms.price and issue.limit is None and issue.tradeable
        if (limit := limits.own_limit(terms, issue)) is not None
        for value in _wanted_values(issue, reading)
        if limits.falls_short(issue, value, limit)
    ]
    return [*trades[:1], *directions, *found][:MAX_QUESTIONS]


def _wanted_values(issue: Issue, reading: Reading | None) -> list[Scalar]:
    """The values of an issue that the other side offers or brings up."""
    if reading is None:
        return []
    packages = [*reading.theirs[-1:], *reading.message.others]
    brought_up = [one.value for one in issue.options] if reading.mentions(issue) else []
    return [*(one[issue.name] for one in packages if issue.name in one), *brought_up]


# Facts of a move


def _facts(move: PersonMove, words: Wording) -> dict[str, Any]:
    """What every template of a move may name."""

    def named(names: Sequence[str]) -> str:
        issues = [issue for name in names if (issue := words.terms.issue(name))]
        return join_words([noun_phrase(words.label(issue)) for issue in issues[:MAX_POINTS_NAMED]])

    return {
        "move": move,
        "reading": move.reading,
        "aims": move.path.aims,
        "words": words,
        "voice": words.voice,
        "deal": "" if move.package is None else words.deal(move.package),
        "plain_deal": "" if move.package is None else words.deal(move.package, with_total=False),
        "corrects": move.step is not None and _is_correction(move, move.step),
        "named": named,
    }


def _alternative(move: PersonMove) -> str:
    """The user's alternative as they described it."""
    details = move.path.aims.terms.batna_details
    return details.description or "" if details is not None else ""


def thanks(move: PersonMove, words: Wording) -> str:
    """What their last offer gave, after "thank you for": `coming down to €13,600`; empty where it gave nothing."""
    reading, terms = move.reading, move.path.aims.terms
    if reading.message.chosen:
        return words.objects(
            [(one, reading.message.chosen[one.name]) for one in terms.issues if one.name in reading.message.chosen]
        )
    last, before = reading.their_last, reading.theirs[-2:-1]
    if last is None or not before or reading.their_step <= 0 or reading.message.rows:
        return ""
    better = [issue for name in reading.better if (issue := terms.issue(name)) is not None]
    price = [issue for issue in better if issue is terms.price]
    rest = [(issue, last[issue.name]) for issue in better if issue is not terms.price][:MAX_POINTS_NAMED]
    came = [
        f"coming {'up' if one.direction == 'higher' else 'down'} to {words.price(one, last[one.name])}" for one in price
    ]
    return join_words([*came, *([f"agreeing to {words.objects(rest)}"] if rest else [])])


def _says_whole(move: PersonMove, words: Wording) -> bool:
    """Whether the offer has to be said in full: elsewhere they stand on an issue without a step, not just named."""
    step, theirs = move.step, move.reading.their_last
    if step is None or theirs is None:
        return step is not None and len(step.package) > len(step.gives)
    given = {one.issue.name for one in step.gives}
    rest = [issue for issue in move.path.aims.terms.issues if issue.name in step.package and issue.name not in given]
    last = "".join(move.reading.said[-1:])
    return any(
        not same_value(issue.type, step.package[issue.name], theirs.get(issue.name))
        and words.phrase(issue, step.package[issue.name]) not in last
        for issue in rest
    )


def _heard_offer(one: HeardOffer, aims: Aims, words: Wording) -> dict[str, str]:
    """An offer in their words, for the user: what it is, the quote, and how far it is past the limit."""
    return {
        "deal": words.deal(one.package, with_total=False),
        "quote": one.quote,
        "past": _past(aims, one.package, words),
    }


def _past(aims: Aims, package: Package, words: Wording) -> str:
    """How far a package is past the user's limit, in money; empty where it is not."""
    gap = limits.shortfall(aims.own, package, binding=False)
    return words.difference(package, gap) if gap is not None and gap > 0 else ""


def _wish(move: PersonMove) -> str:
    """What the user wished for along with a yes, unless their words already have it."""
    heard = " ".join(act.quote for act in move.reading.heard.acts).lower()
    wishes = (one.fact for one in move.path.aims.terms.arguments if one.kind == "wish" and one.shareable)
    return next((tidy(one).rstrip(".") for one in wishes if one.lower() not in heard), "")


def _traded(move: PersonMove) -> dict[str, list[tuple[Issue, Any]]]:
    """What an allowed trade gives, and what it asks for that."""
    if move.trade is None:
        return {}
    known = {issue.name: issue for issue in move.path.aims.terms.issues}
    allowed = move.trade.allowed
    return {
        "given": [(known[allowed.issue], allowed.to)],
        "asked": [(known[name], value) for name, value in allowed.in_return.items() if name in known],
    }


def _choice(move: PersonMove, step: PathStep) -> Package | None:
    """The first alternative that can be said in one sentence with the step."""
    for package in step.alternatives:
        if len(step.gives) + len(_changes(move, package)) <= MAX_CHANGES_SAID:
            return package
    return None


def _choice_facts(move: PersonMove, step: PathStep, words: Wording) -> dict[str, Any] | None:
    """The step and another offer of equal worth as a choice; what they choose shows what they value."""
    other = _choice(move, step)
    named = {issue.name for issue in move.path.aims.terms.issues if move.reading.mentions(issue)}
    if other is None or named & {one.issue.name for one in _changes(move, other) if one.issue.type != "money"}:
        return None
    touched, offers = {one.issue.name for one in step.gives}, list[str]()
    is_short = len(step.package) <= MAX_WHOLE_ISSUES
    theirs, price = move.reading.their_last or {}, move.path.aims.terms.price
    said_of = {
        issue.name
        for issue in move.path.aims.terms.issues
        if issue is price
        or not same_value(issue.type, step.package[issue.name], other[issue.name])
        or not same_value(issue.type, step.package[issue.name], theirs.get(issue.name))
    }
    for package in (step.package, other):
        changes = _changes(move, package)
        touched |= {one.issue.name for one in changes}
        total = words.total(package)
        change = _gives(words, changes) + (f" ({words.money(total.amount)} {total.scope})" if total else "")
        told = {name: value for name, value in package.items() if name in said_of}
        offers.append(words.deal(told, with_total=False) if is_short else change)
    asked = step.ask.issue if step.ask is not None else None
    return {
        "offers": offers,
        "verb": "offer" if is_short else "",
        "touches_ask": asked is not None and asked.name in touched,
        "leaves_rest": not is_short and len(step.package) > len(touched),
    }


def _changes(move: PersonMove, after: Package) -> list[ValueChange]:
    """What a package changes in the one that the user stands at."""
    before = move.path.now.package
    return [
        ValueChange(issue, before[issue.name], after[issue.name])
        for issue in move.path.aims.terms.issues
        if issue.name in after and not same_value(issue.type, before[issue.name], after[issue.name])
    ]


def _gives(words: Wording, changes: Sequence[ValueChange]) -> str:
    """What the user can do: `go up to €46 per seat`, `agree to a term of 24 months instead of 12`, or both."""
    goals: dict[str, list[str]] = {"go up": [], "come down": []}
    for one in changes:
        if one.issue.type == "money":
            before, after = (coordinate("money", value) for value in (one.before, one.after))
            rises = before is not None and after is not None and after > before
            goals["go up" if rises else "come down"].append(f"to {words.price(one.issue, one.after)}")
    done = [f"{direction} {join_words(prices)}" for direction, prices in goals.items() if prices]
    own = [one for one in changes if words.is_own(one.issue, one.after)]
    done += [f"take care of {join_words([noun_phrase(words.label(one.issue)) for one in own])}"] if own else []
    rest = [one for one in changes if one.issue.type != "money" and one not in own]
    before = {one.issue.name: one.before for one in rest}
    agreed = words.objects([(one.issue, one.after) for one in rest], before) if rest else ""
    return join_words([*done, *([f"agree to {agreed}"] if agreed else [])])


def _is_correction(move: PersonMove, step: PathStep) -> bool:
    """Whether the user's last offer broke a limit, so that the package takes something back."""
    own, aims = move.reading.own, move.path.aims
    if not own or move.trade is not None or aims.is_acceptable(own[-1]):
        return False
    return any(
        (worth_of(aim.issue, step.package[aim.issue.name]) or 0.0)
        > (worth_of(aim.issue, own[-1][aim.issue.name]) or 0.0)
        for aim in aims.issues
    )


def _standstill(move: PersonMove, words: Wording) -> dict[str, Any] | None:
    """An offer that they repeat: how often, and where it lies to the user's limit; None for one that is new."""
    theirs, aims = move.reading.theirs, move.path.aims
    times = len([*takewhile(lambda one: one == theirs[-1], reversed(theirs))])
    if times < 2:
        return None
    price, last = aims.price, theirs[-1]
    gap = limits.shortfall(aims.own, last, binding=True)
    return {
        "price": words.price(price, last[price.name]) if price is not None and len(aims.issues) == 1 else "",
        "often": _TIMES[times - 2] if times - 2 < len(_TIMES) else f"{times} times",
        "is_acceptable": aims.is_acceptable(last),
        "past": words.difference(last, gap) if gap is not None and gap > 0 else "",
    }


def _step_size(move: PersonMove, words: Wording) -> str:
    """Their step: from which price to which where only the price is open, else what it is worth to the user."""
    aims, theirs, step = move.path.aims, move.reading.theirs, move.reading.their_step
    price = aims.price
    if step <= 0:
        return ""
    if price is not None and len(aims.issues) == 1:
        before, after = (words.price(price, one[price.name]) for one in theirs[-2:])
        return f"came {'up' if price.direction == 'higher' else 'down'} from {before} to {after}"
    amount = _amount(move, step, words)
    return f"made a step worth about {amount} to you" if amount else ""


def _gained(move: PersonMove, words: Wording) -> str:
    """How much better than the walk-away the package is that is accepted."""
    aims, package = move.path.aims, move.package
    if package is None or aims.floor < 0:
        return ""
    amount = _amount(move, aims.worth(package) - aims.own_floor, words, beyond=_beyond(aims, package))
    return f"about {amount}" if amount and len(aims.issues) > 1 else amount


def _amount(move: PersonMove, utility: float, words: Wording, *, beyond: Decimal = _NOTHING) -> str:
    """A utility, with an amount `beyond` it, as money; in all where a total is known.

    Empty without a plain price, or for next to none. With several issues it is rounded to two figures: it only stands
    for something that is no money.
    """
    aims, package = move.path.aims, move.package or move.path.now.package
    price, amount = aims.terms.price, aims.terms.money_of_utility(utility)
    if price is None or price.range is None or amount is None:
        return ""
    if not Decimal("0.01") <= amount <= price.range.max - price.range.min:
        return ""
    return words.amount(package, amount + beyond)


def _beyond(aims: Aims, package: Package) -> Decimal:
    """How far a price that is the only issue lies beyond the best end of its range, where utility grows no more."""
    price = aims.terms.price
    at = None if price is None else coordinate(price.type, package.get(price.name))
    if price is None or price.range is None or at is None or len(aims.issues) > 1:
        return _NOTHING
    over = price.range.min - at if price.direction == "lower" else at - price.range.max
    return max(over, _NOTHING)


def _is_larger(move: PersonMove) -> bool:
    """Whether the step is larger than the user's last one."""
    worths = [move.path.aims.worth(one) for one in (*move.reading.own, move.package or {})]
    steps = [a - b for a, b in pairwise(worths) if a - b > limits.TOLERANCE]
    return len(steps) > 1 and steps[-1] > steps[-2] * ROUNDED_STEP


def _way(move: PersonMove) -> str:
    """How much of the way to their offer a step goes, in words."""
    aims, theirs = move.path.aims, move.reading.their_last
    if theirs is None or move.step is None:
        return "part of the way"
    gap = move.path.now.utility - aims.worth(theirs)
    return "about half of the way" if move.step.given > HALF_WAY * gap else "less than half of the way"


def _opening_reach(aims: Aims, words: Wording) -> dict[str, str] | None:
    """The prices between which the opening may lie, by how far the other side can go; None where there is one only."""
    price = aims.terms.price
    aim = next((one for one in aims.issues if one.issue is price), None)
    if price is None or aim is None or len(aim.values) < 2 or aim.target is None or aim.limit is None:
        return None
    goal, least = worth_of(price, aim.target), worth_of(price, aim.limit)
    if goal is None or least is None:
        return None
    far = value_of_worth(aims.terms, price, min(1.0, goal + MAX_STRETCH * (goal - least)))
    if far is None or coordinate(price.type, far) == coordinate(price.type, aim.target):
        return None
    return {"near": words.value(price, aim.target), "far": words.value(price, far)}


def _percent(share: float) -> str:
    """A share as people say it: in steps of five, `under 5%` at the lower end."""
    points = _points(share)
    return "under 5%" if points < 5 else f"about {points}%"


def _points(share: float) -> int:
    return min(round(share * 20) * 5, 95)
