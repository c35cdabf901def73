"""What is recognised by how it is written: addresses, keys, account numbers, ids with letters."""

import re
from collections.abc import Iterator
from typing import Final

from negotiator.teleprompter.privacy.checks import (
    iban_length,
    is_iban,
    is_lettered,
    is_personal,
)

Claim = tuple[int, int, str]
"""From where to where, and as what."""

# Each pattern begins where no run of its own marks goes on, or is short, so that no text makes it scan twice.
_EMAIL: Final = re.compile(
    r"(?<![\w.+%'-])[\w.+%'-]{1,256}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[^\W\d_]{2,24}(?!\w)"
)
_KEY: Final = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----"
    r"(?:[^-]{0,8000}-----END [A-Z ]{0,30}PRIVATE KEY-----)?"
    r"|(?<![\w-])eyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*)?"
    r"|(?<![\w-])(?:(?:sk|pk|rk|hf|npm|glpat|xox[abprs]|gh[pousr]|github_pat|ya29)[-_.]|AKIA|ASIA|AIza)"
    r"(?=[A-Za-z_-]{0,200}\d)[\w-]{12,}"
    r"|(?<![\w-])(?=[a-f]{0,200}\d)[0-9a-f]{32,}(?![\w-])",
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


def keys(text: str) -> Iterator[Claim]:
    """Private keys, tokens and other long random words."""
    for one in _KEY.finditer(text):
        yield one.start(), one.end(), "secret"
    for one in _BEARER.finditer(text):
        if any(mark.isdigit() for mark in one["value"]):
            yield one.start("value"), one.end(), "secret"
    for one in _TOKEN.finditer(text):
        kinds = (str.isdigit, str.islower, str.isupper)
        if all(any(map(kind, one[0])) for kind in kinds):
            yield one.start(), one.end(), "secret"


def emails(text: str) -> Iterator[Claim]:
    """Addresses with an @ in them."""
    for one in _EMAIL.finditer(text):
        yield one.start(), one.end(), "email"


def accounts(text: str) -> Iterator[Claim]:
    """Account numbers in their international form, in one piece or in groups."""
    for one in _IBAN.finditer(text):
        left = iban_length(one[0][:2])
        for at, mark in enumerate(one[0]):
            left -= mark.isalnum()
            if left == 0:
                plain = "".join(filter(str.isalnum, one[0][: at + 1]))
                if is_iban(plain.upper()):
                    yield one.start(), one.start() + at + 1, "iban"
                break


def ids(text: str) -> Iterator[Claim]:
    """People's numbers that have letters in them, and those grouped in a way of their own."""
    for one in _GROUPED.finditer(text):
        if is_personal("".join(filter(str.isdigit, one[0]))):
            yield one.start(), one.end(), "id"
    for one in _LETTERED.finditer(text):
        plain = "".join(filter(str.isalnum, one[0]))
        spaced = " " in one[0]
        if is_lettered(plain) and not (spaced and plain[0].isdigit()):
            yield one.start(), one.end(), "id"
