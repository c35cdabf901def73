"""What an assessment of leverage means, in sentences for the user.

The sentences may name the user's own limits: they are for the user, never for the other side. The effect of an action
or of an answer is the change of the split of power that it would make.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final, Literal

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
from negotiator.advice.leverage.power import FACTOR_NAMES, SIDES, FactorShare, Power, UnknownFact
from negotiator.advice.leverage.solutions import split_price
from negotiator.terms import limits
from negotiator.terms.issues import IssueRange, Package, coordinate
from negotiator.terms.plain_text import capitalise, cut_at_word, join_words, sentence, tidy
from negotiator.terms.terms import days_left
from negotiator.terms.wording import NO_NAMES, Wording

MAX_REASONS: Final = 3
MAX_QUESTIONS: Final = 5
MIN_EFFECT: Final = 0.005
"""The least change of the user's share of the power that is worth a question."""
MAX_QUOTED_CHARACTERS: Final = 60
_PLURAL_NAME: Final = re.compile(r"^the .+[^s]s$|^\S+(?: \S+)? and \S+(?: \S+)?$", re.IGNORECASE)
"""Names that take a plural verb: "The Morgans", "Ann and Bob Lee"."""
_RIVALS: Final = {
    "buyer": "seller",
    "seller": "buyer",
    "employer": "candidate",
    "candidate": "employer",
    "landlord": "tenant",
    "tenant": "landlord",
}
"""By role of the user, what another one of the other side is."""
_LIMIT_QUESTIONS: Final = {
    "buyer": "What do others pay you for this?",
    "tenant": "What do others pay you for this?",
    "employer": "What would it take for you to say yes?",
    "seller": "What budget have you set aside for this?",
    "candidate": "What range have you planned for this position?",
    "landlord": "What amount have you planned for this?",
}
"""By role of the user, a question to the other side that tells of its limit."""
_ASKED_OF: Final = {"yourself": "Find out next", "them": "Ask them next"}
_DECIDES: Final = "It decides whether there is room for a deal."


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
    if not known:
        return "It is not known yet who needs this deal more, so neither side counts as the stronger one."
    good, bad = _reasons(words, power, now, known=known)
    lean = power.alpha - 0.5
    if abs(lean) < 0.02:
        parts = ["Neither side clearly needs this deal more than the other."]
        told = [f"in your favour, {good}" if good else "", f"against you, {bad}" if bad else ""]
        parts.append(sentence("; ".join(part for part in told if part)))
    else:
        for_it, against = (good, bad) if lean > 0 else (bad, good)
        parts = [f"{_headline(words, power)}{f': {for_it}' if for_it else ''}."]
        parts.append(f"Against that, {against}." if against else "")
    if len(known) == 1:
        only = next(share for share in power.factors if share.name in known)
        parts.append(
            "Nothing else is known about the power of either side."
            if good or bad
            else f"Only one thing is known: {_clause(words, only, known, now)}."
        )
    return " ".join(part for part in parts if part)


def _headline(words: Wording, power: Power) -> str:
    size = abs(power.alpha - 0.5)
    more = "a little more" if size < 0.06 else "more" if size < 0.15 else "much more"
    is_sure = not power.low <= 0.5 <= power.high
    s = "" if _PLURAL_NAME.search(words.them) else "s"
    if power.alpha > 0.5:
        verb = f"need{s}" if is_sure else f"seem{s} to need"
        return f"{capitalise(words.them)} {verb} this deal {more} than you do"
    verb = "need" if is_sure else "seem to need"
    do = "does" if s else "do"
    return f"You {verb} this deal {more} than {words.them} {do}"


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
        said = f"alternative{f' at {price}' if price else ''}{f' (“{named}”)' if named else ''}"
        return factor_clause(name, value, known).replace("alternative", said, 1)
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
    position = leverage.position
    chance, mine = position.zopa.probability, position.my_walk_away
    if chance is None:
        return _unknown_room(words, leverage)
    if chance == 0:
        verdict = "As things stand, there is no room for a deal"
    elif chance >= 0.95:
        verdict = "There is room for a deal"
    elif chance < 0.05:
        verdict = "There is hardly any room for a deal"
    else:
        likely = "probably" if chance > 0.65 else "perhaps" if chance >= 0.35 else "probably no"
        verdict = f"There is {likely} room for a deal (a chance of about {round(chance * 10)} in 10)"
    if isinstance(mine, Decimal):
        by_power = "" if has_forecast else _by_power(words, leverage)
        return f"{verdict}: {_price_room(words, leverage, mine)}{by_power}."
    if not chance:
        return f"{verdict}: no combination of terms is better for both sides than no deal."
    better = "some combinations of terms are better for both sides than no deal"
    return f"{verdict}: {better}{_by_power(words, leverage)}."


