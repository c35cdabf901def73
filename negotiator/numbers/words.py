"""Number words of German, French and Spanish, and the language that a short text is in.

Each language is a table of words and what each does to the number so far; a German compound such as
"achthundertfünfzig" is taken apart first. English number words are read by `numbers`, which knows more short forms.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal, get_args

NumberLanguage = Literal["en", "de", "fr", "es"]
NUMBER_LANGUAGES: Final[tuple[NumberLanguage, ...]] = get_args(NumberLanguage)
"""The languages whose number words are read, as ISO 639-1 codes."""

_HALF: Final = Decimal("0.5")


def _table(lines: str) -> dict[str, int]:
    """Words and values in turn, as a table."""
    said = lines.split()
    return {word: int(value) for word, value in zip(said[::2], said[1::2], strict=True)}


def _counted(words: str, start: int, step: int = 1) -> dict[str, int]:
    """Words with the values from `start` on."""
    return {word: start + step * at for at, word in enumerate(words.split())}


def _german() -> dict[str, int]:
    """The words below a hundred, also without umlauts."""
    ones = _counted("ein zwei drei vier fünf sechs sieben acht neun", 1)
    tens = _counted("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig", 20, 10)
    teens = "zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn"
    known = {**ones, **_counted(teens, 10), **tens, "zwo": 2, "eins": 1}
    known |= {f"{one}und{ten}": ones[one] + tens[ten] for one in ones for ten in tens}
    for old, new in (("ü", "ue"), ("ö", "oe"), ("ß", "ss")):
        known |= {word.replace(old, new): value for word, value in known.items()}
    return known


_WORDS: Final[Mapping[str, Mapping[str, int]]] = {
    "de": _german(),
    "fr": {
        **_counted("un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze", 1),
        **_table("quinze 15 seize 16 vingt 20 vingts 20 trente 30 quarante 40 cinquante 50"),
        **_table("soixante 60 septante 70 huitante 80 octante 80 nonante 90"),
    },
    "es": {
        **_counted("uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece", 1),
        **_counted("catorce quince dieciséis diecisiete dieciocho diecinueve veinte veintiuno", 14),
        **_counted("veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete", 22),
        **_counted("veintiocho veintinueve", 28),
        **_table("un 1 dieciseis 16 veintiún 21 veintidos 22 veintitres 23 veintiseis 26"),
        **_counted("treinta cuarenta cincuenta sesenta setenta ochenta noventa cien", 30, 10),
        **_counted("ciento doscientos trescientos cuatrocientos quinientos", 100, 100),
        **_counted("seiscientos setecientos ochocientos novecientos", 600, 100),
    },
}
_SCALES: Final[Mapping[str, Mapping[str, int]]] = {
    "de": _table("hundert 100 tausend 1000 tsd 1000 mio 1000000 million 1000000 millionen 1000000"),
    "fr": _table("cent 100 cents 100 mille 1000 million 1000000 millions 1000000"),
    "es": _table("mil 1000 luca 1000 lucas 1000 millón 1000000 millones 1000000"),
}
_JOINS: Final = {"de": "und", "fr": "et", "es": "y"}
_POINTS: Final = {"de": "komma", "fr": "virgule", "es": "coma"}
_HALVES: Final = {"de": "halb", "fr": "demi", "es": "medio"}
_ARTICLES: Final = frozenset(["un", "ein", "eins", "uno"])
_FUNCTION_WORDS: Final[Mapping[str, frozenset[str]]] = {
    language: frozenset(words.split())
    for language, words in (
        (
            "en",
            """the and you for we i to it my is that can of have how about do take could would your this on with at or
            be what so just if i'd i'll it's they me no not has was were are i'm we're them he she but from there an by
            will more than less any last price in""",
        ),
        (
            "de",
            """der die das und ich wir sie für nicht ist mit auf ein eine zu bei von kann können noch haben würde den
            dem im wäre auch uns mir aber wie euch ihr ihnen hat war mehr als plus unter über geht nichts warum wieso
            woher höchstens maximal mindestens mein meine dein letztes letzter einer kein keine sind pro biete nehme
            sagen machen jahr uhr""",
        ),
        (
            "fr",
            """le la les et je nous vous pour pas est de du un une au en c'est qui que sur ça avec mon ma votre serait à
            j'ai ce mais soit il elle sont avait jours pourquoi trop moins dernier prix disons mois par l'heure d'accord
            autre quand même notre tout comme chez leur l'avait était""",
        ),
        (
            "es",
            """el la los las y yo por para es de que un una lo en se te con si mi su le al del pero como está muy más
            hay unos días va mirá vale demasiado último precio mínimo máximo qué menos mes hora doy otro bajo""",
        ),
    )
}
_LETTERS: Final[Mapping[NumberLanguage, frozenset[str]]] = {
    "en": frozenset(), "de": frozenset("äöüß"), "fr": frozenset("èêçàâùîœ"), "es": frozenset("ñíóú"),
}  # fmt: skip
_ALSO_ENGLISH: Final = frozenset(
    ["once", "six", "elf", "dos", "cent", "cents", "mil", "million", "millions", "un", "ein", "lucas"]
)


def is_number_word_of(word: str, language: NumberLanguage) -> bool:
    """Whether a word in lower case is, or opens, a number in a language other than English."""
    if language == "en":
        return False
    known = word in _WORDS[language] or word in _SCALES[language]
    return known or (language == "de" and german_compound(word) is not None)


_NO_WORDS: Final[Mapping[str, frozenset[str]]] = {}


