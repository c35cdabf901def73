"""What memories and wins may refer to: looked up in slices above this one, under the same owner.

What happens to memories: remembered, changed, superseded, forgotten, taken over by the user who claims the agent.

Belief that changes afterwards: a person looks a memory over, an agent is claimed, an author is believed no more.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from negotiator import values
from negotiator.errors import Conflict, FieldError, NotFound, ValidationFailed
from negotiator.http import idempotency
from negotiator.memory import content_guard, memories_queries
from negotiator.memory.content_guard import AuthorKind, suspicion_reason
from negotiator.memory.memories_queries import MemoryDocument, StoredEmbedding
from negotiator.memory.schemas_memories import MemoryBody, NewMemory
from negotiator.store.statement import Transaction
from negotiator.values import milliseconds

RequireReference = Callable[[Transaction, str, str], None]
"""Takes the owner and the id; `NotFound` for what does not exist and for what is somebody else's, alike."""


@dataclass(frozen=True, slots=True)
class ReferenceChecks:
    """Checks ids in request bodies."""

    negotiation: RequireReference
    tactic: RequireReference


MAX_MEMORIES: Final = 10_000
"""Memories an owner may have that are active or pending; twice as many in all."""
MAX_TAGS: Final = 20


@dataclass(frozen=True, slots=True)
class SimilarMemories:
    """What is there already: a memory that the text only repeats, or one that says almost the same."""

    repeated: str | None = None
    similar: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryWriter:
    """Who writes for whom: the owner, what kind of author, by which client, and whether a person stands behind it."""

    owner: str
    author: AuthorKind
    client_id: str | None
    bound: bool

    @property
    def trust(self) -> int:
        """How far what it writes is believed."""
        return content_guard.trust_level(self.author, bound=self.bound)

    @property
    def name(self) -> str:
        """The writer as the history names it."""
        return self.client_id or self.author


def create_memory(
    tx: Transaction,
    writer: MemoryWriter,
    body: NewMemory,
    embedded: StoredEmbedding,
    *,
    near: SimilarMemories,
    status: str = "active",
) -> tuple[MemoryDocument, bool]:
    """Keep a memory; answers its view and whether it is new: what is known already is kept once.

    What the new words add to the old memory (tags, attributes, a later end, more trust) is added to it. 409 beyond the
    owner's measure; 404 and 409 for what `supersedes` names wrongly. What is heard waits for a person in any case.
    """
    if (known := _known(tx, writer.owner, body, near)) is not None:
        return _said_again(tx, writer, known, body), False
    live, all_ = (memories_queries.count(tx, writer.owner, live=live) for live in (True, False))
    if live >= MAX_MEMORIES or all_ >= 2 * MAX_MEMORIES:
        raise Conflict(
            f"You have {all_} memories; forget some first.",
            error="too_many_memories",
            members={"count": all_},
        )
    _check_pin(writer, body)
    view = _new(writer, body, "pending" if writer.author == "transcript" else status)
    view["similar_to"] = near.similar
    if body.supersedes is not None and view["status"] == "active":
        _supersede(tx, writer, body.supersedes, by=view["id"])
    memories_queries.add(tx, writer.owner, view, embedded)
    return view, True


def edit_memory(
    tx: Transaction, writer: MemoryWriter, memory: str, body: MemoryBody, *, expected: int
) -> MemoryDocument:
    """Let the memory say this from now on, believed as far as whoever says so. 404, 409, 412, 422."""
    before = memories_queries.load(tx, writer.owner, memory, expected=expected)
    if before["status"] == "superseded":
        raise Conflict("A superseded memory is not edited any more.", error="superseded")
    _check_trust(writer, before)
    _check_pin(writer, body)
    twin = memories_queries.find_duplicate(
        tx, writer.owner, body.text, counterparty=body.counterparty
    )
    if twin is not None and twin["id"] != memory:
        raise Conflict(
            "Another memory says this already.", error="duplicate", members={"existing": twin["id"]}
        )
    suspect = suspicion_reason(body.prose, body.kind)
    cleared = "active" if before["status"] == "quarantined" else before["status"]
    after = {
        **before,
        **_said(body),
        "trust": writer.trust,
        "status": "quarantined" if suspect else cleared,
        "status_reason": suspect,
    }
    if body.valid_from is not None:
        after["valid_from"] = _timestamp(body.valid_from)
    return memories_queries.save(
        tx, writer.owner, before, after, actor=writer.name, change="edited"
    )


