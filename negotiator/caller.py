"""Who asks, with what: the one value the guard hands to every operation."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class CallerRate:
    """A caller's own allowance."""

    requests_per_minute: int
    burst: int


@dataclass(frozen=True, slots=True)
class RetiringCredential:
    """A credential that has a successor: since when, and until when it still works; milliseconds."""

    since: int
    until: int


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated (or anonymous) caller.

    `principal` owns what is made: the user when the agent is bound to one, else the agent or client
    itself. `credential` is the token's id, or the client address of nobody. `level` is how far the
    directory believes who this is: 0 nothing known, 1 registered, 2 proven, 3 vetted by the operator. `key` is the
    thumbprint of the key that the token is bound to; whoever sends it has to prove that he holds that one.
    `paths` are the path prefixes that the token is limited to (RFC 8707); empty for the whole service.
    """

    kind: Literal["nobody", "agent", "client"]
    principal: str
    credential: str
    scopes: frozenset[str]
    client_id: str = ""
    user_id: str | None = None
    level: int = 0
    rate: CallerRate | None = None
    retiring: RetiringCredential | None = None
    key: str | None = None
    paths: tuple[str, ...] = ()

    @property
    def limit_key(self) -> str:
        """What limits are keyed by: a client with a rate of its own shares it among all its credentials."""
        return self.client_id if self.rate else self.credential


def anonymous_caller(address: str) -> Caller:
    """The caller that sent no credential, known only by its address."""
    return Caller("nobody", "", address, frozenset())
