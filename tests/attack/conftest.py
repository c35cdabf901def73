"""The stage of the attacks: both doors, issuers of every temper, a forger, and a count of what is left behind."""

import itertools
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import httpx2
import pytest_asyncio

from negotiator import values
from negotiator.scopes import ASSISTANT
from negotiator.settings import Settings
from negotiator.store.statement import Transaction
from negotiator.tokens import clients
from negotiator.tokens.clients import JWT_BEARER, NewClient
from negotiator.trust import issuer_queries
from negotiator.trust.issuers import Issuer
from tests.conftest import Change
from tests.helpers.fake_issuer import registration
from tests.helpers.forged_assertions import ABSENT, changed, header, jwk, jwks, sign
from tests.helpers.form_browser import BASE

IDP: Final = "https://idp.corp.example"
OTHER: Final = "https://idp.other.example"
RS_ONLY: Final = "https://rs.corp.example"
MANY_KEYS: Final = "https://many.corp.example"
BAD_KEYS: Final = "https://bad-keys.corp.example"
TENANTS: Final = "https://tenants.corp.example"
FRESH: Final = "https://fresh.corp.example"
MAILS: Final = "https://mails.corp.example"
NARROW: Final = "https://narrow.corp.example"
AGENT: Final = "corp-agent"

AssertionEndpoint = Literal["register", "token"]
ASSERTION_ENDPOINTS: Final[tuple[AssertionEndpoint, AssertionEndpoint]] = ("register", "token")
_COUNTED: Final = ("agents", "access_tokens", "users", "identities", "spent", "delegations")


@dataclass(frozen=True, slots=True)
class RelativeSeconds:
    """A moment in a forged claim, relative to the forging."""

    offset: int


def _untouched(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Forgery:
    """An assertion that differs from a good one in these members; `finish` may spoil the signed text."""

    claims: Mapping[str, Any] = field(default_factory=dict[str, Any])
    head: Mapping[str, Any] = field(default_factory=dict[str, Any])
    alg: str = "ES256"
    key: Any = None
    raw: Callable[[dict[str, Any]], bytes] | None = None
    finish: Callable[[str], str] = _untouched


@dataclass(frozen=True, slots=True)
class Forger:
    """The service with its two doors for assertions, seen from outside and counted from inside."""

    client: httpx2.AsyncClient
    database: str
    client_id: str
    secret: str

    def forge(self, forgery: Forgery, door: AssertionEndpoint) -> str:
        """The forged assertion, for this door's client."""
        now = values.now() // 1000
        good: dict[str, Any] = {
            "iss": IDP,
            "sub": "u-1001",
            "aud": BASE,
            "client_id": AGENT if door == "register" else self.client_id,
            "jti": f"jti-{next(_numbers)}",
            "iat": now,
            "exp": now + 300,
        }
        told = {
            name: now + value.offset if isinstance(value, RelativeSeconds) else value
            for name, value in forgery.claims.items()
        }
        claims = changed(good, told)
        head = header(**{"alg": forgery.alg, "kid": forgery.alg, **forgery.head})
        body = forgery.raw(claims) if forgery.raw else claims
        return forgery.finish(sign(head, body, alg=forgery.alg, key=forgery.key))

    async def present(
        self, door: AssertionEndpoint, assertion: str, **form: str
    ) -> httpx2.Response:
        """Present an assertion at a door, as a client that is welcome there."""
        if door == "register":
            return await self.client.post("/api/agent/register", json=registration(assertion))
        data = {"grant_type": JWT_BEARER, "assertion": assertion, **form}
        return await self.client.post("/oauth/token", data=data, auth=self.basic)

    @property
    def basic(self) -> tuple[str, str]:
        """The confidential client's credentials."""
        return self.client_id, self.secret

    def counts(self) -> dict[str, int]:
        """How many rows there are of everything that admission makes."""
        with sqlite3.connect(self.database) as connection:
            return {
                name: connection.execute(f"select count(*) from {name}").fetchone()[0]  # noqa: S608
                for name in _COUNTED
            }


_numbers = itertools.count()


def refused(answer: httpx2.Response, expected: tuple[int, str], *secrets: str) -> None:
    """Check that this is exactly the expected refusal, in the one shape, without an echo of what was sent."""
    body = answer.json()
    if "jsonrpc" in body:
        body = body["error"]["data"]
    assert (answer.status_code, body["error"]) == expected, answer.text
    assert body["error_description"]
    assert body["request_id"] == answer.headers["x-request-id"]
    assert answer.headers["cache-control"] == "no-store"
    for secret in secrets:
        assert secret not in answer.text
    for part in (part for secret in secrets for part in secret.split(".") if len(part) > 20):
        assert part not in answer.text


def _issuers(client_id: str) -> list[Issuer]:
    keys = jwks(*(jwk(alg) for alg in ("ES256", "RS256", "EdDSA", "ES384")))
    allowed = frozenset({AGENT, client_id})
    curve = jwk("ES384", "wrong-curve", alg="ES256")
    return [
        Issuer(IDP, ("ES256", "EdDSA"), jwks=keys, clients=allowed),
        Issuer(OTHER, ("ES384",), jwks=jwks(jwk("ES384")), clients=allowed),
        Issuer(RS_ONLY, ("RS256",), jwks=keys, clients=allowed),
        Issuer(MANY_KEYS, ("ES256",), jwks=jwks(jwk("ES256"), jwk("ES256", "b")), clients=allowed),
        Issuer(BAD_KEYS, ("ES256",), jwks=jwks(curve, jwk("ES256")), clients=allowed),
        Issuer(TENANTS, ("ES256",), jwks=keys, clients=allowed, tenanted=True),
        Issuer(FRESH, ("ES256",), jwks=keys, clients=allowed, max_auth_age=3600),
        Issuer(MAILS, ("ES256",), jwks=keys, email_verifier=True, email_domains=("corp.example",)),
        Issuer(NARROW, ("ES256",), jwks=keys, clients=allowed, scopes=("memories:read",)),
    ]


@pytest_asyncio.fixture
async def forger(client: httpx2.AsyncClient, change: Change, settings: Settings) -> Forger:
    """A service that trusts nine issuers and knows one confidential client for both grants."""

    def unit(tx: Transaction) -> tuple[str, str]:
        known = clients.add(tx, NewClient("corp", clients.GRANTS, tuple(ASSISTANT)))
        for issuer in _issuers(known[0]):
            issuer_queries.add(tx, issuer, own=BASE, allow_loopback=False)
        return known

    client_id, secret = await change(unit)
    return Forger(client, str(settings.data_dir / "negotiator.db"), client_id, secret)


__all__ = [
    "ABSENT",
    "ASSERTION_ENDPOINTS",
    "AssertionEndpoint",
    "Forger",
    "Forgery",
    "RelativeSeconds",
    "refused",
]
