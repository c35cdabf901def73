"""Changes to memories: creating, editing, superseding, erasing, reviewing, claiming and quarantining them.

A repeated text is kept once. A less trusted author cannot change or supersede what a more trusted one wrote.
`ReferenceChecks` lets the slices above check ids that a request body names.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from negotiator.base import values
from negotiator.base.caller import Caller
from negotiator.base.errors import Conflict, FieldError, NotFound, ValidationFailed
from negotiator.base.values import milliseconds
from negotiator.http import idempotency
from negotiator.memory import content_guard, memories_queries
from negotiator.memory.content_guard import AuthorKind, suspicion_reason
from negotiator.memory.memories_queries import MemoryDocument, StoredEmbedding
from negotiator.memory.schemas_memories import MemoryBody, NewMemory
from negotiator.store.statement import Transaction

RequireReference = Callable[[Transaction, str, str], None]
"""Takes the owner and the id; raises `NotFound` unless the owner has such an object."""


@dataclass(frozen=True, slots=True)
class ReferenceChecks:
    """Checks of ids in request bodies."""

    negotiation: RequireReference
    tactic: RequireReference
    deal: RequireReference
    """Of a negotiation whose result is recorded as a win."""


MAX_MEMORIES: Final = 10_000
"""Active and pending memories an owner may have; twice as many with the other statuses."""
MAX_TAGS: Final = 20


@dataclass(frozen=True, slots=True)
class MemoryWriter:
    """Who writes: the owner, the kind of author, the client, and whether a user has claimed it (`bound`)."""

    owner: str
    author: AuthorKind
    client_id: str | None
    bound: bool

    @property
    def trust(self) -> int:
        """How far the author is trusted: a user 3, their agent 2, an unclaimed agent 1, transcripts and imports 0."""
        if self.author == "user":
            return content_guard.TRUST_CONFIRMED
        if self.author == "agent":
            return content_guard.TRUST_BOUND_AGENT if self.bound else content_guard.TRUST_UNBOUND_AGENT
        return content_guard.TRUST_UNREVIEWED

    @property
    def name(self) -> str:
        """The author's name in the history."""
        return self.client_id or self.author


def memory_writer(caller: Caller) -> MemoryWriter:
    """A signed-in user at a page writes as themselves; every other caller is an agent."""
    if caller.kind == "user":
        return MemoryWriter(caller.principal, "user", None, bound=True)
    return MemoryWriter(caller.principal, "agent", caller.client_id or None, caller.user_id is not None)


def create_memory(
    tx: Transaction,
    writer: MemoryWriter,
    body: NewMemory,
    embedded: StoredEmbedding,
    *,
    similar_to: str | None = None,
    status: str = "active",
) -> tuple[MemoryDocument, bool]:
    """Store a memory; returns its view and whether it is new.

    A known memory is not stored twice: tags, attributes, a later expiry and more trust are added to it. 409 beyond the
    owner's limit; 422, 409 for an invalid `supersedes`. A memory from a transcript is always pending until the user
    reviews it. `similar_to` is the id of one that says almost the same.
    """
    known = memories_queries.find_duplicate(tx, writer.owner, body.text, counterparty=body.counterparty)
    if known is not None:
        return _merge_repetition(tx, writer, known, body), False
    live, all_ = (memories_queries.count(tx, writer.owner, live=live) for live in (True, False))
    if live >= MAX_MEMORIES or all_ >= 2 * MAX_MEMORIES:
        raise Conflict(
            f"You have {all_} memories; forget some first.", error="too_many_memories", members={"count": all_}
        )
    _check_pin(writer, body)
    view = _new(writer, body, "pending" if writer.author == "transcript" else status)
    view["similar_to"] = similar_to
    if body.supersedes is not None and view["status"] == "active":
        _supersede(tx, writer, body.supersedes, by=view["id"])
    memories_queries.add(tx, writer.owner, view, embedded)
    return view, True


def edit_memory(
    tx: Transaction, writer: MemoryWriter, memory: str, body: MemoryBody, *, expected: int
) -> MemoryDocument:
    """Replace the memory's content; it gets the editor's trust, and no longer waits once the user edited it.

    404, 409, 412, 422.
    """
    before = memories_queries.load(tx, writer.owner, memory, expected=expected)
    if before["status"] == "superseded":
        raise Conflict("A superseded memory is not edited any more.", error="superseded")
    _check_trust(writer, before)
    _check_pin(writer, body)
    _check_said_once(tx, writer.owner, memory, body.text, body.counterparty)
    suspect = suspicion_reason(body.prose, body.kind)
    confirmed = writer.trust == content_guard.TRUST_CONFIRMED
    cleared = "active" if confirmed or before["status"] == "quarantined" else before["status"]
    after = {
        **before,
        **_author_members(body),
        "trust": writer.trust,
        "status": "quarantined" if suspect else cleared,
        "status_reason": suspect,
    }
    if body.valid_from is not None:
        after["valid_from"] = _timestamp(body.valid_from)
    return memories_queries.save(tx, writer.owner, before, after, actor=writer.name, change="edited")


