"""What a tool's proven owner may do without asking: take it down."""

from negotiator import audit
from negotiator.caller import Caller
from negotiator.directory.accounts import registered
from negotiator.directory.catalogue import tools
from negotiator.directory.checks import owning
from negotiator.directory.submissions.proposing import drafts
from negotiator.errors import Forbidden, PreconditionFailed
from negotiator.store.statement import Transaction


def take_down(tx: Transaction, caller: Caller, key: str, *, expected: int | None) -> None:
    """Remove a tool at its owner's word: a tombstone stays, its id, slug and coordinates are nobody else's later.

    404, 410; 403 `not_owner` for whoever has not proven to publish it; 412.
    """
    tool = tools.require(tx, key)
    view = tool.view
    ownership = owning.held(registered.proven(tx, caller.client_id), view)
    if ownership is None:
        raise Forbidden(
            "Only whoever proved to publish the tool may take it down; report it instead.",
            error="not_owner",
        )
    if expected is not None and expected != tool.revision:
        raise PreconditionFailed(
            "The tool has changed since that revision.", members={"revision": tool.revision}
        )
    gone = tools.withdraw(
        tx, tool.id, "deleted", message="Taken down by its publisher.", actor=caller.client_id
    )
    audit.record(
        tx,
        "tool.taken_down",
        tool.id,
        actor=caller.client_id,
        before=drafts.digest(tool.document),
        after=drafts.digest(gone.document),
        domain=ownership.domain,
    )
