"""Records offers and answers in the ledger under the rules of docs/contract 6.5.

The module checks the fields, the offer that is answered and the limits, computes the utilities and the concession of
each package, and applies the effect of a new row to the state of the negotiation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from negotiator.advice.leverage.concessions import LedgerOffer, concession_analysis
from negotiator.advice.passed_limits import past_limits_text, past_limits_view, with_present_limits
from negotiator.base import values
from negotiator.base.errors import Conflict, FieldError, ValidationFailed
from negotiator.base.values import milliseconds
from negotiator.negotiations import offer_history, queries, states
from negotiator.negotiations import offer_queries as ledger
from negotiator.negotiations.event_queries import Actor, HistoryEvent, acts_for_user, keeps_override, users_set_limits
from negotiator.negotiations.offer_history import DETECTED_SOURCE, OFFER_KINDS
from negotiator.negotiations.offer_queries import OfferRow
from negotiator.negotiations.schemas_offers import RecordOffer
from negotiator.negotiations.session import NegotiationSession
from negotiator.store.statement import Transaction
from negotiator.terms import limits
from negotiator.terms.issues import Package
from negotiator.terms.short_forms import read_package
from negotiator.terms.terms import Terms
from negotiator.terms.terms_view import json_scalar, package_view
from negotiator.terms.utility import (
    check_package,
    is_complete,
    issues_outside_range,
    opposed_preferences,
    package_utility,
    without_ranges,
)
from negotiator.terms.wording import Wording


def check_offer_fields(sent: RecordOffer, rows: Sequence[OfferRow], now: int) -> list[FieldError]:
    """Field errors outside the package: references to rows, `valid_until`, an override without a reason.

    `now` is in milliseconds since the epoch.
    """
    found: list[FieldError] = []
    known = {row.id: row for row in rows}
    if sent.kind == "acceptance" and sent.in_reply_to is None:
        found.append(FieldError("/in_reply_to", "An acceptance must name the live offer that it accepts."))
    if sent.in_reply_to is not None and sent.in_reply_to not in known:
        found.append(FieldError("/in_reply_to", "There is no such offer in this ledger."))
    answered = known.get(sent.in_reply_to or "")
    if answered is not None and sent.kind in {"acceptance", "withdrawal"}:
        own = answered.side == sent.by
        if sent.kind == "acceptance" and own:
            found.append(FieldError("/in_reply_to", "A side can only accept an offer of the other side."))
        if sent.kind == "withdrawal" and not own:
            found.append(FieldError("/in_reply_to", "A side can only withdraw its own offer."))
    if sent.confirms is not None:
        found += _confirmation_errors(sent, known.get(sent.confirms))
    until = milliseconds(sent.valid_until)
    if until is not None and until <= now and sent.source != "imported":
        found.append(FieldError("/valid_until", "Must lie in the future."))
    if sent.override and sent.reason is None:
        found.append(FieldError("/reason", "An override needs a reason."))
    if sent.source == DETECTED_SOURCE and (sent.kind not in OFFER_KINDS or sent.override):
        text = "Only an offer, counter or final offer without an override is detected; leave the source out."
        found.append(FieldError("/source", text))
    return found


def _confirmation_errors(sent: RecordOffer, row: OfferRow | None) -> list[FieldError]:
    if row is None or row.source != offer_history.DETECTED_SOURCE or row.side != sent.by:
        return [FieldError("/confirms", "There is no such detected offer of this side.")]
    if sent.source == offer_history.DETECTED_SOURCE:
        return [FieldError("/source", "A detected offer cannot confirm another one.")]
    return []


def not_live_conflict(rows: Sequence[OfferRow], offer: str | None, now: int) -> Conflict:
    """The 409 `offer_not_live` for an answer to an offer that is not live; it lists the ids of the live offers."""
    status = offer_history.offer_statuses(rows, now)
    if offer is None:
        text = "There is no live offer to answer."
    else:
        text = f"The offer is {status.get(offer, 'unknown')}, not live."
    live = [row.id for row in rows if status[row.id] == "live"]
    members = {"status": status.get(offer or ""), "live": live}
    return Conflict(text, error="offer_not_live", members=members)


def overridden_limits(
    terms: Terms, package: Package, *, binding: bool, override: bool, reason: str | None, each_issue: bool = False
) -> list[str]:
    """The limits that a package of the user breaks; empty when it keeps all.

    They are named `walk_away`, `constraints/n`, and `issues/n/limit` with `each_issue`, for an agent that acts for its
    user, and with an override. With `binding`, as for an acceptance, each issue that the package leaves out counts at
    its worst value. Without an override, a broken limit raises 409 `below_walk_away` or `constraint_violated`; an
    override without a reason raises 422.
    """
    below = limits.is_below_floor(terms, package, binding=binding)
    broken = limits.broken_constraints(terms, package)
    past: Sequence[str] = ()
    if each_issue or override:
        past = limits.passed_beside_walk_away(terms, package, below=below, binding=binding)
    against = ["walk_away"] if below else []
    against += [f"constraints/{terms.constraints.index(rule)}" for rule in broken]
    against += [f"issues/{place}/limit" for place, issue in enumerate(terms.issues) if issue.name in past]
    if not against or (override and reason is not None):
        return against
    if override:
        raise ValidationFailed([FieldError("/reason", "An override needs a reason.")])
    ask = "To do it anyway, send override with a reason."
    passed = past_limits_view(terms, package, binding=binding and each_issue)
    if below:
        gap = limits.shortfall(terms, package, binding=binding)
        money = "" if gap is None else Wording(terms).difference(package, gap)
        raise Conflict(
            f"This is worth less than your walk-away{f', by {money}' if money else ''}. {ask}",
            error="below_walk_away",
            members={"shortfall": money or None, "past_limits": passed},
        )
    if past:
        raise Conflict(
            f"{past_limits_text(terms, package, binding=binding)} {ask}",
            error="below_walk_away",
            members={"shortfall": None, "past_limits": passed},
        )
    members = {
        "constraints": [
            {"issue": rule.issue, "op": rule.op, "value": [json_scalar(v) for v in rule.values]} for rule in broken
        ]
    }
    text = f"This breaks a hard constraint on {broken[0].issue}. {ask}"
    raise Conflict(text, error="constraint_violated", members=members)


def package_valuation(terms: Terms, package: Package) -> dict[str, Any]:
    """The members `complete`, `outside_range`, `utility_me` and `utility_them_estimate` of a row with a package.

    `utility_me` runs from the worst to the best value of the issues left out. A value outside its range is worth as
    much as the end of the range. The estimate for the other side assumes
    preferences opposed to the user's and is the middle of its interval.
    """
    mine = package_utility(terms.preferences, package)
    theirs = package_utility(opposed_preferences(terms.preferences), package)
    return {
        "complete": is_complete(terms.issues, package),
        "outside_range": bool(issues_outside_range(terms.issues, package)),
        "utility_me": {"low": mine.low, "high": mine.high},
        "utility_them_estimate": theirs.middle,
    }


def concession_since(terms: Terms, earlier: Sequence[LedgerOffer], last: LedgerOffer) -> dict[str, Any]:
    """The utility that each side loses from a side's previous offer to its `last` one; null for a first offer.

    A positive number is a loss to that side: a concession by the user has `concession_me` > 0.
    """
    mine, theirs = terms.preferences, opposed_preferences(terms.preferences)
    moves = concession_analysis([*earlier, last], mine, theirs)
    steps = (moves.me if last.by == "me" else moves.them).steps
    if not steps:
        return {"concession_me": None, "concession_them": None}
    own, other = -steps[-1].own + 0.0, -steps[-1].other + 0.0
    if last.by == "me":
        return {"concession_me": own, "concession_them": other}
    return {"concession_me": other, "concession_them": own}


def empty_valuation() -> dict[str, Any]:
    """The valuation members of a row without a package: all null, `complete` and `outside_range` false."""
    return {
        "complete": False,
        "outside_range": False,
        "utility_me": None,
        "utility_them_estimate": None,
        "concession_me": None,
        "concession_them": None,
    }


MAX_OFFERS: Final = 2_000


@dataclass(frozen=True, slots=True)
class NewOffer:
    """A row to be written: the request, its negotiation, the rows of the ledger so far, and what was derived."""

    sent: RecordOffer
    session: NegotiationSession
    rows: list[OfferRow]
    at: int
    package: Package | None = None
    answers: OfferRow | None = None
    override: dict[str, Any] | None = None
    waits: bool = False

    @property
    def binds_me(self) -> bool:
        """Whether the walk-away, the constraints and the authority apply: offers and acceptances by the user."""
        return self.sent.by == "me" and self.sent.kind in OFFER_KINDS | {"acceptance"}


def record_offer(
    tx: Transaction, owner: str, sent: RecordOffer, *, actor: Actor, expected: int | None
) -> dict[str, Any]:
    """Append a row to the ledger, apply its effect on the state, and return the row's view.

    Raises 404; 409 `not_active`, `approval_pending`, `offer_not_live`, `below_walk_away`, `constraint_violated` or
    `ledger_full`; 412; and 422 with every wrong field.
    """
    session = queries.load_for_writing(tx, owner, sent.id, expected=expected)
    states.check_offer_allowed(session.state, sent.by)
    entry = NewOffer(sent, session, ledger.list_offers(tx, session.id), values.now())
    if len(entry.rows) >= MAX_OFFERS:
        raise Conflict(f"A ledger has at most {MAX_OFFERS} rows.", error="ledger_full")
    entry = _with_answered(_with_package(entry))
    # A detected offer has no effect and waits for no approval; the row that confirms it does.
    detected = sent.source == DETECTED_SOURCE
    for_user = acts_for_user(actor, owner)
    each_issue = not detected and for_user and users_set_limits(tx, session.id)
    # Their yes to an offer of the user's binds the user to what the offer leaves open, and to limits set since.
    binds_by_them = each_issue and sent.kind == "acceptance" and not entry.binds_me
    if binds_by_them and entry.answers is not None:
        binds_by_them = not keeps_override(tx, session.id, entry.answers)
    if entry.package is not None and (entry.binds_me or binds_by_them):
        against = overridden_limits(
            session.terms,
            entry.package,
            binding=sent.kind == "acceptance",
            override=sent.override,
            reason=sent.reason,
            each_issue=each_issue,
        )
        if against:
            entry = replace(entry, override={"reason": sent.reason, "against": against})
        beyond = entry.binds_me and limits.needs_approval(session.terms, entry.package or {})
        if not detected and ((against and for_user) or beyond):
            entry = replace(entry, waits=True)
    row = _row(entry)
    held = _pending_approval(entry, row, actor) if entry.waits else None
    if held is not None:
        row.content["approval"] = {name: held[name] for name in ("package_sha256", "approver")}
    ledger.add(tx, session.id, row)
    _apply_effect(tx, entry, row, actor, held)
    status = offer_history.offer_statuses(ledger.list_offers(tx, session.id), entry.at)[row.id]
    return offer_history.offer_view(row, status)


def _with_package(entry: NewOffer) -> NewOffer:
    """Check every field of the request against the issues and the ledger; 422 with every wrong field."""
    sent, found = entry.sent, check_offer_fields(entry.sent, entry.rows, entry.at)
    package, unread = read_package(entry.session.terms, sent.package)
    found += unread
    if sent.kind in OFFER_KINDS and not package and not unread:
        found.append(FieldError("/package", "Name a value for at least one issue."))
    if not unread:
        issues = entry.session.terms.issues
        if sent.by == "them" or sent.kind not in OFFER_KINDS:
            issues = without_ranges(issues)
        found += check_package(issues, package)
    if found:
        raise ValidationFailed(found)
    return replace(entry, package=_canonical(entry, package) if package else None)


def _canonical(entry: NewOffer, package: Package) -> Package:
    return package_view(entry.session.terms, package)


def _with_answered(entry: NewOffer) -> NewOffer:
    """Find the row that an acceptance, withdrawal or rejection answers; 409 when it is not live."""
    sent = entry.sent
    if sent.kind in OFFER_KINDS:
        return entry
    side = sent.by if sent.kind == "withdrawal" else ("them" if sent.by == "me" else "me")
    if sent.kind == "withdrawal" and (heard := _unconfirmed(entry, sent.in_reply_to)):
        return replace(entry, answers=heard)
    standing_now = offer_history.live_offers(entry.rows, entry.at, side=side)
    answered = next((row for row in standing_now if row.id == sent.in_reply_to), None)
    if sent.in_reply_to is None and standing_now:
        answered = standing_now[-1]
    if answered is None and sent.kind == "rejection":
        return entry
    if answered is None:
        raise not_live_conflict(entry.rows, sent.in_reply_to, entry.at)
    package = answered.package
    if sent.kind == "acceptance" and entry.package not in (None, package):
        raise ValidationFailed([FieldError("/package", "The package must be that of the offer that is accepted.")])
    return replace(entry, package=package, answers=answered)


def _unconfirmed(entry: NewOffer, offer: str | None) -> OfferRow | None:
    """The offer detected in speech of this id that nobody has confirmed or dismissed."""
    status = offer_history.offer_statuses(entry.rows, entry.at)
    heard = (row for row in entry.rows if row.id == offer and status[row.id] == "unconfirmed")
    return next(heard, None)


def _pending_approval(entry: NewOffer, row: OfferRow, actor: Actor) -> dict[str, Any]:
    """What the user is asked. An acceptance depends on the conditions of the offer that it accepts, too."""
    accepted: list[str] = entry.answers.content["conditions"] if entry.answers else []
    held: dict[str, Any] = {
        "offer_id": row.id,
        "by": row.side,
        "kind": row.kind,
        "package": row.package,
        "conditions": [*accepted, *entry.sent.conditions],
        "valid_until": values.timestamp_or_none(row.valid_until),
        "approver": entry.session.terms.authority.approver,
        "reason": entry.sent.reason or entry.sent.rationale,
        "asked_by": {"kind": actor.kind, "id": actor.id},
    }
    return with_present_limits(entry.session.id, entry.session.terms, held)


def _row(entry: NewOffer) -> OfferRow:
    sent, terms = entry.sent, entry.session.terms
    content: dict[str, Any] = {
        "package": entry.package,
        "conditions": sent.conditions,
        "claimed_final": sent.claimed_final or sent.kind == "final",
        "rationale": sent.rationale,
        "channel": sent.channel,
        "override": entry.override,
        "approval": None,
        "past_limits": past_limits_view(terms, entry.package or {}) if entry.binds_me else [],
        **empty_valuation(),
    }
    row = OfferRow(
        id=values.new_id("off"),
        seq=entry.session.offers + 1,
        at=entry.at,
        side=sent.by,
        kind=sent.kind,
        source=sent.source,
        answers=entry.answers.id if entry.answers else sent.in_reply_to,
        confirms=sent.confirms,
        valid_until=milliseconds(sent.valid_until),
        approval="pending" if entry.waits else "",
        content=content,
    )
    if entry.package is not None:
        content |= package_valuation(terms, entry.package)
    if sent.kind in OFFER_KINDS:
        plain = replace(row, source="typed", approval="")
        said = offer_history.as_said([*entry.rows, plain])
        last = offer_history.ledger_offers([one for one in said if one.id == row.id])[0]
        earlier = [one for one in offer_history.ledger_offers(entry.rows) if one.seq < last.seq]
        content |= concession_since(terms, earlier, last)
    return row


def _apply_effect(tx: Transaction, entry: NewOffer, row: OfferRow, actor: Actor, held: dict[str, Any] | None) -> None:
    """Apply the effect of a row: it activates the negotiation, makes it wait for approval, or agrees it."""
    session = replace(entry.session, offers=row.seq)
    detail = {"offer_id": row.id, "by": row.side, "kind": row.kind}
    session = queries.add_event(tx, session, actor, HistoryEvent(kind="offer", detail=detail))
    if entry.override is not None and held is None:
        override = {"offer_id": row.id, "against": entry.override["against"]}
        event = HistoryEvent(kind="override", reason=entry.override["reason"], detail=override)
        session = queries.add_event(tx, session, actor, event)
    answers_detected = entry.answers is not None and entry.answers.source == DETECTED_SOURCE
    is_made = row.source != DETECTED_SOURCE and not answers_detected
    if session.state in {states.DRAFT, states.PLANNED} and is_made:
        session = enter_state(tx, session, states.ACTIVE, actor=actor)
    if held is not None:
        if session.pending is not None:
            ledger.decide(tx, session.pending["offer_id"], "refused")
        session = replace(session, pending=held)
        session = enter_state(tx, session, states.AWAITING, actor=actor, detail=held)
    elif row.kind == "acceptance":
        session = agree_on_package(tx, session, row, actor=actor)
    queries.save(tx, session)


def enter_state(
    tx: Transaction,
    session: NegotiationSession,
    to: str,
    *,
    actor: Actor,
    reason: str | None = None,
    detail: dict[str, Any] | None = None,
) -> NegotiationSession:
    """The session in state `to`, with its event added. The caller saves it."""
    event = HistoryEvent(kind="state", from_state=session.state, to_state=to, reason=reason, detail=detail)
    return queries.add_event(tx, session, actor, event).moved(to, reason=reason)


def agree_on_package(
    tx: Transaction, session: NegotiationSession, row: OfferRow | None, *, actor: Actor, reason: str | None = None
) -> NegotiationSession:
    """The session in state `agreed`, with its outcome; a pending approval counts as refused. The caller saves it.

    `row` is an acceptance, the offer that was agreed on outside the ledger, or None when there was no live offer.
    """
    offer = row.answers if row is not None and row.kind == "acceptance" else row and row.id
    package = row.package if row else None
    outcome = {
        "result": states.AGREED,
        "offer_id": offer,
        "package": package,
        "utility_me": package_valuation(session.terms, package)["utility_me"] if package else None,
        "past_limits": past_limits_view(session.terms, package or {}),
        "agreed_at": values.timestamp(values.now()),
        "closed_at": None,
    }
    if session.pending is not None:
        ledger.decide(tx, session.pending["offer_id"], "refused")
    session = replace(session, outcome=outcome, pending=None)
    return enter_state(tx, session, states.AGREED, actor=actor, reason=reason, detail={"offer_id": offer})
