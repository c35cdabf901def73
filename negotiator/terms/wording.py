"""The words for what a negotiation is about: labels, values, packages, totals, the user's voice and the other side.

Everything that is said to people, or printed for them, names values by `Wording`; field names never reach a sentence.
"""

import re
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import Final

from negotiator.base.values import day_text, money_text, number_text
from negotiator.terms.issue_words import IssueWords, issue_words
from negotiator.terms.issues import Issue, Package, Scalar, coordinate
from negotiator.terms.plain_text import (
    COUNT_NOUNS,
    VOCABULARY,
    counted,
    cut_at_word,
    join_words,
    noun_phrase,
    plural,
    singular,
    tidy,
    with_article,
    word_set,
)
from negotiator.terms.terms import BUYING_ROLES, COUNTERPART_ROLES, SELLING_ROLES, Terms
from negotiator.terms.unit_price import Total, UnitPrice, read_unit_price, total_of
from negotiator.terms.voice import Voice, voice_of

MAX_PACKAGE_CHARACTERS: Final = 300
MAX_VALUE_CHARACTERS: Final = 60
MAX_NAME_CHARACTERS: Final = 80
_PLAIN_PRICES: Final = frozenset(
    ["", "price", "rate", "cost", "costs", "fee", "amount", "total", "price offer", "offer"]
    + [f"{kind} {noun}" for kind in ("unit", "list", "net", "total", "purchase", "sale", "selling", "asking")
       for noun in ("price", "cost", "amount", "rate", "fee")]
)  # fmt: skip
"""Labels that say no more than that the amount is a price."""
_PAYMENT_WORDS: Final = VOCABULARY["payment_words"]
_DELIVERY_WORDS: Final = word_set("delivery lead time period days weeks terms term in")
_TERM_WORDS: Final = VOCABULARY["term_words"]
_BOUNDS: Final = word_set("cap limit maximum minimum ceiling floor")
"""Of these none is not the same as zero."""
_MASS_NOUNS: Final = VOCABULARY["mass_nouns"]
_RHYTHMS: Final = word_set("monthly quarterly yearly annual weekly daily upfront half-yearly biannual advance single")
_RHYTHM_LABELS: Final = {"frequency", "schedule", "rhythm", "interval", "timing", "terms", "term", "cycle", "mode"}
NO_NAMES: Final = frozenset(["none", "null", "no", "nothing", "n/a", "na", "unknown"])
"""What programs write where nothing is known."""
_DATE_EVENTS: Final = VOCABULARY["date_events"]
_PREPOSITION: Final = re.compile(
    r"\s(on|for|in|to|with|after|before|from|under|above|over|at|by|during|within|per|until)\s"
)
_FOLLOWS_A_NOUN: Final = re.compile(
    r"(?:on|in|at|after|before|by|within|until|upon|from|with|without) \S"
    r"|(?:monthly|quarterly|yearly|annually|weekly) (?:in|on|at) \S"
    r"|(?:[a-z]+ed|bought|brought|made|done|paid|kept|sent|given) (?:by|at|in|with|on|for|from) \S"
)
"""Options that follow the label without a colon: `payment on delivery`, `drinks bought by us`."""
_DEFINITE_NOUNS: Final = word_set("price increase fee rate salary rent premium budget")
_PARTICIPLE: Final = re.compile(r"(?!fixed|limited|extended|reduced|unlimited)[a-z]{2,}ed")
"""Options that follow the label: `delivery included`, but `a fixed start`."""
_STATES: Final = word_set("stays remains goes stay remain go")
MAX_LABELLED_WORDS: Final = 4
"""A longer listed value says by itself what it is about."""
_STRETCH: Final = re.compile(r"[0-9]+ (?:day|week|month|year)s?")
_MONTHS: Final = word_set("january february march april may june july august september october november december")
_WEEKDAYS: Final = word_set("monday tuesday wednesday thursday friday saturday sunday")
_SELLERS: Final = word_set("seller landlord employee candidate contractor supplier agency vendor freelancer")
_BUYERS: Final = word_set("buyer tenant employer customer client")
_PARTIES: Final = _SELLERS | _BUYERS | {"owner"}
_WIDTHS: Final = (MAX_VALUE_CHARACTERS, 36, 24, 16)


