"""Registers an agent: its row, its first key and its challenge in one unit. Verifies its claimed identity by a signed
proof, or by a code mailed to the claimed address: the attempt is counted first, the proof is checked with the network,
and the result is stored last.

An agent has one challenge, valid for ten minutes, five attempts and one use. It ends when it has no key left, or only
unused keys and no proven identity. A published document proves control of its host for 30 days and is then fetched
again, outside transactions. Workers may check at the same time: conditional statements count a failure once.
"""

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import BigInteger, Integer, bindparam, delete, exists, func, or_, update
from sqlmodel import col, select

from negotiator.agents import registration
from negotiator.agents.mail import quote_name
from negotiator.agents.mail_queue import MailQueue
from negotiator.agents.tables import Agent
from negotiator.base import values
from negotiator.base.errors import Conflict, Forbidden, Gone, InvalidRequest, NotFound, Refusal, TooManyRequests
from negotiator.base.scopes import DIRECTORY, READING, ordered
from negotiator.directory import accounts_queries, identity_proof
from negotiator.directory.identity_proof import ClaimedIdentity, PublishedKeys, UnreadableDocument, thumbprint
from negotiator.directory.schemas_accounts import ChallengeView, RegisterDirectoryAgent
from negotiator.directory.tables import IdentityChallenge, IdentityProof
from negotiator.store import audit
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, entity, table
from negotiator.store.store import Store
from negotiator.tokens import api_keys
from negotiator.tokens.tables import ApiKey

CHALLENGE_LIFETIME: Final = 600_000
MAX_ATTEMPTS: Final = 5
CODE_DIGITS: Final = 8
JWS, CODE = "jws", "email_code"

_ADD = RowInsertion(IdentityChallenge)
_DROP = Statement(delete(IdentityChallenge).where(col(IdentityChallenge.agent_id) == bindparam("agent")))
_OF_AGENT = Query(
    select(IdentityChallenge).where(col(IdentityChallenge.agent_id) == bindparam("agent")), entity(IdentityChallenge)
)
_TRY = Statement(
    update(IdentityChallenge)
    .where(
        col(IdentityChallenge.id) == bindparam("challenge"),
        col(IdentityChallenge.agent_id) == bindparam("agent"),
        col(IdentityChallenge.used_at).is_(None),
        col(IdentityChallenge.expires_at) > bindparam("now", type_=BigInteger),
        col(IdentityChallenge.attempts) < bindparam("tries", type_=Integer),
    )
    .values(attempts=col(IdentityChallenge.attempts) + 1)
)
_USE = Statement(
    update(IdentityChallenge)
    .where(col(IdentityChallenge.id) == bindparam("challenge"), col(IdentityChallenge.used_at).is_(None))
    .values(used_at=bindparam("at", type_=BigInteger))
)
_TEXT = """{code} is the code of the agent {name} at {base}.

The agent registered with this directory under your address. If it is yours, give it the code within ten minutes. If you
do not expect this mail, do nothing: without the code the agent cannot verify your address.
"""


def queue_code(tx: Transaction, mails: MailQueue, code: str, *, base: str, email: str, agent_name: str) -> bool:
    """Queue the mail with the code, to be sent by `mails.dispatch`; False when the address got too many mails.

    The mail has no link, because mail programs open links.
    """
    text = _TEXT.format(code=code, name=quote_name(agent_name), base=base)
    return mails.add(tx, email, "A code for your agent", text, life=CHALLENGE_LIFETIME)


def grantable_scopes(requested: Iterable[str] | None) -> list[str]:
    """The known ones of the requested scopes, the read scopes when None is requested; 400 when none is known."""
    granted = ordered(READING if requested is None else DIRECTORY.keys() & set(requested))
    if not granted:
        raise InvalidRequest(f"None of these scopes is known; there are {' '.join(DIRECTORY)}.", error="invalid_scope")
    return granted


