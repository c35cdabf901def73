"""The words of a debrief: what happened in three sentences, one thing to try next, one lesson to keep.

An amount is said for one unit and in all, with the multiplication. Where several issues count, it is what the whole is
worth as a change of the price, rounded to two figures and called "about".
"""

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Final

from negotiator.base.values import MINOR_UNITS, format_money
from negotiator.rehearsals.counterpart.interests import round_unit, rounded
from negotiator.rehearsals.counterpart.person import Ploy
from negotiator.rehearsals.debrief import Debrief, IssueGap, OfferChange, PassedOwnLimit, TurnLoss, UnansweredPloy
from negotiator.rehearsals.record import Side
from negotiator.terms import limits
from negotiator.terms.issues import Issue, Package, Scalar, coordinate, same_value
from negotiator.terms.plain_text import capitalise, cut_at_word, join_words, sentence, tidy
from negotiator.terms.wording import Wording

MAX_TITLE_CHARACTERS: Final = 60
POINTS: Final = 100
"""What the best that the user can think of is worth, in points."""
LITTLE: Final = 0.01
"""Less utility than this is said to be nothing."""
_NOTHING: Final = 1e-6
_PLOYS: Final[dict[Ploy, str]] = {
    "extreme_anchor": "they opened far from anything they had to have",
    "takes_back": "they took an offer back",
    "deadline_bluff": "they called their offer final",
    "flat_refusal": "they repeated their offer without a word of why",
}
_ANSWERS: Final[dict[Ploy, str]] = {
    "extreme_anchor": "When they open with an extreme figure, ask how they got to it before you move",
    "takes_back": "When they take an offer back, say that it still counts, and stay where you are",
    "deadline_bluff": "When they call an offer final, ask what happens after that, or stay silent, before you move",
    "flat_refusal": "When they repeat an offer, ask what the obstacle is, or wait, before you move",
}
_LESSONS: Final[dict[Ploy, str]] = {
    "extreme_anchor": "When somebody opens with an extreme figure, I ask how they got to it before I move",
    "takes_back": "When somebody takes an offer back, I hold them to it instead of giving more",
    "deadline_bluff": "When somebody calls an offer final, I ask a question before I move",
    "flat_refusal": "When somebody just repeats their offer, I ask why before I move",
}


@dataclass(frozen=True, slots=True)
class SaidAmount:
    """An amount in all as a decimal string, None where no money says it, and in words."""

    money: str | None
    words: str


