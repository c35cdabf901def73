"""The words of a next move: what to say, why, and what to find out.

`say` is for the other side and holds nothing private; all else is for the user. It has at most four sentences.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Final

from negotiator.advice.concession.acceptance import RoundValue
from negotiator.advice.concession.aims import MAX_STRETCH, Aims, value_of_worth
from negotiator.advice.concession.move import PersonMove
from negotiator.advice.concession.path import PathStep, StepAsk, ValueChange
from negotiator.advice.concession.reading import Reading
from negotiator.terms import limits
from negotiator.terms.issues import Issue, Package, Scalar, coordinate, same_value, worth_of
from negotiator.terms.plain_text import join_words, noun_phrase, sentence, split_sentences, tidy
from negotiator.terms.terms import SELLING_ROLES
from negotiator.terms.wording import Wording

_NOTHING: Final = Decimal(0)
MAX_SENTENCES: Final = 4
MAX_QUESTIONS: Final = 5
MAX_POINTS_NAMED: Final = 2
ROUNDED_STEP: Final = 1.02
"""A step counts as no larger than the one before up to this ratio: figures are rounded."""
HALF_WAY: Final = 0.45
"""From this share on, a step goes about half of the way."""
MAX_CHANGES_SAID: Final = 3
"""Two offers are said together where they have at most so many changes between them."""

_THANKS: Final = {
    "moved_a_lot": ("Thank you, that is a real step", "Thank you, that brings us much closer"),
    "moved": ("Thank you, that helps", "Thank you, we are getting closer"),
    "moved_a_little": (
        "Thank you for the step; there is still some way to go",
        "I see that you moved, but we are still some way apart",
    ),
}
_STUCK: Final = (
    "What makes it hard to move?",
    "What would have to change for you to move?",
    "What do you need from {me} to take a step?",
)
_FIRST_MOVEMENT: Final = "If you can {move}"
_MOVEMENTS: Final = ("If you {move} a little further", "If you take one more step")
_HAPPENED: Final = {
    "moved_a_lot": "They made a large step. Thank them, and answer with a smaller one.",
    "moved": "They made a step about as large as the one you plan. Answer with a step of your own.",
    "moved_a_little": "They moved only a little, so your answer is smaller than planned.",
    "moved_elsewhere": "They gave on one point and took back on another. Look at the offer as a whole.",
    "moved_back": "They took something back. Do not follow: remind them of their earlier offer and keep yours.",
    "took_back": "They withdrew their offer. Ask what changed, and keep yours as it is.",
    "they_are_silent": "They have not answered your last offer. Wait, and make no second offer until they do.",
    "extreme_opening": "Their opening is far beyond your limit. Do not bargain from it: name your own with a reason.",
    "they_opened": "They named their figure. Answer with yours, and say why it is fair.",
}
_STAYING: Final = {
    "moved_a_lot": "They made a large step. Thank them.",
    "moved": "They made a step.",
    "moved_a_little": "They moved only a little.",
}
"""What they did, where the advice is to stay at the user's last offer or is no answer to their step."""
_NO_ANSWERS: Final = frozenset({"middle", "final_step", "last_offer", "allowed_trade"})
"""Moves whose size does not follow from the step that they made."""
_LARGER: Final = {
    "step": "This step is larger than your last one, which was small, because they have moved since.",
    "middle": "This step is larger than your last one, because they proposed it.",
    "final_step": "This step is larger than your last one, because they repeat a final offer.",
    "last_offer": "This step is larger than your last one, because no other follows it.",
}
"""Why a step is larger than the user's step before."""
_UNANSWERED: Final = {
    True: "Ask what makes it hard for them, and make no second offer until they answer.",
    False: "Ask what makes it hard for them, and name your figure only after the answer.",
}
"""What to do about an offer that did not move, where the advice is to stay (true) or to give something."""
_TIMES: Final = ("twice", *(f"{n} times" for n in ("three", "four", "five", "six", "seven")))


@dataclass(frozen=True, slots=True)
class MissingInput:
    """Something that advice lacks: its name, the question that finds it out, and what the answer would change."""

    missing: str
    ask: str
    why: str


@dataclass(frozen=True, slots=True)
class CaseLines:
    """Lines of this kind of case: how to open and to leave, labels of what they feel, and their view in brief.

    Each is a text of whole sentences, empty where there is none. `closing_ask` is a phrase: something that costs them
    little and is asked for with the agreement.
    """

    opening: str = ""
    labels: tuple[str, ...] = ()
    recap: str = ""
    leave: str = ""
    closing_ask: str = ""


