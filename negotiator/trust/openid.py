"""Sign-in by an external OpenID provider: the code flow, and the verification of ID tokens.

The provider's metadata is found under its issuer (OpenID Connect Discovery §4) and cached for ten minutes. The code
flow uses PKCE, state and nonce, and checks `iss` against mix-up attacks (RFC 9207, RFC 9700 §2.1). ID tokens are
verified by OpenID Connect Core §3.1.3.7.
"""

import base64
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

from negotiator.base.strict_json import UnverifiedJws, is_array
from negotiator.runtime.circuit_breaker import CircuitBreaker
from negotiator.trust.claims import AssertionRefused, Reason, is_text, mail_domain, required_moment, required_text
from negotiator.trust.fetch import TOTAL_SECONDS, FetchFailed, HostFailing
from negotiator.trust.fetcher import Fetcher
from negotiator.trust.issuers import ALGORITHMS, Issuer, canonical_algorithm
from negotiator.trust.keysets import IssuerKeys
from negotiator.trust.signatures import check_signature, read_compact

_SKEW: Final = 60_000
_OLDEST: Final = 600_000
_TYPES: Final = (None, "JWT", "jwt")


@dataclass(frozen=True, slots=True)
class OpenIdUser:
    """A user as the provider identifies them. `email` is set only if the provider verified it; time in milliseconds."""

    issuer: str
    subject: str
    email: str | None
    name: str | None
    issued_at: int


async def verify_id_token(
    text: str, *, issuer: Issuer, client_id: str, nonce: str, keys: IssuerKeys, now: int
) -> OpenIdUser:
    """The user in an ID token for this client and the sign-in with this nonce; raises `AssertionRefused`."""
    unverified = read_compact(text)
    await _check_signature(unverified, issuer, keys)
    claims = unverified.unverified_claims
    if required_text(claims, "iss", limit=512) != issuer.issuer:
        raise AssertionRefused(Reason.ISSUER, "The ID token is another issuer's.")
    _check_audience(claims, client_id)
    issued_at, expires_at = required_moment(claims, "iat"), required_moment(claims, "exp")
    if expires_at <= now - _SKEW or not now - _OLDEST <= issued_at <= now + _SKEW:
        raise AssertionRefused(Reason.EXPIRED, "The ID token is not of this moment.")
    if claims.get("nonce") != nonce:
        raise AssertionRefused(Reason.REPLAY, "The ID token is not of this sign-in.")
    email, name = claims.get("email"), claims.get("name")
    verified = claims.get("email_verified") is True and is_text(email, 254)
    return OpenIdUser(
        issuer.issuer,
        required_text(claims, "sub"),
        email if verified and isinstance(email, str) and mail_domain(email) else None,
        name if is_text(name, 100) else None,
        issued_at,
    )


async def _check_signature(unverified: UnverifiedJws, issuer: Issuer, keys: IssuerKeys) -> None:
    header = unverified.unverified_header
    algorithm, kid = canonical_algorithm(header.get("alg")), header.get("kid")
    # Other tokens of the same issuer, such as an ID-JAG or an access token, are refused (RFC 8725 §3.11).
    if header.get("typ") not in _TYPES or algorithm is None:
        raise AssertionRefused(Reason.TYPE, "This is not an ID token.")
    if kid is not None and not is_text(kid, 255):
        raise AssertionRefused(Reason.MALFORMED, "The kid is not a printable string.")
    await check_signature(unverified, issuer, keys, kid=kid, algorithm=algorithm)


def _check_audience(claims: dict[str, Any], client_id: str) -> None:
    audience: object = claims.get("aud")
    audiences = audience if is_array(audience) else [audience]
    party = claims.get("azp", client_id if audiences == [client_id] else None)
    if client_id not in audiences or party != client_id:
        raise AssertionRefused(Reason.AUDIENCE, "The ID token is for another client.")


_FRESH: Final = 600_000
CALLS_AT_ONCE: Final = 64
"""Calls to the provider that run at once."""
_SCOPE: Final = "openid profile email"


@dataclass(frozen=True, slots=True)
class ProviderRegistration:
    """This service's registration at the provider, and the provider's display name."""

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
    sends_iss: bool
    supports_basic_auth: bool