def delete_memory(tx: Transaction, owner: str, memory: str, *, expected: int | None) -> None:
    """Erase one memory with its history; 404, 412."""
    memories_queries.load(tx, owner, memory, expected=expected)
    erase_memory(tx, owner, memory)


def erase_memory(tx: Transaction, owner: str, memory: str) -> None:
    """Erase an existing memory, its history and the stored answers that repeat it."""
    memories_queries.delete_memory(tx, owner, memory)
    idempotency.erase_mentions(tx, owner, memory.encode())


def erase_all_memories(tx: Transaction, owner: str, confirmed: int) -> int:
    """Erase all of an owner's memories with their history; 409 with the count when another number was confirmed."""
    total = memories_queries.count(tx, owner, live=False)
    if total != confirmed:
        raise Conflict(
            f"There are {total} memories; confirm that number to erase them.",
            error="not_confirmed",
            members={"count": total},
        )
    memories_queries.delete_all_memories(tx, owner)
    idempotency.erase_mentions(tx, owner, b'"mem_')
    return total


def _new(writer: MemoryWriter, body: NewMemory, status: str) -> MemoryDocument:
    """The view of a new memory, quarantined when its text is suspicious."""
    now, suspect = values.now(), suspicion_reason(body.prose, body.kind)
    return {
        "id": values.new_id("mem"),
        **_author_members(body),
        "source": {"type": writer.author, "client_id": writer.client_id, "at": values.timestamp(now)},
        "origin": None,
        "trust": writer.trust,
        "status": "quarantined" if suspect else status,
        "status_reason": suspect,
        "valid_from": values.timestamp(milliseconds(body.valid_from) or now),
        "valid_to": None,
        "supersedes": body.supersedes,
        "superseded_by": None,
        "similar_to": None,
        "revision": 1,
        "created_at": values.timestamp(now),
        "updated_at": values.timestamp(now),
    }


def _merge_repetition(tx: Transaction, writer: MemoryWriter, before: MemoryDocument, body: NewMemory) -> MemoryDocument:
    """The known memory with what the repetition adds; a less trusted author adds nothing."""
    if body.supersedes not in {None, before["id"]}:
        _supersede(tx, writer, body.supersedes or "", by=before["id"])
    if writer.trust < min(before["trust"], content_guard.TRUST_BOUND_AGENT):
        return before
    confirmed = writer.trust == content_guard.TRUST_CONFIRMED and before["status"] == "pending"
    after = {
        **before,
        "tags": sorted({*before["tags"], *body.tags})[:MAX_TAGS],
        "attributes": {**body.attributes, **before["attributes"]},
        "category": before["category"] or body.category,
        "negotiation_id": before["negotiation_id"] or body.negotiation_id,
        "expires_at": _later(before["expires_at"], body.expires_at),
        "pinned": before["pinned"] or (body.pinned and writer.trust >= content_guard.TRUST_BOUND_AGENT),
        "trust": max(before["trust"], writer.trust),
        "status": "active" if confirmed else before["status"],
    }
    if after == before:
        return before
    return memories_queries.save(tx, writer.owner, before, after, actor=writer.name, change="said again")


def _later(known: str | None, said: datetime | None) -> str | None:
    """The later of two ends. An expired memory that is repeated without an end does not expire any more."""
    ends = None if said is None else _timestamp(said)
    if known is None or (ends is None and known <= values.timestamp(values.now())):
        return None
    return known if ends is None else max(known, ends)


def _supersede(tx: Transaction, writer: MemoryWriter, old: str, *, by: str) -> None:
    """Mark the old memory as superseded by another; 409 when its author is trusted more, 422 when there is none."""
    try:
        before = memories_queries.load(tx, writer.owner, old, expected=None)
    except NotFound:
        fault = FieldError("/supersedes", "There is no such memory.")
        raise ValidationFailed([fault]) from None
    _check_trust(writer, before)
    if before["status"] != "active":
        raise Conflict(f"That memory is {before['status']}.", error="not_active")
    after = {**before, "status": "superseded", "superseded_by": by, "valid_to": values.timestamp(values.now())}
    memories_queries.save(tx, writer.owner, before, after, actor=writer.name, change="superseded")