@dataclass(frozen=True, slots=True)
class DirectoryRegistration:
    """Registers agents, issues their challenges, and verifies their identities."""

    base: str
    store: Store
    pepper: bytes
    mails: MailQueue
    keys: PublishedKeys

    def enrol(
        self, tx: Transaction, body: RegisterDirectoryAgent, scopes: Sequence[str], *, address: str
    ) -> tuple[Agent, str, IdentityChallenge | None]:
        """Store a new agent with its first key and challenge; the key's text is not stored."""
        agent = Agent(
            id=values.new_id("agt"),
            service="directory",
            name=body.name,
            identity_type=body.identity.type,
            identity_value=body.identity.value,
            contact_email=body.contact_email,
            scope=" ".join(scopes),
            created_at=values.now(),
        )
        registration.add(tx, agent, actor=address, identity_type=agent.identity_type, scope=agent.scope)
        key = api_keys.add(tx, self.pepper, agent.id)
        return agent, key.text, self.ask(tx, agent)

    def ask(self, tx: Transaction, agent: Agent) -> IdentityChallenge | None:
        """Issue a challenge to prove the agent's identity, and queue the mail with its code, if it needs one.

        None when the identity cannot be proven.
        A pending code is not replaced. When the mailbox got too many mails, the challenge has no code but looks the
        same, so that no one learns whether others wrote to the address.
        """
        method = _proof_method(_identity_of(agent))
        if method is None:
            return None
        if method == CODE and (pending := _find_pending(tx, agent.id)):
            return pending
        digest = None
        if method == CODE:
            code, email = f"{secrets.randbelow(10**CODE_DIGITS):0{CODE_DIGITS}}", agent.identity_value
            if queue_code(tx, self.mails, code, base=self.base, email=email, agent_name=agent.name):
                digest = self._code_digest(agent.id, code)
        challenge = _issue_challenge(tx, agent.id, method, code_digest=digest)
        audit.record(tx, "identity.challenged", agent.id, actor=agent.id, method=method)
        return challenge

    async def verify(
        self, client_id: str, challenge_id: str, *, proof: str, address: str, then: Callable[[Transaction, Agent], None]
    ) -> Agent:
        """Verify the agent's identity and run `then` in the same unit; returns the agent.

        A refused proof uses one of five attempts and changes nothing else.
        """

        def count(tx: Transaction) -> tuple[Agent, IdentityChallenge]:
            agent = find_calling_agent(tx, client_id)
            challenge = _count_attempt(tx, agent.id, challenge_id)
            return agent, challenge

        agent, challenge = await self.store.write(count)
        try:
            key_thumbprint = await self._check_proof(agent, challenge, proof, address)
        except InvalidRequest as refusal:
            refusal.remember = _refused(agent, refusal)
            raise

        def store_proof(tx: Transaction) -> None:
            find_calling_agent(tx, client_id)
            _consume(tx, challenge)
            accounts_queries.record_proof(tx, agent, thumbprint=key_thumbprint)
            then(tx, agent)

        await self.store.write(store_proof)
        return agent

    async def _check_proof(self, agent: Agent, challenge: IdentityChallenge, proof: str, address: str) -> str:
        """The thumbprint of the key that signed, empty for a code; 400 for an invalid proof."""
        if challenge.method == CODE:
            presented = self._code_digest(agent.id, proof.strip())
            if not values.equal_in_constant_time(presented, challenge.code_digest or ""):
                identity_proof.invalid_proof("The code is not the one that was mailed.")
            return ""
        claimed = _identity_of(agent)
        expected = identity_proof.ExpectedProof(claimed.value, self.base, agent.id, challenge.nonce)
        statement = identity_proof.read_proof(proof, expected)
        key = await self.keys.find(claimed, statement.kid, statement.algorithm, address=address)
        statement.check(key)
        return thumbprint(key)

    def _code_digest(self, agent_id: str, code: str) -> str:
        """The keyed digest under which a mailed code is stored."""
        return values.keyed_digest(self.pepper, f"code\0{agent_id}\0{code}")


def _identity_of(agent: Agent) -> ClaimedIdentity:
    """The identity that an agent claims."""
    return ClaimedIdentity(agent.identity_type, agent.identity_value)


def find_calling_agent(tx: Transaction, client_id: str) -> Agent:
    """The calling agent; 403 for a caller that is not an agent of the directory."""
    agent = accounts_queries.find(tx, client_id)
    if agent is None:
        raise Forbidden("Only agents that registered with the directory can do this.")
    if agent.revoked_at is not None:
        raise NotFound("There is no such agent.")
    return agent


def _refused(agent: Agent, refusal: Refusal) -> Callable[[Transaction], None]:
    def remember(tx: Transaction) -> None:
        audit.record(tx, "identity.refused", agent.id, actor=agent.id, reason=refusal.error)

    return remember


def _proof_method(identity: ClaimedIdentity) -> str | None:
    """How this identity can be proven; None when there is no way."""
    if identity.type == "email":
        return CODE
    inline = identity.type == "did" and identity_proof.jwk_of_did_key(identity.value)
    return JWS if inline or identity.document_url else None


def _issue_challenge(tx: Transaction, agent_id: str, method: str, *, code_digest: str | None) -> IdentityChallenge:
    """A new challenge in place of any other. Without a `code_digest` no code is right."""
    now = values.now()
    tx.run(_DROP, agent=agent_id)
    challenge = IdentityChallenge(
        id=values.new_id("chl"),
        agent_id=agent_id,
        method=method,
        nonce=values.new_secret(),
        code_digest=code_digest,
        attempts=0,
        created_at=now,
        expires_at=now + CHALLENGE_LIFETIME,
        used_at=None,
    )
    tx.run(_ADD, **challenge.model_dump())
    return challenge


def _find_pending(tx: Transaction, agent_id: str) -> IdentityChallenge | None:
    """The agent's challenge, if it can still be answered."""
    found = tx.one(_OF_AGENT, agent=agent_id)
    return found if found and _fault_of(found) is None else None