class OpenIdProvider:
    """Talks to the provider by a fetcher of its own.

    Raises `FetchFailed` when the provider cannot be reached, `Unavailable` without asking it while it keeps failing,
    and `AssertionRefused` for a bad answer.
    """

    def __init__(self, registered: ProviderRegistration, fetcher: Fetcher, clock: Callable[[], int]) -> None:
        self.registered = registered
        self._fetcher = fetcher
        self._clock = clock
        # Apart from the cache of trusted issuers, where the same issuer may be configured with other keys.
        self._keys = IssuerKeys(fetcher, clock)
        self._known: tuple[int, _Metadata] | None = None
        self._breaker = CircuitBreaker(
            "the sign-in provider cannot be reached",
            f"{registered.name} cannot be reached now. Try again soon.",
            seconds=TOTAL_SECONDS,
            at_once=CALLS_AT_ONCE,
            faults=(HostFailing,),
        )

    async def ask(self, *, state: str, nonce: str, verifier: str, again: bool) -> str:
        """The URL where the user signs in; with `again` even if they are signed in there (OpenID Core §3.1.2.1)."""
        endpoint = (await self._metadata()).authorization_endpoint
        hashed = hashlib.sha256(verifier.encode()).digest()
        parameters = {
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
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(parameters)}"

    async def redeem(self, code: str, *, issuer: str | None, nonce: str, verifier: str) -> OpenIdUser:
        """The user for a code that came with this `iss`, in the sign-in with this nonce and PKCE verifier."""
        known, ours = await self._metadata(), self.registered
        if issuer != ours.issuer and (issuer is not None or known.sends_iss):
            raise AssertionRefused(Reason.ISSUER, "The answer is another provider's.")
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": ours.return_to,
            "code_verifier": verifier,
            "client_id": ours.client_id,
        }
        authorization = ""
        if ours.client_secret and known.supports_basic_auth:
            authorization = _basic(ours.client_id, ours.client_secret)
        elif ours.client_secret:
            form["client_secret"] = ours.client_secret
        async with self._breaker.call():
            answer = await self._fetcher.exchange(known.token_endpoint, form, authorization=authorization)
        text = answer.get("id_token")
        if not isinstance(text, str):
            raise AssertionRefused(Reason.MALFORMED, "The provider gave no ID token.")
        return await verify_id_token(
            text,
            issuer=Issuer(ours.issuer, ALGORITHMS, jwks_uri=known.jwks_uri),
            client_id=ours.client_id,
            nonce=nonce,
            keys=self._keys,
            now=self._clock(),
        )

    async def close(self) -> None:
        """Cancel the running fetches of keys, and close the connections."""
        await self._keys.close()
        await self._fetcher.close()

    def state(self) -> str:
        """The health check: `ok`, or `failing` while the provider or its keys cannot be reached."""
        return "failing: the provider cannot be reached" if self._breaker.error else self._keys.state()

    async def _metadata(self) -> _Metadata:
        now = self._clock()
        if self._known is None or now >= self._known[0]:
            issuer = self.registered.issuer
            async with self._breaker.call():
                found = await self._fetcher.json(f"{issuer.removesuffix('/')}/.well-known/openid-configuration")
            self._known = now + _FRESH, _read(found, issuer)
        return self._known[1]


def _read(found: dict[str, Any], issuer: str) -> _Metadata:
    if found.get("issuer") != issuer:
        raise FetchFailed(f"{issuer}: its metadata names another issuer")
    methods: object = found.get("token_endpoint_auth_methods_supported")
    return _Metadata(
        _endpoint(found, "authorization_endpoint", issuer),
        _endpoint(found, "token_endpoint", issuer),
        _endpoint(found, "jwks_uri", issuer),
        sends_iss=found.get("authorization_response_iss_parameter_supported") is True,
        supports_basic_auth=not isinstance(methods, list) or "client_secret_basic" in methods,
    )


def _endpoint(found: dict[str, Any], name: str, issuer: str) -> str:
    """An endpoint of the metadata; http only if the issuer is. The fetcher checks further those that it calls."""
    url = found.get(name)
    if not isinstance(url, str) or not url.isascii() or not url.isprintable() or " " in url:
        raise FetchFailed(f"{issuer}: its {name} is no URL")
    try:
        parts = urlsplit(url)
    except ValueError:
        raise FetchFailed(f"{issuer}: its {name} is no URL") from None
    if parts.scheme not in {"https", urlsplit(issuer).scheme} or not parts.hostname:
        raise FetchFailed(f"{issuer}: its {name} is not https")
    return url


def _basic(client_id: str, secret: str) -> str:
    """The header of HTTP Basic authentication, with both parts form-encoded first (RFC 6749 §2.3.1)."""
    pair = f"{quote(client_id, safe='')}:{quote(secret, safe='')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"
