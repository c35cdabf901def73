"""What happens to memories: remembered, changed, superseded, forgotten, taken over by the user who claims the agent."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from negotiator import values
from negotiator.errors import Conflict, FieldError, NotFound, ValidationFailed
from negotiator.memory.memories import guard, rows
from negotiator.memory.memories.guard import Author
from negotiator.memory.memories.rows import Embedded, View
from negotiator.memory.memories.schemas import MemoryBody, NewMemory
from negotiator.scalars import milliseconds
from negotiator.store.statement import Transaction

MOST: Final = 10_000
"""Memories an owner may have that are active or pending."""


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes for whom: the owner, what kind of author, by which client, and whether a person stands behind it."""

    owner: str
    author: Author
    client_id: str | None
    bound: bool

    @property
    def trust(self) -> int:
        """How far what it writes is believed."""
        return guard.trust_of(self.author, bound=self.bound)

    @property
    def name(self) -> str:
        """The writer as the history names it."""
        return self.client_id or self.author


def remember(
    tx: Transaction, writer: Writer, body: NewMemory, embedded: Embedded, *, similar: str | None
) -> tuple[View, bool]:
    """Keep a memory; answers its view and whether it is new: the same text in other spacing is the old one.

    `similar` is a memory that says almost the same. 404 and 409 for what `supersedes` names wrongly.
    """
    if (found := rows.twin(tx, writer.owner, body.text)) is not None:
        return found, False
    if (held := rows.count(tx, writer.owner, live=True)) >= MOST:
        raise Conflict(
            f"You have {MOST} memories; forget some first.",
            error="too_many_memories",
            members={"count": held},
        )
    _check_pin(writer, body)
    key, now = values.new_id("mem"), values.now()
    suspicion = guard.suspicion(body.text, body.kind)
    status = "pending" if writer.author == "transcript" else "active"
    view: View = {
        "id": key,
        **_said(body),
        "source": {
            "type": writer.author,
            "client_id": writer.client_id,
            "at": values.timestamp(now),
        },
        "origin": None,
        "trust": writer.trust,
        "status": "quarantined" if suspicion else status,
        "status_reason": suspicion,
        "valid_from": values.timestamp(milliseconds(body.valid_from) or now),
        "valid_to": None,
        "supersedes": body.supersedes,
        "superseded_by": None,
        "similar_to": similar,
        "revision": 1,
        "created_at": values.timestamp(now),
        "updated_at": values.timestamp(now),
    }
    if body.supersedes is not None and view["status"] == "active":
        _supersede(tx, writer, body.supersedes, by=key)
    rows.add(tx, writer.owner, view, embedded)
    return view, True


def edit(tx: Transaction, writer: Writer, memory: str, body: MemoryBody, *, expected: int) -> View:
    """Let the memory say this from now on, believed as far as whoever says so. 404, 409, 412, 422."""
    before = rows.load(tx, writer.owner, memory, expected=expected)
    if before["status"] == "superseded":
        raise Conflict("A superseded memory is not edited any more.", error="superseded")
    _check_trust(writer, before)
    _check_pin(writer, body)
    twin = rows.twin(tx, writer.owner, body.text)
    if twin is not None and twin["id"] != memory:
        raise Conflict(
            "Another memory says this already.", error="duplicate", members={"existing": twin["id"]}
        )
    suspicion = guard.suspicion(body.text, body.kind)
    cleared = "active" if before["status"] == "quarantined" else before["status"]
    after = {
        **before,
        **_said(body),
        "trust": writer.trust,
        "status": "quarantined" if suspicion else cleared,
        "status_reason": suspicion,
    }
    if body.valid_from is not None:
        after["valid_from"] = _timestamp(body.valid_from)
    return rows.save(tx, writer.owner, before, after, actor=writer.name, change="edited")


def forget(tx: Transaction, owner: str, memory: str, *, expected: int | None) -> None:
    """Erase one memory with its history; 404, 412."""
    rows.load(tx, owner, memory, expected=expected)
    rows.remove(tx, owner, memory)


def erase_all(tx: Transaction, owner: str, confirmed: int) -> int:
    """Erase all of an owner's memories with their history; 409 with the count when another was confirmed."""
    held = rows.count(tx, owner, live=False)
    if held != confirmed:
        raise Conflict(
            f"There are {held} memories; confirm that number to erase them.",
            error="not_confirmed",
            members={"count": held},
        )
    rows.erase(tx, owner)
    return held


def review(tx: Transaction, user: str, memory: str, *, keep: bool) -> View | None:
    """The person's own word on a memory that is not yet believed: kept, it is theirs; else it is erased."""
    before = rows.load(tx, user, memory, expected=None)
    if not keep:
        rows.remove(tx, user, memory)
        return None
    after = {**before, "trust": guard.CONFIRMED, "status": "active", "status_reason": None}
    return rows.save(tx, user, before, after, actor=user, change="confirmed")


def move(tx: Transaction, agent_id: str, user_id: str) -> None:
    """Give an agent's memories to the user who claims it: untrusted until the user has looked at them.

    What the user knows already, word for word, is not taken over twice.
    """
    for view in rows.everything(tx, agent_id):
        known = view["status"] in {"active", "pending"} and rows.twin(tx, user_id, view["text"])
        if known:
            rows.remove(tx, agent_id, view["id"])
            continue
        taken = {**view, "origin": agent_id, "trust": guard.UNTRUSTED, "pinned": False}
        rows.hand_over(tx, agent_id, view["id"], user_id)
        rows.save(tx, user_id, view, taken, actor=user_id, change="claimed")
    rows.erase(tx, agent_id)


def _supersede(tx: Transaction, writer: Writer, old: str, *, by: str) -> None:
    """Let another memory take the old one's place; what is believed less cannot displace what is believed more."""
    try:
        before = rows.load(tx, writer.owner, old, expected=None)
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
    rows.save(tx, writer.owner, before, after, actor=writer.name, change="superseded")


def _check_trust(writer: Writer, view: View) -> None:
    if writer.trust < guard.BOUND <= view["trust"]:
        raise Conflict(
            "What is believed less cannot change what is believed more.", error="less_trusted"
        )


def _check_pin(writer: Writer, body: MemoryBody) -> None:
    if body.pinned and writer.trust < guard.BOUND:
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
