"""How keys and opaque bearers are written: recognised, and a mistyped one refused, without a look at any row.

`ngt_live_<12 id>_<32 secret><6 checksum>` is a key of 60 characters, `ngt_temp_<26 id>_<32 secret><6 checksum>` an
opaque bearer. The secret has 190 bits; the checksum is CRC-32 of all before it in six digits of base 62, as in
the tokens of large code hosts, so that a scanner can tell a leaked one from a lookalike.

What a client that holds API keys may do at this moment; asked of whoever keeps such clients.
"""

import hmac
import re
import secrets
import string
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from negotiator.caller import CallerRate
from negotiator.store.statement import Transaction

ALPHABET: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
KEY_PREFIX: Final = "ngt_live_"
BEARER_PREFIX: Final = "ngt_temp_"
_KEY = re.compile(r"(ngt_live_([0-9A-Za-z]{12})_([0-9A-Za-z]{32}))([0-9A-Za-z]{6})")
_BEARER = re.compile(r"(ngt_temp_([0-9a-z]{26})_([0-9A-Za-z]{32}))([0-9A-Za-z]{6})")
KEY_ID_LENGTH: Final = 12
_SECRET, _SUM = 32, 6


def new_id() -> str:
    """A fresh key id; it is no secret, but it says nothing of when and after whom it was made."""
    return "".join(secrets.choice(ALPHABET) for _ in range(KEY_ID_LENGTH))


def new_secret() -> str:
    """190 random bits."""
    return "".join(secrets.choice(ALPHABET) for _ in range(_SECRET))


def derived_secret(pepper: bytes, *parts: str) -> str:
    """A secret of the same form that can be made again from the same parts, by us only."""
    octets = hmac.digest(pepper, "\0".join(parts).encode(), "sha512")
    return _base62(int.from_bytes(octets), _SECRET)


def write_key(key_id: str, secret: str) -> str:
    """The whole text of a key."""
    return _summed(f"{KEY_PREFIX}{key_id}_{secret}")


def read_key(text: str) -> tuple[str, str] | None:
    """The id and the secret of a well-formed key; None for everything else."""
    return _read(_KEY, text)


def write_bearer(jti: str, pepper: bytes) -> str:
    """The opaque bearer that stands for a token's row."""
    return _summed(f"{BEARER_PREFIX}{jti}_{derived_secret(pepper, 'bearer', jti)}")


def read_bearer(text: str, pepper: bytes) -> str | None:
    """The id of the token's row, if we made this text; None for everything else."""
    read = _read(_BEARER, text)
    if read is None:
        return None
    jti, secret = read
    return jti if hmac.compare_digest(secret, derived_secret(pepper, "bearer", jti)) else None


def _read(form: re.Pattern[str], text: str) -> tuple[str, str] | None:
    found = form.fullmatch(text)
    if found is None or _checksum(found[1]) != found[4]:
        return None
    return found[2], found[3]


def _summed(text: str) -> str:
    return text + _checksum(text)


def _checksum(text: str) -> str:
    return _base62(zlib.crc32(text.encode()), _SUM)


def _base62(number: int, length: int) -> str:
    digits: list[str] = []
    for _ in range(length):
        number, digit = divmod(number, len(ALPHABET))
        digits.append(ALPHABET[digit])
    return "".join(reversed(digits))


@dataclass(frozen=True, slots=True)
class ClientEntitlement:
    """How far a client is believed, what it may ask for, how often."""

    level: int
    scopes: frozenset[str]
    rate: CallerRate


FindEntitlement = Callable[[Transaction, str], ClientEntitlement | None]
"""The standing of a client id; None when there is no such client, or no more."""
