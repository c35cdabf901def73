"""What an assessment of leverage means, in sentences for the user.

The sentences may name the user's own limits: they are for the user, never for the other side. The effect of an action
or of an answer is the change of the split of power that it would make.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Literal

from negotiator.advice.expected_price import ExpectedPrice
from negotiator.advice.leverage.assessment import Leverage
from negotiator.advice.leverage.factor_words import (
    FACTOR_WORDS,
    NEARLY_EVEN,
    PowerSide,
    factor_clause,
    favour_clause,
    size_of_shift,
)
from negotiator.advice.leverage.power import FACTOR_NAMES, SIDES, FactorShare, Power
from negotiator.advice.leverage.solutions import split_price
from negotiator.advice.words.sentences import said, table
from negotiator.terms import limits
from negotiator.terms.issues import IssueRange, Package, coordinate
from negotiator.terms.plain_text import cut_at_word, join_words, tidy
from negotiator.terms.terms import COUNTERPART_ROLES, days_left
from negotiator.terms.wording import NO_NAMES, Wording

MAX_REASONS: Final = 3
MAX_QUESTIONS: Final = 5
MIN_EFFECT: Final = 0.005
"""The least change of the user's share of the power that is worth a question."""
MAX_QUOTED_CHARACTERS: Final = 60
_PLURAL_NAME: Final = re.compile(r"^the .+[^s]s$|^\S+(?: \S+)? and \S+(?: \S+)?$", re.IGNORECASE)
"""Names that take a plural verb: "The Morgans", "Ann and Bob Lee"."""
_ASKED_OF: Final = {"yourself": "Find out next", "them": "Ask them next"}


@dataclass(frozen=True, slots=True)
class FindOutNext:
    """A question whose answer would change the assessment, and by how much.

    `ask` is who can answer it. `share_low` and `share_high` are the user's share of the power, 0 to 1, at the plausible
    ends of the answer; None where the answer is a limit.
    """

    question: str
    ask: Literal["yourself", "them"]
    why: str
    effect: str
    share_low: float | None = None
    share_high: float | None = None


@dataclass(frozen=True, slots=True)
class LeverageSummary:
    """The assessment in sentences; `text` joins the most important ones, at most seven. `expected` may be empty."""

    text: str
    who_needs_it_more: str
    room: str
    expected: str
    would_shift_most: str
    find_out_next: tuple[FindOutNext, ...]


def summarise_leverage(
    words: Wording, leverage: Leverage, forecast: ExpectedPrice | None = None, *, now: int
) -> LeverageSummary:
    """The summary of an assessment of the terms of `words`, and of the forecast of their price.

    `now` is in milliseconds since the epoch.
    """
    needs = _who_needs_it_more(words, leverage.power, now)
    room = _room(words, leverage, has_forecast=forecast is not None)
    expected = "" if forecast is None else forecast.text
    shift = _would_shift_most(words, leverage.power)
    questions = _find_out_next(words, leverage)
    parts = [part for part in (needs, room, expected, shift) if part]
    parts += [f"{_ASKED_OF[first.ask]}: {first.question}" for first in questions[:1]]
    return LeverageSummary(" ".join(parts), needs, room, expected, shift, questions)


# Who needs it more


@dataclass(frozen=True, slots=True)
class _Reason:
    clause: str
    weight: float
    is_judged: bool


def _who_needs_it_more(words: Wording, power: Power, now: int) -> str:
    known = _known_factors(power)
    good, bad = _reasons(words, power, now, known=known)
    only = next((share for share in power.factors if share.name in known), None)
    told = said(
        "leverage.needs",
        power=power,
        known=known,
        good=good,
        bad=bad,
        only_clause=_clause(words, only, known, now) if only else "",
        them=words.them,
        they_are_many=_PLURAL_NAME.search(words.them) is not None,
    )
    return " ".join(told)


def _known_factors(power: Power) -> dict[str, frozenset[PowerSide]]:
    """The factors of which something is known, with the sides of which it is."""
    unknown = {(fact.factor, fact.side) for fact in power.unknown}
    found: dict[str, frozenset[PowerSide]] = {
        name: frozenset(side for side in SIDES if (name, side) not in unknown) for name in FACTOR_NAMES
    }
    return {name: sides for name, sides in found.items() if sides}