NO_LINES: Final = CaseLines()


def say(move: PersonMove, words: Wording, lines: CaseLines = NO_LINES, *, approval: bool = False) -> str:
    """What to say to the other side now, in at most four sentences. With `approval` nothing is agreed to yet."""
    voice = words.voice
    if move.why == "they_agree" and move.package is not None:
        parts = [f"Thank you, then we agree on {_deal(words, move.package)}", "Let us put it in writing"]
    elif move.why == "is_gone":
        parts = ["Thank you for telling me", f"If it comes back, {voice.i} would be glad to hear from you"]
    elif move.action == "accept" and move.package is not None:
        parts = _acceptance(words, move.package, lines, approval=approval)
    elif move.action == "walk_away" or move.step is None:
        parts = split_sentences(lines.leave) or [
            "Thank you for your time",
            f"As it stands, {voice.i} cannot make it work",
            f"If something changes on your side, {voice.i} would be glad to hear from you",
        ]
    else:
        offer = _offer_sentences(move, move.step, words, lines)
        corrects = _is_correction(move, move.step)
        is_plain = corrects or move.why == "ask_if_agreed"
        reaction = [] if is_plain else _reaction(move, words, lines)
        parts = [*reaction[: MAX_SENTENCES - len(offer)], *offer]
    return " ".join(sentence(part) for part in parts if part)


def _acceptance(words: Wording, package: Package, lines: CaseLines, *, approval: bool) -> list[str]:
    voice, deal = words.voice, _deal(words, package)
    if approval:
        approver = tidy(words.terms.authority.approver or "") or f"{voice.my} side"
        return [
            f"That could work for {voice.me}: {deal}",
            f"{voice.i} still need a yes from {approver}. Can you keep it open until then?",
        ]
    asked = f"One small thing: could you add {lines.closing_ask}?"
    return [f"That works for {voice.me}: {deal}", *([asked] if lines.closing_ask else []), "Let us put it in writing"]


# What is offered


def _deal(words: Wording, package: Package, *, with_total: bool = True) -> str:
    """A package as a noun: `€45 per seat and a term of 12 months`, `a deal with winter tyres`."""
    said = words.package(package, with_total=with_total)
    return f"a deal {said}" if said.startswith(("with ", "without ")) else said


def _offer_sentences(move: PersonMove, step: PathStep, words: Wording, lines: CaseLines) -> list[str]:
    voice, package = words.voice, _deal(words, step.package)
    if _is_correction(move, step):
        return [f"{voice.i} have to correct {voice.my} last offer", f"What {voice.i} can do is {package}"]
    if move.why == "opening":
        return _opening(move, package, words, lines)
    if move.trade is not None:
        return _trade(move, words, package)
    if move.why == "hold":
        return _hold(move, step, words)
    if move.why == "ask_if_agreed":
        return [f"Do we agree on {package}, then?"]
    if move.why == "middle":
        return [f"Good, let us meet in the middle: {package}", "Shall we put it in writing?"]
    if move.why == "final_step":
        return [f"If we can settle it today, {voice.i} can {_gives(words, step.gives)}"]
    if move.why == "last_offer":
        other = _alternative(move, words)
        return [f"{voice.my} last offer is {package}", *([other] if other else []), "Can we settle on that today?"]
    if (choice := _choice(move, step)) is not None:
        return _together(move, step, choice, words)
    said = f"{_condition(move, step, words)}, {voice.i} can {_gives(words, step.gives)}"
    return [said, f"That makes {package}"] if len(step.package) > 1 else [said]


def _opening(move: PersonMove, package: str, words: Wording, lines: CaseLines) -> list[str]:
    voice, ground = words.voice, _spoken_ground(move.path.aims, words)
    if move.reading.happening == "extreme_opening":
        return [
            f"Thank you; that is far from what {voice.i} expected",
            "What is it based on?",
            f"What {voice.i} have in mind is {package}",
            *ground,
        ]
    asked = "How did you arrive at your figure?" if move.reading.theirs else "How does that sit with you?"
    thanks = [] if move.reading.theirs else split_sentences(lines.opening)[:1]
    return [*thanks, f"What {voice.i} have in mind is {package}", *ground, asked]


def _spoken_ground(aims: Aims, words: Wording) -> list[str]:
    """A reason for the opening that the other side can check, if there is one."""
    price = aims.terms.price
    if any(ground.source.startswith("benchmark:") for ground in aims.grounds):
        return [f"That is in line with comparable deals that {words.voice.i} know of"]
    baseline = aims.terms.baseline
    if price is None or baseline is None or baseline.value is None:
        return []
    here, known = (worth_of(price, one) for one in (aims.opening[price.name], baseline.value))
    if here is None or known is None or known < here:
        return []
    if baseline.kind == "market":
        return [f"The market price is {words.phrase(price, baseline.value)}"]
    return []