class Wording:
    """The words of one negotiation. Its texts are on one line, with single blanks and without field names.

    `spoken` ones are said by the user to the other side: `transport by me` in place of `transport by the seller`.
    """

    def __init__(self, terms: Terms, *, spoken: bool = False) -> None:
        self.terms: Final = terms
        self._spoken: Final = spoken
        self._words: dict[str, IssueWords] = {}

    # Names

    def label(self, issue: Issue) -> str:
        """The issue's name inside a sentence: `price per seat and month`, `SLA credit`."""
        return self._of(issue).label

    def short_label(self, issue: Issue) -> str:
        """The issue's name without what a price is per: `price`, `rent`."""
        price = self._unit_price(issue)
        plain = price.head if issue.type == "money" and price.is_clear else self.label(issue)
        return plain or "price"

    @cached_property
    def voice(self) -> Voice:
        """How the user speaks of their own side."""
        return voice_of(self.terms)

    @cached_property
    def spoken(self) -> "Wording":
        """The words as the user says them to the other side."""
        return Wording(self.terms, spoken=True)

    def is_own(self, issue: Issue, value: object) -> bool:
        """Whether a listed value names the user's own side, which then does what the issue is about."""
        own = {**dict.fromkeys(SELLING_ROLES, _SELLERS), **dict.fromkeys(BUYING_ROLES, _BUYERS)}
        return issue.type == "enum" and self.value(issue, value).lower() in own.get(self.terms.role, ())

    @cached_property
    def them(self) -> str:
        """The other side: its organisation or name, else its role, else what the user's own role implies."""
        party = self.terms.other_party
        for name in party.names if party else ():
            if (plain := tidy(name)) and plain.lower() not in NO_NAMES:
                return cut_at_word(plain, MAX_NAME_CHARACTERS)
        role = tidy(party.role or "").lower() if party else ""
        if re.fullmatch(r"[a-z]{4,}( [a-z]{4,})?", role):
            return f"the {role}"
        return f"the {COUNTERPART_ROLES.get(self.terms.role, 'other side')}"

    # Values

    def money(self, amount: Decimal) -> str:
        """An amount in the negotiation's currency: `€12,500`, `€43.50`, `CHF 12,000`; no decimals if it is whole."""
        return money_text(amount, self.terms.currency or "")

    def value(self, issue: Issue, value: object) -> str:
        """One value with its unit: `€45`, `45 days`, `5%`, `1 March 2027`, `monthly`, `yes`."""
        if issue.type == "boolean" and isinstance(value, bool):
            return "yes" if value else "no"
        at = coordinate(issue.type, value)
        match issue.type:
            case "money" if at is not None:
                return self.money(at)
            case "percent" if at is not None:
                return f"{number_text(at)}%"
            case "date" if at is not None:
                return day_text(date.fromordinal(int(at)))
            case "number" | "integer" | "duration_days" if at is not None:
                return counted(at, self._of(issue).unit or "")
            case _:
                return self._written(value)

    def phrase(self, issue: Issue, value: object) -> str:
        """One value as a part of an offer: `€45 per seat and month`, `payment within 45 days`, `with winter tyres`."""
        return self._phrase(issue, value, MAX_VALUE_CHARACTERS)

    def package(self, package: Package, *, with_total: bool = True) -> str:
        """The parts of an offer in the order of the issues, and the total in brackets where there is one.

        What comes with it or without it stands last. Labels are shortened where the offer would have more than 300
        characters.
        """
        said = ""
        for width in _WIDTHS:
            said = self._parts(package, width)
            if len(said) <= MAX_PACKAGE_CHARACTERS:
                break
        total = self.total(package) if with_total else None
        if total is None or len(said) + len(total.text) + 3 > MAX_PACKAGE_CHARACTERS:
            return said
        return f"{said} ({total.text})"

    def deal(self, package: Package, *, with_total: bool = True) -> str:
        """A package as a noun: `€45 per seat and a term of 12 months`, `a deal with winter tyres`."""
        said = self.package(package, with_total=with_total)
        return f"a deal {said}" if said.startswith(("with ", "without ")) else said

    def price(self, issue: Issue, value: object) -> str:
        """A price without its label, `€46 per seat and month`; another amount of money with it."""
        if issue is not self.terms.price:
            return self.phrase(issue, value)
        return f"{self.value(issue, value)} {self._unit_price(issue).words}".rstrip()

    def objects(self, values: Iterable[tuple[Issue, Scalar]], before: Package | None = None) -> str:
        """Values as the object of "can do" or "agree to": `€44 and payment within 30 days instead of 14`.

        What comes with it or without it stands last, `it with winter tyres`. `before` has the values until now.
        """
        plain, extras = list[str](), list[str]()
        for issue, value in values:
            said, label = self.phrase(issue, value), self.label(issue)
            if issue.type == "boolean":
                extras.append(said)
                continue
            if said.startswith(f"{label}: "):
                said = f"{self.value(issue, value)} for {noun_phrase(label)}"
            plain.append(f"{said}{self._instead(issue, (before or {}).get(issue.name))}")
        return " ".join([join_words(plain) or "it", join_words(extras)]).strip()

    def _instead(self, issue: Issue, before: Scalar | None) -> str:
        if before is None or str(before).lower() in {"yes", "no"}:
            return ""
        if self.value(issue, before).lower() in _PARTIES:
            return f" instead of by {self._party(issue, before)}"
        at = coordinate(issue.type, before) if issue.type in {"number", "integer", "duration_days"} else None
        return f" instead of {self.value(issue, before) if at is None else number_text(at)}"

    def change(self, issue: Issue, before: object, after: object) -> str:
        """A step on one issue: `45 instead of 30 days`, `€44 instead of €45`, `monthly instead of yearly`."""
        old, new = coordinate(issue.type, before), coordinate(issue.type, after)
        if issue.type == "boolean" and isinstance(after, bool):
            return f"{self.phrase(issue, after)} instead of {'without' if after else 'with'}"
        unit = "%" if issue.type == "percent" else self._of(issue).unit
        if issue.type in {"money", "date", "enum"} or old is None or new is None or not unit:
            return f"{self.value(issue, after)} instead of {self.value(issue, before)}"
        if abs(old) == 1 and unit != "%":
            return f"{self.value(issue, after)} instead of {number_text(old)}"
        return f"{number_text(new)} instead of {self.value(issue, before)}"

    def total(self, package: Package) -> Total | None:
        """What a unit price comes to in all; None for a lump sum, and where a factor is not certain."""
        price = self.terms.price
        if price is None:
            return None
        return total_of(self.terms, package, price=self._unit_price(price), words=self._of, money=self.money)

    def amount_in_all(self, package: Package, amount: Decimal) -> Decimal:
        """What `amount` more or less on the price comes to in all; `amount` itself where the price is a lump sum."""
        price = self.terms.price
        total = None if price is None else self.total({**package, price.name: amount})
        return amount if total is None else total.amount.quantize(Decimal(1))

    def roughly(self, amount: Decimal) -> Decimal:
        """An amount to two figures, to be called "about"."""
        if not amount:
            return amount
        unit = Decimal(1).scaleb(amount.adjusted() - 1)
        return Decimal(format(((amount / unit).to_integral_value() * unit).normalize(), "f"))

    def amount(self, package: Package, amount: Decimal) -> str:
        """`amount` on the price in all, `€14,400 in all`, `€7,200 a year`; without a total as it is, `€5 per seat`.

        With several issues it is rounded to two figures: it stands for something that is no money.
        """
        price = self.terms.price
        total = None if price is None else self.total({**package, price.name: amount})
        amount = amount if total is None else total.amount
        if len(self.terms.issues) > 1:
            amount = self.roughly(amount)
        per = total.scope if total else self._unit_price(price).words if price else ""
        return f"{self.money(amount)} {per}".rstrip()

    def difference(self, package: Package, amount: Decimal) -> str:
        """The same for more or less on the price: `€900`, `€14,400 a year`, with several issues `about €900`."""
        about = "about " if len(self.terms.issues) > 1 and amount > 0 else ""
        return about + self.amount(package, amount).removesuffix(" in all")

    # Phrases by type

    def _party(self, issue: Issue, value: object) -> str:
        if not self._spoken:
            return f"the {self.value(issue, value).lower()}"
        if self.value(issue, value).lower() == "owner":
            return "the owner"
        return self.voice.me if self.is_own(issue, value) else "you"

    def _parts(self, package: Package, width: int) -> str:
        parts: list[str] = []
        extras: list[str] = []
        for issue in self.terms.issues:
            if issue.name in package:
                value = package[issue.name]
                is_extra = issue.type == "boolean" and isinstance(value, bool)
                (extras if is_extra else parts).append(self._phrase(issue, value, width))
        between = " " if len(parts) < 2 else ", "
        return between.join(part for part in (join_words(parts), join_words(extras)) if part)

    def _phrase(self, issue: Issue, value: object, width: int) -> str:
        label = cut_at_word(self.label(issue), width)
        said = (
            cut_at_word(self.value(issue, value), max(width, 24)) if issue.type == "enum" else self.value(issue, value)
        )
        match issue.type:
            case "boolean" if isinstance(value, bool):
                return _with_or_without(label, holds=value)
            case "money":
                return self._money_phrase(issue, label, value)
            case "percent":
                return _percent_phrase(label, said)
            case "date":
                return _date_phrase(label, said)
            case "number" | "integer" | "duration_days":
                at = coordinate(issue.type, value)
                if at is not None:
                    return _number_phrase(label, self._of(issue).unit, at)
                return f"{label}: {said}"
            case _ if said.lower() in _PARTIES:
                return f"{label} by {self._party(issue, value)}"
            case _:
                return _option_phrase(label, said)

    def _money_phrase(self, issue: Issue, label: str, value: object) -> str:
        price = read_unit_price(label, issue.unit)
        amount = f"{self.value(issue, value)} {price.words}".rstrip()
        head = price.head.lower()
        is_price = issue is self.terms.price or self.terms.price is None or issue.name == self.terms.price.name
        if head in _PLAIN_PRICES and (is_price or not head):
            return amount
        if not coordinate("money", value) and not is_price and not set(head.split()) & _BOUNDS:
            return f"no {price.head}"
        if is_price and (found := re.fullmatch(r"(?:price|cost|fee|rate|amount) (for|of) (.+)", price.head)):
            return f"{amount} for {found[2]}"
        return _noun_of(price.head, amount)

    def _unit_price(self, issue: Issue) -> UnitPrice:
        return read_unit_price(self.label(issue), issue.unit)

    def _written(self, value: object) -> str:
        """A listed value as it reads; `None` and `True` as words."""
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, int | float | Decimal):
            return number_text(Decimal(str(value)))
        plain = tidy(str(value)) or "as listed"
        if plain.split(" ")[0].lower() in {*_RHYTHMS, "none", "yes", "no", "net"}:
            plain = plain[0].lower() + plain[1:]
        elif plain in _MONTHS or plain in _WEEKDAYS:
            plain = plain.capitalize()
        return cut_at_word(plain, MAX_VALUE_CHARACTERS)

    def _of(self, issue: Issue) -> IssueWords:
        found = self._words.get(issue.name)
        if found is None:
            found = self._words[issue.name] = issue_words(issue, self.terms.title)
        return found


