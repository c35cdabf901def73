"""What every section of a plan is made from: the brief, its words, the case, and the concession path."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from negotiator.advice.concession.aims import with_assumed_ranges, with_fewer_options
from negotiator.advice.concession.move import PersonMove, person_move
from negotiator.advice.concession.path import ConcessionPath, PathStep
from negotiator.advice.plans.brief import PlanBrief
from negotiator.advice.plans.case_template import (
    CaseContent,
    CaseTemplate,
    case_words,
    choose_template,
    fill_case,
    paying_side,
)
from negotiator.advice.plans.trades import IssueTrade, find_trades
from negotiator.advice.words.sentences import table
from negotiator.terms.issues import Issue, Package, Scalar, coordinate
from negotiator.terms.limits import own_limit
from negotiator.terms.terms import Terms
from negotiator.terms.wording import Wording


@dataclass(frozen=True, slots=True)
class MoneyAtStake:
    """What the price comes to in all, at the other terms of the aim.

    `factors` is the multiplication without the price, such as `80 seats × 12 months`; empty for a lump sum. `scope`
    says whether the totals are `in all` or for a period, such as `a year`. `totals` has the amounts at the
    `first_move`, the `aim`, the `limit` and the `baseline`, `savings` the user's gain at the first three against the
    baseline, which `baseline` names.
    """

    factors: str
    scope: str
    baseline: str
    totals: Mapping[str, Decimal | None]
    savings: Mapping[str, Decimal | None]


@dataclass(frozen=True, slots=True)
class PlanBasis:
    """The input of every section. `move` is the next move with a person; None while an issue lacks its values, or
    when no package keeps the limits and constraints."""

    brief: PlanBrief
    words: Wording
    case: CaseTemplate
    content: CaseContent
    move: PersonMove | None
    trades: tuple[IssueTrade, ...]

    @property
    def path(self) -> ConcessionPath | None:
        """The concession path of the move."""
        return None if self.move is None else self.move.path

    @property
    def terms(self) -> Terms:
        """The terms, with the assumed ranges where there is a path."""
        return self.brief.terms if self.path is None else self.path.aims.terms

    @property
    def offers(self) -> tuple[PathStep, ...]:
        """The package to open with, or that the user stands at, and the steps after it."""
        return () if self.path is None else (self.path.now, *self.path.steps)

    @property
    def has_opened(self) -> bool:
        """Whether the user has made an offer that the path goes on from."""
        return self.path is not None and self.path.made > 0

    @property
    def they_spoke_last(self) -> bool:
        """Whether the last offer is the other side's."""
        last = max(self.brief.ledger, key=lambda row: row.seq, default=None)
        return last is not None and last.by == "them"

    @property
    def they_spoke(self) -> bool:
        """Whether the other side has made an offer."""
        return any(row.by == "them" for row in self.brief.ledger)

    def aim(self, issue: Issue) -> Scalar | None:
        """The value that the user aims for on an issue."""
        if self.path is None:
            target = self.brief.terms.target
            return None if target is None or not target.package else target.package.get(issue.name)
        aims = self.path.aims.issues
        return next((one.target for one in aims if one.issue.name == issue.name), None)

    def limit(self, issue: Issue) -> Scalar | None:
        """The user's own worst value on an issue."""
        return own_limit(self.brief.terms, issue)

    @property
    def aim_package(self) -> dict[str, Scalar]:
        """The values that the user aims for."""
        return {one.name: at for one in self.terms.issues if (at := self.aim(one)) is not None}


def plan_basis(brief: PlanBrief) -> PlanBasis:
    """The basis of a plan; the same brief gives the same basis."""
    words = Wording(brief.terms)
    case = choose_template(brief.terms)
    standard = case.content.standards[0].what
    content = fill_case(case.content, case_words(words, standard=standard), issues=brief.terms.issues)
    move = _move(brief)
    trades = () if move is None else find_trades(move.path.aims)
    return PlanBasis(brief, words, case, content, move, trades)


def _move(brief: PlanBrief) -> PersonMove | None:
    kept = brief.advised or brief.terms
    terms, _ = with_assumed_ranges(with_fewer_options(kept))
    if terms.unvalued:
        return None
    move = person_move(
        kept, brief.ledger, now=brief.now, on_table=brief.on_table, evidence=brief.evidence, own=brief.terms
    )
    now = move.path.now.package
    known = all(issue.name in now for issue in terms.issues)
    return move if known and move.path.aims.is_acceptable(now) else None


def money_at_stake(basis: PlanBasis) -> MoneyAtStake | None:
    """What the price comes to in all; None without a price."""
    terms, price = basis.brief.terms, basis.brief.terms.price
    if price is None:
        return None
    package = basis.aim_package
    prices = {
        "first_move": basis.offers[0].package.get(price.name) if basis.offers else None,
        "aim": basis.aim(price),
        "limit": basis.limit(price),
        "baseline": terms.baseline.value if terms.baseline else None,
    }
    totals = {name: _in_all(basis, package, price, value) for name, value in prices.items()}
    sign = 1 if price.direction == "lower" else -1
    start = totals["baseline"]
    savings = {
        name: None if total is None or start is None else sign * (start - total)
        for name, total in totals.items()
        if name != "baseline"
    }
    texts = table("plan")
    names = {**texts["baselines"], "previous_price": texts["previous_price"][paying_side(terms)]}
    named = names.get(terms.baseline.kind if terms.baseline else "", "your starting figure")
    total = basis.words.total(package)
    scope = "in all" if total is None else total.scope
    return MoneyAtStake(_factors(basis, package), scope, named, totals, savings)


def _in_all(basis: PlanBasis, package: Package, price: Issue, value: object) -> Decimal | None:
    amount = coordinate("money", value)
    if amount is None:
        return None
    total = basis.words.total({**package, price.name: amount})
    return amount if total is None else total.amount


def _factors(basis: PlanBasis, package: Package) -> str:
    """`80 seats × 12 months` of `80 seats × €45 × 12 months = €43,200`."""
    total, price = basis.words.total(package), basis.brief.terms.price
    if total is None or price is None:
        return ""
    amount = coordinate("money", package[price.name])
    said = "" if amount is None else basis.words.money(amount)
    parts = total.text.split(" = ")[0].split(" × ")
    return " × ".join(part for part in parts if part != said)
