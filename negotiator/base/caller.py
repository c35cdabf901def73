"""The caller of an operation, as the guard authenticated it."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class CallerRate:
    """A caller's own allowance."""

    requests_per_minute: int
    burst: int


@dataclass(frozen=True, slots=True)
class RetiringCredential:
    """A replaced credential that still works: when it was replaced and when it ends, in milliseconds."""

    since: int
    until: int


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated or anonymous caller.

    `principal` owns what the caller makes: the user when the agent is bound to one, else the agent or client itself.
    `credential` is the token's id, the session's id of a user at a page (`kind` is `user`), or the address of an
    anonymous caller (`kind` is `nobody`). `level` is the identity level in the directory: 0 unknown, 1 registered, 2
    proven, 3 vetted by the operator. `key` is the thumbprint of the key that the token is bound to; the sender must
    prove that they hold it. `paths` are the path prefixes that the token is limited to (RFC 8707); empty for the whole
    service. `by_assertion` means that an issuer's assertion let the client act for the user, who was not asked.
    """

    kind: Literal["nobody", "agent", "client", "user"]
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
    by_assertion: bool = False

    @property
    def actor(self) -> str:
        """The id that histories name: the agent's or client's, else that of the user at a page."""
        return self.client_id or self.principal

    @property
    def limit_key(self) -> str:
        """The key of the caller in rate limits; a client with its own rate shares it among all its credentials."""
        return (self.client_id or self.credential) if self.rate else self.credential


def anonymous_caller(address: str) -> Caller:
    """A caller without a credential, known only by its address."""
    return Caller("nobody", "", address, frozenset())
