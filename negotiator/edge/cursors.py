"""List cursors: opaque, signed, bound to the query they continue (contract §0, Lists)."""

import hashlib
from typing import Any

import orjson
from itsdangerous import BadData, URLSafeSerializer

from negotiator.errors import InvalidRequest


class Cursors:
    """Seals a position in a list and opens it again for the same list only."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def seal(self, position: Any, *bound: object) -> str:
        """A cursor to `position`, good only together with the same `bound` values."""
        return self._serializer(bound).dumps(position)

    def open(self, cursor: str, *bound: object) -> Any:
        """The position; 400 `invalid_cursor` for a foreign or altered cursor."""
        serializer = self._serializer(bound)
        try:
            position = serializer.loads(cursor)
            # base64 has several spellings of one signature; only the one we wrote counts.
            if serializer.dumps(position) != cursor:
                raise ValueError("the cursor is spelled otherwise than it was sealed")
            return position
        except (BadData, ValueError) as fault:
            raise InvalidRequest(
                "The cursor belongs to no list like this.",
                error="invalid_cursor",
                detail=str(fault),
            ) from None

    def _serializer(self, bound: tuple[object, ...]) -> URLSafeSerializer:
        salt = b"cursor" + orjson.dumps([str(value) for value in bound])
        return URLSafeSerializer(
            self._secret, salt=salt, signer_kwargs={"digest_method": hashlib.sha256}
        )
