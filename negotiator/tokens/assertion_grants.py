"""An assertion on its way to a token: verified before the transaction, admitted inside it.

An agent's own identity assertion at the token endpoint: who holds it gets tokens that stand on what it stands on.

Unlike an ID-JAG it is ours and may be used again until it ends (docs/contract 2.8); no client authenticates with it,
since holding it is what the agent has instead.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from negotiator import audit
from negotiator.errors import InvalidRequest
from negotiator.scopes import ordered
from negotiator.store.statement import Transaction
from negotiator.strict_json import read_jws
from negotiator.tokens.access_tokens import (
    IDENTITY_ASSERTION_TYPE,
    AccessTokens,
    TokenSubject,
    narrow_resources,
)
from negotiator.trust.assertions import Assertion, AssertionVerifier
from negotiator.trust.claims import AssertionRefused, Reason
from negotiator.trust.refusals import at_token_endpoint

AdmitSubject = Callable[[Transaction, Assertion, str], TokenSubject]
"""Spends the assertion, finds its user and answers whom a token of this client would be for."""


def allowed_scopes(assertion: Assertion) -> list[str]:
    """What the issuer's policy allows, cut to the assertion's `scope` claim if it has one (docs/contract 2.3)."""
    policy = assertion.issuer.scopes
    return ordered(policy if assertion.scopes is None else set(policy) & set(assertion.scopes))


@dataclass(frozen=True, slots=True)
class PresentedAssertion:
    """An assertion that was verified, or why it was not: the client is authenticated before either is said."""

    assertion: Assertion | AssertionRefused
    admit_subject: AdmitSubject

    def admit(self, tx: Transaction, client_id: str) -> tuple[TokenSubject, list[str]]:
        """Whom the token is for and which scopes it may carry; refuses as the token endpoint does."""
        try:
            if isinstance(self.assertion, AssertionRefused):
                raise self.assertion
            if self.assertion.client_id != client_id:
                raise AssertionRefused(Reason.CLIENT, "The assertion names another client.")
            subject = self.admit_subject(tx, self.assertion, client_id)
            limited = replace(subject, resource=" ".join(self.assertion.resources))
            return limited, allowed_scopes(self.assertion)
        except AssertionRefused as refused:
            raise at_token_endpoint(refused) from None


@dataclass(frozen=True, slots=True)
class BearerAssertionVerifier:
    """Takes an assertion in at the token endpoint."""

    verifier: AssertionVerifier
    admit: AdmitSubject

    async def present(
        self, text: str, client_id: str | None, *, key: str | None = None
    ) -> PresentedAssertion:
        """Verify the assertion, with the key that the client has proven to hold; a refusal is kept for later."""
        try:
            believed = await self.verifier.verify(
                text, kind="id_jag", client_id=client_id, key=key, ignore_unverified_email=True
            )
            return PresentedAssertion(believed, self.admit)
        except AssertionRefused as refused:
            return PresentedAssertion(refused, self.admit)


@dataclass(frozen=True, slots=True)
class IdentityAssertionExchange:
    """Exchanges identity assertions for access tokens."""

    credentials: AccessTokens

    def takes(self, form: Mapping[str, str]) -> bool:
        """Whether the assertion in this form states the type of ours; its signature is not checked."""
        try:
            unverified = read_jws(form.get("assertion", ""))
        except ValueError:
            return False
        return unverified.unverified_header.get("typ") == IDENTITY_ASSERTION_TYPE

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
        subject = TokenSubject(
            row.client_id,
            row.user_id,
            row.issuer,
            row.identity,
            row.authorization,
            key,
            narrow_resources(row.resource, form.get("resource"), base=self.credentials.issuer),
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
