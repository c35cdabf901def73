"""The next move with a person across the table.

What is on the table is weighed against one more round. What the other side may still give is taken as exponentially
distributed. Its mean follows from their steps, which shrink, and from the user's estimate of their limit. A round more
may also end the talk.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Final, Literal

from negotiator.advice.concession.aims import Aims, Evidence, Style, Wanted, find_aims, with_assumed_ranges
from negotiator.advice.concession.path import (
    ConcessionPath,
    PathStep,
    PricedTrade,
    StepAsk,
    ValueChange,
    concession_path,
    next_step,
    priced_trades,
)
from negotiator.advice.concession.reading import Reading, as_taken_up, hear_message, read_talk
from negotiator.advice.leverage.concessions import LedgerOffer, completed_offers
from negotiator.terms.issues import Issue, Package, same_value, worth_of
from negotiator.terms.terms import Terms, days_left
from negotiator.terms.utility import is_complete

LEAST_ANSWER: Final = 0.5
"""A small step of theirs is answered with at least this share of the planned one."""
UNMOVED_ANSWERS: Final = (0.4, 0.8, 1.0)
"""Shares of the planned step while they do not move: at first a small one, with a reason."""
MAX_OFFERS: Final = 200
"""The latest offers that are read; people make far fewer."""
HOLDS: Final = frozenset({"they_are_silent", "moved_back", "took_back"})
PATIENCE: Final = 3
"""After this many of their offers without a movement, and nothing of the path left, the user leaves."""
REPEATS_TAKEN: Final = 2
"""An offer within the limits is taken when they repeated it so often: more steps of the user's would answer nothing."""
UNANSWERED_STEPS: Final = 2
"""So many steps of the user meet no movement; then the offer stands once more, and the talk ends."""
CLOSING_STEPS: Final = 2
"""In how many steps the rest is spent when the planned steps are used up."""
CLOSING_OFFERS: Final = 2
"""In the last two of the stated rounds the user meets an offer that they could take half-way."""
MAX_HOLDS: Final = 2
"""While they move and call each offer final, so many are answered without a step."""
MATCHED: Final = 0.8
"""A step that is larger than the user's last one answers at most this share of theirs."""
CLOSING_MATCH: Final = 1.5
"""The last offer but one gives at most so many times their last step."""
FINAL_SHARE: Final = 0.75
"""When they first repeat a final offer beyond the limit, the user goes half of the way to it, and at most this share of
the way that is left: the rest is for their answer, and nothing tells where the limit is."""
CLOSE_ENOUGH: Final = 0.03
"""An offer that is short of the next ask by this share of the way from the walk-away to the opening is taken."""

WANTED_PULLS: Final[Mapping[Wanted, float]] = {"asked": 1.5, "invited": 1.8, "paid": 2.0}
"""How much more an issue matters to them at least: one on which they ask for another value, one that they bring up in
words, and one for which they gave more on the price than it costs the user."""
STEP_DECAY: Final = 0.5
"""Median ratio of a step to the one before in 1,299 price talks (CraigslistBargain)."""
KEPT_OFFERS: Final = 3
"""Whoever keeps a value of an issue for so many offers wants it more than the user does, as far as anything shows."""
PRIOR_STEPS: Final = 1
"""What is expected before their second figure counts as much as so many of their steps."""
MOST_DECAY: Final = 0.85
FIRST_ROOM: Final = 0.5
"""Before their second figure: the share of the way from their offer to the user's target that they may still give."""
FINAL_DISCOUNT: Final = 0.4
"""How much of the expected room a final word leaves: some are true."""
DOUBT: Final = (0.5, 2.0)
"""The ends of the interval of an acceptance probability: half and twice the expected room."""
WALK_OUT: Final = 0.05
"""Chance that they leave in a round anyway."""
WALK_OUT_UNMOVED: Final = 0.04
"""Added for each of the latest rounds without a movement of either side."""
WALK_OUT_FINAL: Final = 0.15
WALK_OUT_LAST: Final = 0.25
"""Added when the stated rounds or the time are nearly over."""
TAKEN_POWER: Final = 2.0
LEAST_CHANCE: Final = 0.01
"""Nobody knows better than one in a hundred that an offer will not be taken."""
OPENING_TAKEN: Final = 0.15
"""An offer that they could take with a chance of .65 was taken at once in two of five talks, one of .3 in none of ten,
and no first offer in thirty (`tests/bench/haggling`)."""
COUNTER_SHARE: Final = 0.35
"""How often they answer an offer that they could accept with one more counter-offer."""

