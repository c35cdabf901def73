"""The configuration of one trusted issuer of identity assertions, and the allowed signature algorithms."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import Final

from negotiator.base.values import ascii_host

ALGORITHMS: Final = ("RS256", "PS256", "ES256", "ES384", "EdDSA")
"""The signature algorithms that issuers may use, by PyJWT's names; symmetric ones and `none` are excluded."""

_NAMES: Final = {**{name: name for name in ALGORITHMS}, "Ed25519": "EdDSA"}


def canonical_algorithm(name: object) -> str | None:
    """The allowed algorithm of this exact name, or None; RFC 9864's `Ed25519` is our `EdDSA`."""
    return _NAMES.get(name) if isinstance(name, str) else None


def _spelled(domain: str) -> str:
    """The domain as `mail_domain` gives it; one that cannot be a host's name fits none."""
    with suppress(ValueError):
        return ascii_host(domain)
    return domain.lower()


def check_algorithms(names: Iterable[str]) -> tuple[str, ...]:
    """The canonical names, each once; `ValueError` for a forbidden one or an empty list."""
    allowed: dict[str, None] = {}
    for name in names:
        algorithm = canonical_algorithm(name)
        if algorithm is None:
            raise ValueError(f"{name} is not one of {', '.join(ALGORITHMS)}")
        allowed[algorithm] = None
    if not allowed:
        raise ValueError("an issuer needs at least one algorithm")
    return tuple(allowed)


@dataclass(frozen=True, slots=True)
class Issuer:
    """One trusted issuer. `issuer` is compared byte for byte; `max_auth_age` is in seconds.

    Keys come from the text `jwks` if there is one, else from `jwks_uri`, else from the issuer's own
    metadata (RFC 8414, OpenID Discovery). Empty `clients` or `email_domains` mean no restriction on the clients that an
    assertion may name or on the domains of its addresses.
    """

    issuer: str
    algorithms: tuple[str, ...]
    _: KW_ONLY
    jwks: str = ""
    jwks_uri: str = ""
    clients: frozenset[str] = frozenset()
    scopes: tuple[str, ...] = ()
    email_domains: tuple[str, ...] = ()
    email_verifier: bool = False
    max_auth_age: int | None = None
    tenanted: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "algorithms", check_algorithms(self.algorithms))
        object.__setattr__(self, "email_domains", tuple(map(_spelled, self.email_domains)))
