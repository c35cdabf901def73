"""Figures in an utterance: money, percentages and days. The models of `advice/hearing` read what each is and whose."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from importlib.resources import files
from typing import Final, Literal

from negotiator.advice.hearing import hear as hearing
from negotiator.advice.hearing.figures import Told
from negotiator.numbers.read import CURRENCY_WORDS, NumberRun, Token, number_runs, number_tokens
from negotiator.numbers.words import NUMBER_LANGUAGES, NumberLanguage, language_of

FigureKind = Literal["offer", "limit", "reduction", "rival", "list_price", "question", "history", "other"]
"""An offer or a limit of the speaker, an amount off a price, a quote of somebody else, the price on the tag, a figure
asked about, one of the past, or one about another matter."""
FigureOwner = Literal["speaker", "listener", "third"]
"""Whose figure it is: of the person who says it, of the person spoken to, or of somebody else."""

MEANT: Final[Mapping[hearing.FigureKind, tuple[FigureKind, FigureOwner]]] = {
    "offer": ("offer", "speaker"),
    "cut": ("reduction", "speaker"),
    "mine": ("history", "listener"),
    "theirs": ("history", "speaker"),
    "rival": ("rival", "third"),
    "market": ("rival", "third"),
    "past": ("history", "speaker"),
    "limit": ("limit", "speaker"),
}
"""What a figure of the models is on the wire."""
OFFERED: Final = 0.65
"""From this chance on a figure is an offer that the user is asked to confirm: of 268 sentences of a writer whom no
model saw, 57 of 68 offers are found, and 11 of 200 sentences that offer nothing are taken for one."""
MAY_BE_ASKED: Final = ("history", "other")
"""What a figure in a question may be to count as one that is asked about."""


@dataclass(frozen=True, slots=True)
class FigureSense:
    """What a figure is and whose. `stands` tells whether its owner offers it now, `is_doubtful` whether only likely, in
    a question or under a condition."""

    kind: FigureKind
    whose: FigureOwner = "speaker"
    stands: bool = False
    is_doubtful: bool = False


OFFER: Final = FigureSense("offer", stands=True)
UNREAD: Final = FigureSense("other")


Measure = Literal["money", "percent", "days"]

QUOTE_WORDS: Final = 5
MORE_THAN_A_CLOCK_TIME: Final = 100
DAYS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}
_TABLES: Final = tomllib.loads(files("negotiator.teleprompter").joinpath("figure_words.toml").read_text("utf-8"))
_BESIDE: Final = {name: frozenset(words.split()) for name, words in _TABLES["beside"].items()}
"""Words beside a number that say what it is."""
PERIODS: Final = {word: period for period, words in _TABLES["periods"].items() for word in words.split()}
"""The words for what money is paid for or by."""
_UNITS: Final = {
    language: {word: unit for unit, words in _TABLES[language]["units"].items() for word in words.split()}
    for language in NUMBER_LANGUAGES
}
"""What a word right after a number measures, by language."""
_CLOCK: Final = {language: frozenset(_TABLES[language]["clock"].split()) for language in NUMBER_LANGUAGES}
"""Words of appointments."""
TOPICS: Final = tuple(frozenset(words.split()) for words in _TABLES["topics"])
"""Words that name what an issue is about, a set for each kind of issue."""
_YEAR_SPAN: Final = range(1900, 2100)
_HOURS: Final = 24
_HALF_DAY: Final = 12
_LONGEST_NET: Final = 180
_WHOLE: Final = 100
_SHORT_UNIT: Final = 3
_SIZES: Final = ("länge", "breite", "höhe", "größe", "tiefe", "nummer")
_DASHES: Final = ("-", "–", "—")
_REACH: Final = 10


@dataclass(frozen=True, slots=True)
class SpokenFigure:
    """One figure heard, or a range of them: `low` and `high` are equal unless it is a range.

    `readings` are other values a single figure may have meant, the likeliest first. `off` marks a percentage or an
    amount that is taken from a price. Days count a month as thirty. `per` is the period or thing the money is for.
    `sure` tells whether its own words make it money, a percentage or days; otherwise it is a number that may be money
    where money of that size is talked about. `sense` says what it is and whose, once it was read beside the `text`
    that it stands in. `at` is the place of its number there.
    """

    measure: Measure
    low: Decimal
    high: Decimal
    readings: tuple[Decimal, ...]
    quote: str
    currency: str = ""
    per: str = ""
    off: bool = False
    sure: bool = True
    sense: FigureSense = OFFER
    at: int = field(default=0, compare=False)
    text: str = field(default="", compare=False, repr=False)


def find_figures(text: str) -> tuple[SpokenFigure, ...]:
    """The figures in the first 4,000 characters that may concern a deal, in their order.

    Left out are counts, clock times, dates, years, sizes and the numbers of things.
    """
    words = number_tokens(text, "en")
    language = language_of([word.text for word in words])
    if language != "en":
        words = number_tokens(text, language)
    numbers = number_runs(words)
    reader = _FigureReader(text, words, numbers, language)
    found: list[SpokenFigure] = []
    at = 0
    while at < len(numbers):
        pair = reader.range_at(at)
        figure = reader.figure(*(pair or (numbers[at], numbers[at])))
        if figure is not None:
            found.append(figure)
        at += 2 if pair else 1
    return tuple(found)


def with_senses(found: Sequence[SpokenFigure], told: Told) -> Sequence[SpokenFigure]:
    """The figures of one utterance with what each is and whose; `mine` of `told` is what the listener offered."""
    if not found:
        return ()
    heard = hearing.hear(found[0].text, told)
    senses = {one.at: _sense(heard, one) for one in heard.figures}
    read = (replace(one, sense=senses.get(one.at, UNREAD)) for one in found)
    return [replace(one, off=one.off or one.sense.kind == "reduction") for one in read]


def _sense(heard: hearing.Heard, one: hearing.HeardFigure) -> FigureSense:
    kind, whose = MEANT.get(one.kind, ("other", "speaker"))
    acts = {act.name for act in heard.acts if one.quote in act.quote}
    stands = one.kind in ("offer", "cut") and one.chance >= OFFERED
    if not stands and "ask" in acts and kind in MAY_BE_ASKED and one.kind != "count":
        return FigureSense("question", whose)
    return FigureSense(kind, whose, stands, not acts.isdisjoint(("if", "ask")) or one.chance < hearing.SURE)


@dataclass(frozen=True, slots=True)
class _FigureReader:
    """The tokens of an utterance, the numbers among them, and the words of its language."""

    text: str
    words: Sequence[Token]
    numbers: Sequence[NumberRun]
    language: NumberLanguage

    def range_at(self, at: int) -> tuple[NumberRun, NumberRun] | None:
        """ "300-350", "ten to twelve thousand", "between ten and twelve"."""
        if at + 1 >= len(self.numbers):
            return None
        low, high = self.numbers[at], self.numbers[at + 1]
        between = [word.text for word in self.words[low.last : high.first]]
        gap = self.text[self.words[low.last - 1].end : self.words[high.first].start].strip()
        before = {word.text for word in self.words[max(low.first - 4, 0) : low.first]}
        if between and between[0] in ("€", "$", "£") and len(between) > 1:
            between = between[1:]
        if between and between[-1] in ("€", "$", "£", "usd", "eur"):
            between = between[:-1]
        dashed = gap in _DASHES
        opened = bool(before & {"between", "zwischen", "entre"})
        if not dashed and (len(between) != 1 or between[0] not in _BESIDE["to"]):
            return None
        if not dashed and between[0] in {"and", "und", "et", "y"} and not opened:
            return None
        if not dashed and ((before & _BESIDE["moves"] and "from" in before) or "difference" in before):
            return None
        if high.scaled and not low.scaled and low.value < high.value / 100:
            scale = 1_000_000 if high.value >= 1_000_000 else 1_000
            low = NumberRun((low.value * scale, *low.readings), low.first, low.last, scaled=True)
        return (low, high) if low.value <= high.value else None

    def figure(self, low: NumberRun, high: NumberRun) -> SpokenFigure | None:
        """The figure of a number, or of a range; None for what counts, dates or names something."""
        before, after = self._before(low.first), self._after(high.last)
        currency = _currency(before, after)
        is_per = self._is_per(high)
        unit = "" if currency or is_per else self._unit(before, after, high)
        if unit == "counted" or (unit in DAYS and after[1:2] and after[1] in _BESIDE["of_a_week"]):
            return None
        is_number = not currency and not is_per and not unit
        if is_number and self._is_no_money(before, after, low, high):
            return None
        sure = not is_number or _is_money(before, after, low, high)
        figure = SpokenFigure(
            *("money", low.value, high.value),
            high.readings if low.first == high.first else (high.value,),
            self._quote(low.first, high.last),
            currency=currency,
            per=_per(after),
            off=_is_off(before, after),
            sure=sure,
            text=self.text,
            at=self.words[low.first].start,
        )
        if unit == "percent":
            return _as_percent(figure)
        if unit:
            days = DAYS[unit]
            low_days, high_days = low.value * days, high.value * days
            return replace(figure, measure="days", low=low_days, high=high_days, readings=(high_days,))
        return figure

    def _unit(self, before: Sequence[str], after: Sequence[str], high: NumberRun) -> str:
        """What is measured: "percent", "day", "week", "month", "year", "counted"; empty where no unit follows."""
        if before[-1:] == ["net"] and high.value <= _LONGEST_NET:
            return "day"
        following = after[0] if after else ""
        return "percent" if following == "%" else _UNITS[self.language].get(following, "")

    def _is_per(self, high: NumberRun) -> bool:
        """ "120/mo"."""
        end = self.words[high.last - 1].end
        return self.text[end : end + 1] == "/" and self.text[end + 1 : end + 2].isalpha()

    def _after(self, at: int) -> list[str]:
        return [word.text for word in self.words[at : at + _REACH]]

    def _before(self, at: int) -> list[str]:
        return [word.text for word in self.words[max(at - _REACH, 0) : at]]

    def _is_no_money(self, before: Sequence[str], after: Sequence[str], low: NumberRun, high: NumberRun) -> bool:
        following = after[0] if after else ""
        lead = before[-1] if before else ""
        if lead in _BESIDE["labels"] or lead.endswith(_SIZES) or self._counts(after):
            return True
        token = self.words[low.first]
        if self._is_year(before, after, low):
            return True
        start, end = token.start, self.words[high.last - 1].end
        if (start and self.text[start - 1] in "+/#@×") or self.text[end : end + 1] in ("/", "×", "°"):
            return True
        if high.value <= 31 and (following in _BESIDE["months"] or lead in _BESIDE["months"]):
            return True
        if high.scaled or high.value > _HOURS:
            return False
        by_clock = self._is_timed(low, high)
        if lead in _BESIDE["clock_prepositions"]:
            return by_clock or high.value <= _HALF_DAY
        return by_clock and lead in _BESIDE["perhaps_clock"]

    def _is_timed(self, low: NumberRun, high: NumberRun) -> bool:
        """Whether words of an appointment are near: "saturday at eleven"."""
        near = self.words[max(low.first - _REACH, 0) : high.last + _REACH]
        return any(word.text in _CLOCK[self.language] for word in near)

    def _counts(self, after: Sequence[str]) -> bool:
        """Whether what follows is counted: "thirty employees", "a hundred heavy users"."""
        for at, word in enumerate(after[:3]):
            if word in _BESIDE["stops_count"] or not word.isalpha():
                return False
            if word in CURRENCY_WORDS or word in PERIODS:
                return False
            plural = len(word) > 3 and word.endswith("s") and word not in _BESIDE["no_plurals"]
            is_near = at == 0 or len(word) > _SHORT_UNIT or word in _BESIDE["address"]
            known = is_near and _UNITS[self.language].get(word) == "counted"
            if known or (at == 0 and plural):
                return True
        return False

    def _is_year(self, before: Sequence[str], after: Sequence[str], run: NumberRun) -> bool:
        if run.value != run.value.to_integral_value() or run.scaled:
            return False
        lead, following = before[-1] if before else "", after[0] if after else ""
        if int(run.value) in _YEAR_SPAN:
            return lead in _BESIDE["between_years"] or lead in _BESIDE["months"] or following in _BESIDE["after_years"]
        return run.value < 100 and lead in {"since"}

    def _quote(self, first: int, last: int) -> str:
        start = self.words[max(first - QUOTE_WORDS, 0)].start
        end = self.words[min(last + 2, len(self.words)) - 1].end
        return " ".join(self.text[start:end].split())


def _currency(before: Sequence[str], after: Sequence[str]) -> str:
    near = [*after[:1], *before[-1:]]
    return next((CURRENCY_WORDS[word] for word in near if word in CURRENCY_WORDS), "")


def _is_money(before: Sequence[str], after: Sequence[str], low: NumberRun, high: NumberRun) -> bool:
    """Whether a number without a currency is money by its own words."""
    near = set(before[-6:])
    if high.scaled or low.scaled or _BESIDE["price_talk"] & near:
        return True
    is_large = high.value >= MORE_THAN_A_CLOCK_TIME
    return is_large and bool(_BESIDE["perhaps"] & near or _per(after))


def _is_off(before: Sequence[str], after: Sequence[str]) -> bool:
    taken = before[-1:] in (["less"], ["minus"]) or before[-2:] == ["off", "by"]
    plain = [word for word in _upto_stop(after)[:4] if word not in CURRENCY_WORDS]
    return taken or bool(_BESIDE["off"] & set(plain[:3]) or _BESIDE["less"] & set(plain[:1]))


def _as_percent(figure: SpokenFigure) -> SpokenFigure:
    value = next((one for one in figure.readings if one <= _WHOLE), figure.readings[0])
    low = value if figure.low == figure.high else figure.low
    return replace(figure, measure="percent", low=low, high=value, readings=(value,), currency="")


def _per(after: Sequence[str]) -> str:
    for at, word in enumerate(after[:4]):
        if word in _BESIDE["each"] and at + 1 < len(after) and after[at + 1] in PERIODS:
            return PERIODS[after[at + 1]]
        if word in PERIODS and (word.endswith("ly") or at == 0):
            return PERIODS[word]
    return ""


def _upto_stop(after: Sequence[str]) -> list[str]:
    return list(after[: next((i for i, word in enumerate(after) if word in ".!?;,"), len(after))])
