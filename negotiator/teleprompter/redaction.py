"""Takes personal numbers, addresses and secrets out of a text, and leaves prices, percentages, dates and quantities.

A mark stands in the place of what was taken out: `[card]`, `[iban]`, `[id]`, `[email]`, `[phone]`, `[secret]`, and
`[number]` for a long run of digits of no known kind. The removed text is not stored.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import accumulate, pairwise
from typing import Any, Final

from negotiator.numbers.read import DigitChunk, DigitRun, Token, digit_runs, find_tokens, is_number_word

_WORDS: Final[dict[str, Any]] = tomllib.loads(
    files("negotiator.teleprompter").joinpath("redaction_words.toml").read_text("utf-8")
)


def _words(name: str) -> frozenset[str]:
    return frozenset(_WORDS[name].split())


def _pairs(name: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(pair.split()) for pair in _WORDS[name])


REDACTION_LANGUAGES: Final = ("en",)
"""The languages, as ISO 639-1 codes, whose words announce a number ("my number is") or spell one. Written numbers that
prove themselves (cards, accounts, addresses, keys) are found in every language."""
RedactionSpan = tuple[int, int, str]
"""Start, end and kind."""

_LOOKS_BACK: Final = 8
_LISTED: Final = 50
_ONE_BY_ONE: Final = 7
_PHONES: Final = range(7, 16)
_NATIONAL: Final = range(9, 12)
_IDS: Final = range(8, 16)
_ACCOUNTS: Final = range(6, 19)
_CALLS: Final = _words("calls")
_NAMED: Final = _words("named")
_NAMED_PAIRS: Final = _pairs("named_pairs")
_ACCOUNT_PAIRS: Final = _pairs("account_pairs")


def redact(text: str) -> str:
    """The text with a mark for each card, account, personal id, address, phone number and secret in it.

    Spoken digits count as written ones. The time is linear in the length of the text.
    """
    words = find_tokens(text)
    taken = bytearray(len(text))
    spans: list[RedactionSpan] = []
    for start, end, mark in _claims(text, words):
        if not any(taken[start:end]):
            taken[start:end] = b"\1" * (end - start)
            spans.append((start, end, mark))
    if not spans:
        return text
    parts: list[str] = []
    at = 0
    for start, end, mark in sorted(spans):
        parts += [text[at:start], f"[{mark}]"]
        at = end
    return "".join([*parts, text[at:]])


def _claims(text: str, words: Sequence[Token]) -> Iterator[RedactionSpan]:
    """Every span that may have to go, the surest first; a later one that overlaps an earlier one does not count."""
    runs = list(digit_runs(words))
    yield from _written_secrets(text)
    yield from _written_emails(text)
    yield from _spoken_emails(words)
    yield from _written_accounts(text)
    yield from _spoken_secrets(text, words)
    yield from _spoken_pins(words, runs)
    yield from _written_ids(text)
    for run in runs:
        yield from _spelled_accounts(run)
        for part in run.parts():
            yield from _numbers(part, _Context.before(words, run.first))


@dataclass(frozen=True, slots=True)
class _Context:
    """Which kind of number the words before it announce."""

    phone: bool
    id: bool
    account: bool
    card: bool

    @classmethod
    def before(cls, words: Sequence[Token], at: int) -> "_Context":
        near = [word.text for word in words[max(at - _LOOKS_BACK, 0) : at] if word.kind == "word"]
        pairs = set(pairwise(near))
        is_my_number = bool(pairs & {("my", "number"), ("her", "number"), ("his", "number")})
        return cls(
            phone=is_my_number or bool(_CALLS & set(near)),
            id=bool(_NAMED & set(near)) or bool(_NAMED_PAIRS & pairs),
            account=bool(_ACCOUNT_PAIRS & pairs),
            card="card" in near,
        )


def _spelled_accounts(run: DigitRun) -> Iterator[RedactionSpan]:
    """IBANs that were spelled: two letters, then digits and letters up to the length of the country."""
    chunks = run.chunks
    for at in range(len(chunks) - 2):
        country = chunks[at].text + chunks[at + 1].text
        length = iban_length(country) if len(country) == 2 and country.isalpha() else 0
        account, last = country, at + 2
        while length and last < len(chunks) and len(account) < length:
            account, last = account + chunks[last].text, last + 1
        if length and is_iban(account.upper()):
            yield chunks[at].start, chunks[last - 1].end, "iban"


def _numbers(part: DigitRun, context: _Context) -> Iterator[RedactionSpan]:
    """The cards in a stretch of digits, then the kind of the rest of it as a whole."""
    rest: list[DigitChunk] = []
    cards = list(_cards(part, context))
    for first, last in cards:
        yield part.chunks[first].start, part.chunks[last].end, "card"
    for at, chunk in enumerate(part.chunks):
        if not any(first <= at <= last for first, last in cards):
            rest.append(chunk)
    if not rest:
        return
    mark = _kind(DigitRun(tuple(rest), part.first, part.has_plus), context)
    if mark and not cards:
        yield rest[0].start, rest[-1].end, mark


def _cards(part: DigitRun, context: _Context) -> Iterator[tuple[int, int]]:
    """First and last chunk of each card; a list of round numbers is no card."""
    digits = part.text
    if len(digits) < CARD_LENGTHS[0]:
        return
    luhn, starts, places = Luhn(digits), {0: 0}, 0
    for at, chunk in enumerate(part.chunks, 1):
        places += len(chunk.text)
        starts[places] = at
    free = 0
    for start, first in starts.items():
        if start < free:
            continue
        for length in reversed(CARD_LENGTHS):
            last = starts.get(start + length)
            if last is None or not luhn.is_card(start, start + length):
                continue
            if context.card or _grouped(part.chunks[first:last]):
                yield first, last - 1
                free = start + length
                break


def _grouped(chunks: Sequence[DigitChunk]) -> bool:
    """Whether digits are grouped as cards are: not by twos and threes, not in round numbers."""
    written = [chunk.text for chunk in chunks if not chunk.is_spoken]
    round_ones = [len(one) > 1 and int(one) % _LISTED == 0 for one in written]
    return all(len(one) == 1 or len(one) >= 4 for one in written[:-1]) and (not written or not all(round_ones))


def _kind(part: DigitRun, context: _Context) -> str:
    """The kind of a whole run of digits; empty when it is to stay."""
    digits = part.text
    shape = [len(chunk.text) for chunk in part.chunks]
    spoken = sum(len(chunk.text) for chunk in part.chunks if _is_single(chunk))
    if shape == [3, 2, 4] and is_social_security(digits):
        return "id"
    if not part.has_plus and _is_round(part.chunks):
        return ""
    if context.id and len(digits) in _IDS:
        return "id"
    if context.phone and len(digits) in _PHONES:
        return "phone"
    if part.has_plus and len(digits) in range(8, 16):
        return "phone"
    if context.account and len(digits) in _ACCOUNTS:
        return "number"
    if is_national_number(digits) and (len(part.chunks) < 5 or spoken):
        return "id"
    if shape in ([3, 3, 4], [1, 3, 3, 4]):
        return "phone"
    if digits[0] == "0" and (len(digits) in _NATIONAL or digits[:2] == "00"):
        return "phone" if len(digits) >= _PHONES[0] else ""
    if spoken >= _ONE_BY_ONE:
        return "phone" if len(digits) in {10, 11} else "number"
    grouped = len(part.chunks) == 1 or all(one == 4 for one in shape[:-1])
    return "number" if len(digits) in CARD_LENGTHS and grouped and _grouped(part.chunks) else ""


def _is_round(chunks: Sequence[DigitChunk]) -> bool:
    """Whether these are written amounts: "1250000", "1 250 000", "100 500 1000"; "call it 1250000" is no phone."""
    written = [chunk.text for chunk in chunks]
    if any(chunk.is_spoken for chunk in chunks) or written[0][0] == "0":
        return False
    whole = len(written[0]) <= 3 and all(len(one) == 3 for one in written[1:])
    thousands = (whole or len(written) == 1) and int("".join(written)) % _LISTED == 0
    return thousands or all(int(one) % _LISTED == 0 for one in written)


def _is_single(chunk: DigitChunk) -> bool:
    """Whether digits were said one by one: "four", "double five"."""
    return chunk.is_spoken and (len(chunk.text) == 1 or len(set(chunk.text)) == 1)


# Each pattern is short, or begins where no run of its own characters goes on, so that its time is linear.
_EMAIL: Final = re.compile(r"(?<![\w.+%'-])[\w.+%'-]{1,256}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[^\W\d_]{2,24}(?!\w)")
_KEY: Final = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----"
    r"(?:[^-]{0,8000}-----END [A-Z ]{0,30}PRIVATE KEY-----)?"
    r"|(?<![\w-])eyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*)?"
    r"|(?<![\w-])(?:(?:sk|pk|rk|hf|npm|glpat|xox[abprs]|gh[pousr]|github_pat|ya29)[-_.]|AKIA|ASIA|AIza)"
    r"(?=[A-Za-z_-]{0,200}\d)[\w-]{12,}"
    r"|(?<![\w-])(?=[a-f]{0,200}\d)[0-9a-f]{32,}(?![\w-])"
)
_TOKEN: Final = re.compile(r"(?<![\w+/=-])[\w+/=-]{40,}(?![\w+/=-])", re.ASCII)
_BEARER: Final = re.compile(r"(?<!\w)[Bb]earer\s{1,3}(?P<value>[\w.~+/=-]{8,})")
_IBAN: Final = re.compile(r"(?<!\w)[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]){11,30}")
_LETTERED: Final = re.compile(
    r"(?<!\w)(?:\d{8}-?[A-Za-z]|[XYZxyz]-?\d{7}-?[A-Za-z]|[A-Za-z]{6}\d{2}[A-Za-z]\d{2}[A-Za-z]\d{3}[A-Za-z]"
    r"|[A-Za-z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-Da-d])(?!\w)"
)
_GROUPED: Final = re.compile(
    r"(?<!\d)(?:\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}|[12] \d{2} \d{2} \d{2} \d{3} \d{3} \d{2})(?!\d)"
)


def _written_secrets(text: str) -> Iterator[RedactionSpan]:
    """Private keys, access tokens and other long random words."""
    for one in _KEY.finditer(text):
        yield one.start(), one.end(), "secret"
    for one in _BEARER.finditer(text):
        if any(mark.isdigit() for mark in one["value"]):
            yield one.start("value"), one.end(), "secret"
    for one in _TOKEN.finditer(text):
        kinds = (str.isdigit, str.islower, str.isupper)
        if all(any(map(kind, one[0])) for kind in kinds):
            yield one.start(), one.end(), "secret"


def _written_emails(text: str) -> Iterator[RedactionSpan]:
    """Addresses with an @ in them."""
    for one in _EMAIL.finditer(text):
        yield one.start(), one.end(), "email"


def _written_accounts(text: str) -> Iterator[RedactionSpan]:
    """IBANs, in one piece or in groups."""
    for one in _IBAN.finditer(text):
        left = iban_length(one[0][:2])
        for at, mark in enumerate(one[0]):
            left -= mark.isalnum()
            if left == 0:
                plain = "".join(filter(str.isalnum, one[0][: at + 1]))
                if is_iban(plain.upper()):
                    yield one.start(), one.start() + at + 1, "iban"
                break


def _written_ids(text: str) -> Iterator[RedactionSpan]:
    """National ids that contain letters or are grouped in their own way."""
    for one in _GROUPED.finditer(text):
        if is_national_number("".join(filter(str.isdigit, one[0]))):
            yield one.start(), one.end(), "id"
    for one in _LETTERED.finditer(text):
        plain = "".join(filter(str.isalnum, one[0]))
        spaced = " " in one[0]
        if is_lettered_id(plain) and not (spaced and plain[0].isdigit()):
            yield one.start(), one.end(), "id"


_JOINS: Final = _words("joins")
_DOTS: Final = frozenset(["dot", "."])
_NO_NAMES: Final = _words("no_names")
_HEADS: Final = re.compile(
    r"\b(?:pass ?(?:word|phrase|code)|api[ -]?(?:key|token)|(?:secret|access|private|licen[cs]e) key"
    r"|(?:access|auth|bearer) token|client secret)\b"
    r"[^.!?;\n]{0,40}?(?:\b(?:is|was|are|equals|will be)\b|[:=])[\s\"'`]*",
    re.IGNORECASE,
)
_FILLERS: Final = re.compile(
    r"(?:currently|now|still|just|simply|always|actually|the word|quote|all|lower ?case|upper ?case|capital)\s+",
    re.IGNORECASE,
)
_VALUE: Final = re.compile(r"[^\s\"'`]{1,200}")
_NO_VALUES: Final = _words("no_values")
_SPELLED: Final = _words("spelled")
_PIN: Final = _words("pin")
_CODES: Final = _words("codes")
_LINKS: Final = _words("links")
_PIN_DIGITS: Final = range(3, 9)


def _spoken_emails(words: Sequence[Token]) -> Iterator[RedactionSpan]:
    """Addresses that are spoken: a name, "at", and labels with "dot" between them."""
    for at in range(1, len(words) - 3):
        if words[at].text not in {"at", "@"}:
            continue
        last = _host(words, at + 1)
        first = _name(words, at - 1)
        if last is not None and first is not None:
            yield words[first].start, words[last].end, "email"


def _host(words: Sequence[Token], at: int) -> int | None:
    """The last word of a host name that begins here."""
    dots, last = 0, at
    if words[at].kind not in {"word", "digits"}:
        return None
    while last + 2 < len(words) and words[last + 1].text in _JOINS:
        join, label = words[last + 1], words[last + 2]
        loose = join.kind == "mark" and not join.start == words[last].end == label.start - 1
        if label.kind not in {"word", "digits"} or loose:
            break
        dots += join.text in _DOTS
        last += 2
    return last if dots and len(words[last].text) > 1 else None


def _name(words: Sequence[Token], at: int) -> int | None:
    """The first word of a mailbox name that ends here; spelled letters belong to it."""
    if words[at].kind not in {"word", "digits"} or words[at].text in _NO_NAMES:
        return None
    first = at
    while first > 0:
        before = words[first - 1]
        if before.text in _JOINS and first > 1 and words[first - 2].kind in {"word", "digits"}:
            first -= 2
        elif len(before.text) == 1 and before.kind == "word" and len(words[first].text) == 1:
            first -= 1
        else:
            break
    return first


def _spoken_secrets(text: str, words: Sequence[Token]) -> Iterator[RedactionSpan]:
    """The word after "the password is", with what is spelled after it."""
    places = {word.start: at for at, word in enumerate(words)}
    for head in _HEADS.finditer(text):
        start = head.end()
        while (filler := _FILLERS.match(text, start)) is not None:
            start = filler.end()
        value = _VALUE.match(text, start)
        if value is None or value[0].startswith("["):
            continue
        secret = value[0].rstrip(".,;!?)")
        if not secret or secret.lower() in _NO_VALUES:
            continue
        end = start + len(secret)
        while (at := places.get(end + 1)) is not None and _is_spelled(words[at]):
            end = words[at].end
        yield start, end, "secret"


def _is_spelled(word: Token) -> bool:
    one = len(word.text) == 1 and word.kind == "word" and word.text not in "ai"
    return one or is_number_word(word) or word.text in _SPELLED


def _spoken_pins(words: Sequence[Token], runs: Sequence[DigitRun]) -> Iterator[RedactionSpan]:
    """Three to eight digits after "the pin is", "security code", "cvv"."""
    for run in runs:
        at = run.first - 1
        while at >= 0 and words[at].text in _LINKS - {"code"} and run.first - at < 4:
            at -= 1
        announced = at >= 0 and words[at].text in _PIN
        if at > 0 and words[at].text == "code":
            announced = words[at - 1].text in _CODES
        digits: list[DigitChunk] = [chunk for chunk in run.chunks if chunk.text.isdigit()]
        if announced and sum(len(chunk.text) for chunk in digits) in _PIN_DIGITS:
            yield digits[0].start, digits[-1].end, "secret"


CARD_LENGTHS: Final = range(13, 20)
_CARD_STARTS: Final = frozenset("23456")
_DNI: Final = "TRWAGMYFPDXBNJZSQVHLCKE"
_ODD: Final = dict(
    zip(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        (
            *(1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 1, 0, 5, 7, 9, 13, 15, 17, 19, 21),
            *(2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23),
        ),
        strict=True,
    )
)
_SSN: Final = re.compile(r"(?!000|666|9)\d{3}(?!00)\d{2}(?!0000)\d{4}")
_LENGTHS: Final = {
    country: int(length) for length, countries in _WORDS["iban_lengths"].items() for country in countries.split()
}


class Luhn:
    """Checks any part of a string of digits in constant time (ISO/IEC 7812-1)."""

    def __init__(self, digits: str) -> None:
        self._digits = digits
        doubled = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
        figures = [int(one) for one in digits]
        self._sums = [
            [0, *accumulate(doubled[one] if (at + odd) % 2 else one for at, one in enumerate(figures))]
            for odd in (0, 1)
        ]

    def is_card(self, start: int, end: int) -> bool:
        """Whether this part has a card's length, a card's first digit and the right check digit."""
        if end - start not in CARD_LENGTHS or self._digits[start] not in _CARD_STARTS:
            return False
        sums = self._sums[(end - 1) % 2]
        return (sums[end] - sums[start]) % 10 == 0


def iban_length(country: str) -> int:
    """How many characters an IBAN of this country has (ISO 13616); 0 for a country without."""
    return _LENGTHS.get(country.upper(), 0)


def is_iban(text: str) -> bool:
    """Whether letters and digits without spaces are an IBAN: the country's length, remainder 1 by 97 (ISO 13616)."""
    if len(text) != iban_length(text[:2]) or not (text.isascii() and text.isalnum()):
        return False
    return int("".join(str(int(mark, 36)) for mark in text[4:] + text[:4])) % 97 == 1