def _check_said_once(
    tx: Transaction, owner: str, memory: str, text: str, counterparty: str | None, *, but: str = ""
) -> None:
    """409 when another memory, of another status than `but`, says the same."""
    twin = memories_queries.find_duplicate(tx, owner, text, counterparty=counterparty)
    if twin is not None and twin["id"] != memory and twin["status"] != but:
        raise Conflict("Another memory says this already.", error="duplicate", members={"existing": twin["id"]})


def _check_trust(writer: MemoryWriter, view: MemoryDocument) -> None:
    if writer.trust < content_guard.TRUST_BOUND_AGENT <= view["trust"]:
        raise Conflict("What is believed less cannot change what is believed more.", error="less_trusted")


def _check_pin(writer: MemoryWriter, body: MemoryBody) -> None:
    if body.pinned and writer.trust < content_guard.TRUST_BOUND_AGENT:
        fault = FieldError("/pinned", "Only a memory that the user or their agent wrote can be pinned.")
        raise ValidationFailed([fault])


def _author_members(body: MemoryBody) -> dict[str, Any]:
    """The members that the author decides."""
    return {
        "kind": body.kind,
        "text": body.text,
        "tags": sorted(set(body.tags)),
        "attributes": body.attributes,
        "category": body.category,
        "counterparty": body.counterparty,
        "negotiation_id": body.negotiation_id,
        "expires_at": None if body.expires_at is None else _timestamp(body.expires_at),
        "pinned": body.pinned,
    }


def _timestamp(at: datetime) -> str:
    return values.timestamp(milliseconds(at) or 0)


def review_memory(tx: Transaction, user: str, memory: str, *, keep: bool) -> MemoryDocument | None:
    """Confirm a memory, which gives it the user's trust, or erase it.

    404; 409 `duplicate` when another memory says the same by now.
    """
    before = memories_queries.load(tx, user, memory, expected=None)
    if not keep:
        erase_memory(tx, user, memory)
        return None
    if before["status"] == "superseded":
        raise Conflict("A superseded memory is believed no more.", error="superseded")
    _check_said_once(tx, user, memory, before["text"], before["counterparty"], but="quarantined")
    after = {**before, "trust": content_guard.TRUST_CONFIRMED, "status": "active", "status_reason": None}
    return memories_queries.save(tx, user, before, after, actor=user, change="confirmed")


def list_unreviewed(tx: Transaction, user: str, limit: int) -> list[MemoryDocument]:
    """Memories that the user has not reviewed: claimed, imported, heard or quarantined; newest first."""
    found = [view for view in memories_queries.list_all(tx, user) if view["status"] != "superseded"]
    unseen = [
        view
        for view in found
        if view["trust"] == content_guard.TRUST_UNREVIEWED or view["status"] in {"pending", "quarantined"}
    ]
    return unseen[::-1][:limit]


def claim_memories(tx: Transaction, agent_id: str, user_id: str) -> None:
    """Move an agent's memories to the user who claims it, untrusted until the user has reviewed them.

    A text that the user's memories already have is not moved.
    """
    for view in memories_queries.list_all(tx, agent_id):
        known = memories_queries.find_duplicate(tx, user_id, view["text"], counterparty=view["counterparty"])
        if known and view["status"] != "superseded":
            memories_queries.delete_memory(tx, agent_id, view["id"])
            continue
        claimed = {**view, "origin": agent_id, "trust": content_guard.TRUST_UNREVIEWED, "pinned": False}
        memories_queries.change_owner(tx, agent_id, view["id"], user_id)
        memories_queries.save(tx, user_id, view, claimed, actor=user_id, change="claimed")
    memories_queries.delete_all_memories(tx, agent_id)


def quarantine_memories(tx: Transaction, owner: str, client_id: str, *, actor: str) -> int:
    """Quarantine everything that a client wrote, for example when it is revoked; returns how many."""
    written = [
        view
        for view in memories_queries.list_all(tx, owner)
        if client_id in {view["source"]["client_id"], view["origin"]} and view["status"] in {"active", "pending"}
    ]
    for view in written:
        after = {**view, "status": "quarantined", "status_reason": "author_revoked"}
        memories_queries.save(tx, owner, view, after, actor=actor, change="quarantined")
    return len(written)
