"""List cursors: opaque, signed, bound to the query they continue (contract §0, Lists)."""

import hmac
from base64 import urlsafe_b64encode
from typing import Any, Final

import orjson

from negotiator.errors import InvalidRequest
from negotiator.strict import read_segment

_MAC: Final = 16


class Cursors:
    """Seals a position in a list and opens it again for the same list only."""

    def __init__(self, secret: bytes) -> None:
        self._key = hmac.digest(secret, b"cursors", "sha256")

    def seal(self, position: Any, *bound: object) -> str:
        """A cursor to `position`, good only together with the same `bound` values."""
        payload = orjson.dumps(position)
        return urlsafe_b64encode(self._mac(payload, bound) + payload).rstrip(b"=").decode()

    def open(self, cursor: str, *bound: object) -> Any:
        """The position; 400 `invalid_cursor` for a foreign, an altered or another spelling of a cursor."""
        try:
            octets = read_segment(cursor.encode("ascii"))
        except ValueError:
            octets = b""
        payload = octets[_MAC:]
        if not hmac.compare_digest(octets[:_MAC], self._mac(payload, bound)):
            raise InvalidRequest("The cursor belongs to no list like this.", error="invalid_cursor")
        return orjson.loads(payload)

    def _mac(self, payload: bytes, bound: tuple[object, ...]) -> bytes:
        """128 bits over the position and, as JSON, so that no two lists read alike, what it is bound to."""
        list_ = orjson.dumps([str(value) for value in bound])
        return hmac.digest(self._key, list_ + payload, "sha256")[:_MAC]