Why = Literal[
    "opening",
    "step",
    "hold",
    "final_step",
    "last_offer",
    "middle",
    "allowed_trade",
    "they_agree",
    "ask_if_agreed",
    "is_gone",
    "at_least_ask",
    "repeated_final",
    "not_worth_a_round",
    "stands_still",
    "no_round_left",
    "below_floor_no_round",
    "stuck_below_floor",
    "no_room",
]


@dataclass(frozen=True, slots=True)
class RoundValue:
    """One more round: the chance that they take the next offer, its interval, the risk that they leave, and its worth.

    `value` is the expected utility of going on with the next offer.
    """

    chance: float
    low: float
    high: float
    risk: float
    value: float


@dataclass(frozen=True, slots=True)
class PersonMove:
    """The advice: accept their offer, counter with `step`, or walk away.

    `why` is the rule that decided. `round` is the value of one more round, None where none was weighed. `trade` is the
    allowed trade that the offer uses, if any.
    """

    action: Literal["accept", "counter", "walk_away"]
    why: Why
    path: ConcessionPath
    reading: Reading
    step: PathStep | None = None
    package: Package | None = None
    round: RoundValue | None = None
    trade: PricedTrade | None = None


def person_move(
    terms: Terms,
    offers: Sequence[LedgerOffer],
    *,
    now: int,
    on_table: Package | None,
    style: Style = "balanced",
    words: str | None = None,
    answer: str | None = None,
    refused: bool = False,
    evidence: tuple[Evidence, ...] = (),
    own: Terms | None = None,
) -> PersonMove:
    """The next move of a negotiation.

    `now` is in milliseconds since the epoch. `on_table` is their offer that can be accepted, complete, or None. `words`
    is what they said with it, `answer` what they say now, after the last of the `offers`, and `refused` whether that is
    a no. `own` has the user's limits where they allowed `terms` to go beyond them. Never proposes or accepts anything
    below the walk-away.
    """
    offers = sorted(offers, key=lambda row: row.seq)[-MAX_OFFERS:]
    message = hear_message(with_assumed_ranges(terms)[0], offers, words)
    offers = as_taken_up(terms, offers)
    heard = message.added_to(offers)
    packages = [*(row.package for row in heard), *message.others]
    aims = find_aims(terms, style=style, evidence=evidence, offered=packages, own=own)
    left = days_left(terms.deadline, now)
    if message.rows:
        on_table = _completed(terms, heard)
    standing = on_table is not None or not _is_last_whole(terms, heard)
    reading = read_talk(aims, offers, on_table=standing, usual_step=0.0, message=message)
    aims = with_learned_pulls(aims, reading)
    path = concession_path(
        aims,
        reading.own,
        style=style,
        days_left=left,
        their_last=reading.their_last,
        growth=_growth(reading),
        chosen=message.chosen,
    )
    usual = path.steps[0].given if path.steps else 0.05
    reading = read_talk(aims, offers, on_table=standing, usual_step=usual, words=words, answer=answer, message=message)
    reading = replace(reading, refused=refused)
    return _decide(aims, path, reading, on_table, style=style, days_left=left)


def _completed(terms: Terms, offers: Sequence[LedgerOffer]) -> Package | None:
    """Their last offer, completed by their earlier ones, where it names every issue."""
    rows = [row.package for row in completed_offers(offers) if row.by == "them"]
    return rows[-1] if rows and is_complete(terms.issues, rows[-1]) else None


