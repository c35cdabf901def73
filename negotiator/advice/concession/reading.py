"""What the other side just did, read from the offers of both sides and from their words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final, Literal

from negotiator.advice.concession.aims import Aims, IssueAim
from negotiator.advice.concession.their_answer import NO_ANSWER, TheirAnswer, read_answer
from negotiator.advice.hearing.figures import Told
from negotiator.advice.hearing.hear import LIKELY, NOTHING_HEARD, SURE, Heard, HeardOffer, hear
from negotiator.advice.hearing.named_terms import topic_words
from negotiator.advice.leverage.concessions import LedgerOffer, Side, completed_offers
from negotiator.advice.tactics.recognition import recognise_tactics
from negotiator.base.search_terms import stemmed_terms
from negotiator.terms.issues import Issue, Package, Scalar, same_value, worth_of
from negotiator.terms.terms import Terms
from negotiator.terms.utility import package_utility

LARGE_STEP: Final = 1.5
"""A step of theirs is large from this multiple of the user's own last or next step on."""
SMALL_STEP: Final = 0.5
EXTREME_DISTANCE: Final = 1.0
"""An opening is extreme when it lies further beyond the user's limit than the limit is from the user's opening."""
SPLIT_WORDS: Final = frozenset({"tac_split_difference"})
FEW_LETTERS: Final = 3
_INVITES: Final = re.compile(
    r"\b(?:would|could|can|will|if|were|should) you\b|\byourself\b"
    r"|\b(?:must|have to|has to|fixed|(?:what|how) about|why (?:only|not|just))\b",
    re.IGNORECASE,
)
TOLERANCE: Final = 1e-6
SIDES: Final[tuple[Side, ...]] = ("me", "them")

Happening = Literal[
    "nobody_spoke",
    "they_are_silent",
    "they_opened",
    "extreme_opening",
    "moved_a_lot",
    "moved",
    "moved_a_little",
    "did_not_move",
    "moved_back",
    "moved_elsewhere",
    "took_back",
]


@dataclass(frozen=True, slots=True)
class HeardMessage:
    """What their words say beyond the recorded offers.

    `rows` are offers that they surely make and that are not recorded, `instead` the places of recorded ones of the same
    message that are worse for the user; `taken` is the same as packages with their
    quotes, `unsure` what they may offer. `others` are packages that they offer beside their latest one. `chosen` has
    the values that they chose among the user's packages.
    """

    heard: Heard = NOTHING_HEARD
    rows: tuple[LedgerOffer, ...] = ()
    taken: tuple[HeardOffer, ...] = ()
    unsure: tuple[HeardOffer, ...] = ()
    others: tuple[Package, ...] = ()
    chosen: Package = field(default_factory=dict[str, Scalar])
    instead: frozenset[int] = frozenset()

    def added_to(self, offers: Sequence[LedgerOffer]) -> list[LedgerOffer]:
        """The offers with what the message adds, in place of those that it betters."""
        return [*(row for row in offers if row.seq not in self.instead), *self.rows]


NO_MESSAGE: Final = HeardMessage()


@dataclass(frozen=True, slots=True)
class Reading:
    """Where the talk stands.

    `own` and `theirs` are the packages of each side, oldest first. An issue that a side has not named counts as its
    first value there, else as the user's opening in `own` and the end of the path in `theirs`; `unnamed` has those of
    the other side, `carried` those that an earlier offer of theirs names and not the latest. `their_step` is the
    change of the user's utility by their latest offer, `their_steps` all of them. `unmoved` counts their latest offers
    without a movement.
    `refused`: they said no to the user's last offer and named none of theirs since.
    `better` and `worse` name the issues on which their latest offer differs from the one before, for the user.
    `heard` is what their words say, `message` what that adds to the ledger. `finals` counts their earlier offers that
    they called final, `said` has the words of the user's offers, and `spoke` tells whether they say something now.
    """

    happening: Happening
    own: tuple[Package, ...]
    theirs: tuple[Package, ...]
    their_steps: tuple[float, ...] = ()
    unmoved: int = 0
    better: tuple[str, ...] = ()
    worse: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()
    says_final: bool = False
    names_deadline: bool = False
    asks_limit: bool = False
    proposes_split: bool = False
    answer: TheirAnswer = NO_ANSWER
    refused: bool = False
    heard: Heard = NOTHING_HEARD
    message: HeardMessage = NO_MESSAGE
    finals: int = 0
    said: tuple[str, ...] = ()
    spoke: bool = False

    def mentions(self, issue: Issue) -> bool:
        """Whether a question or condition names the issue or a value: "would you take … on?", "must it be … ?"."""
        asked = " ".join(
            act.quote for act in self.heard.acts if act.name in ("ask", "if") and _INVITES.search(act.quote)
        )
        options = " ".join(str(one.value) for one in issue.options).replace("_", " ")
        names = stemmed_terms(" ".join([issue.label, options, *topic_words(issue)]))
        return bool({one for one in names if len(one) > FEW_LETTERS} & set(stemmed_terms(asked)))

    @property
    def their_step(self) -> float:
        """The change of the user's utility by their latest offer; 0 before a second one."""
        return self.their_steps[-1] if self.their_steps else 0.0

    @property
    def their_last(self) -> Package | None:
        """Their latest package."""
        return self.theirs[-1] if self.theirs else None