def _with_or_without(label: str, *, holds: bool) -> str:
    noun = re.sub(r"^(?:with|includes?|including)\s+(?=\S)", "", label)
    noun = re.sub(r"(?<=\S)\s+(?:is |are )?included$", "", noun)
    return f"{'with' if holds else 'without'} {with_article(noun)}"


def _percent_phrase(label: str, said: str) -> str:
    if found := re.fullmatch(r"(?:share|percentage|part) of (.+)", label):
        return f"{said} of {found[1]}"
    return _noun_of(label, said)


def _date_phrase(label: str, said: str) -> str:
    words = label.split()
    if words[-1].lower() == "date" and len(words) > 1:
        event = " ".join(words[:-1])
        if words[-2].lower() in _DATE_EVENTS:
            return f"{event} on {said}"
        return f"a start on {said}" if event == "start" else f"{with_article(label)} of {said}"
    if re.match(r"(?:first|last) \S", label):
        return f"the {label} on {said}"
    if found := re.fullmatch(r"(?:day|date) of (\S.*)", label):
        return f"{found[1]} on {said}"
    if words[-1].lower() in {"from", "by", "until", "on", "before"}:
        return f"{label} {said}"
    if words[-1].lower() in {"deadline", "day"}:
        return f"{with_article(label)} of {said}"
    return f"{with_article(label)} on {said}"


