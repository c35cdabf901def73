"""The words that pages use for a negotiation: values, packages, totals, states, dates and days left."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from importlib import resources
from typing import Any, Final

from negotiator.base.values import money_text
from negotiator.runtime.telemetry import logger
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.plain_text import number_text, sentence
from negotiator.terms.terms import Terms
from negotiator.terms.terms_parsing import parse_terms
from negotiator.terms.terms_view import terms_of_view
from negotiator.terms.unit_price import read_unit_price
from negotiator.terms.utility import Preferences
from negotiator.terms.wording import Wording

log = logger(__name__)

_WORDS: Final[Mapping[str, Mapping[str, str]]] = tomllib.loads(
    (resources.files("negotiator.console") / "words.toml").read_text("utf-8")
)


def table(name: str) -> Mapping[str, str]:
    """A table of `words.toml`: the words of values, in their order."""
    return _WORDS[name]


STATES: Final = table("states")
RUNNING: Final = ("awaiting_approval", "agreed", "active", "planned", "paused", "draft")
"""The states of a negotiation that has not ended, the most urgent first."""
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def object_member(view: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object of the API's answer, empty where it is null or absent."""
    return view.get(name) or {}


def day_text(moment: str) -> str:
    """The day of an RFC 3339 moment: `3 December 2026`."""
    at = datetime.fromisoformat(moment)
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}"


def time_text(moment: str) -> str:
    """An RFC 3339 moment to the minute: `3 December 2026, 14:05 UTC`."""
    at = datetime.fromisoformat(moment).astimezone(UTC)
    return f"{day_text(moment)}, {at:%H:%M} UTC"


def amount_text(amount: str, currency: str) -> str:
    """An amount of money as the API sends it, in words: `€12,500`."""
    return money_text(Decimal(amount), currency)


