"""What a token is before its row is kept: whom it is for, what it stands on, its text."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a token is for and what it stands on.

    `key` is the thumbprint of the key it is bound to (RFC 9449 §6), `resource` what it is limited to (see `audience`).
    """

    client_id: str
    user_id: str | None = None
    issuer: str | None = None
    identity: str | None = None
    authorization: str | None = None
    key: str | None = None
    resource: str = ""

    @property
    def principal(self) -> str:
        """Who owns what is made with the token."""
        return self.user_id or self.client_id

    @property
    def token_type(self) -> str:
        """How a token for it is presented."""
        return "DPoP" if self.key else "Bearer"


@dataclass(frozen=True, slots=True)
class Issued:
    """A token that was made and not yet recorded; `life` in seconds."""

    subject: Subject
    scopes: list[str]
    jti: str
    text: str
    life: int
    issued_at: int

    def members(self) -> dict[str, Any]:
        """The seed's five members (assistant §2)."""
        return {
            "client_id": self.subject.client_id,
            "access_token": self.text,
            "token_type": self.subject.token_type,
            "expires_in": self.life,
            "scopes": self.scopes,
        }
