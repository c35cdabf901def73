"""What happens to memories: remembered, changed, superseded, forgotten, taken over by the user who claims the agent."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from negotiator import idempotency, values
from negotiator.errors import Conflict, FieldError, NotFound, ValidationFailed
from negotiator.memory.guard import belief
from negotiator.memory.guard.belief import Author
from negotiator.memory.guard.suspicion import suspicion
from negotiator.memory.memories import rows
from negotiator.memory.memories.rows import Embedded, View
from negotiator.memory.memories.schemas import MemoryBody, NewMemory
from negotiator.scalars import milliseconds
from negotiator.store.statement import Transaction

MOST: Final = 10_000
"""Memories an owner may have that are active or pending; twice as many in all."""
MOST_TAGS: Final = 20


@dataclass(frozen=True, slots=True)
class Near:
    """What is there already: a memory that the text only repeats, or one that says almost the same."""

    repeated: str | None = None
    similar: str | None = None


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
        return belief.trust_of(self.author, bound=self.bound)

    @property
    def name(self) -> str:
        """The writer as the history names it."""
        return self.client_id or self.author


def remember(
    tx: Transaction,
    writer: Writer,
    body: NewMemory,
    embedded: Embedded,
    *,
    near: Near,
    status: str = "active",
) -> tuple[View, bool]:
    """Keep a memory; answers its view and whether it is new: what is known already is kept once.

    What the new words add to the old memory (tags, attributes, a later end, more trust) is added to it. 409 beyond the
    owner's measure; 404 and 409 for what `supersedes` names wrongly. What is heard waits for a person in any case.
    """
    if (known := _known(tx, writer.owner, body, near)) is not None:
        return _said_again(tx, writer, known, body), False
    live, all_ = (rows.count(tx, writer.owner, live=live) for live in (True, False))
    if live >= MOST or all_ >= 2 * MOST:
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
    rows.add(tx, writer.owner, view, embedded)
    return view, True


def edit(tx: Transaction, writer: Writer, memory: str, body: MemoryBody, *, expected: int) -> View:
    """Let the memory say this from now on, believed as far as whoever says so. 404, 409, 412, 422."""
    before = rows.load(tx, writer.owner, memory, expected=expected)
    if before["status"] == "superseded":
        raise Conflict("A superseded memory is not edited any more.", error="superseded")
    _check_trust(writer, before)
    _check_pin(writer, body)
    twin = rows.twin(tx, writer.owner, body.text, counterparty=body.counterparty)
    if twin is not None and twin["id"] != memory:
        raise Conflict(
            "Another memory says this already.", error="duplicate", members={"existing": twin["id"]}
        )
    suspect = suspicion(body.prose, body.kind)
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
    return rows.save(tx, writer.owner, before, after, actor=writer.name, change="edited")


def forget(tx: Transaction, owner: str, memory: str, *, expected: int | None) -> None:
    """Erase one memory with its history; 404, 412."""
    rows.load(tx, owner, memory, expected=expected)
    erase(tx, owner, memory)


def erase(tx: Transaction, owner: str, memory: str) -> None:
    """Erase a memory that is there: its rows, and the answers that repeated it."""
    rows.remove(tx, owner, memory)
    idempotency.erase_mentions(tx, owner, memory.encode())


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
    idempotency.erase_mentions(tx, owner, b'"mem_')
    return held


def _new(writer: Writer, body: NewMemory, status: str) -> View:
    """A memory that was never there before; out of sight when something is wrong with what it says."""
    now, suspect = values.now(), suspicion(body.prose, body.kind)
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


def _known(tx: Transaction, owner: str, body: NewMemory, near: Near) -> View | None:
    """The memory that says this already, found by its text or by its meaning."""
    twin = rows.twin(tx, owner, body.text, counterparty=body.counterparty)
    if twin is not None or near.repeated is None:
        return twin
    try:
        return rows.load(tx, owner, near.repeated, expected=None)
    except NotFound:
        return None


def _said_again(tx: Transaction, writer: Writer, before: View, body: NewMemory) -> View:
    """The known memory with what the same words add to it; what is believed less adds nothing."""
    if body.supersedes not in {None, before["id"]}:
        _supersede(tx, writer, body.supersedes or "", by=before["id"])
    if writer.trust < min(before["trust"], belief.BOUND):
        return before
    confirmed = writer.trust == belief.CONFIRMED and before["status"] == "pending"
    after = {
        **before,
        "tags": sorted({*before["tags"], *body.tags})[:MOST_TAGS],
        "attributes": {**body.attributes, **before["attributes"]},
        "category": before["category"] or body.category,
        "negotiation_id": before["negotiation_id"] or body.negotiation_id,
        "expires_at": _later(before["expires_at"], body.expires_at),
        "pinned": before["pinned"] or (body.pinned and writer.trust >= belief.BOUND),
        "trust": max(before["trust"], writer.trust),
        "status": "active" if confirmed else before["status"],
    }
    if after == before:
        return before
    return rows.save(tx, writer.owner, before, after, actor=writer.name, change="said again")


def _later(known: str | None, said: datetime | None) -> str | None:
    """The later of two ends; what has ended already lives on when it is said again without one."""
    ends = None if said is None else _timestamp(said)
    if known is None or (ends is None and known <= values.timestamp(values.now())):
        return None
    return known if ends is None else max(known, ends)


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
    if writer.trust < belief.BOUND <= view["trust"]:
        raise Conflict(
            "What is believed less cannot change what is believed more.", error="less_trusted"
        )


def _check_pin(writer: Writer, body: MemoryBody) -> None:
    if body.pinned and writer.trust < belief.BOUND:
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