class DebriefWords:
    """The words of one debrief."""

    def __init__(self, debrief: Debrief) -> None:
        self.debrief: Final = debrief
        self.wording: Final = Wording(debrief.terms)
        self._price: Final = debrief.terms.price
        self._only_price: Final = len(debrief.terms.issues) == 1 and debrief.terms.price is not None
        self._counted_with: Final = debrief.deal or debrief.best or debrief.floor

    # Pieces

    def package(self, package: Package) -> str:
        """A package as an offer, with its total."""
        return self.wording.package(package)

    def amount(
        self, utility: float, money: Decimal | None, *, package: Package | None = None, exact: bool = False
    ) -> SaidAmount:
        """An amount on the price, for one unit and in all; points of 100 where no money says it.

        The size alone is said; `money` keeps its sign. A total is counted with the other values of `package`, of the
        deal if none is given.
        """
        if money is None or self._price is None:
            points = round(abs(utility) * POINTS)
            said = f"{points} of {POINTS} points" if points else f"less than 1 of {POINTS} points"
            return SaidAmount(None, said)
        held = self._counted_with if package is None else package
        amount = format_money(self._in_all(held, money), self.debrief.terms.currency)
        return SaidAmount(amount, self._amount_words(self._price, held, abs(money), exact=exact))

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

    def change(self, before: Package, after: Package) -> str:
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

    def left(self) -> SaidAmount:
        """What was left on the table."""
        found = self.debrief
        if found.left is None:
            return SaidAmount(None, "No deal within your limits was one that they would have signed.")
        amount = self.amount(found.left, found.left_money, package=found.deal or found.best, exact=self._price_alone())
        return SaidAmount(amount.money, "nothing") if self._left_nothing() else amount

    def part(self, part: IssueGap) -> SaidAmount:
        """What one issue adds to what was left on the table."""
        issue = self.debrief.terms.issue(part.issue)
        is_price = self._price is not None and part.issue == self._price.name
        amount = self.amount(part.utility, part.money, exact=is_price)
        if issue is None:
            return amount
        changed = self._issue_change(issue, part.deal, part.best)
        said = self._to_the_user(amount, better=part.utility >= 0, plain=is_price)
        return SaidAmount(amount.money, f"{changed}: {said}")

    def last_price(self) -> SaidAmount | None:
        """What the price alone would have brought, all else as agreed; None where there is nothing else."""
        found = self.debrief
        if self._only_price or found.last_price is None or found.deal is None or self._price is None:
            return None
        ends = [coordinate("money", one.get(self._price.name)) for one in (found.deal, found.last_price)]
        if ends[0] is None or ends[1] is None:
            return None
        gain = ends[0] - ends[1] if self._price.direction == "lower" else ends[1] - ends[0]
        amount = self.amount(0.0, gain, package=found.deal, exact=True)
        said = self.wording.phrase(self._price, found.last_price[self._price.name])
        return SaidAmount(
            amount.money, f"With all else as agreed they would have signed {said}: {amount.words} better for you"
        )

    def against_target(self) -> SaidAmount | None:
        """The opening against the target."""
        opening = self.debrief.opening
        if opening is None or opening.ahead is None:
            return None
        return self._beside_target(opening.ahead, opening.money, opening.package)

    def move(self, move: OfferChange) -> SaidAmount:
        """One concession."""
        who = "You" if move.by == "me" else "They"
        changed = f"{who} {'went' if self._only_price else 'offered'} {self.change(move.before, move.after)}"
        in_price = self._differs_in_price(move.before, move.after)
        amount = self.amount(move.utility, move.money, package=move.after, exact=in_price)
        if abs(move.utility) < LITTLE and not in_price:
            return SaidAmount(amount.money, f"{changed}, which makes little difference to you")
        better = (move.by == "them") == (move.utility >= 0)
        said = self._to_the_user(amount, better=better, plain=in_price)
        return SaidAmount(amount.money, f"{changed}: {said}")

    def passed(self, passed: PassedOwnLimit) -> SaidAmount:
        """One limit that was passed."""
        issue = None if passed.issue is None else self.debrief.terms.issue(passed.issue)
        is_price = self._price is not None and passed.issue == self._price.name
        amount = self.amount(0.0, passed.money, package=passed.package, exact=is_price)
        if issue is None:
            size = f"{amount.words} " if passed.money else ""
            return SaidAmount(amount.money, f"{size}worse than {self._reservation()}")
        value = self.wording.phrase(issue, passed.value)
        if passed.limit is None:
            return SaidAmount(amount.money, f"{value}, which you had ruled out")
        return SaidAmount(amount.money, f"{value}, where your limit is {self.wording.value(issue, passed.limit)}")

    def unanswered(self, one: UnansweredPloy) -> SaidAmount:
        """One tactic that was given in to."""
        amount = self.amount(one.utility, one.money)
        did = "accepted and gave" if one.accepted else "gave"
        return SaidAmount(
            amount.money,
            f"In turn {one.turn} {_PLOYS[one.ploy]}; you {did} {amount.words} in turn {one.reply} "
            "without a question or a reason.",
        )

    # Sentences

    def sentences(self) -> tuple[str, str, str]:
        """What happened: how it ended, what was to be had, where the difference went."""
        return sentence(self._ending()), sentence(self._to_be_had()), sentence(self._where())

    def _ending(self) -> str:
        found, opened = self.debrief, ""
        beside = self.against_target()
        if found.opening is not None and self._only_price:
            opened = f"opened at {self.package(found.opening.package)}"
            opened += f", {beside.words}, and " if beside is not None else " and "
        if found.deal is not None:
            said = f"You {opened}agreed on {self.package(found.deal)}"
            if found.target_gap is not None and self._only_price:
                beside = self._beside_target(*found.target_gap, found.deal)
                said += f"; that is {beside.words}"
            return said
        mine, theirs = self._last_offer("me"), self._last_offer("them")
        said = f"{self._who_left()} without a deal"
        if mine is not None:
            said += f"; your last offer was {self.package(mine)}"
        if theirs is not None:
            said += f"{', ' if mine is not None else '; '}theirs was {self.package(theirs)}"
        return said

    def _beside_target(self, ahead: float, money: Decimal | None, package: Package) -> SaidAmount:
        amount = self.amount(ahead, money, package=package)
        if abs(ahead) < _NOTHING and not money:
            return SaidAmount(amount.money, "at your target")
        side = "better than" if ahead > 0 else "short of"
        return SaidAmount(amount.money, f"{amount.words} {side} your target")

    def _to_be_had(self) -> str:
        found, amount = self.debrief, self.left()
        if found.best is None:
            least = f"the least that they would have signed is {self.package(found.floor)}"
            if found.deal is None:
                return f"Nothing within your limits was possible, so no deal was right: {least}"
            return f"They would have signed nothing within your limits, so no deal would have been better: {least}"
        best = self.package(found.best)
        if found.deal is None:
            best = f"at {best}" if self._only_price else best
            return f"They would have signed {best}: {amount.words} better for you than {self._reservation()}"
        if amount.words == "nothing":
            return "They would have signed nothing better for you: you left nothing on the table"
        if not self._only_price and any(one.issue is None for one in found.deal_passes):
            return (
                f"They would have signed {best}: {amount.words} better for you than "
                f"{self._reservation() if self._capped() else 'your deal'}"
            )
        if self._only_price:
            return f"At the very end they would have signed at {best}: you left {amount.words} on the table"
        if self._price_alone():
            return f"With all else as agreed they would have signed {best}: you left {amount.words} on the table"
        return (
            f"At the very end they would also have signed {best}: {amount.words} more to you, "
            "each point counted by the weight that you gave it"
        )

    def _where(self) -> str:
        found, worst = self.debrief, self.debrief.costliest
        if found.deal is None and (apart := self._apart()):
            gap = f", {apart}" if self._only_price else f": you wanted {apart}"
            return f"In the end you were apart{gap}"
        if worst is None or found.left is None or self._left_nothing():
            return self._first_move()
        if worst.utility >= found.left - _NOTHING:
            part = "All of it"
        else:
            here, before = self._offers_at(worst)
            in_price = here is not None and before is not None and self._differs_in_price(before, here)
            words = self.amount(worst.utility, worst.money, exact=in_price).words
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
                return f"when you accepted {self.package(here)}"
            if self._only_price:
                return f"when you accepted {self.package(here)} while your own offer was {self.package(before)}"
            return f"when you accepted: {self.change(before, here)}"
        if before is None:
            return "with your opening: it asked for less than they would have signed"
        return f"when you {'went' if self._only_price else 'offered'} {self.change(before, here)}"

    def _theirs(self) -> Package:
        return self._last_offer("them") or {}

    def _was_acceptable(self) -> bool:
        """Whether their last offer was within the user's own limits."""
        theirs = self._theirs()
        return bool(theirs) and limits.keeps_limits(self.debrief.terms, theirs)

    def _apart(self) -> str:
        """What parted the last offers of a talk without a deal."""
        mine, theirs = self._last_offer("me"), self._last_offer("them")
        if mine is None or theirs is None:
            return ""
        return self.change(theirs, mine)

    def _first_move(self) -> str:
        if not self.debrief.moves:
            return "Neither side offered less than before"
        first = self.debrief.moves[0]
        who = "You" if first.by == "me" else "They"
        return f"{who} moved first, in turn {first.turn}: {self.change(first.before, first.after)}"

    # What to do with it

    def try_next(self) -> str:
        """One thing to try in the next rehearsal."""
        return sentence(self._advice[0])

    def lesson(self) -> str:
        """What the user may keep as a memory: about themselves, without a figure of the other side's."""
        title = cut_at_word(tidy(self.debrief.terms.title), MAX_TITLE_CHARACTERS)
        return sentence(f"{self._advice[1]}{f' (from a rehearsal: {title})' if title else ''}")

    @cached_property
    def _advice(self) -> tuple[str, str]:
        """What to try next, and the lesson."""
        found, worst = self.debrief, self.debrief.costliest
        if found.deal is not None and (found.deal_passes or found.best is None):
            first = found.deal_passes[0] if found.deal_passes else None
            how = "your deal was" if first is None or first.issue is None else "you agreed to"
            told = f": {how} {self.passed(first).words}" if first is not None else ""
            return (
                f"Stop at your limit{told}. Write it down first, and neither offer nor accept anything past it",
                "I write my limits down before I start, and neither offer nor accept anything past them",
            )
        if found.best is None:
            return (
                "Do the same again: write your limit down first, and leave when nothing within it is possible",
                "I leave when nothing within my limit is possible",
            )
        if found.deal is None:
            return self._advice_without_deal()
        if worst is None or self._left_nothing():
            return (
                "Try a harder person, or open further from your target: here you left nothing",
                "My plan worked here: I keep it, and try it on a harder person",
            )
        given_in = next((one for one in found.unanswered if one.reply == worst.turn), None)
        if given_in is not None:
            return _ANSWERS[given_in.ploy], _LESSONS[given_in.ploy]
        return self._advice_on(worst)

    def _advice_without_deal(self) -> tuple[str, str]:
        if self._was_acceptable():
            return (
                f"Take what lies inside your limits when they call it their last: {self.package(self._theirs())}",
                "I take an offer inside my limits when it is called the last one",
            )
        if self.debrief.state == "left_by_me":
            return (
                "Before you leave, stay silent once or make one more offer: a deal was still possible",
                "Before I leave, I make one more offer within my limit",
            )
        if self._only_price:
            return (
                "Take one more small step before their patience ends: a deal was still possible",
                "I take one more small step before patience ends",
            )
        return (
            "Ask what the point that separates you would cost, and trade it before their patience ends",
            "I ask what the point that separates us would cost, and trade it before patience ends",
        )

    def _advice_on(self, worst: TurnLoss) -> tuple[str, str]:
        here, before = self._offers_at(worst)
        if self.debrief.moved_too_early:
            return (
                "Say your own offer once more when they call theirs the last: yours was one they would have signed",
                "When they call their offer the last, I repeat mine once before I move",
            )
        if before is None and worst.action == "offer":
            return (
                "Open more boldly: begin beyond your target, and leave room for later steps",
                "I open beyond my target, so that there is room for steps",
            )
        middle = None if before is None or here is None else self._between(before, here)
        if worst.action == "accept":
            at = "" if middle is None else f", {middle} for example,"
            return (
                f"Make one more offer before you accept{at} and give a reason with it",
                "Before I accept, I make one more offer and give a reason with it",
            )
        if middle is None:
            return (
                "Change one point at a time, and ask for something in return for each",
                "I change one point at a time, and ask for something in return for each",
            )
        return (
            f"Take smaller steps: in turn {worst.turn}, for example, {middle}. Ask for something in return",
            "I give in small steps, each smaller than the one before, and ask for something in return",
        )

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
        here = next((one.package for one in points if one.turn == loss.turn), None)
        before = next((one.package for one in reversed(points) if one.by == "me" and one.turn < loss.turn), None)
        return here, before

    def _last_offer(self, by: Side) -> Package | None:
        return next((one.package for one in reversed(self.debrief.points) if one.by == by), None)

    def _lost_by_end(self, loss: TurnLoss) -> bool:
        """Whether the other side left after this turn, the user's last."""
        mine = [point.turn for point in self.debrief.points if point.by == "me"]
        return self.debrief.state == "left_by_them" and bool(mine) and loss.turn >= mine[-1]

    def _who_left(self) -> str:
        who = {"left_by_me": "You left", "left_by_them": "They left"}
        return who.get(self.debrief.state, "It ended")

    def _to_the_user(self, amount: SaidAmount, *, better: bool, plain: bool) -> str:
        """An amount for or against the user; one that stands for more than a price is called a worth."""
        if plain or amount.money is None:
            return f"{amount.words} {'better' if better else 'worse'} for you"
        return f"worth {amount.words} {'more' if better else 'less'} to you"

    def _reservation(self) -> str:
        terms = self.debrief.terms
        if terms.walk_away is not None:
            return "your walk-away"
        return "your alternative" if terms.certain is not None else "the worst that you could think of"

    def _capped(self) -> bool:
        """Whether the deal passes the walk-away and is otherwise worth more: then it counts as no deal."""
        found = self.debrief
        if found.best_utility is None or found.left is None or found.deal_utility is None:
            return False
        return found.left > found.best_utility - found.deal_utility + _NOTHING

    def _left_nothing(self) -> bool:
        found = self.debrief
        if found.left is None:
            return False
        return not found.left_money if self._only_price else found.left < LITTLE

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