def _reasons(words: Wording, power: Power, now: int, *, known: Mapping[str, frozenset[PowerSide]]) -> tuple[str, str]:
    """The strongest reasons, at most three: those in the user's favour joined, and those against.

    The strongest reason of the side with more power is among them.
    """
    found: list[_Reason] = []
    for share in power.factors:
        if share.name not in known or abs(share.value) <= NEARLY_EVEN:
            continue
        clause = _clause(words, share, known, now)
        is_judged = share.name in words.terms.judgements
        found.append(_Reason(clause, share.contribution, is_judged))
    found.sort(key=lambda reason: -abs(reason.weight))
    is_mine = power.alpha > 0.5
    first = [reason for reason in found if (reason.weight > 0) == is_mine][:1]
    kept = first + [reason for reason in found if reason not in first][: MAX_REASONS - len(first)]
    return (
        _joined([reason for reason in kept if reason.weight > 0]),
        _joined([reason for reason in kept if reason.weight < 0]),
    )


def _joined(reasons: Sequence[_Reason]) -> str:
    """The clauses as one; what the user judged themselves comes last and is called so once."""
    told = [reason.clause for reason in reasons if not reason.is_judged]
    judged = join_words([reason.clause for reason in reasons if reason.is_judged])
    return join_words([*told, *([f"in your own judgement {judged}"] if judged else [])])


def _clause(words: Wording, share: FactorShare, known: Mapping[str, frozenset[PowerSide]], now: int) -> str:
    """What a factor says, with its figures where they are given."""
    name, value = share.name, share.value
    if name in words.terms.judgements:
        return favour_clause(name, value)
    if abs(value) <= NEARLY_EVEN:
        return factor_clause(name, value, known[name])
    concrete = _concrete_clause(words, name, value, known=known[name], now=now)
    return concrete or factor_clause(name, value, known[name])


def _concrete_clause(words: Wording, name: str, value: float, *, known: frozenset[PowerSide], now: int) -> str | None:
    """The clause of a factor with its figures or the name of the alternative, where they are given."""
    terms = words.terms
    if name == "time" and not (terms.me.delay_cost_per_day or terms.them.delay_cost_per_day):
        mine, theirs = (days_left(end, now) for end in (terms.deadline, terms.their_deadline))
        if mine is not None and theirs is not None:
            return f"you have {_days(mine)} to decide while they have {_days(theirs)}"
        if mine is not None:
            return f"you have {'only ' if value < 0 else ''}{_days(mine)} to decide"
        if theirs is not None:
            return f"they have {'only ' if value > 0 else ''}{_days(theirs)} to decide"
    if name == "competition":
        mine, theirs = terms.me.rivals, terms.them.rivals
        if mine is not None and theirs is not None:
            return f"you can turn to {_others(mine)} while they can turn to {_others(theirs)}"
        if mine is not None:
            return f"you can turn to {_others(mine)}"
        if theirs is not None:
            return f"they can turn to {_others(theirs)}"
    if name == "alternatives" and value > 0 and "me" in known:
        named, price = _alternative_name(words), _alternative_price(words)
        label = f"alternative{f' at {price}' if price else ''}{f' (“{named}”)' if named else ''}"
        return factor_clause(name, value, known).replace("alternative", label, 1)
    return None


def _alternative_name(words: Wording) -> str:
    """What the user called their alternative, short enough for brackets; empty if nothing was said."""
    details = words.terms.batna_details
    plain = tidy(re.sub(r"[()\[\]]", " ", details.description or "" if details else ""))
    if len(plain) > MAX_QUOTED_CHARACTERS:
        clauses = re.split(r"[,;:.](?=\s)|\s[–—-]\s", plain[: MAX_QUOTED_CHARACTERS + 1])
        whole = plain[: sum(map(len, clauses[:-1])) + len(clauses) - 2].rstrip(" ,;:.–—-")
        plain = whole if len(clauses) > 1 and len(whole) >= 12 else cut_at_word(plain, MAX_QUOTED_CHARACTERS)
    return "" if plain.lower() in NO_NAMES else plain


def _alternative_price(words: Wording) -> str:
    """The price of the user's alternative; empty where it is not given, or the name tells a figure already."""
    if any(mark.isdigit() for mark in _alternative_name(words)):
        return ""
    price, batna = words.terms.price, words.terms.batna
    at = batna.package.get(price.name) if price and batna and batna.package else None
    return "" if price is None or at is None else words.value(price, at)