def _trade(move: PersonMove, words: Wording, package: str) -> list[str]:
    trade, terms = move.trade, move.path.aims.terms
    issue = terms.issue(trade.allowed.issue) if trade else None
    if trade is None or issue is None:
        return []
    asked = [(one, value) for name, value in trade.allowed.in_return.items() if (one := terms.issue(name)) is not None]
    given, wanted = words.objects([(issue, trade.allowed.to)]), words.objects(asked)
    return [f"If you agree to {wanted}, {words.voice.i} can agree to {given}", f"That makes {package}"]


def _choice(move: PersonMove, step: PathStep) -> Package | None:
    """The first alternative that can be said in one sentence with the step."""
    issues, start = move.path.aims.terms.issues, move.path.now.package
    for package in step.alternatives:
        if len(step.gives) + len(_changes(issues, start, package)) <= MAX_CHANGES_SAID:
            return package
    return None


def _together(move: PersonMove, step: PathStep, other: Package, words: Wording) -> list[str]:
    """The step and another of equal worth as a choice; what they choose shows what they value."""
    start, choices = move.path.now.package, list[str]()
    touched = {one.issue.name for one in step.gives}
    for package in (step.package, other):
        changes = _changes(move.path.aims.terms.issues, start, package)
        touched |= {one.issue.name for one in changes}
        total = words.total(package)
        in_all = f" ({words.money(total.amount)} {total.scope})" if total else ""
        choices.append(f"{_gives(words, changes)}{in_all}")
    asked = step.ask.issue if step.ask is not None else None
    condition = _condition(move, step, words) if asked is None or asked.name not in touched else _movement(move, words)
    said = f"{condition}, {words.voice.i} can either {' or '.join(choices)}: which suits you better?"
    return [said, "Everything else stays the same"] if len(step.package) > len(touched) else [said]


def _changes(issues: Sequence[Issue], before: Package, after: Package) -> tuple[ValueChange, ...]:
    return tuple(
        ValueChange(issue, before[issue.name], after[issue.name])
        for issue in issues
        if issue.name in after and not same_value(issue.type, before[issue.name], after[issue.name])
    )


def _gives(words: Wording, changes: Sequence[ValueChange]) -> str:
    """What the user can do: `go up to €46 per seat`, `agree to a term of 24 months instead of 12`, or both."""
    amounts = [one for one in changes if one.issue.type == "money"]
    rest = [one for one in changes if one.issue.type != "money"]
    said: list[str] = []
    for direction in ("go up", "come down"):
        goals = [f"to {words.price(one.issue, one.after)}" for one in amounts if _direction(one) == direction]
        said += [f"{direction} {join_words(goals)}"] if goals else []
    if rest:
        before = {one.issue.name: one.before for one in rest}
        said.append(f"agree to {words.objects([(one.issue, one.after) for one in rest], before)}")
    return join_words(said)


def _direction(change: ValueChange) -> str:
    before, after = (coordinate("money", one) for one in (change.before, change.after))
    rises = before is not None and after is not None and after > before
    return "go up" if rises else "come down"


def _condition(move: PersonMove, step: PathStep, words: Wording) -> str:
    """What is asked for the step, as the first half of a sentence."""
    ask: StepAsk | None = step.ask
    if ask is None or ask.kind == "movement":
        return _movement(move, words)
    if ask.kind == "close" or ask.issue is None or ask.value is None:
        return "If we can settle it today"
    theirs = move.reading.their_last
    if ask.issue.type == "money" and theirs is not None:
        direction = "up" if ask.issue.direction == "higher" else "down"
        return f"If you come {direction} towards {words.price(ask.issue, ask.value)}"
    if ask.issue.type == "boolean":
        said = words.phrase(ask.issue, ask.value)
        gives = ask.value is False and move.path.aims.terms.role in SELLING_ROLES
        return f"If you can do {said}" if gives else f"If it comes {said}"
    return f"If you agree to {words.objects([(ask.issue, ask.value)])}"


