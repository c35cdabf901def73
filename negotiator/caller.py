"""Who asks, with what: the one value the guard hands to every operation."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated (or anonymous) caller.

    `principal` owns what is made: the user when the agent is bound to one, else the agent or client
    itself. `credential` is what limits are keyed by: the token's id, or the client address of nobody.
    """

    kind: Literal["nobody", "agent", "client"]
    principal: str
    credential: str
    scopes: frozenset[str]
    client_id: str = ""
    user_id: str | None = None


def nobody(address: str) -> Caller:
    """The caller that sent no credential, known only by its address."""
    return Caller("nobody", "", address, frozenset())
