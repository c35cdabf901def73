"""An agent's own identity assertion at the token endpoint: who holds it gets tokens that stand on what it stands on.

Unlike an ID-JAG it is ours and may be used again until it ends (identity.md §2.3); no client authenticates with it,
since holding it is what the agent has instead.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from negotiator import audit
from negotiator.errors import InvalidRequest
from negotiator.scopes import ordered
from negotiator.store.statement import Transaction
from negotiator.strict import read_jws
from negotiator.tokens.audience import narrowed
from negotiator.tokens.credentials import IDENTITY, Credentials, Subject


@dataclass(frozen=True, slots=True)
class Exchange:
    """Exchanges identity assertions for access tokens."""

    credentials: Credentials

    def takes(self, form: Mapping[str, str]) -> bool:
        """Whether the assertion in this form states the type of ours; its signature is not checked."""
        try:
            unverified = read_jws(form.get("assertion", ""))
        except ValueError:
            return False
        return unverified.unverified_header.get("typ") == IDENTITY

    def exchange(
        self, tx: Transaction, form: Mapping[str, str], *, key: str | None, address: str
    ) -> dict[str, Any]:
        """The token response; `invalid_grant` for an assertion that is dead, another's, or bound to another key."""
        row = self.credentials.identity(tx, form["assertion"])
        if row is None or form.get("client_id", row.client_id) != row.client_id:
            raise InvalidRequest("The identity assertion is not valid.", error="invalid_grant")
        if row.key not in (None, key):
            raise InvalidRequest("The assertion is bound to another key.", error="invalid_grant")
        if "client_secret" in form:
            raise InvalidRequest("An agent has no secret.")
        held = row.scope.split()
        asked = form.get("scope", row.scope).split()
        if not set(asked) <= set(held):
            raise InvalidRequest("A scope was asked for that is not held.", error="invalid_scope")
        subject = Subject(
            row.client_id,
            row.user_id,
            row.issuer,
            row.identity,
            row.authorization,
            key,
            narrowed(row.resource, form.get("resource"), base=self.credentials.issuer),
        )
        # As long as the assertion was given for: so an operator's short lives stay short.
        life = row.expires_at // 1000 - row.issued_at // 1000
        token = self.credentials.make(subject, ordered(asked), life=life)
        self.credentials.record(tx, token)
        scope = " ".join(token.scopes)
        audit.record(tx, "token.issued", row.client_id, actor=address, jti=token.jti, scope=scope)
        return {
            "access_token": token.text,
            "token_type": subject.token_type,
            "expires_in": life,
            "scope": scope,
        }
