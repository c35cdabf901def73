"""The frames on the pipes between a server process and a speech worker."""

import json
import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import Any, Final, NamedTuple

HEADER: Final = struct.Struct("!IBIQ")
"""Length of the payload, kind, stream, position in samples."""


class FrameKind(IntEnum):
    """The kinds of frames; the first five go to the worker, the others come from it."""

    LOAD = 1  # JSON: engine, model, hangover_ms
    OPEN = 2  # the language's primary tag
    AUDIO = 3  # a byte for whether partials are wanted, then PCM that begins at the position
    FINISH = 4
    CLOSE = 5
    READY = 16
    REPORT = 17  # JSON: a report of `ChannelListener`
    HEARD = 18  # all audio before the position was recognised
    OVER = 19  # a finished stream was recognised to its end
    FAULT = 20  # text; stream 0 is the worker itself


class PipeFrame(NamedTuple):
    kind: FrameKind
    stream: int
    position: int
    payload: bytes

    def json(self) -> Any:
        """The payload as JSON."""
        return json.loads(self.payload)


def encode_frame(kind: FrameKind, stream: int = 0, *, position: int = 0, payload: bytes = b"") -> bytes:
    """A frame as bytes."""
    return HEADER.pack(len(payload), kind, stream, position) + payload


class PipeFrameReader:
    """Joins bytes into whole frames."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> Iterator[PipeFrame]:
        """The frames that these bytes complete; ValueError for an unknown kind."""
        self._rest += data
        while len(self._rest) >= HEADER.size:
            length, kind, stream, position = HEADER.unpack_from(self._rest)
            end = HEADER.size + length
            if len(self._rest) < end:
                return
            payload = bytes(self._rest[HEADER.size : end])
            del self._rest[:end]
            yield PipeFrame(FrameKind(kind), stream, position, payload)