def read_talk(
    aims: Aims,
    offers: Sequence[LedgerOffer],
    *,
    on_table: bool,
    usual_step: float,
    words: str | None = None,
    answer: str | None = None,
    message: "HeardMessage | None" = None,
) -> Reading:
    """The reading of a ledger. `on_table` is whether their last offer still stands.

    `usual_step` is the utility of a step of the user's path, which theirs are compared with. `words` is what they said
    since the user's last offer, `answer` what they say now, `message` what that adds to the ledger.
    """
    message = message or NO_MESSAGE
    offers = message.added_to(offers)
    named = completed_offers(offers)
    rows = sorted((row for side in SIDES for row in _filled(aims, named, side)), key=_place)
    own = tuple(row.package for row in rows if row.by == "me")
    theirs = tuple(row.package for row in rows if row.by == "them")
    worths = [aims.distance(package) for package in theirs]
    steps = tuple(b - a for a, b in pairwise(worths))
    tactics = {move.tactic_id for move in recognise_tactics(words)} if words else set[str]()
    heard = message.heard
    last = next((row for row in reversed(named) if row.by == "them"), None)
    better, worse = _differences(aims, theirs)
    happening = _happening(aims, rows, theirs, steps, worse=worse, better=better, on_table=on_table, usual=usual_step)
    return Reading(
        happening=happening,
        own=own,
        theirs=theirs,
        their_steps=steps,
        unmoved=_unmoved(steps),
        better=better,
        worse=worse,
        unnamed=() if last is None else tuple(_unnamed(aims, last.package)),
        carried=_carried(offers, last),
        says_final=(heard.act("final") is not None and happening not in {"moved_back", "took_back"})
        or (last is not None and last.claimed_final),
        names_deadline=heard.act("deadline") is not None or (last is not None and last.valid_until is not None),
        asks_limit=heard.act("ask", "budget") is not None,
        proposes_split=bool(tactics & SPLIT_WORDS),
        answer=_answer(aims, named, answer, heard),
        heard=heard,
        message=message,
        finals=sum(row.claimed_final for row in named if row.by == "them" and row is not last),
        spoke=bool(answer),
        said=tuple(row.words for row in offers if row.by == "me" and row.words),
    )


def hear_message(terms: Terms, offers: Sequence[LedgerOffer], words: str | None) -> HeardMessage:
    """What `words`, said since the user's last offer, add to the ledger. `terms` have a range for each issue."""
    if not words:
        return NO_MESSAGE
    named = completed_offers(offers)
    place = max((row.seq for row in named if row.by == "me"), default=0)
    told = Told(
        terms.issues,
        tuple(row.package for row in named if row.by == "me"),
        tuple(row.package for row in named if row.by == "them" and row.seq < place),
        terms.currency,
    )
    heard = hear(words, told)
    recorded = [row.package for row in named if row.by == "them" and row.seq > place]
    base = [*told.theirs, *recorded][-1:]
    whole = [(one, {**(base[0] if base else {}), **one.package}) for one in heard.offers]
    new = [(one, package) for one, package in whole if not any(_is_within(terms, one.package, row) for row in recorded)]
    sure = [
        (one, package)
        for one, package in new
        if one.chance >= SURE and not any(_is_told_by(terms, one.package, package, row) for row in recorded)
    ]
    ranked = sorted(sure, key=lambda pair: package_utility(terms.preferences, pair[1]).low)
    # Of several packages that they name, a recorded one among them, the best for the user counts as their offer.
    worth = package_utility(terms.preferences, recorded[-1]).low if recorded else -1.0
    best = [pair for pair in ranked[-1:] if package_utility(terms.preferences, pair[1]).low > worth + TOLERANCE]
    others = [*recorded[-1:], *(package for one, package in ranked if [one] != [first for first, _ in best])]
    last = max((row.seq for row in named), default=0)
    rows = tuple(LedgerOffer(last + 1, "them", package) for _, package in best)
    return HeardMessage(
        heard,
        rows,
        tuple(one for one, _ in sure),
        tuple(pair[0] for pair in new if pair not in sure),
        tuple(others if rows else others[1:] if recorded else others),
        _chosen(terms, heard),
        frozenset(row.seq for row in named if rows and row.by == "them" and row.seq > place),
    )