def _days(days: float) -> str:
    whole = int(days)
    if whole < 1:
        return "less than a day"
    if whole <= 90:
        return f"{whole} {'day' if whole == 1 else 'days'}"
    months = round(whole / 30.44)
    return f"{months} months" if months < 24 else f"{round(whole / 365.25)} years"


def _others(count: int) -> str:
    return "nobody else" if count == 0 else "one other" if count == 1 else f"{count} others"


# Room for a deal


def _room(words: Wording, leverage: Leverage, *, has_forecast: bool) -> str:
    """Whether a deal is possible, and what the split of power points to; not its price beside a forecast."""
    position, mine = leverage.position, leverage.position.my_walk_away
    theirs = position.their_walk_away
    price = words.terms.price
    up, down = ("up", "down") if price is not None and price.direction == "lower" else ("down", "up")
    ends = [
        words.money(_rounded(end, 4)) for end in (theirs.low, theirs.likely, theirs.high) if isinstance(end, Decimal)
    ]
    about = ""
    if len(ends) == 3:
        low, likely, high = ends
        about = likely if low == high else f"about {likely} (between {low} and {high})"
    told = said(
        "leverage.room",
        chance=position.zopa.probability,
        knows_limit=mine is not None,
        knows_theirs=theirs.likely is not None,
        has_estimate=words.terms.their_walk_away is not None,
        limit=words.money(mine) if isinstance(mine, Decimal) else "",
        theirs=about,
        up=up,
        down=down,
        has_forecast=has_forecast,
        split=_split(words, leverage),
        has_alternative=bool(position.zopa.probability) and leverage.asymmetric_nash is None,
    )
    return " ".join(told)


def _split(words: Wording, leverage: Leverage) -> dict[str, Any] | None:
    """What the split of power leads to: a price, or a package and the issues on which it passes the user's limit."""
    found, zopa = leverage.asymmetric_nash, leverage.position.zopa
    if not zopa.probability or found is None:
        return None
    if found.price is None:
        rounded = _rounded_package(words, found.package)
        passed = limits.passes_own_limit(words.terms, rounded)
        is_beyond = passed and not limits.allowed_by(words.terms, rounded)
        beyond = [words.label(issue) for issue in words.terms.issues if is_beyond and issue.name in passed]
        return {"package": words.package(rounded), "beyond": beyond}
    price, (low, high) = found.price, (zopa.low, zopa.high)
    span = words.terms.price.range if words.terms.price else None
    rounded = _rounded_in(span, price) if span else price
    is_inside = isinstance(low, Decimal) and isinstance(high, Decimal) and low <= rounded <= high
    return {"package": "", "beyond": [], "price": words.money(rounded if is_inside else price)}


def _rounded_package(words: Wording, package: Package) -> Package:
    """The package with its amounts rounded, where the range of the issue names no step."""
    rounded = dict(package)
    for issue in words.terms.issues:
        at = coordinate(issue.type, package.get(issue.name))
        if issue.type == "money" and at is not None and issue.range and not issue.range.step:
            rounded[issue.name] = _rounded_in(issue.range, at)
    return rounded


def _rounded_in(span: IssueRange, amount: Decimal) -> Decimal:
    """The amount to the largest 1, 2 or 5 times a power of ten that is at most a fortieth of the range."""
    most = (span.max - span.min) / 40
    if most <= 0:
        return amount
    power = Decimal(1).scaleb(most.adjusted())
    grain = next(step * power for step in (5, 2, 1) if step * power <= most)
    return min(max(round(amount / grain) * grain, span.min), span.max)


def _rounded(amount: Decimal, figures: int = 3) -> Decimal:
    """An amount to so many significant figures."""
    if not amount:
        return amount
    return round(amount, figures - 1 - amount.adjusted()) + Decimal(0)


# What would shift it most


def _would_shift_most(words: Wording, power: Power) -> str:
    """The action, and how much it helps in words: a number of it would rest on weights that nobody measured."""
    before, gain = power.alpha, power.most_movable.alpha_gain
    after = before + gain
    if _percent(before) == _percent(after):
        return "Nothing that you can do on your own would change much in who needs the deal more."
    turns = " and would turn the balance in your favour" if before < 0.48 and after > 0.52 else ""
    return f"{_action(words, power)} would strengthen your side {size_of_shift(gain)}{turns}."