def short_amount(amount: str) -> str:
    """An amount of money for a narrow place, without its currency: `850`, `12k`, `1.2m`."""
    value = float(amount)
    for size, mark in ((1e6, "m"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.1f}".removesuffix(".0") + mark
    return f"{value:.0f}"


def month_name(number: int) -> str:
    """The month's short name: `Mar`."""
    return _MONTHS[number - 1][:3]


def counted_text(count: int, one: str, many: str = "") -> str:
    """`1 deal`, `3 deals`."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def days_left(deadline: str, now: datetime) -> str:
    """The time until a deadline in words: `12 days left`, `today`, `3 days ago`."""
    days = (datetime.fromisoformat(deadline).date() - now.date()).days
    if days == 0:
        return "today"
    if days < 0:
        return "yesterday" if days == -1 else f"{-days} days ago"
    return "1 day left" if days == 1 else f"{days} days left"


def percent_text(share: float) -> str:
    """A fraction of the API as a percentage: `12.5%`."""
    return f"{number_text(round(Decimal(str(share)) * 100, 1))}%"


@dataclass(frozen=True, slots=True)
class NegotiationWords:
    """The words for the values of one negotiation."""

    terms: Terms
    wording: Wording

    @classmethod
    def of(cls, view: Mapping[str, Any]) -> "NegotiationWords":
        """The words for a negotiation as the API answers it; those of its title alone where it cannot be read."""
        try:
            terms = terms_of_view(view)
        except (ArithmeticError, LookupError, TypeError, ValueError) as fault:  # must not fail a list of others
            log.error("a negotiation cannot be put in words", negotiation=view["id"], exc_info=fault)
            known = {name: view[name] for name in ("title", "role", "category", "kind", "currency")}
            terms = Terms(**known, preferences=Preferences(()))
        return cls(terms, Wording(terms))

    @classmethod
    def of_body(cls, body: dict[str, Any]) -> "NegotiationWords":
        """The words for a negotiation as it would be sent; raises what is wrong with it."""
        terms = parse_terms(NegotiationBody.model_validate(body), lenient=True)
        return cls(terms, Wording(terms))

    @property
    def them(self) -> str:
        """The other side, as a title of its own."""
        return self.wording.them[:1].upper() + self.wording.them[1:]

    def package(self, package: dict[str, Any], *, with_total: bool = True) -> str:
        """An offer in one line, with its total where there is one."""
        return self.wording.package(package, with_total=with_total)

    def past_limits(self, passed: Sequence[Mapping[str, Any]]) -> str:
        """What the API's `past_limits` name, in sentences; empty without any."""
        said: list[str] = []
        for one in passed:
            issue = self.terms.issue(one["issue"])
            name = one["issue"] if issue is None else self.wording.label(issue)
            limit = self.value(one["issue"], one["limit"])
            value = "left open" if one["value"] is None else self.value(one["issue"], one["value"])
            said.append(f"Your limit on {name} is {limit}, and this is {value}.")
        return " ".join(said)

    def total(self, package: dict[str, Any]) -> str:
        """The multiplication behind an offer, such as `80 seats × €47 × 12 months = €45,120 a year`; empty without."""
        found = self.wording.total(package)
        return found.text if found else ""

    def value(self, name: str, value: object) -> str:
        """One value with its unit; the plain text for an issue that is no longer there."""
        issue = self.terms.issue(name)
        return str(value) if issue is None else self.wording.value(issue, value)

    def label(self, name: str) -> str:
        """An issue's name at the beginning of a line."""
        issue = self.terms.issue(name)
        said = name if issue is None else self.wording.label(issue)
        return said[:1].upper() + said[1:]

    def money(self, amount: Decimal) -> str:
        """An amount in the negotiation's currency."""
        return self.wording.money(amount)

    def quantity(self, package: dict[str, Any]) -> Decimal:
        """How many times a package's price is paid; 1 for a lump sum."""
        return self.wording.amount_in_all(package, Decimal(1))

    def amount(self, amount: str) -> str:
        """An amount of money as the API sends it, in the negotiation's currency."""
        return self.money(Decimal(amount))

    def gap(self, package: dict[str, Any] | None, goal: dict[str, Any] | None) -> str:
        """How far an offer's price is from a goal's, in all: `€9,600 above`; empty where it is as good or unknown."""
        price, asked, wanted = self.terms.price, self.price(package), self.price(goal)
        if price is None or asked is None or wanted is None:
            return ""
        worse = asked - wanted if price.direction == "lower" else wanted - asked
        side = "above" if price.direction == "lower" else "below"
        return f"{self.money(worse)} {side}" if worse > 0 else ""

    def price(self, package: dict[str, Any] | None) -> Decimal | None:
        """What an offer costs in all, or its price where nothing multiplies it; None without a price."""
        price = self.terms.price
        if price is None or not package or price.name not in package:
            return None
        try:
            amount = Decimal(str(package[price.name]))
        except InvalidOperation:
            return None
        return self.wording.amount_in_all(package, amount)


def asked_verb(held: Mapping[str, Any]) -> str:
    """What the user is asked to allow with the package that waits."""
    if held["kind"] != "acceptance":
        return "offer"
    return "note their yes to" if held.get("by") == "them" else "accept"


def beyond_text(held: Mapping[str, Any]) -> str:
    """How far a held package passes the user's limits, as sentences; empty where that has no amount."""
    said: list[str] = []
    for one in held.get("beyond") or ():
        if one["limit"].startswith("issues/"):
            said.append(sentence(one["words"]))
            continue
        limit = "your limit" if one["limit"] == "walk_away" else "what may be agreed without you"
        if one["amount"] is None:
            said.append(f"That is beyond {limit}.")
        else:
            said.append(f"That is {one['words']} {one['side']} {limit}.")
    return " ".join(said)


def limit_title(kind: str, direction: str | None) -> str:
    """What the field of an issue's limit is called."""
    if kind != "money":
        return "The worst I would take"
    return "The most I would pay" if direction == "lower" else "The least I would take"


def issue_unit(view: Mapping[str, Any], issue: Mapping[str, Any]) -> str:
    """What stands beside the field of an issue of the negotiation `view`, such as `EUR a month`; empty for none.

    What the label says already, as in `Price per seat`, is not said again.
    """
    if issue["type"] == "money":
        label = issue["label"] or issue["name"]
        per = read_unit_price(label, issue["unit"]).words
        if per and read_unit_price(label, None).words:
            return str(view["currency"] or "")
        if per:
            return f"{view['currency'] or ''} {per}".strip()
    units = {"money": view["currency"] or "", "percent": "%", "duration_days": "days"}
    return issue["unit"] or units.get(issue["type"], "")


def issue_options(issue: Mapping[str, Any], words: NegotiationWords) -> list[tuple[str, str]]:
    """The values to choose from, and their words."""
    if issue["type"] == "boolean":
        return [("true", "yes"), ("false", "no")]
    return [(str(option["value"]), words.value(issue["name"], option["value"])) for option in issue["options"]]
