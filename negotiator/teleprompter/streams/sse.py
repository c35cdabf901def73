"""A session as server-sent events (WHATWG HTML §9.2): `id` is the number, a comment keeps idle proxies awake."""

from collections.abc import AsyncIterator
from typing import Any, Final

import orjson

from negotiator.teleprompter.streams.following import Batch

MEDIA_TYPE: Final = "text/event-stream"
_EXPIRED: Final = b'event: error\ndata: {"type":"error","code":"token_expired"}\n\n'


async def written(batches: AsyncIterator[Batch]) -> AsyncIterator[bytes]:
    """The chunks of the stream: a first comment at once, so that the client knows it is connected."""
    yield b": following\n\n"
    async for batch in batches:
        chunks = [_event(event.type, event.line, number=event.seq) for event in batch.events]
        chunks += [_event(_type(message), message) for message in batch.volatile]
        if batch.over == "expired":
            chunks.append(_EXPIRED)
        yield b"".join(chunks) or b": still here\n\n"


def _event(kind: str, data: bytes, *, number: int | None = None) -> bytes:
    name = b"" if number is None else b"id: %d\n" % number
    return b"%bevent: %b\ndata: %b\n\n" % (name, kind.encode(), data)


def _type(message: bytes) -> str:
    body: dict[str, Any] = orjson.loads(message)
    return str(body["type"])