def _unknown_room(words: Wording, leverage: Leverage) -> str:
    position = leverage.position
    lead = "It cannot be said yet whether there is room for a deal, because"
    if position.my_walk_away is None:
        if position.their_walk_away.likely is None:
            return f"{lead} neither your limit nor theirs is known."
        return f"{lead} your own limit is not known."
    if isinstance(position.my_walk_away, Decimal):
        up, _ = _directions(words)
        limit = words.money(position.my_walk_away)
        return f"{lead} nothing is known about their limit; you can go {up} to {limit}."
    if words.terms.their_walk_away is not None:
        return f"{lead} your estimate of their limit is a price alone, and the deal is about more."
    return f"{lead} nothing is known about their limit."


def _price_room(words: Wording, leverage: Leverage, mine: Decimal) -> str:
    up, down = _directions(words)
    theirs = leverage.position.their_walk_away
    text = f"you can go {up} to {words.money(mine)}"
    ends = [end for end in (theirs.low, theirs.likely, theirs.high) if isinstance(end, Decimal)]
    if len(ends) == 3:
        low, likely, high = (words.money(_rounded(end, 4)) for end in ends)
        about = likely if low == high else f"about {likely} (between {low} and {high})"
        text += f", and you estimate that they can go {down} to {about}"
    return text


def _by_power(words: Wording, leverage: Leverage) -> str:
    """What the split of power leads to, as the end of a sentence about the room."""
    found, zopa = leverage.asymmetric_nash, leverage.position.zopa
    if not zopa.probability:
        return ""
    if found is None:
        return ", but one side has an alternative that is better than any such deal"
    if found.price is None:
        rounded = _rounded_package(words, found.package)
        package, passed = words.package(rounded), limits.passes_own_limit(words.terms, rounded)
        if passed and not limits.allowed_by(words.terms, rounded):
            beyond = join_words([words.label(i) for i in words.terms.issues if i.name in passed])
            return f"; the split of power alone points beyond your limit on {beyond}: {package}"
        return f"; the split of power points to roughly this: {package}"
    price, (low, high) = found.price, (zopa.low, zopa.high)
    span = words.terms.price.range if words.terms.price else None
    rounded = _rounded_in(span, price) if span else price
    is_inside = isinstance(low, Decimal) and isinstance(high, Decimal) and low <= rounded <= high
    return f"; the split of power points to about {words.money(rounded if is_inside else price)}"


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


def _directions(words: Wording) -> tuple[str, str]:
    """The directions in which the user and the other side give in on the price."""
    price = words.terms.price
    return ("up", "down") if price is not None and price.direction == "lower" else ("down", "up")


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
    return FACTOR_WORDS[name].action.format(rival=_RIVALS.get(words.terms.role, "party"))


def _percent(share: float) -> int:
    return round(100 * share)


# What to find out next


def _find_out_next(words: Wording, leverage: Leverage) -> tuple[FindOutNext, ...]:
    found = _limit_questions(words, leverage)
    found += [(fact.high - fact.low, question) for fact, question in _factor_questions(words, leverage)]
    found.sort(key=lambda pair: -pair[0])
    return tuple(question for _, question in found[:MAX_QUESTIONS])