def _number_phrase(label: str, unit: str | None, at: Decimal) -> str:
    said = counted(at, unit or "")
    words = re.findall(r"[^\W_]+", label.lower())
    if unit and set(words) <= _PAYMENT_WORDS and set(words) & {"payment", "payments", "invoice", "net"}:
        return f"payment within {said}" if at else "immediate payment"
    if unit and set(words) <= _DELIVERY_WORDS and set(words) & {"delivery", "lead"}:
        return f"delivery within {said}" if at else "immediate delivery"
    if unit and set(words) <= _TERM_WORDS and set(words) & {"term", "length", "duration", "commitment"}:
        return f"a term of {said}"
    if (own := _counted_label(label, unit, at)) is not None:
        return own
    if (first := _counted_first_word(label, unit, at)) is not None:
        return first
    if not unit and (parts := _counted_of(label, at)) is not None:
        return parts
    if unit and words and words[-1] in _MASS_NOUNS:
        return f"{said} of {label}"
    return _noun_of(label, said)


def _counted_label(label: str, unit: str | None, at: Decimal) -> str | None:
    """The label itself as the noun that is counted: `30 vacation days`, `3 remote days per week`, `80 seats`."""
    plain = re.sub(r"^(?:number|count) of ", "", label)
    head, mark, rest = plain, "", ""
    if found := re.search(r"\s(?:per|of|in|a|an|for|on)\s", plain):
        head, mark, rest = plain[: found.start()], found.group(), plain[found.end() :]
    last = head.split(" ")[-1]
    noun = singular(last.lower())
    if noun == last.lower() and noun != "people":  # no plural
        return None
    is_counted = plain != label or noun in COUNT_NOUNS
    if not is_counted or (unit is not None and singular(unit.lower()) != noun):
        return None
    form = singular(last) if abs(at) == 1 else plural(last)
    return f"{number_text(at)} {head[: len(head) - len(last)]}{form}{mark}{rest}"