def _action(words: Wording, power: Power) -> str:
    name = power.most_movable.name
    unknown = {(fact.factor, fact.side) for fact in power.unknown}
    if name == "alternatives":
        if (name, "me") not in unknown:
            return "Improving your best alternative halfway to your target"
        if named := _alternative_name(words):
            return f"Turning your alternative (“{named}”) into a firm and good second offer"
    return FACTOR_WORDS[name].action.format(rival=COUNTERPART_ROLES.get(words.terms.role, "party"))


def _percent(share: float) -> int:
    return round(100 * share)


# What to find out next


def _find_out_next(words: Wording, leverage: Leverage) -> tuple[FindOutNext, ...]:
    found = _limit_questions(words, leverage)
    found += _factor_questions(words, leverage)
    found.sort(key=lambda pair: -pair[0])
    return tuple(question for _, question in found[:MAX_QUESTIONS])


def _factor_questions(words: Wording, leverage: Leverage) -> list[tuple[float, FindOutNext]]:
    """A question for each unknown fact, with how much the answer changes the share of the power."""
    found: list[tuple[float, FindOutNext]] = []
    width = _width(leverage)
    for fact in leverage.power.unknown:
        change = fact.high - fact.low
        if change < MIN_EFFECT:
            continue
        texts = FACTOR_WORDS[fact.factor]
        asked = texts.mine if fact.side == "me" else texts.others
        question, why = asked.question, asked.why
        if (fact.factor, fact.side) == ("alternatives", "me") and (named := _alternative_name(words)):
            texts = table("leverage_questions")["named_alternative"]
            question, why = texts["question"].format(name=named), texts["why"]
        effect = f"The answer can change the picture {size_of_shift(change)}"
        if width is not None and (cents := round(_rounded(width * Decimal(repr(change)), 2), 2)):
            effect += f": a difference of about {words.money(cents)} in the price"
        found.append((change, FindOutNext(question, asked.ask, why, f"{effect}.", fact.low, fact.high)))
    return found


def _limit_questions(words: Wording, leverage: Leverage) -> list[tuple[float, FindOutNext]]:
    """Questions about the limits of both sides, each with the share of the room that the answer decides.

    An answer without which the room is not known counts more than any other.
    """
    position, chance = leverage.position, leverage.position.zopa.probability
    texts = table("leverage_questions")
    found: list[tuple[float, FindOutNext]] = []
    if position.my_walk_away is None:
        found.append((3.0, FindOutNext(ask="yourself", **texts["yours"])))
    share, known, ends = 1.0, "", ["", ""]
    if position.their_walk_away.likely is None:
        share, known = 2.0, "unknown"
    elif chance is not None and chance < 1:
        known = "unsure" if chance else "too_far"
    elif (by_power := _ends_by_power(leverage)) is not None and (width := _width(leverage)):
        ends = [words.money(_rounded(end)) for end in by_power]
        share, known = float((by_power[1] - by_power[0]) / width), "rough" if ends[0] != ends[1] else ""
    if known:
        question, told = texts["asked_of_them"][words.terms.role], texts["theirs"][known]
        effect = told["effect"].format(low=ends[0], high=ends[1])
        found.append((share, FindOutNext(question, "them", told["why"], effect)))
    return found


def _ends_by_power(leverage: Leverage) -> tuple[Decimal, Decimal] | None:
    """The price that the split of power points to at both ends of their limit, where one price is all."""
    mine, theirs = leverage.position.my_walk_away, leverage.position.their_walk_away
    if not isinstance(mine, Decimal) or theirs.low is None or theirs.high is None:
        return None
    ends = sorted(split_price(float(mine), float(end), leverage.power.alpha) for end in (theirs.low, theirs.high))
    return Decimal(repr(ends[0])), Decimal(repr(ends[1]))


def _width(leverage: Leverage) -> Decimal | None:
    """The room in money, where one price is all and there is room."""
    low, high = leverage.position.zopa.low, leverage.position.zopa.high
    if isinstance(low, Decimal) and isinstance(high, Decimal) and high > low:
        return high - low
    return None
