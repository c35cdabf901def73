"""The provider as an operator configured it: where it asks people, and what it gives for a code.

Its metadata is found under its issuer (OpenID Connect Discovery §4) and kept ten minutes. The code flow is used
with PKCE, state and nonce, and `iss` is held against mix-up (RFC 9207, RFC 9700 §2.1).
"""

import base64
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

from negotiator.trust.fetch import Fetcher, FetchFailed
from negotiator.trust.issuer import ALGORITHMS, Issuer
from negotiator.trust.keysets import IssuerKeys
from negotiator.trust.openid.id_tokens import Identified, believe
from negotiator.trust.readers.claims import AssertionRefused, Reason

_FRESH: Final = 600_000
_SCOPE: Final = "openid profile email"


@dataclass(frozen=True, slots=True)
class Registration:
    """What we are at the provider, and how people call it."""

    issuer: str
    client_id: str
    client_secret: str
    name: str
    return_to: str


@dataclass(frozen=True, slots=True)
class _Metadata:
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    names_itself: bool
    takes_basic: bool


class Provider:
    """Asks the provider; `FetchFailed` when it cannot be reached, `AssertionRefused` when it cannot be believed."""

    def __init__(
        self, registered: Registration, fetcher: Fetcher, clock: Callable[[], int]
    ) -> None:
        self.registered = registered
        self._fetcher = fetcher
        self._clock = clock
        # Not the issuers' own cache: the same issuer may be trusted there with other keys.
        self._keys = IssuerKeys(fetcher, clock)
        self._known: tuple[int, _Metadata] | None = None

    async def ask(self, *, state: str, nonce: str, verifier: str, again: bool) -> str:
        """The URL at which a person signs in there; `again` even if he is signed in (OpenID Core §3.1.2.1)."""
        endpoint = (await self._metadata()).authorization_endpoint
        hashed = hashlib.sha256(verifier.encode()).digest()
        asked = {
            "response_type": "code",
            "client_id": self.registered.client_id,
            "redirect_uri": self.registered.return_to,
            "scope": _SCOPE,
            "state": state,
            "nonce": nonce,
            "code_challenge": base64.urlsafe_b64encode(hashed).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            **({"prompt": "login"} if again else {}),
        }
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(asked)}"

    async def redeem(
        self, code: str, *, issuer: str | None, nonce: str, verifier: str
    ) -> Identified:
        """The person behind a code that came with this `iss`, in the sign-in of this nonce and verifier."""
        known, ours = await self._metadata(), self.registered
        if issuer != ours.issuer and (issuer is not None or known.names_itself):
            raise AssertionRefused(Reason.ISSUER, "The answer is another provider's.")
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": ours.return_to,
            "code_verifier": verifier,
            "client_id": ours.client_id,
        }
        authorization = ""
        if ours.client_secret and known.takes_basic:
            authorization = _basic(ours.client_id, ours.client_secret)
        elif ours.client_secret:
            form["client_secret"] = ours.client_secret
        given = await self._fetcher.exchange(
            known.token_endpoint, form, authorization=authorization
        )
        text = given.get("id_token")
        if not isinstance(text, str):
            raise AssertionRefused(Reason.MALFORMED, "The provider gave no ID token.")
        return await believe(
            text,
            issuer=Issuer(ours.issuer, ALGORITHMS, jwks_uri=known.jwks_uri),
            client_id=ours.client_id,
            nonce=nonce,
            keys=self._keys,
            now=self._clock(),
        )

    async def close(self) -> None:
        """Give up what is under way."""
        await self._keys.close()

    async def _metadata(self) -> _Metadata:
        now = self._clock()
        if self._known is None or now >= self._known[0]:
            issuer = self.registered.issuer
            found = await self._fetcher.json(
                f"{issuer.removesuffix('/')}/.well-known/openid-configuration"
            )
            self._known = now + _FRESH, _read(found, issuer)
        return self._known[1]


def _read(found: dict[str, Any], issuer: str) -> _Metadata:
    if found.get("issuer") != issuer:
        raise FetchFailed(f"{issuer}: its metadata speaks for another issuer")
    methods: object = found.get("token_endpoint_auth_methods_supported")
    return _Metadata(
        _endpoint(found, "authorization_endpoint", issuer),
        _endpoint(found, "token_endpoint", issuer),
        _endpoint(found, "jwks_uri", issuer),
        names_itself=found.get("authorization_response_iss_parameter_supported") is True,
        takes_basic=not isinstance(methods, list) or "client_secret_basic" in methods,
    )


def _endpoint(found: dict[str, Any], name: str, issuer: str) -> str:
    """An endpoint as safe as its issuer; the fetcher looks closer at those that we call ourselves."""
    url = found.get(name)
    if not isinstance(url, str) or not url.isascii() or not url.isprintable() or " " in url:
        raise FetchFailed(f"{issuer}: its {name} is no URL")
    parts = urlsplit(url)
    if parts.scheme not in {"https", urlsplit(issuer).scheme} or not parts.hostname:
        raise FetchFailed(f"{issuer}: its {name} is not https")
    return url


def _basic(client_id: str, secret: str) -> str:
    """RFC 6749 §2.3.1: each half form-encoded before the pair is."""
    pair = f"{quote(client_id, safe='')}:{quote(secret, safe='')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"