def _movement(move: PersonMove, words: Wording) -> str:
    """The condition of a step of theirs: `If you come down as well`."""
    price, theirs = move.path.aims.terms.price, move.reading.their_last
    moves = "move"
    if price is not None and theirs is not None:
        here, there = (worth_of(price, move.path.now.package[price.name]), worth_of(price, theirs[price.name]))
        if here is not None and there is not None and there < here:
            moves = "come up" if price.direction == "higher" else "come down"
    moved = any(step > 0 for step in move.reading.their_steps)
    text = _MOVEMENTS[move.path.made % len(_MOVEMENTS)] if moved else _FIRST_MOVEMENT
    return text.format(move=moves)


def _hold(move: PersonMove, step: PathStep, words: Wording) -> list[str]:
    voice, package, reading = words.voice, _deal(words, step.package), move.reading
    match reading.happening:
        case "they_are_silent" if reading.refused:
            return ["What would have to change for you to say yes?", f"{voice.my} offer stands: {package}"]
        case "they_are_silent":
            return [f"Have you had a chance to think about {package}?", "What would you need to say yes?"]
        case "moved_back" | "took_back":
            place = 2 if reading.happening == "moved_back" else 1
            before = reading.theirs[-place] if len(reading.theirs) >= place else None
            had = (
                [f"Your earlier offer was {_deal(words, before, with_total=False)}"]
                if before and not reading.unnamed
                else []
            )
            return [*had, "What has changed?", f"{voice.my} offer stands: {package}"]
        case "did_not_move" if move.path.steps:
            return [f"{voice.my} offer stands: {package}"]
        case _:
            other = _alternative(move, words)
            return [
                f"{voice.my} offer stays at {package}",
                *([other] if other else []),
                "What would it take for you to say yes to that?",
            ]


def _alternative(move: PersonMove, words: Wording) -> str:
    """That the user could go another way, where they could; neither which nor what it is worth."""
    terms, voice = move.path.aims.terms, words.voice
    known = terms.batna is not None or (terms.batna_details is not None and bool(terms.batna_details.description))
    if not known:
        return ""
    return f"{voice.i} do have another option, but {voice.i} would rather come to an agreement with you"


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


# The answer to what they said and did


def _reaction(move: PersonMove, words: Wording, lines: CaseLines) -> list[str]:
    reading, voice = move.reading, words.voice
    if reading.asks_limit:
        return [f"{voice.i} would rather not bargain over limits; let us look at what works for both of us"]
    if reading.proposes_split:
        said = "Before splitting the difference, it helps to see what each point is worth"
        return [] if move.why == "middle" else [said]
    if reading.happening in {"moved_back", "took_back", "they_are_silent"}:
        return []
    if reading.says_final:
        thanks = "Thank you; " if reading.their_step > 0 else ""
        return [f"{thanks}{voice.i} understand that this is your last word"]
    if reading.names_deadline:
        return ["What happens after that date?"]
    if reading.unnamed and reading.theirs:
        issues = [issue for name in reading.unnamed if (issue := words.terms.issue(name))]
        named = [noun_phrase(words.label(issue)) for issue in issues[:MAX_POINTS_NAMED]]
        return [f"Where do you stand on {join_words(named)}?"]
    match reading.happening:
        case "they_opened":
            return [f"Thank you, now {voice.i} know where you stand"]
        case "did_not_move":
            return _unmoved(move, words, lines)
        case "moved_elsewhere":
            return [_mixed(move, words)]
        case "moved_a_lot" | "moved" | "moved_a_little":
            variants = _THANKS[reading.happening]
            text = variants[move.path.made % len(variants)]
            return [text.replace("I see", f"{voice.i} see")]
        case _:
            return []


def _unmoved(move: PersonMove, words: Wording, lines: CaseLines) -> list[str]:
    """A label or their view in brief, and a question; another one each time."""
    times = max(move.reading.unmoved, 1) - 1
    if times == 1 and lines.recap:
        return [split_sentences(lines.recap)[0], "Is that right?"]
    labels = lines.labels or ("It sounds like this is hard for you.",)
    question = _STUCK[times % len(_STUCK)].format(me=words.voice.me)
    return [labels[times % len(labels)], question] if times < len(labels) + 1 else [question]


def _mixed(move: PersonMove, words: Wording) -> str:
    """Which point they moved on and which they took back."""

    def named(names: Sequence[str]) -> str:
        issues = [issue for name in names if (issue := words.terms.issue(name))]
        return join_words([noun_phrase(words.label(issue)) for issue in issues[:MAX_POINTS_NAMED]])

    better, worse = named(move.reading.better), named(move.reading.worse)
    if better and worse:
        return f"Thank you for moving on {better}, but on {worse} you went back"
    return f"{words.voice.i} see that you gave on one point and took back on another"


# Reasons for the user


