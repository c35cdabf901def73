"""Exchanges assertions for access tokens at the token endpoint (RFC 7523 §2.1).

An ID-JAG comes from another issuer. Its signature is verified before the transaction opens, and its user is found
inside the transaction; it may be used once. An identity assertion comes from this service and names an agent. The
agent may use it until it expires (docs/contract 2.8) and needs no client authentication. Whatever revokes the
assertion also revokes the tokens from it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from negotiator.base.errors import InvalidRequest
from negotiator.base.scopes import nothing_left, ordered
from negotiator.base.strict_json import read_jws
from negotiator.store import audit
from negotiator.store.statement import Transaction
from negotiator.tokens.access_tokens import (
    IDENTITY_ASSERTION_TYPE,
    AccessTokens,
    NewToken,
    TokenSubject,
    narrow_resources,
)
from negotiator.trust.assertions import Assertion, AssertionVerifier
from negotiator.trust.claims import AssertionRefused, Reason, at_token_endpoint

AdmitSubject = Callable[[Transaction, Assertion, str], TokenSubject]
"""Marks the assertion as used and returns the subject of the token; the text is the client id."""


def allowed_scopes(assertion: Assertion) -> list[str]:
    """The scopes of the issuer's policy that the assertion's `scope` claim, if any, also names (docs/contract 2.3)."""
    policy = assertion.issuer.scopes
    return ordered(policy if assertion.scopes is None else set(policy) & set(assertion.scopes))


def narrow(form: Mapping[str, str], allowed: Iterable[str]) -> list[str]:
    """The requested scopes that are allowed, or all of these when none is requested; `invalid_scope` if none is left.

    RFC 6749 §3.3 leaves that to the server, which says what it granted; the MCP SDKs request every scope of the
    challenge, whatever the client was given.
    """
    asked = form.get("scope", "")
    granted = ordered(set(asked.split() or allowed) & set(allowed))
    if not granted:
        raise InvalidRequest(nothing_left(asked, allowed), error="invalid_scope")
    return granted


@dataclass(frozen=True, slots=True)
class PresentedAssertion:
    """A verified assertion, or the refusal. A refusal is raised only after the client is authenticated."""

    assertion: Assertion | AssertionRefused
    admit_subject: AdmitSubject

    def admit(self, tx: Transaction, client_id: str, *, is_known: bool) -> tuple[TokenSubject, list[str]]:
        """The subject of the token and the scopes that it may carry.

        A client that is not `is_known` to the administrators must be on the issuer's list.
        Raises the token endpoint's refusal (RFC 6749 §5.2) when the assertion is not valid or names another client.
        """
        try:
            if isinstance(self.assertion, AssertionRefused):
                raise self.assertion
            if self.assertion.client_id != client_id:
                raise AssertionRefused(Reason.CLIENT, "The assertion names another client.")
            if not is_known and client_id not in self.assertion.issuer.clients:
                raise AssertionRefused(
                    Reason.CLIENT,
                    "The issuer does not list this client; an administrator adds its address to the issuer's clients.",
                )
            subject = self.admit_subject(tx, self.assertion, client_id)
            limited = replace(subject, resource=" ".join(self.assertion.resources))
            return limited, allowed_scopes(self.assertion)
        except AssertionRefused as refused:
            raise at_token_endpoint(refused) from None


@dataclass(frozen=True, slots=True)
class BearerAssertionVerifier:
    """Verifies the ID-JAG of a token request."""

    verifier: AssertionVerifier
    admit: AdmitSubject

    async def present(self, text: str, client_id: str | None, *, key: str | None = None) -> PresentedAssertion:
        """Verify the assertion before the transaction opens; the result carries a refusal instead of raising it.

        `key` is the thumbprint of the key that the client has proven to hold (RFC 9449), if it did.
        """
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
        """Whether the form's assertion states the type of an identity assertion; its signature is not checked here."""
        try:
            unverified = read_jws(form.get("assertion", ""))
        except ValueError:
            return False
        return unverified.unverified_header.get("typ") == IDENTITY_ASSERTION_TYPE

    def accept(
        self, tx: Transaction, form: Mapping[str, str], *, key: str | None, address: str
    ) -> Callable[[Transaction], NewToken]:
        """The unit that stores the access token for an identity assertion, which may have ended until the unit runs.

        `invalid_grant` for an assertion that is not live, names another client or is bound to another key;
        `invalid_scope` when the assertion has none of the requested scopes. `key` is the thumbprint of the proven key.
        """
        row = self.credentials.identity(tx, form["assertion"])
        if row is None or form.get("client_id", row.client_id) != row.client_id:
            raise _not_valid()
        if row.key not in (None, key):
            raise InvalidRequest("The assertion is bound to another key.", error="invalid_grant")
        if "client_secret" in form:
            raise InvalidRequest("An agent has no secret.")
        scopes = narrow(form, row.scope.split())
        subject = TokenSubject(
            row.client_id,
            row.user_id,
            row.issuer,
            row.identity,
            row.authorization,
            key,
            narrow_resources(row.resource, form.get("resource"), base=self.credentials.issuer),
        )
        # The token lives as long as the assertion did in all, so that a short lifetime set by an operator holds.
        life = row.expires_at // 1000 - row.issued_at // 1000
        token = self.credentials.make(subject, scopes, life=life)

        def unit(tx: Transaction) -> NewToken:
            if not self.credentials.is_live(tx, row):
                raise _not_valid()
            self.credentials.record(tx, token)
            scope = " ".join(token.scopes)
            audit.record(tx, "token.issued", row.client_id, actor=address, jti=token.jti, scope=scope)
            return token

        return unit


def _not_valid() -> InvalidRequest:
    return InvalidRequest("The identity assertion is not valid.", error="invalid_grant")