def with_learned_pulls(aims: Aims, reading: Reading) -> Aims:
    """The aims with what the other side would pay for an issue, where their offers and conditions show it.

    Two packages that differ in the price and in one other issue give their rate of exchange; that rate over the user's
    own is how much more the issue matters to them. An issue on which they ask for something else matters somewhat more.
    """
    price, last = aims.price, reading.their_last
    if last is not None and reading.own:
        wanted = [last, *(one.package for one in reading.message.taken)]
        target = aims.terms.target.package if aims.terms.target is not None else None
        hoped = {**reading.own[-1], **(target or {})}
        asked = {
            aim.issue.name
            for aim in aims.issues
            if aim.issue is not price and any(_asks_for(aim.issue, one, hoped) for one in wanted)
        }
        invited = {a.issue.name for a in aims.issues if a.issue is not price and reading.mentions(a.issue)}
        wanted_as: dict[str, Wanted] = {
            **dict.fromkeys(asked, "asked"),
            **dict.fromkeys(invited, "invited"),
            **dict.fromkeys((_paid_for(aims, reading.theirs) & asked) | _kept(aims, reading), "paid"),
        }
        raised = (
            replace(a, pull=max(a.pull, WANTED_PULLS[how]), wanted=how) if (how := wanted_as.get(a.issue.name)) else a
            for a in aims.issues
        )
        aims = replace(aims, issues=tuple(raised))
    names = {aim.issue.name for aim in aims.issues}
    packages = [one for one in (*reading.theirs[-1:], *reading.message.others) if names <= one.keys()]
    if price is None or len(packages) < 2 or price.weight <= 0:
        return aims
    found = dict[str, float]()
    for one, other in combinations(packages, 2):
        differ = [a.issue for a in aims.issues if not same_value(a.issue.type, one[a.issue.name], other[a.issue.name])]
        rest = [issue for issue in differ if issue is not price]
        if len(rest) == 1 and len(differ) == 2:
            mine, paid = (
                issue.weight * ((worth_of(issue, one[issue.name]) or 0.0) - (worth_of(issue, other[issue.name]) or 0.0))
                for issue in (rest[0], price)
            )
            if mine * paid < 0:
                found[rest[0].name] = abs(paid / mine)
    issues = tuple(replace(aim, pull=found.get(aim.issue.name, aim.pull)) for aim in aims.issues)
    return replace(aims, issues=issues)


def _paid_for(aims: Aims, theirs: Sequence[Package]) -> set[str]:
    """The issues on which they asked for more while they gave at least as much on the price as that costs the user."""
    price, found = aims.price, set[str]()
    for before, after in pairwise(theirs):
        gains = {
            issue.name: issue.weight * (_worth(issue, after) - _worth(issue, before))
            for issue in (aim.issue for aim in aims.issues)
        }
        lost = {name: gain for name, gain in gains.items() if gain < 0}
        if price is not None and price.name not in lost and gains[price.name] >= -sum(lost.values()):
            found |= lost.keys()
    return found


def _kept(aims: Aims, reading: Reading) -> set[str]:
    """The issues whose value they kept while they gave on the price, though the user asked for another each time."""
    rows = list(zip(reading.theirs[-KEPT_OFFERS:], reading.own[-KEPT_OFFERS:], strict=False))
    if (
        len(rows) < KEPT_OFFERS
        or aims.price is None
        or _worth(aims.price, rows[-1][0]) <= _worth(aims.price, rows[0][0])
    ):
        return set()
    return {
        aim.issue.name
        for aim in aims.issues
        if aim.issue is not aims.price and all(_asks_for(aim.issue, theirs, own) for theirs, own in rows)
    }


def _worth(issue: Issue, package: Package) -> float:
    return worth_of(issue, package.get(issue.name)) or 0.0


def _asks_for(issue: Issue, theirs: Package, mine: Package) -> bool:
    """Whether they name a value of an issue that is worse for the user than the user's own."""
    here, there = (worth_of(issue, one.get(issue.name)) for one in (mine, theirs))
    return here is not None and there is not None and there < here


def _is_last_whole(terms: Terms, offers: Sequence[LedgerOffer]) -> bool:
    """Whether their last offer, completed by their earlier ones, names every issue; false before their first."""
    rows = [row for row in completed_offers(offers) if row.by == "them"]
    return bool(rows) and is_complete(terms.issues, rows[-1].package)


