"""A debrief as it is shown: its figures with their words, what happened in three sentences, what to try, what to keep.

An amount is said for one unit and in all, with the multiplication. Where several issues count, it is what the whole is
worth as a change of the price, rounded to two figures and called "about".
"""

import tomllib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, Final

from negotiator.base.values import MINOR_UNITS, format_money
from negotiator.rehearsals.best_deal import Gap
from negotiator.rehearsals.counterpart.interests import round_unit, rounded
from negotiator.rehearsals.debrief import Debrief, OfferChange, PassedOwnLimit, TurnLoss, UnansweredPloy
from negotiator.rehearsals.schemas import (
    AttemptView,
    DebriefPoint,
    DebriefView,
    LeftOnTable,
    LeftPart,
    OfferChangeView,
    OpeningView,
    PassedOwnLimitView,
    SaidMoney,
    SaidPackage,
    SameTerms,
    UnansweredPloyView,
)
from negotiator.rehearsals.stored import RehearsalTurn, Side
from negotiator.terms import limits
from negotiator.terms.issues import Issue, Package, Scalar, coordinate, same_value
from negotiator.terms.plain_text import capitalise, cut_at_word, join_words, sentence, tidy
from negotiator.terms.terms_view import package_view, value_view
from negotiator.terms.wording import Wording

MAX_TITLE_CHARACTERS: Final = 60
POINTS: Final = 100
"""What the best that the user can think of is worth, in points."""
LITTLE: Final = 0.01
"""Less utility than this is said to be nothing."""
_NOTHING: Final = 1e-6


