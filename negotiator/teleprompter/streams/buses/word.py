"""A word as it goes from one process to the others: who says it, about which session, with which message. Pure."""

import secrets
from dataclasses import dataclass, field
from typing import Final

LONGEST: Final = 7_900
"""Bytes: PostgreSQL takes fewer than 8,000 in a NOTIFY. What is longer goes as a wake-up only."""


@dataclass(frozen=True, slots=True)
class Words:
    """Writes this process's words and reads those of others."""

    me: str = field(default_factory=lambda: secrets.token_hex(6))

    def write(self, session: str, message: bytes) -> bytes:
        """The word."""
        head = f"{self.me} {session} ".encode()
        return head if len(head) + len(message) > LONGEST else head + message

    def read(self, word: bytes) -> tuple[str, bytes] | None:
        """The session and the message of somebody else's word; None for one's own and for anything else."""
        parts = word.split(b" ", 2)
        if len(parts) < 3 or parts[0] == self.me.encode():
            return None
        try:
            return parts[1].decode("ascii"), parts[2]
        except UnicodeDecodeError:
            return None