def delete_memory(tx: Transaction, owner: str, memory: str, *, expected: int | None) -> None:
    """Erase one memory with its history; 404, 412."""
    memories_queries.load(tx, owner, memory, expected=expected)
    erase_memory(tx, owner, memory)


def erase_memory(tx: Transaction, owner: str, memory: str) -> None:
    """Erase a memory that is there: its rows, and the answers that repeated it."""
    memories_queries.delete_memory(tx, owner, memory)
    idempotency.erase_mentions(tx, owner, memory.encode())


def erase_all_memories(tx: Transaction, owner: str, confirmed: int) -> int:
    """Erase all of an owner's memories with their history; 409 with the count when another was confirmed."""
    held = memories_queries.count(tx, owner, live=False)
    if held != confirmed:
        raise Conflict(
            f"There are {held} memories; confirm that number to erase them.",
            error="not_confirmed",
            members={"count": held},
        )
    memories_queries.delete_all_memories(tx, owner)
    idempotency.erase_mentions(tx, owner, b'"mem_')
    return held


def _new(writer: MemoryWriter, body: NewMemory, status: str) -> MemoryDocument:
    """A memory that was never there before; out of sight when something is wrong with what it says."""
    now, suspect = values.now(), suspicion_reason(body.prose, body.kind)
    return {
        "id": values.new_id("mem"),
        **_said(body),
        "source": {
            "type": writer.author,
            "client_id": writer.client_id,
            "at": values.timestamp(now),
        },
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


def _known(
    tx: Transaction, owner: str, body: NewMemory, near: SimilarMemories
) -> MemoryDocument | None:
    """The memory that says this already, found by its text or by its meaning."""
    twin = memories_queries.find_duplicate(tx, owner, body.text, counterparty=body.counterparty)
    if twin is not None or near.repeated is None:
        return twin
    try:
        return memories_queries.load(tx, owner, near.repeated, expected=None)
    except NotFound:
        return None


def _said_again(
    tx: Transaction, writer: MemoryWriter, before: MemoryDocument, body: NewMemory
) -> MemoryDocument:
    """The known memory with what the same words add to it; what is believed less adds nothing."""
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
        "pinned": before["pinned"]
        or (body.pinned and writer.trust >= content_guard.TRUST_BOUND_AGENT),
        "trust": max(before["trust"], writer.trust),
        "status": "active" if confirmed else before["status"],
    }
    if after == before:
        return before
    return memories_queries.save(
        tx, writer.owner, before, after, actor=writer.name, change="said again"
    )


def _later(known: str | None, said: datetime | None) -> str | None:
    """The later of two ends; what has ended already lives on when it is said again without one."""
    ends = None if said is None else _timestamp(said)
    if known is None or (ends is None and known <= values.timestamp(values.now())):
        return None
    return known if ends is None else max(known, ends)


def _supersede(tx: Transaction, writer: MemoryWriter, old: str, *, by: str) -> None:
    """Let another memory take the old one's place; what is believed less cannot displace what is believed more."""
    try:
        before = memories_queries.load(tx, writer.owner, old, expected=None)
    except NotFound:
        fault = FieldError("/supersedes", "There is no such memory.")
        raise ValidationFailed([fault]) from None
    _check_trust(writer, before)
    if before["status"] != "active":
        raise Conflict(f"That memory is {before['status']}.", error="not_active")
    after = {
        **before,
        "status": "superseded",
        "superseded_by": by,
        "valid_to": values.timestamp(values.now()),
    }
    memories_queries.save(tx, writer.owner, before, after, actor=writer.name, change="superseded")