def is_national_number(digits: str) -> bool:
    """Whether digits carry the check digits of a German, Polish, Belgian (11 digits) or French id (15)."""
    tests = _NUMBERS.get(len(digits), ())
    return any(test(digits) for test in tests)


def is_social_security(digits: str) -> bool:
    """Whether nine digits can be a US social security number: no check digit, but some parts are never issued."""
    return _SSN.fullmatch(digits) is not None


def is_lettered_id(text: str) -> bool:
    """Whether letters and digits are a Spanish DNI or NIE, an Italian codice fiscale, or a British NI number."""
    word = text.upper()
    if re.fullmatch(r"[\dXYZ]\d{7}[A-Z]", word):
        number = int(word[:-1].translate(str.maketrans("XYZ", "012")))
        return _DNI[number % 23] == word[-1]
    if re.fullmatch(r"[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]", word):
        odd = sum(_ODD[mark] for mark in word[:-1:2])
        even = sum(int(mark) if mark.isdigit() else ord(mark) - ord("A") for mark in word[1:-1:2])
        return chr(ord("A") + (odd + even) % 26) == word[-1]
    return re.fullmatch(r"(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z]{2}\d{6}[A-D]", word) is not None


def _german(digits: str) -> bool:
    """Steuer-ID: ISO 7064 mod 11,10, and one digit that comes twice or thrice."""
    product = 10
    for mark in digits[:10]:
        part = (int(mark) + product) % 10 or 10
        product = part * 2 % 11
    often = sorted(map(digits[:10].count, set(digits[:10])))
    return digits[0] != "0" and often[-1] in {2, 3} and (11 - product) % 10 == int(digits[10])


def _polish(digits: str) -> bool:
    """PESEL: a date of birth and a weighted sum."""
    month, day = int(digits[2:4]) % 20, int(digits[4:6])
    weights = (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)
    weighed = sum(int(mark) * by for mark, by in zip(digits, weights, strict=True))
    return 1 <= month <= 12 and 1 <= day <= 31 and weighed % 10 == 0


def _belgian(digits: str) -> bool:
    """Rijksregisternummer: 97 less the remainder, with a 2 before it for people born after 1999."""
    check = int(digits[9:])
    month, day = int(digits[2:4]) % 20, int(digits[4:6])
    born = month <= 12 and day <= 31
    return born and any(97 - int(first + digits[:9]) % 97 == check for first in ("", "2"))


def _french(digits: str) -> bool:
    """NIR: 97 less the remainder."""
    return digits[0] in "12" and 97 - int(digits[:13]) % 97 == int(digits[13:])


_NUMBERS: Final[dict[int, tuple[Callable[[str], bool], ...]]] = {11: (_german, _polish, _belgian), 15: (_french,)}
