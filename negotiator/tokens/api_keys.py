"""The text format of API keys and opaque access tokens, and what the client of a key may do.

`ngt_live_<12 id>_<32 secret><6 checksum>` is an API key of 60 characters. `ngt_temp_<26 id>_<32 secret><6 checksum>`
is an opaque access token. The secret has 190 bits. The checksum is the CRC-32 of the text before it in six digits of
base 62, so that a mistyped text is refused without reading the database and a secret scanner recognises a leaked one.
"""

import hmac
import re
import secrets
import string
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from negotiator.base.caller import CallerRate
from negotiator.store.statement import Transaction

ALPHABET: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
KEY_PREFIX: Final = "ngt_live_"
BEARER_PREFIX: Final = "ngt_temp_"
_KEY = re.compile(r"(ngt_live_([0-9A-Za-z]{12})_([0-9A-Za-z]{32}))([0-9A-Za-z]{6})")
_BEARER = re.compile(r"(ngt_temp_([0-9a-z]{26})_([0-9A-Za-z]{32}))([0-9A-Za-z]{6})")
KEY_ID_LENGTH: Final = 12
_SECRET, _SUM = 32, 6


def new_id() -> str:
    """A new random key id, which reveals neither the time nor the order of creation."""
    return "".join(secrets.choice(ALPHABET) for _ in range(KEY_ID_LENGTH))


def new_secret() -> str:
    """A new secret: 190 random bits as 32 characters of base 62."""
    return "".join(secrets.choice(ALPHABET) for _ in range(_SECRET))


def derived_secret(pepper: bytes, *parts: str) -> str:
    """A secret in the form of `new_secret`, computed from the parts with HMAC-SHA-512 under `pepper`."""
    octets = hmac.digest(pepper, "\0".join(parts).encode(), "sha512")
    return _base62(int.from_bytes(octets), _SECRET)


def write_key(key_id: str, secret: str) -> str:
    """The text of the API key with this id and secret."""
    return _summed(f"{KEY_PREFIX}{key_id}_{secret}")


def read_key(text: str) -> tuple[str, str] | None:
    """The id and the secret of a well-formed API key; None for any other text."""
    return _read(_KEY, text)


def write_bearer(jti: str, pepper: bytes) -> str:
    """The opaque access token for the row with the id `jti`."""
    return _summed(f"{BEARER_PREFIX}{jti}_{derived_secret(pepper, 'bearer', jti)}")


def read_bearer(text: str, pepper: bytes) -> str | None:
    """The `jti` of an opaque access token that this service made; None for any other text."""
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
    """The trust level, the allowed scopes and the request rate of a client that holds API keys."""

    level: int
    scopes: frozenset[str]
    rate: CallerRate


FindEntitlement = Callable[[Transaction, str], ClientEntitlement | None]
"""Finds the entitlement of a client id; None when there is no such client or it was removed."""