def _decide(
    aims: Aims,
    path: ConcessionPath,
    reading: Reading,
    on_table: Package | None,
    *,
    style: Style,
    days_left: float | None,
) -> PersonMove:
    rounds = aims.terms.max_rounds
    over = rounds is not None and path.made >= rounds
    agrees = reading.answer.agrees if reading.own and aims.is_acceptable(reading.own[-1]) else "no"
    if agrees == "yes":
        return PersonMove("accept", "they_agree", path, reading, package=reading.own[-1])
    if reading.answer.is_gone:
        return PersonMove("walk_away", "is_gone", path, reading)
    takes = on_table is not None and aims.is_acceptable(on_table)
    if not aims.is_acceptable(path.now.package):
        if takes:
            return PersonMove("accept", "no_room", path, reading, package=on_table)
        return PersonMove("walk_away", "no_room", path, reading)
    if over and agrees == "no":
        if takes:
            return PersonMove("accept", "no_round_left", path, reading, package=on_table)
        return PersonMove("walk_away", "below_floor_no_round", path, reading)
    step, why = _offer(aims, path, reading, style=style)
    hurried = (rounds is not None and rounds - path.made <= 1) or (days_left is not None and days_left <= 1.0)
    last = rounds is not None and path.made + 1 >= rounds
    value = weigh_round(aims, reading, step.utility, hurried=hurried, last=last)
    trade = _trade(aims, path, reading, step)
    went_back = reading.happening in {"moved_back", "took_back"} and reading.unmoved < PATIENCE
    if agrees == "perhaps":
        now = path.now
        return PersonMove("counter", "ask_if_agreed", path, reading, now, now.package, value)
    if takes and on_table is not None and (last or not went_back):
        table = aims.worth(on_table)
        is_tested = (
            not reading.says_final
            or (reading.unmoved > 0 and _has_held(reading))
            or reading.unmoved >= REPEATS_TAKEN
            or last
        )
        if reading.says_final and reading.unmoved and is_tested:
            return PersonMove("accept", "repeated_final", path, reading, package=on_table, round=value)
        if table >= step.utility - CLOSE_ENOUGH * (aims.opening_utility - aims.floor):
            return PersonMove("accept", "at_least_ask", path, reading, package=on_table, round=value)
        comes = reading.their_step > 0 and rounds is not None and not last
        if table >= value.value and is_tested and not comes:
            return PersonMove("accept", "not_worth_a_round", path, reading, package=on_table, round=value)
        if reading.happening == "did_not_move" and reading.unmoved >= REPEATS_TAKEN:
            return PersonMove("accept", "stands_still", path, reading, package=on_table, round=value)
    elif why == "hold" and reading.unmoved >= (UNANSWERED_STEPS + PATIENCE if path.steps else PATIENCE):
        return PersonMove("walk_away", "stuck_below_floor", path, reading, round=value)
    if trade is not None:
        step = replace(step, package=dict(trade.package), utility=trade.utility, gives=(), alternatives=())
        return PersonMove("counter", "allowed_trade", path, reading, step, step.package, value, trade)
    is_held = _has_held(reading, 1 if reading.unmoved else MAX_HOLDS)
    if reading.says_final and path.made and not (is_held or last) and reading.unmoved < REPEATS_TAKEN:
        value = weigh_round(aims, reading, path.now.utility, hurried=hurried, last=last)
        return PersonMove("counter", "hold", path, reading, path.now, path.now.package, value)
    return PersonMove("counter", why, path, reading, step, step.package, value)


def _has_held(reading: Reading, times: int = 1) -> bool:
    """Whether the user's last offers repeated the one before, so many `times`.

    A final word is tested so: one that is answered with a step has paid, and whoever bluffs says it again.
    """
    last = reading.own[-times - 1 :]
    return len(last) > times and all(one == last[0] for one in last)


