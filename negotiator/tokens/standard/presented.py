"""An assertion on its way to a token: verified before the transaction, admitted inside it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from negotiator.scopes import ordered
from negotiator.store.statement import Transaction
from negotiator.tokens.issued import Subject
from negotiator.trust.assertions import Assertion, AssertionRefused, Reason, Verifier
from negotiator.trust.refusals import at_token_endpoint

Admit = Callable[[Transaction, Assertion, str], Subject]
"""Spends the assertion, finds its user and answers whom a token of this client would be for."""


def allowed_scopes(assertion: Assertion) -> list[str]:
    """What the issuer's policy allows, cut to the assertion's `scope` claim if it has one (contract §1.1)."""
    policy = assertion.issuer.scopes
    return ordered(policy if assertion.scopes is None else set(policy) & set(assertion.scopes))


@dataclass(frozen=True, slots=True)
class Presented:
    """An assertion that was verified, or why it was not: the client is authenticated before either is said."""

    assertion: Assertion | AssertionRefused
    admit_subject: Admit

    def admit(self, tx: Transaction, client_id: str) -> tuple[Subject, list[str]]:
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
class Presenter:
    """Takes an assertion in at the token endpoint."""

    verifier: Verifier
    admit: Admit

    async def present(
        self, text: str, client_id: str | None, *, key: str | None = None
    ) -> Presented:
        """Verify the assertion, with the key that the client has proven to hold; a refusal is kept for later."""
        try:
            believed = await self.verifier.verify(
                text, kind="id_jag", client_id=client_id, key=key, ignore_unverified_email=True
            )
            return Presented(believed, self.admit)
        except AssertionRefused as refused:
            return Presented(refused, self.admit)
