"""Small values that every floor shares: the clock, ids, secrets, digests, timestamps and money.

Times are integers, milliseconds since the epoch, until they cross the wire as RFC 3339 text.
"""

import hashlib
import hmac
import re
import secrets
import time
import unicodedata
from datetime import UTC, datetime
from decimal import Decimal
from threading import Lock
from typing import Final

from ulid_transform import bytes_to_ulid, ulid_now, ulid_to_bytes

ID_LENGTH: Final = 26
_UNSEEN: Final = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_ID = re.compile(r"[a-z]+_[0-7][0-9a-hjkmnp-tv-z]{25}")


def now() -> int:
    """Milliseconds since the epoch, UTC."""
    return time.time_ns() // 1_000_000


class _Ulids:
    """Fresh ULIDs that rise within the process, also within one millisecond: lists are ordered by them."""

    def __init__(self) -> None:
        self._last = 0
        self._turn = Lock()

    def __call__(self) -> str:
        """A lower-case ULID. It is unique, not secret."""
        drawn = int.from_bytes(ulid_to_bytes(ulid_now()))
        with self._turn:
            self._last = drawn if drawn > self._last else self._last + 1
            return bytes_to_ulid(self._last.to_bytes(16)).lower()


new_ulid: Final = _Ulids()


def new_id(kind: str) -> str:
    """A fresh id of this kind: `agt` gives `agt_` and a 26-character lower-case ULID, ordered by time."""
    return f"{kind}_{new_ulid()}"


def is_id(text: str, kind: str) -> bool:
    """Whether `text` has the form of an id of this kind; says nothing of its existence."""
    return text.startswith(f"{kind}_") and _ID.fullmatch(text) is not None


def new_secret() -> str:
    """256 random bits as 43 URL-safe characters, for credentials that are stored as a digest only."""
    return secrets.token_urlsafe(32)


def digest(text: str) -> str:
    """SHA-256 in hex: for secrets of full entropy, where a slow hash would only cost (RFC 6819 §5.1.4.1.3)."""
    return hashlib.sha256(text.encode()).hexdigest()


def keyed_digest(pepper: bytes, text: str) -> str:
    """HMAC-SHA-256 in hex: for short codes, which a plain hash would give away in a second."""
    return hmac.new(pepper, text.encode(), hashlib.sha256).hexdigest()


def same(left: str, right: str) -> bool:
    """Equality in constant time."""
    return hmac.compare_digest(left.encode(), right.encode())


def has_unseen(text: str) -> bool:
    """Whether some character is a control, bidirectional or invisible one: it could hide or turn what a page says."""
    return any(unicodedata.category(mark) in _UNSEEN for mark in text)


def visible(text: str) -> str:
    """The text with every control, bidirectional and invisible character as an escape: `\\x1b`, `\\u202e`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        mark.encode("unicode_escape").decode() if unicodedata.category(mark) in _UNSEEN else mark
        for mark in text
    )


def timestamp(at: int) -> str:
    """RFC 3339 in UTC with milliseconds and `Z`."""
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def moment(text: str) -> int:
    """Milliseconds since the epoch of an RFC 3339 text with its offset."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def timestamp_or_none(at: int | None) -> str | None:
    """The same for a moment that may not have come."""
    return None if at is None else timestamp(at)


def money(amount: Decimal) -> str:
    """A decimal string with at least two places, never an exponent: `12500.00`."""
    quantised = amount if -int(amount.as_tuple().exponent) > 2 else amount.quantize(Decimal("0.01"))
    return format(quantised, "f")