def _offer(aims: Aims, path: ConcessionPath, reading: Reading, *, style: Style) -> tuple[PathStep, Why]:
    """The package to propose: the opening, a step whose size answers theirs, or the present one again."""
    if not path.made:
        return path.now, "opening"
    if reading.happening in HOLDS:
        return path.now, "hold"
    rounds = aims.terms.max_rounds
    last = rounds is not None and path.made + 1 >= rounds
    ultimatum = reading.says_final and reading.unmoved > 0
    middle = _middle(aims, path, reading, aims.end) if reading.proposes_split else None
    if middle is not None:
        return middle, "middle"
    closing = rounds is not None and path.made + CLOSING_OFFERS >= rounds
    if closing and reading.their_last is not None and aims.is_acceptable(reading.their_last):
        made = _middle(aims, path, reading, aims.floor, share=_closing_share(aims, path, reading, last=last))
        if made is not None and made.given > 0:
            return made, "final_step"
    if not last and not ultimatum and reading.unmoved > UNANSWERED_STEPS:
        return path.now, "hold"
    if ultimatum and reading.unmoved == 1 and not last:
        made = next_step(
            aims,
            reading.own,
            left=1,
            style=style,
            their_last=reading.their_last,
            scale=_final_share(aims, path, reading),
            closing=True,
            growth=math.inf,
            chosen=reading.message.chosen,
        )
        return (made, "final_step") if made is not None else (path.now, "hold")
    if last or ultimatum or not path.steps:
        made = next_step(
            aims,
            reading.own,
            left=1 if last or ultimatum else CLOSING_STEPS,
            style=style,
            their_last=reading.their_last,
            closing=True,
            growth=math.inf if last or ultimatum else _growth(reading),
            chosen=reading.message.chosen,
        )
        if made is None:
            return path.now, "hold"
        return made, "last_offer" if last or ultimatum else "step"
    complains = reading.heard.act("complain", "small steps") is not None
    scale = 1.0 if complains else answer_scale(reading, path.steps[0].given)
    if scale == 1.0 and not complains:
        return path.steps[0], "step"
    if scale == 0.0:
        return path.now, "hold"
    made = next_step(
        aims,
        reading.own,
        left=len(path.steps),
        style=style,
        their_last=reading.their_last,
        scale=scale,
        growth=math.inf if complains else _growth(reading),
        chosen=reading.message.chosen,
    )
    return (made, "step") if made is not None else (path.now, "hold")


def _growth(reading: Reading) -> float:
    """A planned step is larger than the user's last one only as far as it answers a step of theirs."""
    return MATCHED * max(0.0, reading.their_step)


def _final_share(aims: Aims, path: ConcessionPath, reading: Reading) -> float:
    """The share of the way that is left to the user which is half of the way to their offer, at most `FINAL_SHARE`."""
    here = path.now.utility
    gap = 0.0 if reading.their_last is None else here - aims.distance(reading.their_last)
    left = here - aims.last_end
    return min(FINAL_SHARE, gap / 2 / left) if left > 0 else FINAL_SHARE


def _closing_share(aims: Aims, path: ConcessionPath, reading: Reading, *, last: bool) -> float:
    """The share of the way from their offer to the user's that one of the last two offers keeps.

    The last one asks for about one more step of theirs. The one before goes half of the way, and no further than
    somewhat more than their last step: whoever leaps is waited for.
    """
    gap = 0.0 if reading.their_last is None else path.now.utility - aims.distance(reading.their_last)
    theirs = max(0.0, reading.their_step) / gap if gap > 0 else 0.0
    if last:
        return min(0.5, theirs) if gap > 0 else 0.5
    return max(0.5, 1.0 - CLOSING_MATCH * theirs) if theirs > 0 else 0.5


def _middle(aims: Aims, path: ConcessionPath, reading: Reading, least: float, share: float = 0.5) -> PathStep | None:
    """The package a `share` of the way from their offer to the user's; None where it is worth less than `least`.

    On each issue the people's value whose worth is nearest to the middle, rounded in the user's favour.
    """
    theirs, package = reading.their_last, dict(path.now.package)
    if theirs is None:
        return None
    for aim in aims.issues:
        name = aim.issue.name
        here, there = (worth_of(aim.issue, one[name]) or 0.0 for one in (path.now.package, theirs))
        middle = there + share * (here - there)
        good = [value for value in aim.values if middle <= (worth_of(aim.issue, value) or 0.0) <= here]
        if there < here and good:
            package[name] = good[-1]
    utility = aims.worth(package)
    if not aims.is_acceptable(package) or utility < least:
        return None
    gives = tuple(
        ValueChange(aim.issue, path.now.package[aim.issue.name], package[aim.issue.name])
        for aim in aims.issues
        if package[aim.issue.name] != path.now.package[aim.issue.name]
    )
    return PathStep(package, utility, path.now.utility - utility, gives, StepAsk("close"))


def answer_scale(reading: Reading, planned: float) -> float:
    """The size of the answer to theirs, as a share of the planned step: a step for a step, never more than planned."""
    if reading.unmoved:
        return UNMOVED_ANSWERS[min(reading.unmoved, len(UNMOVED_ANSWERS)) - 1]
    if reading.their_step <= 0:
        return 1.0
    return min(1.0, max(LEAST_ANSWER, reading.their_step / planned))