def _check_trust(writer: MemoryWriter, view: MemoryDocument) -> None:
    if writer.trust < content_guard.TRUST_BOUND_AGENT <= view["trust"]:
        raise Conflict(
            "What is believed less cannot change what is believed more.", error="less_trusted"
        )


def _check_pin(writer: MemoryWriter, body: MemoryBody) -> None:
    if body.pinned and writer.trust < content_guard.TRUST_BOUND_AGENT:
        fault = FieldError("/pinned", "Only what a person or their agent wrote can be pinned.")
        raise ValidationFailed([fault])


def _said(body: MemoryBody) -> dict[str, Any]:
    """The members that the writer decides."""
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
    """The person's own word on a memory that is not yet believed: kept, it is theirs; else it is erased.

    404; 409 `duplicate` when another memory says the same by now.
    """
    before = memories_queries.load(tx, user, memory, expected=None)
    if not keep:
        erase_memory(tx, user, memory)
        return None
    if before["status"] == "superseded":
        raise Conflict("A superseded memory is believed no more.", error="superseded")
    twin = memories_queries.find_duplicate(
        tx, user, before["text"], counterparty=before["counterparty"]
    )
    if twin is not None and twin["id"] != memory and twin["status"] != "quarantined":
        raise Conflict(
            "Another memory says this already.", error="duplicate", members={"existing": twin["id"]}
        )
    after = {
        **before,
        "trust": content_guard.TRUST_CONFIRMED,
        "status": "active",
        "status_reason": None,
    }
    return memories_queries.save(tx, user, before, after, actor=user, change="confirmed")


def list_unreviewed(tx: Transaction, user: str, limit: int) -> list[MemoryDocument]:
    """What the person has not looked at: taken over or imported, heard, or kept out of sight; newest first."""
    found = [view for view in memories_queries.list_all(tx, user) if view["status"] != "superseded"]
    unseen = [
        view
        for view in found
        if view["trust"] == content_guard.TRUST_UNREVIEWED
        or view["status"] in {"pending", "quarantined"}
    ]
    return unseen[::-1][:limit]


def claim_memories(tx: Transaction, agent_id: str, user_id: str) -> None:
    """Give an agent's memories to the user who claims it: untrusted until the user has looked at them.

    What the user knows already, word for word, is not taken over twice.
    """
    for view in memories_queries.list_all(tx, agent_id):
        known = memories_queries.find_duplicate(
            tx, user_id, view["text"], counterparty=view["counterparty"]
        )
        if known and view["status"] != "superseded":
            memories_queries.delete_memory(tx, agent_id, view["id"])
            continue
        taken = {
            **view,
            "origin": agent_id,
            "trust": content_guard.TRUST_UNREVIEWED,
            "pinned": False,
        }
        memories_queries.change_owner(tx, agent_id, view["id"], user_id)
        memories_queries.save(tx, user_id, view, taken, actor=user_id, change="claimed")
    memories_queries.delete_all_memories(tx, agent_id)


def quarantine_memories(tx: Transaction, owner: str, client_id: str, *, actor: str) -> int:
    """Quarantine whatever a client wrote, for example because it is believed no more; answers how much that was."""
    theirs = [
        view
        for view in memories_queries.list_all(tx, owner)
        if client_id in {view["source"]["client_id"], view["origin"]}
        and view["status"] in {"active", "pending"}
    ]
    for view in theirs:
        after = {**view, "status": "quarantined", "status_reason": "author_revoked"}
        memories_queries.save(tx, owner, view, after, actor=actor, change="quarantined")
    return len(theirs)
