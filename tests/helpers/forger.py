"""Forged assertions, presented at both endpoints that take assertions, and a count of the rows they left."""

import itertools
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import httpx2

from negotiator.base import values
from negotiator.tokens.clients import JWT_BEARER
from tests.helpers.fake_issuer import registration
from tests.helpers.forged_assertions import changed, header, sign
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

    async def present(self, door: AssertionEndpoint, assertion: str, **form: str) -> httpx2.Response:
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
