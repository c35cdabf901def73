"""List cursors: opaque, signed, bound to the query they continue (docs/contract 1.6)."""

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, TypeVar

import orjson
from pydantic import Field

from negotiator.base.errors import InvalidRequest
from negotiator.base.schema import SchemaKeyword
from negotiator.base.strict_json import read_segment

Row = TypeVar("Row")

_MAC: Final = 16
_SHORTEST: Final = 23
"""Characters of base64url without padding for the MAC and one octet."""

Cursor = Annotated[
    Annotated[
        str,
        SchemaKeyword("maxLength", 2000),
        SchemaKeyword("pattern", "^[A-Za-z0-9_-]*$"),
        SchemaKeyword("minLength", _SHORTEST),
    ]
    | None,
    Field(description="`next_cursor` of the page before."),
]
"""A cursor in a request; `Cursors.open` checks that it is genuine."""


class Cursors:
    """Makes and opens cursors: signed positions in a list that are valid for the same list only."""

    def __init__(self, secret: bytes) -> None:
        self._key = hmac.digest(secret, b"cursors", "sha256")

    def seal(self, position: Any, *bound: object) -> str:
        """A cursor to `position` (JSON) that is valid only together with the same `bound` values."""
        payload = orjson.dumps(position)
        return urlsafe_b64encode(self._mac(payload, bound) + payload).rstrip(b"=").decode()

    def open(self, cursor: str, *bound: object) -> Any:
        """The position; 400 `invalid_cursor` for a foreign, altered or differently encoded cursor."""
        try:
            octets = read_segment(cursor.encode("ascii"))
        except ValueError:
            octets = b""
        payload = octets[_MAC:]
        if not hmac.compare_digest(octets[:_MAC], self._mac(payload, bound)):
            raise InvalidRequest("The cursor belongs to no list like this.", error="invalid_cursor")
        return orjson.loads(payload)

    def page(
        self, found: Sequence[Row], limit: int, position: Callable[[Row], Any], *bound: object
    ) -> tuple[Sequence[Row], str | None]:
        """The first `limit` of the rows, and a cursor to the others; None when there are no others.

        `position` says where a row stands in the list; `bound` is as in `seal`. `found` holds one row more than
        `limit`, or all the others, when the list goes on.
        """
        shown = found[:limit]
        more = len(found) > limit
        return shown, self.seal(position(shown[-1]), *bound) if more else None

    def _mac(self, payload: bytes, bound: tuple[object, ...]) -> bytes:
        """128 bits over the bound values, as JSON so that they are unambiguous, and the position."""
        list_ = orjson.dumps([str(value) for value in bound])
        return hmac.digest(self._key, list_ + payload, "sha256")[:_MAC]
