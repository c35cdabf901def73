"""Belief that changes afterwards: a person looks a memory over, an agent is claimed, an author is believed no more."""

from negotiator.errors import Conflict
from negotiator.memory.guard import belief
from negotiator.memory.memories import rows
from negotiator.memory.memories.keeping import erase
from negotiator.memory.memories.rows import View
from negotiator.store.statement import Transaction


def review(tx: Transaction, user: str, memory: str, *, keep: bool) -> View | None:
    """The person's own word on a memory that is not yet believed: kept, it is theirs; else it is erased.

    404; 409 `duplicate` when another memory says the same by now.
    """
    before = rows.load(tx, user, memory, expected=None)
    if not keep:
        erase(tx, user, memory)
        return None
    if before["status"] == "superseded":
        raise Conflict("A superseded memory is believed no more.", error="superseded")
    twin = rows.twin(tx, user, before["text"], counterparty=before["counterparty"])
    if twin is not None and twin["id"] != memory and twin["status"] != "quarantined":
        raise Conflict(
            "Another memory says this already.", error="duplicate", members={"existing": twin["id"]}
        )
    after = {**before, "trust": belief.CONFIRMED, "status": "active", "status_reason": None}
    return rows.save(tx, user, before, after, actor=user, change="confirmed")


def waiting(tx: Transaction, user: str, limit: int) -> list[View]:
    """What the person has not looked at: taken over or imported, heard, or kept out of sight; newest first."""
    found = [view for view in rows.everything(tx, user) if view["status"] != "superseded"]
    unseen = [
        view
        for view in found
        if view["trust"] == belief.UNTRUSTED or view["status"] in {"pending", "quarantined"}
    ]
    return unseen[::-1][:limit]


def move(tx: Transaction, agent_id: str, user_id: str) -> None:
    """Give an agent's memories to the user who claims it: untrusted until the user has looked at them.

    What the user knows already, word for word, is not taken over twice.
    """
    for view in rows.everything(tx, agent_id):
        known = rows.twin(tx, user_id, view["text"], counterparty=view["counterparty"])
        if known and view["status"] != "superseded":
            rows.remove(tx, agent_id, view["id"])
            continue
        taken = {**view, "origin": agent_id, "trust": belief.UNTRUSTED, "pinned": False}
        rows.hand_over(tx, agent_id, view["id"], user_id)
        rows.save(tx, user_id, view, taken, actor=user_id, change="claimed")
    rows.erase(tx, agent_id)


def set_aside(tx: Transaction, owner: str, client_id: str, *, actor: str) -> int:
    """Quarantine whatever a client wrote, for example because it is believed no more; answers how much that was."""
    theirs = [
        view
        for view in rows.everything(tx, owner)
        if client_id in {view["source"]["client_id"], view["origin"]}
        and view["status"] in {"active", "pending"}
    ]
    for view in theirs:
        after = {**view, "status": "quarantined", "status_reason": "author_revoked"}
        rows.save(tx, owner, view, after, actor=actor, change="quarantined")
    return len(theirs)
