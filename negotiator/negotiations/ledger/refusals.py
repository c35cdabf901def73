"""What the ledger refuses, in words: fields, offers that no longer stand, packages below the walk-away."""

from collections.abc import Sequence

from negotiator.errors import Conflict, FieldError, ValidationFailed
from negotiator.negotiations.ledger import standing
from negotiator.negotiations.ledger.rows import Row
from negotiator.negotiations.preferences.issues import Package, Refusal
from negotiator.negotiations.schemas.offer import RecordOffer
from negotiator.negotiations.terms import guard
from negotiator.negotiations.terms.terms import Terms
from negotiator.negotiations.terms.view import plain
from negotiator.scalars import milliseconds


def check_lines(sent: RecordOffer, rows: Sequence[Row], now: int) -> list[Refusal]:
    """Field errors of a row beside its package: references to rows, validity, an override without its reason."""
    found: list[Refusal] = []
    known = {row.id: row for row in rows}
    if sent.kind == "acceptance" and sent.in_reply_to is None:
        found.append(Refusal("/in_reply_to", "An acceptance names the live offer it accepts."))
    if sent.in_reply_to is not None and sent.in_reply_to not in known:
        found.append(Refusal("/in_reply_to", "There is no such offer in this ledger."))
    answered = known.get(sent.in_reply_to or "")
    if answered is not None and sent.kind in {"acceptance", "withdrawal"}:
        own = answered.side == sent.by
        if sent.kind == "acceptance" and own:
            found.append(Refusal("/in_reply_to", "A side accepts the other side's offers."))
        if sent.kind == "withdrawal" and not own:
            found.append(Refusal("/in_reply_to", "A side withdraws its own offers."))
    if sent.confirms is not None:
        found += _confirming(sent, known.get(sent.confirms))
    until = milliseconds(sent.valid_until)
    if until is not None and until <= now and sent.source != "imported":
        found.append(Refusal("/valid_until", "Must lie in the future."))
    if sent.override and sent.reason is None:
        found.append(Refusal("/reason", "An override needs its reason."))
    return found


def _confirming(sent: RecordOffer, row: Row | None) -> list[Refusal]:
    if row is None or row.source != standing.DETECTED or row.side != sent.by:
        return [Refusal("/confirms", "There is no such detected offer of this side.")]
    if sent.source == standing.DETECTED:
        return [Refusal("/source", "A detected offer is confirmed by one that is not.")]
    return []


def not_live(rows: Sequence[Row], offer: str | None, now: int) -> Conflict:
    """The refusal of an answer to an offer that does not stand; it names what is live."""
    status = standing.statuses(rows, now)
    if offer is None:
        text = "There is no live offer to answer."
    else:
        text = f"The offer is {status.get(offer, 'unknown')}, not live."
    live = [row.id for row in rows if status[row.id] == "live"]
    members = {"status": status.get(offer or ""), "live": live}
    return Conflict(text, error="offer_not_live", members=members)


def guarded(
    terms: Terms,
    package: Package,
    *,
    binding: bool,
    override: bool,
    reason: str | None,
) -> list[str]:
    """What an override with its reason goes against: `walk_away`, `constraints/n`; 409 without one.

    `binding` is for acceptances, where what a package leaves out counts at its worst.
    """
    below = guard.is_below(terms, package, binding=binding)
    broken = guard.broken(terms, package)
    against = ["walk_away"] if below else []
    against += [f"constraints/{terms.constraints.index(rule)}" for rule in broken]
    if not against or (override and reason is not None):
        return against
    if override:
        raise ValidationFailed([FieldError("/reason", "An override needs its reason.")])
    ask = "Send override with a reason if it is meant."
    if below:
        raise Conflict(f"This lies below your walk-away. {ask}", error="below_walk_away")
    members = {
        "constraints": [
            {"issue": rule.issue, "op": rule.op, "value": [plain(v) for v in rule.values]}
            for rule in broken
        ]
    }
    text = f"This breaks a hard constraint on {broken[0].issue}. {ask}"
    raise Conflict(text, error="constraint_violated", members=members)
