"""ID tokens tell a client which user signed in, when, and for which request (OpenID Connect Core §2, §3.1.3.6)."""

import hashlib
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from typing import Any, Final

from negotiator.base import values
from negotiator.keys.keyring import Keyring
from negotiator.tokens.tables import AuthorizationGrant

LIFE: Final = 3600
TYPE: Final = "JWT"
_LONGEST: Final = 4096


@dataclass(frozen=True, slots=True)
class IdTokenContent:
    """The grant that an ID token describes, the client's signing algorithm, and whether a refresh token renews it."""

    grant: AuthorizationGrant
    algorithm: str
    renewed: bool


@dataclass(frozen=True, slots=True)
class IdTokenSigner:
    keyring: Keyring
    issuer: str

    def token(self, signed_in: IdTokenContent, *, access_token: str) -> str:
        """The ID token that goes with this access token; a renewed one has no nonce (Core §12.2)."""
        grant = signed_in.grant
        now = values.now() // 1000
        claims: dict[str, Any] = {
            "iss": self.issuer,
            "sub": grant.user_id,
            "aud": grant.client_id,
            "iat": now,
            "exp": now + LIFE,
            "auth_time": grant.auth_time // 1000,
            "at_hash": half_hash(access_token),
        }
        if grant.nonce and not signed_in.renewed:
            claims["nonce"] = grant.nonce
        return self.keyring.sign(claims, TYPE, algorithm=signed_in.algorithm)

    def hinted_subject(self, hint: str) -> str | None:
        """The user id in an ID token of this service, expired or not (`id_token_hint`, Core §3.1.2.1).

        None for any other text.
        """
        claims = self.keyring.verify(hint, TYPE, longest=_LONGEST)
        if claims is None or claims.get("iss") != self.issuer:
            return None
        return str(claims.get("sub"))


def half_hash(text: str) -> str:
    """The `at_hash` of an access token: the left half of its SHA-256 in base64url (Core §3.1.3.6)."""
    return urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:16]).rstrip(b"=").decode()