def reasons(move: PersonMove, words: Wording) -> list[str]:
    """Why this move, for the user: what happened, what the figures say, and what the move rests on."""
    found: list[str] = []
    if move.action == "accept":
        found += _why_accept(move, words)
    elif move.action == "walk_away" or move.step is None:
        found += _why_leave(move, words)
    elif _is_correction(move, move.step):
        found.append("Your last offer goes beyond a limit of yours. Correct it now, before they answer.")
    elif move.why == "ask_if_agreed":
        found.append(
            "Their words sound like a yes. Make sure that they mean your last offer, and on what condition, before you "
            "offer more."
        )
    else:
        found += [_unrecorded(move, words), _happened(move, words), *_why_counter(move, words)]
        found += _pressure(move)
    return [sentence(one) for one in found if one]


def _unrecorded(move: PersonMove, words: Wording) -> str:
    """That they named a price which no recorded offer has, since the advice does not count it."""
    named, price = move.reading.answer.unrecorded, words.terms.price
    if named is None or price is None:
        return ""
    amount = words.value(price, named)
    return f"They named {amount}, which no recorded offer has. If that is their offer now, record it and ask again."


def _pressure(move: PersonMove) -> list[str]:
    found: list[str] = []
    if move.reading.names_deadline:
        found.append(
            "They named a deadline. Ask what happens after it, and do not let it hurry you: the deadline is theirs."
        )
    if move.reading.says_final:
        final = "" if move.reading.happening == "did_not_move" else "They call it final. "
        found.append(f"{final}Many final offers still move, and one more offer is worth the risk here.")
    if move.reading.asks_limit:
        found.append("They ask for your bottom line. Do not name it: they would bargain on from any figure you give.")
    return found


def _happened(move: PersonMove, words: Wording) -> str:
    """What they did, with the size of their step where it can be said in money."""
    happening, own = move.reading.happening, move.reading.own
    if happening == "they_are_silent" and move.reading.refused:
        return "They said no. Find out what stands in the way, and make no second offer until they tell you."
    stays = bool(own) and move.package == own[-1]
    if happening == "did_not_move":
        then = "" if move.reading.says_final else _UNANSWERED[stays]
        return f"{_standstill(move, words)} {then}".strip()
    is_answer = not stays and move.why not in _NO_ANSWERS
    text = "" if is_answer else _STAYING.get(happening, "")
    text = text or _HAPPENED.get(happening, "")
    size = _step_size(move, words)
    if happening not in _STAYING or not size:
        return text
    if not is_answer:
        return f"They {size}."
    return {
        "moved_a_lot": f"They {size}, which is a large step beside yours. Thank them, and answer with a smaller one",
        "moved": f"They {size}, about as much as you plan to give. Answer with a step of your own",
    }.get(
        happening,
        f"They {size}. That is only a little, so your answer is smaller than planned"
        if move.path.steps
        else f"They {size}. That is only a little",
    )


def _standstill(move: PersonMove, words: Wording) -> str:
    """That they repeat an offer, how often, and where it lies to the user's limit."""
    theirs, aims = move.reading.theirs, move.path.aims
    last = theirs[-1]
    others = (place for place, one in enumerate(reversed(theirs)) if one != last)
    times = next(others, len(theirs))
    if times < 2:
        return "They did not move."
    price = aims.terms.price
    is_price = price is not None and len(aims.issues) == 1
    said = f"said {words.price(price, last[price.name])}" if price and is_price else "made this offer"
    often = _TIMES[times - 2] if times - 2 < len(_TIMES) else f"{times} times"
    final = " and call it final" if move.reading.says_final else ""
    text = f"They have {said} {often}{final}."
    if move.reading.unnamed:
        return text
    if aims.is_acceptable(last):
        return f"{text} It is within your limit, so you can take it or leave it."
    gap = limits.shortfall(aims.own, last, binding=True)
    far = f"{words.difference(last, gap)} past" if gap is not None and gap > 0 else "past"
    leaves = "" if move.action == "walk_away" else ", so be ready to leave if they keep to it"
    return f"{text} It is {far} your limit{leaves}."


