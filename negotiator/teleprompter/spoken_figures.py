"""Figures in an utterance: money, percentages and days. What each is and whose is read in `figure_kinds`."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from negotiator.advice.hearing import hear as hearing
from negotiator.advice.hearing.figures import Told
from negotiator.numbers.read import CURRENCY_WORDS, NumberRun, Token, number_runs, number_tokens
from negotiator.numbers.words import NumberLanguage, language_of
from negotiator.teleprompter.figure_kinds import MAY_BE_ASKED, MEANT, OFFER, OFFERED, UNREAD, FigureSense

Measure = Literal["money", "percent", "days"]

QUOTE_WORDS: Final = 5
MORE_THAN_A_CLOCK_TIME: Final = 100


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DAYS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}
PERIODS: Final = {
    word: period
    for period, words in (
        ("hour", "hour hr h hourly stunde heure hora"),
        ("day", "day daily tag jour día"),
        ("week", "week weekly woche semaine semana"),
        ("month", "month mo monthly monat mois mes"),
        ("year", "year yr annum yearly annually jahr an año"),
        ("unit", "unit piece"),
        ("seat", "seat user"),
        ("head", "head"),
    )
    for word in words.split()
}
"""The words for what money is paid for or by."""
_EACH: Final = _words("a an per each every the / pro par por la le el al")
_OFF: Final = _words("off discount rebate reduction skonto rabatt remise rabais descuento")
_LESS: Final = _words("less cheaper lower below weniger moins menos")
_PRICE_TALK: Final = _words(
    """price pay paying offer offering offered cost costs charge charging fee rent rate salary budget quote quoted
    asking ask worth bid give settle accept do sell buy spend deposit earn earning minimum maximum least most limit
    figure number total"""
)
_PERHAPS: Final = _words(
    """go at for say make take come down up to between around about only want need get below above under over knock
    of expecting thinking hoping"""
)
_BETWEEN_YEARS: Final = _words(
    """in since year model baujahr seit depuis en desde año modell vom von del spring summer autumn winter"""
)
_AFTER_YEARS: Final = _words("model settlement edition season reg registered built")
_YEAR_SPAN: Final = range(1900, 2100)
_LABELS: Final = _words(
    """photo picture page size room apartment flat number chapter version day step line gate floor unit level tier
    phase version iphone galaxy ps playstation xbox road street track platform bus type class mark grade series rue
    calle avenue am hausnummer zimmer x no"""
)
_CLOCK_PREPOSITIONS: Final = _words("till until til by after before past um à las bis ab gegen from")
_PERHAPS_CLOCK: Final = _words("at around about between and to half")
_NO_PLURALS: Final = _words(
    """plus less thats this always as is was yes unless perhaps minus gross bonus goes does works seems sounds feels
    looks gets makes takes brings means covers includes buys comes shows leaves lets puts pays sells helps gives stays
    stands keeps needs wants plus across towards pounds vous nous alors más mas brutos netos bruts nets menos sans mais
    fois jours dès ist es das uns alles was bis als"""
)
_HOURS: Final = 24
_HALF_DAY: Final = 12
_LONGEST_NET: Final = 180
_WHOLE: Final = 100
_SHORT_UNIT: Final = 3
_ADDRESS: Final = _words("st ave rd")
_OF_A_WEEK: Final = _words("a per each every")
_STOPS_COUNT: Final = _words(
    "at for and with per a an in on if is or to from but by as so then than the we i you they it that this my your when"
)
_SIZES: Final = ("länge", "breite", "höhe", "größe", "tiefe", "nummer")
_MONTHS: Final = _words(
    """january february march april june july august september october november december jan feb mar apr jun jul aug
    sept oct nov dec januar februar märz mai juni juli oktober dezember janvier février mars avril juin juillet août
    septembre octobre novembre décembre enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre
    diciembre"""
)
_BREAKS: Final = _words("but because though although while aber weil mais pero porque sondern or oder ou o")
_MOVES: Final = _words("go goes going went gone come came down up moved raise raised drop dropped increase increased")
_DASHES: Final = ("-", "–", "—")
_REACH: Final = 10
_TO: Final = _words("to or bis à ou a o oder und et y and")


@dataclass(frozen=True, slots=True)
class _LanguageWords:
    """What a unit of a language measures, and its words of appointments."""

    units: Mapping[str, str]
    clock: frozenset[str]


@cache
def _language_words(language: NumberLanguage) -> _LanguageWords:
    known = tomllib.loads(files("negotiator.teleprompter").joinpath("figure_words.toml").read_text("utf-8"))
    units = {word: unit for unit, said in known[language]["units"].items() for word in said.split()}
    return _LanguageWords(units, _words(known[language]["clock"]))


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
    reader = _FigureReader(text, words, numbers, _language_words(language))
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
    spoken: _LanguageWords

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
        if not dashed and (len(between) != 1 or between[0] not in _TO):
            return None
        if not dashed and between[0] in {"and", "und", "et", "y"} and not opened:
            return None
        if not dashed and ((before & _MOVES and "from" in before) or "difference" in before):
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
        if unit == "counted" or (unit in DAYS and after[1:2] and after[1] in _OF_A_WEEK):
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
        return "percent" if following == "%" else self.spoken.units.get(following, "")

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
        if lead in _LABELS or lead.endswith(_SIZES) or self._counts(after):
            return True
        token = self.words[low.first]
        if self._is_year(before, after, low):
            return True
        start, end = token.start, self.words[high.last - 1].end
        if (start and self.text[start - 1] in "+/#@×") or self.text[end : end + 1] in ("/", "×", "°"):
            return True
        if high.value <= 31 and (following in _MONTHS or lead in _MONTHS):
            return True
        if high.scaled or high.value > _HOURS:
            return False
        by_clock = self._is_timed(low, high)
        if lead in _CLOCK_PREPOSITIONS:
            return by_clock or high.value <= _HALF_DAY
        return by_clock and lead in _PERHAPS_CLOCK

    def _is_timed(self, low: NumberRun, high: NumberRun) -> bool:
        """Whether words of an appointment are near: "saturday at eleven"."""
        near = self.words[max(low.first - _REACH, 0) : high.last + _REACH]
        return any(word.text in self.spoken.clock for word in near)

    def _counts(self, after: Sequence[str]) -> bool:
        """Whether what follows is counted: "thirty employees", "a hundred heavy users"."""
        for at, word in enumerate(after[:3]):
            if word in _STOPS_COUNT or not word.isalpha():
                return False
            if word in CURRENCY_WORDS or word in PERIODS:
                return False
            plural = len(word) > 3 and word.endswith("s") and word not in _NO_PLURALS
            is_near = at == 0 or len(word) > _SHORT_UNIT or word in _ADDRESS
            known = is_near and self.spoken.units.get(word) == "counted"
            if known or (at == 0 and plural):
                return True
        return False

    def _is_year(self, before: Sequence[str], after: Sequence[str], run: NumberRun) -> bool:
        if run.value != run.value.to_integral_value() or run.scaled:
            return False
        lead, following = before[-1] if before else "", after[0] if after else ""
        if int(run.value) in _YEAR_SPAN:
            return lead in _BETWEEN_YEARS or lead in _MONTHS or following in _AFTER_YEARS
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
    if high.scaled or low.scaled or _PRICE_TALK & near:
        return True
    is_large = high.value >= MORE_THAN_A_CLOCK_TIME
    return is_large and bool(_PERHAPS & near or _per(after))


def _is_off(before: Sequence[str], after: Sequence[str]) -> bool:
    taken = before[-1:] in (["less"], ["minus"]) or before[-2:] == ["off", "by"]
    plain = [word for word in _upto_stop(after)[:4] if word not in CURRENCY_WORDS]
    return taken or bool(_OFF & set(plain[:3]) or _LESS & set(plain[:1]))


def _as_percent(figure: SpokenFigure) -> SpokenFigure:
    value = next((one for one in figure.readings if one <= _WHOLE), figure.readings[0])
    low = value if figure.low == figure.high else figure.low
    return replace(figure, measure="percent", low=low, high=value, readings=(value,), currency="")


def _per(after: Sequence[str]) -> str:
    for at, word in enumerate(after[:4]):
        if word in _EACH and at + 1 < len(after) and after[at + 1] in PERIODS:
            return PERIODS[after[at + 1]]
        if word in PERIODS and (word.endswith("ly") or at == 0):
            return PERIODS[word]
    return ""


def _upto_stop(after: Sequence[str]) -> list[str]:
    return list(after[: next((i for i, word in enumerate(after) if word in ".!?;,"), len(after))])