def _counted_first_word(label: str, unit: str | None, at: Decimal) -> str | None:
    """The first word as the noun that is counted: `6 months free of rent`, `80 loads promised per month`."""
    first, _, rest = label.partition(" ")
    noun = singular(first.lower())
    is_unit = unit is not None and singular(unit.lower()) == noun
    if noun == first.lower() or not rest or not is_unit:
        return None
    return f"{number_text(at)} {noun if abs(at) == 1 else first} {rest}"


def _counted_of(label: str, at: Decimal) -> str | None:
    """The number before a plural that "of" follows: `2 rounds of changes`."""
    first, of, rest = label.partition(" of ")
    if not of or not re.fullmatch(r"[a-z]{3,}s", first) or singular(first) == first:
        return None
    return f"{number_text(at)} {singular(first) if abs(at) == 1 else first} of {rest}"


def _option_phrase(label: str, said: str) -> str:
    words = label.split()
    if said.lower() in {"none", "no"}:
        return f"no {label}"
    if set(said.replace("-", " ").split()) & _RHYTHMS and said.split()[0] in _RHYTHMS and len(said.split()) <= 2:
        noun = " ".join(words[:-1]) if len(words) > 1 and words[-1].lower() in _RHYTHM_LABELS else label
        if len(noun.split()) <= 2:
            return f"{said} {noun}"
    if len(words) <= 2 and _FOLLOWS_A_NOUN.match(said):
        return f"{label} {said}"
    if _STRETCH.fullmatch(said):
        after = {"payment": "within", "start": "in", "delivery": "within"}.get(words[-1].lower())
        return f"{label} {after} {said}" if after else _noun_of(label, said)
    if said == "yes":
        return with_article(label)
    if said.lower() in _MONTHS:
        starts = words[-1] == "from" or words[0].lower() in {"start", "beginning"}
        return f"{label.removesuffix(' from')} {'from' if starts else 'in'} {said}"
    if said.lower() in _WEEKDAYS:
        return f"a {said}" if words == ["day"] else f"{label} on a {said}"
    if said in _STATES:
        return f"{label} {said}"
    is_noun = said.split()[0] in {"a", "an", "the", "my", "our", "your"} or label.lower() in said.lower()
    if is_noun or len(said.split()) > MAX_LABELLED_WORDS:
        return said
    if len(words) <= 3 and re.fullmatch(r"(?:(?:very|more|less) )?[a-z]+", said) and said != "included":
        return f"{label} {said}" if _PARTICIPLE.fullmatch(said) else with_article(f"{said} {label}")
    return f"{label}: {said}"


def _noun_of(label: str, said: str) -> str:
    """The label and its value as a noun phrase: `a discount of 5% on the list price`."""
    found = _PREPOSITION.search(label)
    if found is None:
        return f"{with_article(label)} of {said}"
    rest = label[found.end() :]
    if found[1] in {"on", "above", "over", "under"} and rest.split(" ")[-1] in _DEFINITE_NOUNS:
        rest = rest if rest.startswith(("the ", "a ", "an ", "our ", "your ", "my ")) else f"the {rest}"
    return f"{with_article(label[: found.start()])} of {said}{found.group()}{rest}"