def cost(move: PersonMove, words: Wording) -> str:
    """What the package gives up, in money: against the user's last offer, and what is left to target and limit.

    Empty without a package, and where nothing of it can be said in money.
    """
    aims, package = move.path.aims, move.package
    if package is None:
        return ""
    worth, said = aims.worth(package), list[str]()
    about = "" if len(aims.issues) == 1 else "about "
    if move.reading.own:
        given = aims.worth(move.reading.own[-1]) - worth
        amount = _amount(move, given, words)
        if given <= limits.TOLERANCE:
            said.append("It gives up nothing compared with your last offer.")
        elif amount:
            said.append(f"Compared with your last offer, it gives up {about}{amount}.")
    gap = aims.target_utility - worth
    passes = worth > aims.own_floor and not limits.allowed_by(aims.own, package)
    beyond = _beyond(aims, package)
    left = "" if passes else _amount(move, abs(worth - aims.own_floor), words, beyond=beyond)
    off = _amount(move, abs(gap), words, beyond=beyond if gap < 0 else _NOTHING)
    distances: list[str] = []
    if aims.terms.target is not None and abs(gap) <= limits.TOLERANCE:
        distances.append("as good for you as your target")
    elif aims.terms.target is not None and off:
        distances.append(f"{about}{off} {'worse' if gap > 0 else 'better'} for you than your target")
    if aims.terms.walk_away is not None and left:
        distances.append(
            f"{about}{left} better than your limit"
            if worth > aims.own_floor
            else f"{about}{left} worse than your limit, as you allowed"
        )
    if distances:
        said.append(f"It is {' and '.join(distances)}.")
    if said and about:
        said.append("These amounts count every point, not only the price.")
    return " ".join(said)


def _step_size(move: PersonMove, words: Wording) -> str:
    """Their step: from which price to which where only the price is open, else what it is worth to the user."""
    aims, theirs, step = move.path.aims, move.reading.theirs, move.reading.their_step
    price = aims.terms.price
    if step <= 0:
        return ""
    if price is not None and len(aims.issues) == 1:
        before, after = (words.price(price, one[price.name]) for one in theirs[-2:])
        return f"came {'up' if price.direction == 'higher' else 'down'} from {before} to {after}"
    amount = _amount(move, step, words)
    return f"made a step worth about {amount} to you" if amount else ""


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


def _why_counter(move: PersonMove, words: Wording) -> list[str]:
    aims, found = move.path.aims, list[str]()
    if move.why == "opening":
        found += [ground.text for ground in aims.grounds[:2]]
        found.append(_opening_reason(aims, words))
    elif move.why == "step":
        found.append(f"{_larger(move)} {_steps_left(move, words)}".strip())
    elif move.why == "middle":
        found.append(f"They proposed the middle between your offer and theirs, and this is it. {_larger(move)}")
    elif move.why == "hold" and not move.path.steps:
        found.append("You have given what you planned to give. Keep what is left for closing the deal.")
    elif move.why == "final_step":
        found.append(
            f"{_larger(move)} It goes {_way(move)} to their offer. If they refuse it, you have one small step left."
        )
    elif move.why == "last_offer":
        last = (
            "It is your last offer in the rounds that you agreed on."
            if aims.terms.max_rounds is not None and move.path.made + 1 >= aims.terms.max_rounds
            else "It is your last offer. Say so, and keep to it."
        )
        found.append(f"{last} {_larger(move)}")
    elif move.trade is not None:
        cost = move.trade.cost
        amount = words.roughly(words.amount_in_all(move.trade.package, cost)) if cost else None
        price = f" It costs you about {words.money(amount)} compared with your limit." if amount else ""
        found.append(f"You allowed this step beyond your limit for what you get in return.{price}")
    if move.why == "step" and move.step is not None and _choice(move, move.step) is not None:
        found.append("Both offers are worth about the same to you. What they choose shows what matters to them.")
    if move.round is not None and move.reading.theirs and move.why != "middle":
        found.append(_chance_sentence(move, move.round))
    return [one.strip() for one in found]


def _larger(move: PersonMove) -> str:
    """Why the step is larger than the user's last one; empty where it is not."""
    worths = [move.path.aims.worth(one) for one in (*move.reading.own, move.package or {})]
    steps = [a - b for a, b in pairwise(worths) if a - b > limits.TOLERANCE]
    is_larger = len(steps) > 1 and steps[-1] > steps[-2] * ROUNDED_STEP
    return _LARGER.get(move.why, "") if is_larger else ""


def _way(move: PersonMove) -> str:
    """How much of the way to their offer a step goes, in words."""
    aims, theirs = move.path.aims, move.reading.their_last
    if theirs is None or move.step is None:
        return "part of the way"
    here = move.path.now.utility
    gap = here - aims.worth(theirs)
    return "about half of the way" if move.step.given > HALF_WAY * gap else "less than half of the way"