def _count_attempt(tx: Transaction, agent_id: str, challenge_id: str) -> IdentityChallenge:
    """Count an attempt before it is checked, so that parallel ones count separately.

    404 unless this is the agent's newest challenge, 409 `challenge_used`, 410 `challenge_expired`, 429
    `too_many_attempts`.
    """
    now = values.now()
    was_counted = tx.run(_TRY, challenge=challenge_id, agent=agent_id, now=now, tries=MAX_ATTEMPTS)
    found = tx.one(_OF_AGENT, agent=agent_id)
    if found is None or found.id != challenge_id:
        raise NotFound("There is no such challenge; only the newest one counts.")
    if not was_counted:
        raise _fault_of(found) or AssertionError("a challenge was neither open nor closed")
    return found


def _consume(tx: Transaction, challenge: IdentityChallenge) -> None:
    """Mark the challenge as used; 409 when it was used before."""
    if not tx.run(_USE, challenge=challenge.id, at=values.now()):
        raise Conflict("The challenge was used.", error="challenge_used")


def challenge_view(challenge: IdentityChallenge | None, audience: str) -> ChallengeView | None:
    """The challenge as the agent sees it (docs/contract 9.2)."""
    if challenge is None:
        return None
    key, method, expires_at = challenge.id, challenge.method, values.timestamp(challenge.expires_at)
    if method == JWS:
        return {"id": key, "method": method, "nonce": challenge.nonce, "audience": audience, "expires_at": expires_at}
    return {"id": key, "method": method, "expires_at": expires_at}


def _fault_of(found: IdentityChallenge) -> Conflict | Gone | TooManyRequests | None:
    """Why a challenge cannot be answered any more; None when it can."""
    if found.used_at is not None:
        return Conflict("The challenge was used.", error="challenge_used")
    if found.expires_at <= values.now():
        return Gone("The challenge has expired; ask for a new one.", error="challenge_expired")
    if found.attempts >= MAX_ATTEMPTS:
        wait = (found.expires_at - values.now()) // 1000
        return TooManyRequests(
            "Five tries were wrong; ask for a new challenge.", retry_after=wait, error="too_many_attempts"
        )
    return None


_EVERY: Final = values.HOUR
_AT_ONCE: Final = 100

_agent, _key = Agent, ApiKey
_proven = exists().where(col(IdentityProof.agent_id) == col(_agent.id)).correlate(table(_agent))
_usable = exists().where(
    col(_key.client_id) == col(_agent.id),
    col(_key.revoked_at).is_(None),
    or_(col(_key.expires_at).is_(None), col(_key.expires_at) > bindparam("now", type_=BigInteger)),
    or_(
        col(_agent.vetted_at).is_not(None),
        _proven,
        func.coalesce(col(_key.last_used_at), col(_key.created_at)) > bindparam("used_since", type_=BigInteger),
    ),
)
_gone = select(_agent.id).where(col(_agent.service) == "directory", col(_agent.revoked_at).is_(None), ~_usable)
_GONE = Query(_gone.limit(_AT_ONCE), lambda row: str(row[0]))
_IS_GONE = Query(_gone.where(col(_agent.id) == bindparam("agent")), lambda row: str(row[0]))


@dataclass(slots=True)
class IdleAgentSweep:
    """Ends unusable agents once an hour."""

    store: Store
    _due: int = field(default=0, init=False)

    async def __call__(self) -> None:
        """Find candidates, then end each that is still unusable, with everything that depends on it."""
        now = values.now()
        if now < self._due:
            return
        self._due = now + _EVERY
        since = now - api_keys.KEY_UNUSED
        for agent_id in await self.store.scan(lambda tx: tx.all(_GONE, now=now, used_since=since)):
            await self.store.write(lambda tx, agent_id=agent_id: _end(tx, agent_id, now, since))


def _end(tx: Transaction, agent_id: str, now: int, since: int) -> None:
    if tx.one(_IS_GONE, agent=agent_id, now=now, used_since=since):
        accounts_queries.revoke(tx, agent_id, actor="clock", event="agent.expired")


@dataclass(frozen=True, slots=True)
class PublishedKeyRechecks:
    """Fetches published documents again, a few at a time."""

    store: Store
    keys: PublishedKeys

    async def __call__(self) -> None:
        """Check the proofs that are due."""
        for proof in await self.store.read(accounts_queries.due_rechecks):
            found = await self._is_published(proof)
            await self.store.write(
                lambda tx, proof=proof, found=found: accounts_queries.mark_rechecked(tx, proof, is_published=found)
            )

    async def _is_published(self, proof: IdentityProof) -> bool:
        try:
            published = await self.keys.all(ClaimedIdentity(proof.type, proof.value), address=None)
        except UnreadableDocument:
            return False
        return any(thumbprint(key) == proof.thumbprint for _, _, key in published.keys)