def _trade(aims: Aims, path: ConcessionPath, reading: Reading, step: PathStep) -> PricedTrade | None:
    """An allowed trade in place of a step: they insist on what it allows, and the path does not move them."""
    last = reading.their_last
    if last is None or not path.made or not (reading.says_final or reading.unmoved or len(path.steps) <= 1):
        return None
    for trade in priced_trades(aims, step.package):
        aim = next(one for one in aims.issues if one.issue.name == trade.allowed.issue)
        insists = aims.worth({**step.package, aim.issue.name: last[aim.issue.name]}) < step.utility
        if insists and trade.utility >= aims.last_end:
            return trade
    return None


# One more round


def weigh_round(aims: Aims, reading: Reading, ask: float, *, hurried: bool, last: bool) -> RoundValue:
    """The value of one more round with an offer worth `ask`. `last` is whether it is the last one they answer."""
    if reading.their_last is None:
        chance, low, high = (_accepted_now(one, opens=True) for one in (0.5, 0.2, 0.8))
        return RoundValue(chance, low, high, WALK_OUT, ask)
    table = aims.worth(reading.their_last)
    room = expected_room(aims, reading)
    gap = max(0.0, ask - aims.distance(reading.their_last))
    chance, low, high = (_chance(gap, room * share) for share in (1.0, *DOUBT))
    risk = WALK_OUT + WALK_OUT_UNMOVED * min(reading.unmoved, 3)
    risk += WALK_OUT_FINAL if reading.says_final else 0.0
    risk = min(0.9, risk + (WALK_OUT_LAST if hurried else 0.0))
    taken = low if last else chance * (1.0 - COUNTER_SHARE)
    floor = max(0.0, aims.floor)
    kept = table if table >= aims.floor else floor
    later = floor if last else max(kept, table + STEP_DECAY * min(room, gap or room))
    value = (1 - risk) * (taken * ask + (1 - taken) * later) + risk * min(floor, table)
    chance, low, high = (_accepted_now(one, opens=not reading.own) for one in (chance, low, high))
    return RoundValue(chance, low, high, risk, value)


def _accepted_now(chance: float, *, opens: bool) -> float:
    """The chance that they take an offer at once, from the chance that they could: most ask for more first."""
    return max(LEAST_CHANCE, chance**TAKEN_POWER * (OPENING_TAKEN if opens else 1.0))


def expected_room(aims: Aims, reading: Reading) -> float:
    """How much utility the other side is expected to give yet, from their last offer on."""
    last = reading.their_last
    if last is None:
        return 0.0
    table = aims.distance(last)
    moves = [step for step in reading.their_steps if step > 0]
    room = FIRST_ROOM * max(0.0, aims.target_utility - table) * 0.5**reading.unmoved
    if moves and reading.unmoved < 2:
        decay = _step_decay(moves)
        shown = moves[-1] * decay / (1 - decay) * (0.7**reading.unmoved)
        room = (PRIOR_STEPS * room + len(moves) * shown) / (PRIOR_STEPS + len(moves))
    elif moves:
        room = moves[-1] * 0.25
    known = _estimated_room(aims, reading)
    if known is not None:
        room = 0.5 * (room + known) if moves else known
    return max(1e-6, room * (FINAL_DISCOUNT if reading.says_final else 1.0))


def _step_decay(moves: Sequence[float]) -> float:
    """The ratio of one step of theirs to the one before: the usual one, corrected by theirs."""
    ratios = [min(1.0, later / before) for before, later in pairwise(moves)]
    return min(MOST_DECAY, (STEP_DECAY + sum(ratios)) / (1 + len(ratios)))


def _estimated_room(aims: Aims, reading: Reading) -> float | None:
    """The way from their last price to the walk-away that the user estimates for them, in utility."""
    estimate, price = aims.terms.their_walk_away, aims.price
    last = reading.their_last
    if estimate is None or estimate.unit != "money" or price is None or last is None:
        return None
    likely = worth_of(price, estimate.likely)
    here = worth_of(price, last[price.name])
    if likely is None or here is None:
        return None
    return max(0.0, price.weight * (likely - here))


def _chance(gap: float, room: float) -> float:
    return math.exp(-gap / max(room, 1e-9)) if gap > 0 else 0.97