def _factor_questions(words: Wording, leverage: Leverage) -> Sequence[tuple[UnknownFact, FindOutNext]]:
    """A question for each unknown fact, with the share of the power at its plausible ends."""
    found: list[tuple[UnknownFact, FindOutNext]] = []
    width = _width(leverage)
    for fact in leverage.power.unknown:
        if fact.high - fact.low < MIN_EFFECT:
            continue
        texts = FACTOR_WORDS[fact.factor]
        asked = texts.mine if fact.side == "me" else texts.others
        if (fact.factor, fact.side) == ("alternatives", "me") and (named := _alternative_name(words)):
            asked = replace(
                asked,
                question=f"What is your alternative (“{named}”) worth to you, in money or with all its terms?",
                why="You named it without its worth, so it does not count yet.",
            )
        effect = f"The answer can change the picture {size_of_shift(fact.high - fact.low)}"
        if width is not None:
            swing = _rounded(width * Decimal(repr(fact.high - fact.low)), 2)
            if cents := round(swing, 2):
                effect += f": a difference of about {words.money(cents)} in the price"
        question = FindOutNext(asked.question, asked.ask, asked.why, f"{effect}.", fact.low, fact.high)
        found.append((fact, question))
    return found


def _limit_questions(words: Wording, leverage: Leverage) -> list[tuple[float, FindOutNext]]:
    """Questions about the limits of both sides, each with the share of the room that the answer decides.

    An answer without which the room is not known counts more than any other.
    """
    position, chance = leverage.position, leverage.position.zopa.probability
    found: list[tuple[float, FindOutNext]] = []
    if position.my_walk_away is None:
        question = "From which point on are you better off without a deal?"
        why = "Without your own limit, you cannot tell when to leave."
        found.append((3.0, FindOutNext(question, "yourself", why, _DECIDES)))
    question = _question_of_their_limit(words)
    if position.their_walk_away.likely is None:
        why = "Nothing is known about their limit."
        found.append((2.0, FindOutNext(question, "them", why, _DECIDES)))
    elif chance is not None and chance < 1:
        why = "Their limit is known so roughly that a deal may or may not be possible."
        why = why if chance else "By your estimate of their limit, no deal is possible. Check it."
        found.append((1.0, FindOutNext(question, "them", why, _DECIDES)))
    elif (ends := _ends_by_power(leverage)) is not None and (width := _width(leverage)):
        low, high = (words.money(_rounded(end)) for end in ends)
        if low != high:
            why = "Their limit is known only roughly."
            effect = f"Depending on the answer, the split of power points to a price between {low} and {high}."
            share = float((ends[1] - ends[0]) / width)
            found.append((share, FindOutNext(question, "them", why, effect)))
    return found


def _ends_by_power(leverage: Leverage) -> tuple[Decimal, Decimal] | None:
    """The price that the split of power points to at both ends of their limit, where one price is all."""
    mine, theirs = leverage.position.my_walk_away, leverage.position.their_walk_away
    if not isinstance(mine, Decimal) or theirs.low is None or theirs.high is None:
        return None
    ends = sorted(split_price(float(mine), float(end), leverage.power.alpha) for end in (theirs.low, theirs.high))
    return Decimal(repr(ends[0])), Decimal(repr(ends[1]))


def _question_of_their_limit(words: Wording) -> str:
    return _LIMIT_QUESTIONS.get(words.terms.role, "What would have to be true for you to agree to this?")


def _width(leverage: Leverage) -> Decimal | None:
    """The room in money, where one price is all and there is room."""
    low, high = leverage.position.zopa.low, leverage.position.zopa.high
    if isinstance(low, Decimal) and isinstance(high, Decimal) and high > low:
        return high - low
    return None