class DebriefWords:
    """The words of one debrief."""

    def __init__(self, debrief: Debrief) -> None:
        self.debrief: Final = debrief
        self.wording: Final = Wording(debrief.terms)
        self._price: Final = debrief.terms.price
        self._only_price: Final = len(debrief.terms.issues) == 1 and debrief.terms.price is not None
        self._counted_with: Final = debrief.deal or debrief.best or debrief.floor

    # Pieces

    def _said(self, package: Package) -> SaidPackage:
        return {"package": package_view(self.debrief.terms, package), "words": self.wording.package(package)}

    def _amount(self, gap: Gap, *, package: Package | None = None, exact: bool = False) -> SaidMoney:
        """An amount on the price, for one unit and in all; points of 100 where no money says it.

        The size alone is said; `money` keeps its sign. A total is counted with the other values of `package`, of the
        deal if none is given.
        """
        if gap.money is None or self._price is None:
            points = round(abs(gap.utility) * POINTS)
            said = f"{points} of {POINTS} points" if points else f"less than 1 of {POINTS} points"
            return {"money": None, "words": said}
        held = self._counted_with if package is None else package
        amount = format_money(self._in_all(held, gap.money), self.debrief.terms.currency)
        return {"money": amount, "words": self._amount_words(self._price, held, abs(gap.money), exact=exact)}

    def _in_all(self, package: Package, money: Decimal) -> Decimal:
        total = None if self._price is None else self.wording.total({**package, self._price.name: abs(money)})
        amount = abs(money) if total is None else total.amount
        unit = Decimal(1).scaleb(-max(2, MINOR_UNITS.get(self.debrief.terms.currency or "", 2)))
        return (amount if money >= 0 else -amount).quantize(unit)

    def _amount_words(self, price: Issue, package: Package, amount: Decimal, *, exact: bool) -> str:
        rough = amount if exact or self._only_price else self.wording.roughly(amount)
        total = self.wording.total({**package, price.name: rough})
        said = f"{'about ' if rough != amount else ''}{self.wording.price(price, rough)}"
        return said if total is None else f"{said} ({total.text})"

    def _change(self, before: Package, after: Package) -> str:
        """What a new package changes: `from €45 to €46`, `€46 per seat instead of €45 and a term of 24 months …`."""
        said: list[str] = []
        for issue in self.debrief.terms.issues:
            if issue.name not in before or issue.name not in after:
                continue
            old, new = before[issue.name], after[issue.name]
            if same_value(issue.type, old, new):
                continue
            if self._only_price:
                return f"from {self.wording.value(issue, old)} to {self.wording.value(issue, new)}"
            said.append(self._issue_change(issue, old, new))
        return join_words(said)

    def _issue_change(self, issue: Issue, old: Scalar, new: Scalar) -> str:
        if issue.type == "boolean" and isinstance(new, bool):
            return self.wording.change(issue, old, new)
        return f"{self.wording.phrase(issue, new)} instead of {self.wording.value(issue, old)}"

    # Members of the debrief

    def left(self) -> LeftOnTable:
        """What was left on the table, and what each issue adds to it."""
        found = self.debrief
        said = self._left()
        return {
            "money": said["money"],
            "currency": found.terms.currency,
            "utility": None if found.left is None else found.left.utility,
            "words": said["words"],
            "turn": None if found.costliest is None else found.costliest.turn,
            "parts": [self._part(issue, gap, found.deal or {}, found.best or {}) for issue, gap in found.parts],
        }

    def _left(self) -> SaidMoney:
        found = self.debrief
        if found.left is None:
            return {"money": None, "words": "No deal within your limits was one that they would have signed."}
        amount = self._amount(found.left, package=found.deal or found.best, exact=self._price_alone())
        return {**amount, "words": "nothing"} if self._left_nothing() else amount

    def _part(self, issue: Issue, gap: Gap, deal: Package, best: Package) -> LeftPart:
        is_price = self._price is not None and issue.name == self._price.name
        currency = self.debrief.terms.currency
        amount = self._amount(gap, exact=is_price)
        said = self._to_the_user(amount, better=gap.utility >= 0, plain=is_price)
        return {
            "issue": issue.name,
            "deal": value_view(issue, deal[issue.name], currency),
            "best": value_view(issue, best[issue.name], currency),
            "money": amount["money"],
            "words": f"{self._issue_change(issue, deal[issue.name], best[issue.name])}: {said}",
        }

    def same_terms(self) -> SameTerms | None:
        """What the price alone would have brought, all else as agreed; None where there is nothing else."""
        found = self.debrief
        if self._only_price or found.last_price is None or found.deal is None or self._price is None:
            return None
        ends = [coordinate("money", one.get(self._price.name)) for one in (found.deal, found.last_price)]
        if ends[0] is None or ends[1] is None:
            return None
        gain = ends[0] - ends[1] if self._price.direction == "lower" else ends[1] - ends[0]
        amount = self._amount(Gap(0.0, gain), package=found.deal, exact=True)
        said = self.wording.phrase(self._price, found.last_price[self._price.name])
        return {
            "package": package_view(found.terms, found.last_price),
            "words": f"With all else as agreed they would have signed {said}: {amount['words']} better for you",
            "money": amount["money"],
        }

    def opening(self) -> OpeningView | None:
        if self.debrief.opening is None:
            return None
        turn, package = self.debrief.opening
        return {"turn": turn.number, "against_target": self._beside_target(package), **self._said(package)}

    def move(self, move: OfferChange) -> OfferChangeView:
        who = "You" if move.by == "me" else "They"
        changed = f"{who} {'went' if self._only_price else 'offered'} {self._change(move.before, move.after)}"
        in_price = self._differs_in_price(move.before, move.after)
        amount = self._amount(move.gap, package=move.after, exact=in_price)
        if abs(move.gap.utility) < LITTLE and not in_price:
            words = f"{changed}, which makes little difference to you"
        else:
            better = (move.by == "them") == (move.gap.utility >= 0)
            words = f"{changed}: {self._to_the_user(amount, better=better, plain=in_price)}"
        return {
            "turn": move.turn,
            "by": move.by,
            "from": self._said(move.before),
            "to": self._said(move.after),
            "money": amount["money"],
            "words": words,
        }

    def passed(self, passed: PassedOwnLimit) -> PassedOwnLimitView:
        issue = None if passed.issue is None else self.debrief.terms.issue(passed.issue)
        is_price = self._price is not None and passed.issue == self._price.name
        amount = self._amount(Gap(0.0, passed.money), package=passed.package, exact=is_price)
        if issue is None:
            words = f"{amount['words'] + ' ' if passed.money else ''}worse than {self._reservation()}"
        elif passed.limit is None:
            words = f"{self.wording.phrase(issue, passed.package[issue.name])}, which you had ruled out"
        else:
            limit = self.wording.value(issue, passed.limit)
            words = f"{self.wording.phrase(issue, passed.package[issue.name])}, where your limit is {limit}"
        return {"turn": passed.turn, "issue": passed.issue, "money": amount["money"], "words": words}

    def unanswered(self, one: UnansweredPloy) -> UnansweredPloyView:
        amount = self._amount(one.gap)
        did = "accepted and gave" if one.accepted else "gave"
        words = (
            f"In turn {one.turn} {_content()['ploys'][one.ploy]}; you {did} {amount['words']} in turn {one.reply} "
            "without a question or a reason."
        )
        return {"turn": one.turn, "reply": one.reply, "ploy": one.ploy, "money": amount["money"], "words": words}

    def _point(self, turn: RehearsalTurn, package: Package) -> DebriefPoint:
        found, currency = self.debrief, self.debrief.terms.currency
        loss = found.losses.get(turn.number)
        price, floor = (None if at is None else format_money(at, currency) for at in found.prices(package))
        return {
            **self._said(package),
            "turn": turn.number,
            "by": turn.by,
            "action": turn.action,
            "utility": found.own.utility(package),
            "price": price,
            "floor_price": floor,
            "final": turn.final,
            "withdraws": turn.withdraws,
            "lost": None if loss is None or turn.by == "them" else self._amount(loss.gap)["money"],
        }

    def view(self, *, rehearsal_id: str, seed: int, attempts: Sequence[AttemptView] = ()) -> DebriefView:
        """The debrief as JSON; `attempts` are the other rehearsals of the same person."""
        found = self.debrief
        return {
            "rehearsal_id": rehearsal_id,
            "state": found.state,
            "score": found.score,
            "kind": found.person.kind,
            "hardness": found.person.hardness,
            "seed": seed,
            "floor": self._said(found.floor),
            "deal": None if found.deal is None else self._said(found.deal),
            "best_deal": None if found.best is None else self._said(found.best),
            "same_terms": self.same_terms(),
            "left_on_table": self.left(),
            "opening": self.opening(),
            "first_mover": found.first_mover,
            "moves": [self.move(move) for move in found.moves],
            "own_limits_passed": [self.passed(one) for one in found.passed],
            "unanswered": [self.unanswered(one) for one in found.unanswered],
            "sentences": list(self.sentences()),
            "try_next": self.try_next(),
            "lesson": self.lesson(),
            "ledger": [self._point(*point) for point in found.points],
            "levels": {
                "target": found.own.target_utility(),
                "walk_away": found.own.reservation,
                "best_deal": None if found.best is None else found.own.utility(found.best),
            },
            "attempts": list(attempts),
        }

    # Sentences

    def sentences(self) -> tuple[str, str, str]:
        """What happened: how it ended, what was to be had, where the difference went."""
        return sentence(self._ending()), sentence(self._to_be_had()), sentence(self._where())

    def _ending(self) -> str:
        found, opened = self.debrief, ""
        if found.opening is not None and self._only_price:
            beside = self._beside_target(found.opening[1])
            beside_words = "" if beside is None else beside["words"]
            opened = f"opened at {self.wording.package(found.opening[1])}"
            opened += f"{f', {beside_words},' if beside_words else ''} and "
        if found.deal is not None:
            beside = self._beside_target(found.deal) if self._only_price else None
            said = f"You {opened}agreed on {self.wording.package(found.deal)}"
            return said if beside is None else f"{said}; that is {beside['words']}"
        mine, theirs = self._last_offer("me"), self._last_offer("them")
        said = f"{self._who_left()} without a deal"
        if mine is not None:
            said += f"; your last offer was {self.wording.package(mine)}"
        if theirs is not None:
            said += f"{', ' if mine is not None else '; '}theirs was {self.wording.package(theirs)}"
        return said

    def _beside_target(self, package: Package) -> SaidMoney | None:
        """By how much a package is better or worse than the target; None without one."""
        ahead = self.debrief.ahead_of_target(package)
        if ahead is None:
            return None
        amount = self._amount(ahead, package=package)
        if abs(ahead.utility) < _NOTHING and not ahead.money:
            return {**amount, "words": "at your target"}
        side = "better than" if ahead.utility > 0 else "short of"
        return {**amount, "words": f"{amount['words']} {side} your target"}

    def _to_be_had(self) -> str:
        found, amount = self.debrief, self._left()["words"]
        if found.best is None:
            least = f"the least that they would have signed is {self.wording.package(found.floor)}"
            if found.deal is None:
                return f"Nothing within your limits was possible, so no deal was right: {least}"
            return f"They would have signed nothing within your limits, so no deal would have been better: {least}"
        best = self.wording.package(found.best)
        if found.deal is None:
            best = f"at {best}" if self._only_price else best
            return f"They would have signed {best}: {amount} better for you than {self._reservation()}"
        if amount == "nothing":
            return "They would have signed nothing better for you: you left nothing on the table"
        if not self._only_price and any(one.issue is None for one in found.deal_passes):
            return (
                f"They would have signed {best}: {amount} better for you than "
                f"{self._reservation() if self._capped() else 'your deal'}"
            )
        if self._only_price:
            return f"At the very end they would have signed at {best}: you left {amount} on the table"
        if self._price_alone():
            return f"With all else as agreed they would have signed {best}: you left {amount} on the table"
        return (
            f"At the very end they would also have signed {best}: {amount} more to you, "
            "each point counted by the weight that you gave it"
        )

    def _where(self) -> str:
        found, worst = self.debrief, self.debrief.costliest
        if found.deal is None and (apart := self._apart()):
            gap = f", {apart}" if self._only_price else f": you wanted {apart}"
            return f"In the end you were apart{gap}"
        if worst is None or found.left is None or self._left_nothing():
            return self._first_move()
        if worst.gap.utility >= found.left.utility - _NOTHING:
            part = "All of it"
        else:
            here, before = self._offers_at(worst)
            in_price = here is not None and before is not None and self._differs_in_price(before, here)
            words = self._amount(worst.gap, exact=in_price)["words"]
            part = f"{capitalise(words)} of it"
        return f"{part} went in turn {worst.turn}, {self._when(worst)}"

    def _when(self, loss: TurnLoss) -> str:
        here, before = self._offers_at(loss)
        if loss.action == "leave":
            return "when you left"
        if self._lost_by_end(loss) or here is None:
            return "after which they left"
        if loss.action == "accept":
            if before is None:
                return f"when you accepted {self.wording.package(here)}"
            if self._only_price:
                mine = self.wording.package(before)
                return f"when you accepted {self.wording.package(here)} while your own offer was {mine}"
            return f"when you accepted: {self._change(before, here)}"
        if before is None:
            return "with your opening: it asked for less than they would have signed"
        return f"when you {'went' if self._only_price else 'offered'} {self._change(before, here)}"

    def _apart(self) -> str:
        """What parted the last offers of a talk without a deal."""
        mine, theirs = self._last_offer("me"), self._last_offer("them")
        if mine is None or theirs is None:
            return ""
        return self._change(theirs, mine)

    def _first_move(self) -> str:
        if not self.debrief.moves:
            return "Neither side offered less than before"
        first = self.debrief.moves[0]
        who = "You" if first.by == "me" else "They"
        return f"{who} moved first, in turn {first.turn}: {self._change(first.before, first.after)}"

    # What to do with it

    def try_next(self) -> str:
        return sentence(self._advised["try_next"])

    def lesson(self) -> str:
        """What the user may keep as a memory: about themselves, without a figure of the other side's."""
        title = cut_at_word(tidy(self.debrief.terms.title), MAX_TITLE_CHARACTERS)
        return sentence(f"{self._advised['lesson']}{f' (from a rehearsal: {title})' if title else ''}")

    @cached_property
    def _advised(self) -> dict[str, str]:
        found, worst = self.debrief, self.debrief.costliest
        if found.deal is not None and (found.deal_passes or found.best is None):
            first = found.deal_passes[0] if found.deal_passes else None
            how = "your deal was" if first is None or first.issue is None else "you agreed to"
            return _advice("passed_limit", told=f": {how} {self.passed(first)['words']}" if first is not None else "")
        if found.best is None:
            return _advice("nothing_possible")
        if found.deal is None:
            return self._advice_without_deal()
        if worst is None or self._left_nothing():
            return _advice("left_nothing")
        given_in = next((one for one in found.unanswered if one.reply == worst.turn), None)
        return self._advice_on(worst) if given_in is None else _advice(given_in.ploy)

    def _advice_without_deal(self) -> dict[str, str]:
        theirs = self._last_offer("them")
        if theirs and limits.keeps_limits(self.debrief.terms, theirs):
            return _advice("was_acceptable", offer=self.wording.package(theirs))
        if self.debrief.state == "left_by_me":
            return _advice("left_early")
        return _advice("no_last_step" if self._only_price else "no_trade")

    def _advice_on(self, worst: TurnLoss) -> dict[str, str]:
        here, before = self._offers_at(worst)
        if self.debrief.moved_too_early:
            return _advice("moved_too_early")
        if before is None and worst.action == "offer":
            return _advice("opened_low")
        middle = None if before is None or here is None else self._between(before, here)
        if worst.action == "accept":
            return _advice("accepted_early", example="" if middle is None else f", {middle} for example,")
        if middle is None:
            return _advice("gave_several_points")
        return _advice("large_step", turn=worst.turn, example=middle)

    def _between(self, before: Package, after: Package) -> str | None:
        """The price half of the way between two packages in a round figure; None where they differ in more."""
        price = self._price
        if price is None or not self._differs_in_price(before, after):
            return None
        low, high = (coordinate("money", one.get(price.name)) for one in (before, after))
        if low is None or high is None or price.options:
            return None
        middle = (low + high) / 2
        middle = rounded(price, middle, round_unit(price, middle, abs(high - low) / 2))
        return self.wording.value(price, middle) if min(low, high) < middle < max(low, high) else None

    # Smaller questions

    def _offers_at(self, loss: TurnLoss) -> tuple[Package | None, Package | None]:
        """The package of a turn, and the user's own offer before it."""
        points = self.debrief.points
        here = next((package for turn, package in points if turn.number == loss.turn), None)
        mine = (package for turn, package in reversed(points) if turn.by == "me" and turn.number < loss.turn)
        return here, next(mine, None)

    def _last_offer(self, by: Side) -> Package | None:
        return next((package for turn, package in reversed(self.debrief.points) if turn.by == by), None)

    def _lost_by_end(self, loss: TurnLoss) -> bool:
        """Whether the other side left after this turn, the user's last."""
        mine = [turn.number for turn, _ in self.debrief.points if turn.by == "me"]
        return self.debrief.state == "left_by_them" and bool(mine) and loss.turn >= mine[-1]

    def _who_left(self) -> str:
        who = {"left_by_me": "You left", "left_by_them": "They left"}
        return who.get(self.debrief.state, "It ended")

    def _to_the_user(self, amount: SaidMoney, *, better: bool, plain: bool) -> str:
        """An amount for or against the user; one that stands for more than a price is called a worth."""
        if plain or amount["money"] is None:
            return f"{amount['words']} {'better' if better else 'worse'} for you"
        return f"worth {amount['words']} {'more' if better else 'less'} to you"

    def _reservation(self) -> str:
        terms = self.debrief.terms
        if terms.walk_away is not None:
            return "your walk-away"
        return "your alternative" if terms.certain is not None else "the worst that you could think of"

    def _capped(self) -> bool:
        """Whether the deal passes the walk-away and is otherwise worth more: then it counts as no deal."""
        found = self.debrief
        if found.best is None or found.left is None or found.deal is None:
            return False
        return found.left.utility > found.own.gap(found.best, found.deal).utility + _NOTHING

    def _left_nothing(self) -> bool:
        found = self.debrief
        if found.left is None:
            return False
        return not found.left.money if self._only_price else found.left.utility < LITTLE

    def _price_alone(self) -> bool:
        """Whether the best deal differs from the deal in the price alone."""
        deal, best = self.debrief.deal, self.debrief.best
        return deal is not None and best is not None and self._differs_in_price(deal, best)

    def _differs_in_price(self, one: Package, other: Package) -> bool:
        return self._price is not None and all(
            issue.name == self._price.name or same_value(issue.type, one[issue.name], other[issue.name])
            for issue in self.debrief.terms.issues
            if issue.name in one and issue.name in other
        )


@cache
def _content() -> Mapping[str, Any]:
    return tomllib.loads(files("negotiator.rehearsals").joinpath("debrief_words.toml").read_text("utf-8"))


def _advice(name: str, **slots: object) -> dict[str, str]:
    return {part: text.format(**slots) for part, text in _content()["advice"][name].items()}
