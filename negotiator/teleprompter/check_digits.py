"""Check digits of cards, IBANs and national ids: they tell such a number from any other."""

import re
from collections.abc import Callable
from itertools import accumulate
from typing import Final

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
_IBAN_LENGTHS: Final = (
    "AD:24 AE:23 AL:28 AT:20 AZ:28 BA:20 BE:16 BG:22 BH:22 BR:29 BY:28 CH:21 CR:22 CY:28 CZ:24 DE:22 "
    "DK:18 DO:28 EE:20 EG:29 ES:24 FI:18 FO:18 FR:27 GB:22 GE:22 GI:23 GL:18 GR:27 GT:28 HR:21 HU:28 "
    "IE:22 IL:23 IQ:23 IS:26 IT:27 JO:30 KW:30 KZ:20 LB:28 LC:32 LI:21 LT:20 LU:20 LV:21 LY:25 MC:27 "
    "MD:24 ME:22 MK:19 MR:27 MT:31 MU:30 NL:18 NO:15 PK:24 PL:28 PS:29 PT:25 QA:29 RO:24 RS:22 SA:24 "
    "SC:31 SE:24 SI:19 SK:24 SM:27 ST:25 SV:28 TL:23 TN:24 TR:26 UA:29 VA:22 VG:24 XK:20"
)
_LENGTHS: Final = {country: int(length) for country, length in (pair.split(":") for pair in _IBAN_LENGTHS.split())}


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