def _steps_left(move: PersonMove, words: Wording) -> str:
    left = move.path.steps[1:]
    if not left:
        return "After this step, you have little left to give."
    amount = _amount(move, sum(step.given for step in left), words)
    worth = f", worth about {amount}" if amount else ""
    if len(left) == 1:
        return f"After this, you have one smaller step left{worth}."
    return f"After this, you have about {len(left)} smaller steps left{worth.replace(', ', ', together ')}."


def _chance_sentence(move: PersonMove, value: RoundValue) -> str:
    if _points(value.high) < 10:
        if move.why == "hold":
            return "They will probably not accept it yet."
        if move.why == "last_offer":
            return "They will probably not accept it, so be ready to end the talk."
        if move.why == "final_step":
            return "They will probably not accept it, but it shows whether their offer is final."
        return "They will probably not accept it yet, but it is a step on the way."
    return (
        f"The chance that they accept it is {_percent(value.chance)} "
        f"(between {_points(value.low)}% and {_points(value.high)}%)."
    )


def _opening_reason(aims: Aims, words: Wording) -> str:
    beyond = [
        aim for aim in aims.issues if aim.target is not None and not same_value(aim.issue.type, aim.target, aim.opening)
    ]
    if not beyond:
        return "It is your target."
    if len(aims.issues) == 1 and beyond[0].target is not None:
        target = words.price(beyond[0].issue, beyond[0].target)
        side = "below" if beyond[0].issue.direction == "lower" else "above"
        return f"It is {side} your target of {target}, so that you have something to give."
    if len(beyond) <= MAX_POINTS_NAMED:
        named = join_words([noun_phrase(words.label(aim.issue)) for aim in beyond])
        return f"It is beyond your target on {named}, so that you have something to give."
    return "It is beyond your target, so that you have something to give."


def _why_accept(move: PersonMove, words: Wording) -> list[str]:
    aims, table = move.path.aims, move.package
    found: list[str] = []
    if move.reading.happening == "did_not_move":
        found.append(_standstill(move, words))
    if table is not None and aims.floor >= 0:
        gained = aims.worth(table) - aims.own_floor
        amount = _amount(move, gained, words, beyond=_beyond(aims, table))
        if amount:
            about = "" if len(aims.issues) == 1 else "about "
            found.append(f"It is {about}{amount} better for you than your walk-away.")
    match move.why:
        case "they_agree":
            found.append("Their words accept your last offer. Record their acceptance.")
        case "at_least_ask":
            found.append("It is worth at least as much to you as what you would ask for next.")
        case "repeated_final" | "stands_still":
            found.append("Another offer of yours would hardly move them.")
        case "no_round_left":
            found.append("No further offer of yours would be answered, and it is better than no deal.")
        case "no_room":
            found.append("Nothing that you listed is worth more to you and stays within your limits.")
        case _:
            risk = (
                ""
                if move.round is None
                else (f" The risk that they leave in one more round is {_percent(move.round.risk)}.")
            )
            found.append(f"One more round is not expected to bring more than it could cost.{risk}")
    if move.why not in {"no_round_left", "they_agree"}:
        found.append("Ask for one small thing with your yes, and accept without it if they refuse.")
    return found


def _why_leave(move: PersonMove, words: Wording) -> list[str]:
    known = {
        "is_gone": ["They say that it is gone. Ask whether that is certain; if so, end the talk."],
        "below_floor_no_round": ["No round is left, and their offer is worse than no deal."],
        "no_room": ["No deal within your limits is worth as much to you as no deal at all."],
    }.get(move.why)
    found = known or [_standstill(move, words), "Your steps have not moved them."]
    if move.why == "below_floor_no_round" and not move.reading.theirs:
        found = ["No round is left, and they have made no offer."]
    batna = move.path.aims.terms.batna_details
    if batna is not None and batna.description:
        found.append(f"You have an alternative: {batna.description}")
    found.append("Stay polite: a talk that ends well can be taken up again.")
    return found


def summary(move: PersonMove, words: Wording) -> str:
    """The move in two or three sentences for the user."""
    if move.why == "they_agree" and move.package is not None:
        head = f"They agree: {_deal(words, move.package)}"
    elif move.action == "accept" and move.package is not None:
        head = f"Accept: {_deal(words, move.package)}"
    elif move.action == "walk_away" or move.step is None:
        head = "End the talk politely"
    elif _is_correction(move, move.step):
        head = f"Correct your last offer: {_deal(words, move.step.package)}"
    elif move.why in {"hold", "ask_if_agreed"}:
        head = f"Stay at {_deal(words, move.step.package)}"
    elif move.why == "opening":
        head = f"Open with {_deal(words, move.step.package)}"
    else:
        head = f"Offer {_deal(words, move.step.package)}"
    return " ".join([sentence(head), *reasons(move, words)[:2]])