def as_taken_up(terms: Terms, offers: Sequence[LedgerOffer]) -> list[LedgerOffer]:
    """The offers, where the user's last one was a choice of two, with the one that the other side then took up.

    The ledger has the first of the two; the second is in the user's words. They take it up when their answer has its
    values on all issues but the price.
    """
    mine = next((place for place in reversed(range(len(offers))) if offers[place].by == "me"), None)
    if mine is None or mine + 1 >= len(offers) or " either " not in offers[mine].words:
        return list(offers)
    answer, row = offers[-1].package, offers[mine]
    named = completed_offers(offers)
    told = Told(
        terms.issues,
        tuple(one.package for one in named[: mine + 1] if one.by == "them"),
        tuple(one.package for one in named[:mine] if one.by == "me"),
        terms.currency,
    )
    other = [{**row.package, **one.package} for one in hear(row.words, told).offers]
    taken = [one for one in other if _differs_in_price_alone(terms, answer, one)]
    if not taken or _differs_in_price_alone(terms, answer, row.package):
        return list(offers)
    return [*offers[:mine], replace(row, package=taken[-1]), *offers[mine + 1 :]]


def _is_within(terms: Terms, package: Package, whole: Package) -> bool:
    """Whether a package names nothing that differs from another one."""
    known = ((issue, package[issue.name]) for issue in terms.issues if issue.name in package)
    return all(issue.name in whole and same_value(issue.type, value, whole[issue.name]) for issue, value in known)


def _is_told_by(terms: Terms, heard: Package, whole: Package, row: Package) -> bool:
    """Whether a recorded offer of the same message tells better what a heard one says.

    That is so where the two differ in the price alone, and where what was heard names no other price.
    """
    price = terms.price
    at = None if price is None else heard.get(price.name)
    is_same_price = price is None or at is None or same_value(price.type, at, row.get(price.name, ""))
    return is_same_price or _differs_in_price_alone(terms, whole, row)


def _differs_in_price_alone(terms: Terms, package: Package, other: Package) -> bool:
    """Whether a package is another one in its price only: beside a recorded price, the user is asked about it."""
    rest = {name: value for name, value in package.items() if terms.price is None or name != terms.price.name}
    return _is_within(terms, rest, other)


def _chosen(terms: Terms, heard: Heard) -> Package:
    """The options that they choose by name: "let's go with the flexible one"."""
    act, found = heard.act("choice"), dict[str, Scalar]()
    if act is None:
        return found
    words = frozenset(re.findall(r"[^\W_]+", act.quote.lower()))
    for issue in terms.issues:
        named = [
            one.value for one in issue.options if frozenset(re.findall(r"[^\W_]+", str(one.value).lower())) <= words
        ]
        if len(named) == 1:
            found[issue.name] = named[0]
    return found


def _answer(aims: Aims, named: Sequence[LedgerOffer], words: str | None, heard: Heard) -> TheirAnswer:
    """The answer in their words; no yes to an offer that leaves something open."""
    if words is None:
        return NO_ANSWER
    answer = read_answer(words, aims.terms.price, named, aims.terms.currency)
    yes, no = heard.act("yes"), heard.act("no")
    if answer.agrees == "no" and yes is not None and (no is None or yes.chance > no.chance):
        answer = replace(answer, agrees=_heard_yes(aims.terms, named, heard))
    mine = next((row for row in reversed(named) if row.by == "me"), None)
    is_whole = mine is not None and not _unnamed(aims, mine.package)
    return answer if is_whole else replace(answer, agrees="no")


