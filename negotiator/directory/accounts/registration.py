"""An agent comes to be: its row, its first key, its challenge, in one unit."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from negotiator import audit, values
from negotiator.agents.mail import may_write
from negotiator.directory.accounts import registered
from negotiator.directory.accounts.proving import challenges
from negotiator.directory.accounts.proving.identity import Identity
from negotiator.directory.accounts.tables import Challenge, DirectoryAgent
from negotiator.errors import Conflict, InvalidRequest
from negotiator.scopes import DIRECTORY, ordered
from negotiator.store.statement import Transaction
from negotiator.tokens.api_keys import form, rows

DEFAULT: Final = ("tools:read", "categories:read", "bookmarks:read")
REPLAYED_FOR: Final = 600_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A challenge, with the code that is to be mailed, if a mail may go out."""

    challenge: Challenge | None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a registration asks for. `once` is its `Idempotency-Key`, `request` a digest of what has to be the same."""

    name: str
    identity: Identity
    contact_email: str | None
    scopes: list[str]
    address: str
    once: str | None
    request: str


@dataclass(frozen=True, slots=True)
class Registered:
    """An agent with its key, whose text is known here and nowhere else."""

    agent: DirectoryAgent
    key: str
    asked: Asked


def grantable(requested: Iterable[str] | None) -> list[str]:
    """The known scopes among those asked for, the three read scopes when nothing was; 400 when none is known."""
    granted = ordered(DEFAULT if requested is None else DIRECTORY.keys() & set(requested))
    if not granted:
        raise InvalidRequest(
            f"None of these scopes is known; there are {' '.join(DIRECTORY)}.",
            error="invalid_scope",
        )
    return granted


@dataclass(frozen=True, slots=True)
class Registration:
    """Makes agents."""

    pepper: bytes

    def enrol(self, tx: Transaction, wanted: Wanted) -> Registered:
        """A new agent, or the one that this very request made some minutes ago; 409 for another use of its key."""
        once = self._digest("once", wanted.once) if wanted.once else None
        found = registered.by_once(tx, once) if once else None
        if found is not None:
            return self._again(tx, found, wanted)
        at = values.now()
        agent = DirectoryAgent(
            id=values.new_id("agt"),
            name=wanted.name,
            identity_type=wanted.identity.type,
            identity_value=wanted.identity.value,
            contact_email=wanted.contact_email,
            scope=" ".join(wanted.scopes),
            created_at=at,
            vetted_at=None,
            revoked_at=None,
            once_key=once,
            once_request=self._request(wanted) if once else None,
        )
        registered.add(tx, agent)
        key_id, secret = self._key_parts(agent.id, wanted.once)
        key = rows.add(tx, self.pepper, agent.id, key_id=key_id, secret=secret)
        audit.record(
            tx,
            "agent.registered",
            agent.id,
            actor=wanted.address,
            identity_type=wanted.identity.type,
            scope=agent.scope,
        )
        return Registered(agent, key.text, self.ask(tx, agent))

    def ask(self, tx: Transaction, agent: DirectoryAgent) -> Asked:
        """Challenge an agent to prove its identity; nothing when there is no way to.

        A code that is under way is waited for. When the mailbox was written to too often, the challenge has no code
        and looks as if it had: whether others wrote to an address is nobody's business.
        """
        by = challenges.method(identity(agent))
        if by is None:
            return Asked(None)
        if by == challenges.CODE and (waiting := challenges.pending(tx, agent.id)):
            return Asked(waiting)
        code, digest = None, None
        if by == challenges.CODE and may_write(tx, agent.identity_value):
            code = challenges.new_code()
            digest = self.code_digest(agent.id, code)
        asked = challenges.ask(tx, agent.id, by, code_digest=digest)
        audit.record(tx, "identity.challenged", agent.id, actor=agent.id, method=by)
        return Asked(asked, code)

    def code_digest(self, agent_id: str, code: str) -> str:
        """A mailed code at rest."""
        return self._digest("code", f"{agent_id}\0{code}")

    def _again(self, tx: Transaction, agent: DirectoryAgent, wanted: Wanted) -> Registered:
        same = values.same(agent.once_request or "", self._request(wanted))
        if not same or values.now() - agent.created_at > REPLAYED_FOR:
            raise Conflict("This Idempotency-Key was used before.", error="idempotency_key_used")
        key = form.write_key(*self._key_parts(agent.id, wanted.once))
        return Registered(agent, key, Asked(challenges.pending(tx, agent.id)))

    def _key_parts(self, agent_id: str, once: str | None) -> tuple[str, str]:
        """Random; or, so that it can be told again without being kept, made from the client's own key and ours."""
        if once is None:
            return form.new_id(), form.new_secret()
        derived = (form.derived_secret(self.pepper, part, once, agent_id) for part in ("id", "key"))
        name, secret = derived
        return name[: form.ID], secret

    def _request(self, wanted: Wanted) -> str:
        return self._digest("request", f"{wanted.address}\0{wanted.request}")

    def _digest(self, what: str, text: str) -> str:
        return values.keyed_digest(self.pepper, f"{what}\0{text}")


def identity(agent: DirectoryAgent) -> Identity:
    """What an agent claims to be."""
    return Identity(agent.identity_type, agent.identity_value)