def language_of(words: Sequence[str], known: Mapping[str, frozenset[str]] = _NO_WORDS) -> NumberLanguage:
    """The language that most of these lower-case words belong to; English where nothing tells.

    `known` has more words of each language, for those that the caller expects. Number words that no other language has
    count twice, and letters that only this one has once.
    """
    said = frozenset(words)
    letters = frozenset("".join(words))
    best: NumberLanguage = "en"
    most = len(said & _FUNCTION_WORDS["en"]) + len(said & known.get("en", frozenset()))
    for language in NUMBER_LANGUAGES[1:]:
        told = (said & (_WORDS[language].keys() | _SCALES[language].keys())) - _ALSO_ENGLISH
        votes = len(said & _FUNCTION_WORDS[language]) + 2 * len(told)
        votes += bool(letters & _LETTERS[language]) + len(said & known.get(language, frozenset()))
        if language == "de":
            votes += 2 * sum(german_compound(word) is not None for word in said if len(word) > 9)
        if votes > most:
            best, most = language, votes
    return best


@lru_cache(maxsize=512)
def german_compound(word: str) -> Decimal | None:
    """The value of one German word: "fünfunddreißig", "zwölfhundert", "siebzehneinhalb", "dreitausendfünfhundert"."""
    if len(word) > 80:
        return None
    if word in ("anderthalb", "eineinhalb"):
        return Decimal("1.5")
    if word.endswith("einhalb") and len(word) > 7:
        whole = german_compound(word[:-7])
        return None if whole is None else whole + _HALF
    if word in _WORDS["de"]:
        return Decimal(_WORDS["de"][word])
    for name, scale in (("tausend", 1000), ("hundert", 100)):
        head, found, tail = word.partition(name)
        if not found:
            continue
        first = Decimal(1) if not head else german_compound(head)
        rest = Decimal(0) if not tail else german_compound(tail.removeprefix("und"))
        if first is None or rest is None or rest >= scale:
            return None
        return first * scale + rest
    return None


def read_number_words(
    words: Sequence[str], at: int, language: NumberLanguage
) -> tuple[tuple[Decimal, ...], int, bool] | None:
    """The number that starts at `at` of lower-case words: its readings, one past its last word, whether it is scaled.

    "dix-sept mille neuf" is 17,900 or 17,009. None where no number starts, or "ein" and "un" stand alone.
    """
    if language == "en" or not is_number_word_of(words[at], language):
        return None
    total, group, i, scaled = Decimal(0), Decimal(0), at, False
    while i < len(words):
        word = words[i]
        scale = _SCALES[language].get(word, 0)
        value = _value(word, language)
        if scale == 100:
            if group % 100 >= 10 and group >= 100:
                break
            group = (group or Decimal(1)) * 100
        elif scale:
            total, group, scaled = total + (group or Decimal(1)) * scale, Decimal(0), True
        elif value is None:
            joins = word == _JOINS[language] and i > at and i + 1 < len(words)
            if joins and words[i + 1].startswith(_HALVES[language]):
                scale = _SCALES[language].get(words[i - 1], 1)  # "dos millones y medio"
                total, group = (total + _HALF * scale, group) if scale > 1 else (total, group + _HALF)
                i += 2
                continue
            if not (joins and _is_joined(group, words[i + 1], language)):
                break
        elif language == "fr" and word.startswith("vingt") and group % 100 == 4 and i > at:
            group += 76
        elif _fits(group, value):
            group += value
        else:
            break
        i += 1
    if i == at or (i - at == 1 and words[at] in _ARTICLES):
        return None
    group, i = _after_point(words, i, group, language)
    plain = total + group
    if total and not total % 1000 and 0 < group < 10 and words[i - 1] not in _SCALES[language]:
        step = Decimal(1000 if total < 10**6 else 10**6)
        return (total + group * step / 10, plain), i, True
    return (plain,), i, scaled


def _is_joined(group: Decimal, word: str, language: NumberLanguage) -> bool:
    """ "treinta y dos", "vingt et un"."""
    value = _value(word, language)
    few = value is not None and value < 10 and group % 10 == 0 and group % 100 >= 20
    return few if language == "es" else word in ("un", "onze") and _fits(group, value)


def _value(word: str, language: NumberLanguage) -> Decimal | None:
    if language == "de":
        return german_compound(word)
    known = _WORDS[language].get(word)
    return None if known is None else Decimal(known)


def _fits(group: Decimal, value: Decimal | None) -> bool:
    """Whether a word may be added: a smaller one to round tens, hundreds or thousands."""
    if value is None:
        return False
    if not group:
        return True
    if value < 10:
        return group % 10 == 0
    if value < 20:
        return group % 20 == 0 and group % 100 in (0, 60, 80)
    return group % 1000 == 0 if value >= 100 else group % 100 == 0


def _after_point(words: Sequence[str], i: int, value: Decimal, language: NumberLanguage) -> tuple[Decimal, int]:
    """ "fünf Komma fünf", "cinq virgule vingt"."""
    if i + 1 >= len(words) or words[i] != _POINTS[language]:
        return value, i
    digits = _value(words[i + 1], language)
    if digits is None or digits >= 100 or digits != digits.to_integral_value():
        return value, i
    return value + Decimal(f"0.{int(digits)}"), i + 2


def foreign_scale(word: str, language: NumberLanguage) -> int:
    """What a word after digits multiplies them by: 1,000 for "mil"; 0 for any other word."""
    return 0 if language == "en" else _SCALES[language].get(word, 0)