def _heard_yes(terms: Terms, named: Sequence[LedgerOffer], heard: Heard) -> Literal["no", "perhaps", "yes"]:
    """A yes in a longer message: sure where nothing is offered, asked or named beside it that would change the deal."""
    act = heard.act("yes")
    mine = next((row.package for row in reversed(named) if row.by == "me"), None)
    if act is None or mine is None:
        return "no"
    if any(one.chance >= LIKELY and not _is_within(terms, one.package, mine) for one in heard.offers):
        return "no"
    open_ = [name for name in ("if", "ask", "scope", "choice") if heard.act(name) is not None]
    is_sure = act.chance >= SURE and named[-1].by == "me" and not open_
    return "yes" if is_sure and all(one.kind in ("mine", "count") for one in heard.figures) else "perhaps"


def _carried(offers: Sequence[LedgerOffer], last: LedgerOffer | None) -> tuple[str, ...]:
    """The issues of their last offer, completed, that it does not name itself."""
    if last is None:
        return ()
    said = next((row.package for row in offers if row.seq == last.seq), last.package)
    return tuple(name for name in last.package if name not in said)


def _filled(aims: Aims, rows: Sequence[LedgerOffer], side: Side) -> list[LedgerOffer]:
    """A side's offers with a known value on each issue of the path, as `Reading` says."""
    mine = [(row, set(_unnamed(aims, row.package))) for row in rows if row.by == side]
    unsaid: dict[str, Scalar] = {}
    for aim in aims.issues:
        name = aim.issue.name
        first = (row.package[name] for row, unnamed in mine if name not in unnamed)
        unsaid[name] = next(first, aim.opening if side == "me" else aim.last)
    return [
        replace(row, package={name: value if name in unnamed else row.package[name] for name, value in unsaid.items()})
        for row, unnamed in mine
    ]


def _place(row: LedgerOffer) -> int:
    return row.seq


def _unnamed(aims: Aims, package: Package) -> list[str]:
    return [
        aim.issue.name
        for aim in aims.issues
        if aim.issue.name not in package or worth_of(aim.issue, package[aim.issue.name]) is None
    ]


def _happening(
    aims: Aims,
    rows: Sequence[LedgerOffer],
    theirs: Sequence[Package],
    steps: Sequence[float],
    *,
    worse: Sequence[str],
    better: Sequence[str],
    on_table: bool,
    usual: float,
) -> Happening:
    if not rows:
        return "nobody_spoke"
    if theirs and not on_table:
        return "took_back"
    if rows[-1].by == "me":
        return "they_are_silent"
    if not steps:
        return "extreme_opening" if _is_extreme(aims, theirs[-1]) else "they_opened"
    step = steps[-1]
    if not better and not worse:
        return "did_not_move"
    if step < -TOLERANCE:
        return "moved_elsewhere" if better else "moved_back"
    if step >= LARGE_STEP * usual:
        return "moved_a_lot"
    return "moved" if step >= SMALL_STEP * usual else "moved_a_little"


def _is_extreme(aims: Aims, package: Package) -> bool:
    """Whether the package lies further beyond the user's limits than these are from the opening, on straight lines."""
    beyond = room = 0.0
    for aim in aims.issues:
        if aim.limit is None or aim.issue.options or aim.issue.type == "boolean":
            continue
        here = worth_of(aim.issue, package[aim.issue.name], clamp=False)
        limit = worth_of(aim.issue, aim.limit, clamp=False)
        opening = worth_of(aim.issue, aim.opening, clamp=False)
        if here is None or limit is None or opening is None or opening <= limit:
            continue
        beyond += aim.issue.weight * max(0.0, limit - here)
        room += aim.issue.weight * (opening - limit)
    return beyond > EXTREME_DISTANCE * room > 0


def _unmoved(steps: Sequence[float]) -> int:
    count = 0
    for step in reversed(steps):
        if step > TOLERANCE:
            break
        count += 1
    return count


def _differences(aims: Aims, theirs: Sequence[Package]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if len(theirs) < 2:
        return (), ()
    better: list[str] = []
    worse: list[str] = []
    for aim in aims.issues:
        name = aim.issue.name
        before, after = theirs[-2][name], theirs[-1][name]
        if same_value(aim.issue.type, before, after):
            continue
        gain = _worth(aim, after) - _worth(aim, before)
        (better if gain >= 0 else worse).append(name)
    return tuple(better), tuple(worse)


def _worth(aim: IssueAim, value: Scalar) -> float:
    return worth_of(aim.issue, value, clamp=False) or 0.0