def assumptions(aims: Aims, words: Wording, package: Package | None, reading: Reading | None = None) -> list[str]:
    """What the move takes for granted, each as a sentence that the user can correct."""
    found = list(aims.assumptions)
    unnamed = reading.unnamed if reading is not None and reading.theirs else ()
    if reading is not None and reading.theirs and reading.carried:
        kept = {name: package[name] for name in reading.carried for package in reading.theirs if name in package}
        said = [
            f"{words.label(issue)} {words.value(issue, kept[issue.name])}"
            for issue in aims.terms.issues
            if issue.name in kept
        ]
        found.append(
            f"Their last offer leaves out {join_words(said)}; these are taken from their earlier offers"
            if len(said) > 1
            else f"Their last offer leaves out {join_words(said)}; this is taken from their earlier offers"
        )
    open_ = [issue for name in unnamed if (issue := aims.terms.issue(name)) is not None]
    if open_:
        named = join_words([noun_phrase(words.label(issue)) for issue in open_])
        found.append(f"They have said nothing about {named}, so it is assumed to be the least that you would accept")
    found += [
        f"You named no limit on {words.label(aim.issue)}, so no step goes further than "
        f"{words.value(aim.issue, aim.last)}."
        for aim in aims.issues
        if aim.limit is None and len(aim.values) > 1 and len(aims.issues) > 1
    ]
    total = words.total(package) if package else None
    if total is not None and total.assumption:
        found.append(total.assumption)
    return [sentence(one) for one in dict.fromkeys(found)]


def missing_inputs(aims: Aims, words: Wording, *, opened: bool = False) -> list[MissingInput]:
    """What advice lacks, in the order of what the answers would change. `opened`: the user has made an offer."""
    terms = aims.terms
    found = [
        MissingInput(
            f"issues/{place}/direction",
            f"For {noun_phrase(words.label(issue))}, is a higher or a lower value better for you?",
            "Without it, offers cannot be compared.",
        )
        for place, issue in enumerate(terms.issues)
        if f"issues/{place}/direction" in terms.missing
    ]
    them = words.them
    if terms.target is None:
        found.append(
            MissingInput(
                "target",
                "What result would you call a success, and why is it realistic?",
                "The opening and every step are planned from it.",
            )
        )
    if terms.their_walk_away is None:
        found.append(
            MissingInput(
                "their_estimate",
                f"How far could {them} go at most, and how do you know?",
                "It decides how far to go, and when to accept." if opened else _estimate_effect(aims, words),
            )
        )
    if terms.walk_away is not None and terms.batna is None:
        found.append(
            MissingInput(
                "batna",
                "What is your alternative worth to you, everything included?"
                if terms.batna_details is not None and terms.batna_details.description
                else "What exactly will you do if there is no deal, and what is that worth to you?",
                "It decides when leaving is better, and it gives you something to say.",
            )
        )
    if terms.price is not None and not any(ground.is_fair for ground in aims.grounds):
        found.append(
            MissingInput(
                "baseline",
                "What shows that your opening is fair: a comparable deal, a list price, somebody else's offer?",
                "A figure with a reason is taken more seriously, and you can open further from theirs.",
            )
        )
    several = len(terms.issues) > 1
    if several and any(issue.weight_given is None for issue in terms.issues):
        found.append(
            MissingInput(
                "weights",
                "Which of the points matters most to you, and by how much?",
                "It decides what you give first and what you keep.",
            )
        )
    if several and any(issue.their_weight is None for issue in terms.issues):
        found.append(
            MissingInput(
                "their_weights",
                f"Which of the points matters most to {them}?",
                "It shows trades that cost you little and are worth a lot to them.",
            )
        )
    if terms.deadline is None and terms.max_rounds is None:
        found.append(
            MissingInput("deadline", "By when must it be settled, on either side?", "It sets the pace of your steps.")
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


def _furthest_opening(aims: Aims, price: Issue, target: Scalar | None, limit: Scalar | None) -> Scalar | None:
    goal, least = (None if value is None else worth_of(price, value) for value in (target, limit))
    if goal is None or least is None:
        return None
    return value_of_worth(aims.terms, price, min(1.0, goal + MAX_STRETCH * (goal - least)))


def _percent(share: float) -> str:
    """A share as people say it: in steps of five, `under 5%` at the lower end."""
    points = _points(share)
    return "under 5%" if points < 5 else f"about {points}%"


def _points(share: float) -> int:
    return min(round(share * 20) * 5, 95)
