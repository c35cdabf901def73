"""The bus between those who change a session and those who follow it.

A word on the bus is a wake-up, and may carry a volatile message (a growing utterance, a level). It may be lost: who
follows looks at the numbered events again every `LOOK_AGAIN` seconds.
"""

import asyncio
import hashlib
from collections import deque
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Final, Protocol

LOOK_AGAIN: Final = 2.0
_VOLATILE: Final = 32


def topic_of(subject: str) -> str:
    """The name under which the revocation of a subject is told: ASCII without blanks, and no session's id."""
    return f"revoked-{hashlib.sha256(subject.encode()).hexdigest()[:32]}"


class Ears:
    """One follower's ears: what was said on the bus since it last listened; the oldest is lost first."""

    def __init__(self) -> None:
        self._said: deque[bytes] = deque(maxlen=_VOLATILE)
        self._woken = asyncio.Event()

    def tell(self, message: bytes) -> None:
        """Wake it; an empty message is nothing but that."""
        if message:
            self._said.append(message)
        self._woken.set()

    async def listen(self, seconds: float) -> list[bytes]:
        """The volatile messages since the last time, waiting this long for the first word."""
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            return []
        self._woken.clear()
        said = list(self._said)
        self._said.clear()
        return said


class Bus(Protocol):
    """Reaches every follower of a session, in every process that shares the store."""

    def tell(self, session: str, message: bytes = b"") -> None:
        """Say that a session has news; never waits, never fails."""
        ...

    def following(self, *names: str) -> AbstractContextManager[Ears]:
        """Ears for sessions and topics, as long as the block runs."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class Here:
    """The bus of one process."""

    def __init__(self) -> None:
        self._ears: dict[str, set[Ears]] = {}

    def tell(self, session: str, message: bytes = b"") -> None:
        for ears in self._ears.get(session, ()):
            ears.tell(message)

    @contextmanager
    def following(self, *names: str) -> Generator[Ears]:
        ears = Ears()
        for name in names:
            self._ears.setdefault(name, set()).add(ears)
        try:
            yield ears
        finally:
            for name in names:
                self._ears[name].discard(ears)
                if not self._ears[name]:
                    del self._ears[name]

    def count(self, session: str) -> int:
        """How many follow this session here."""
        return len(self._ears.get(session, ()))

    async def close(self) -> None:
        """Nothing to let go of."""
