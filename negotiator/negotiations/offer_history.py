"""The status of each offer at a given time, and what advice keeps while an offer of the user goes beyond a limit."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from negotiator.advice.leverage.concessions import LedgerOffer, completed_offers
from negotiator.base import values
from negotiator.negotiations.offer_queries import OfferRow
from negotiator.terms import limits
from negotiator.terms.issues import Package
from negotiator.terms.terms import AllowedTrade, Terms
from negotiator.terms.utility import Worth, package_utility

OFFER_KINDS: Final = frozenset({"offer", "counter", "final"})
DETECTED_SOURCE: Final = "detected_in_speech"
_HELD: Final = {"pending": "awaiting_approval", "refused": "not_approved"}


def as_said(rows: Sequence[OfferRow]) -> list[OfferRow]:
    """The rows in the order in which they were said; one that confirms a detected offer has its place and moment."""
    known = {row.id: row for row in rows}
    placed: list[OfferRow] = []
    for row in rows:
        heard = known.get(row.confirms or "")
        placed.append(replace(row, seq=heard.seq, at=heard.at) if heard else row)
    return sorted(placed, key=lambda row: row.seq)


def offer_statuses(rows: Sequence[OfferRow], now: int) -> dict[str, str]:
    """The status of every row, by id. `rows` are in rising `seq`; `now` is in milliseconds since the epoch.

    Only the latest offer of a side can be live, until that side withdraws it, it expires or the other side accepts it.
    A rejection does not change the status of the offer it answers. An offer detected in speech counts only once a row
    confirms it, from when it was heard, and an offer that awaits approval only once it is approved. A withdrawal of a
    detected offer that is not confirmed dismisses it: it was not made.
    """
    counted = [row for row in as_said(rows) if _counts(row)]
    latest = {row.side: row.id for row in counted if row.kind in OFFER_KINDS}
    ends = {row.answers: row.kind for row in counted if row.kind in {"withdrawal", "acceptance"}}
    confirmed = {row.confirms for row in rows if row.confirms}
    found: dict[str, str] = {}
    for row in rows:
        if row.approval in _HELD:
            found[row.id] = _HELD[row.approval]
        elif row.kind not in OFFER_KINDS:
            found[row.id] = "recorded"
        elif row.source == DETECTED_SOURCE:
            dismissed = "dismissed" if row.id in ends else "unconfirmed"
            found[row.id] = "confirmed" if row.id in confirmed else dismissed
        elif row.id in ends:
            found[row.id] = "withdrawn" if ends[row.id] == "withdrawal" else "accepted"
        elif latest[row.side] != row.id:
            found[row.id] = "superseded"
        else:
            over = row.valid_until is not None and row.valid_until <= now
            found[row.id] = "expired" if over else "live"
    return found


def live_offers(rows: Sequence[OfferRow], now: int, *, side: str | None = None) -> list[OfferRow]:
    """The live offers, oldest first; of one side only where `side` is given."""
    status = offer_statuses(rows, now)
    return [row for row in as_said(rows) if status[row.id] == "live" and side in (None, row.side)]


def offers_made(rows: Sequence[OfferRow]) -> list[OfferRow]:
    """The offers of both sides, oldest first, without those that are detected in speech or not approved."""
    return [row for row in as_said(rows) if row.kind in OFFER_KINDS and _counts(row)]


def ledger_offers(rows: Sequence[OfferRow]) -> tuple[LedgerOffer, ...]:
    """The offers made, oldest first, as leverage, tactics and plans take them."""
    return tuple(
        LedgerOffer(
            seq=row.seq,
            by="me" if row.side == "me" else "them",
            package=row.package or {},
            at=_moment(row.at),
            claimed_final=bool(row.content["claimed_final"]),
            valid_until=None if row.valid_until is None else _moment(row.valid_until),
            words=row.content.get("rationale") or "",
        )
        for row in offers_made(rows)
    )


def offer_view(row: OfferRow, status: str) -> dict[str, Any]:
    """The JSON members of a row (docs/contract 6.5); `status` comes from `offer_statuses`."""
    content: Mapping[str, Any] = row.content
    return {
        "id": row.id,
        "seq": row.seq,
        "at": values.timestamp(row.at),
        "by": row.side,
        "kind": row.kind,
        "package": content["package"],
        "complete": content["complete"],
        "outside_range": content.get("outside_range", False),
        "conditions": content["conditions"],
        "valid_until": values.timestamp_or_none(row.valid_until),
        "claimed_final": content["claimed_final"],
        "in_reply_to": row.answers,
        "rationale": content["rationale"],
        "channel": content["channel"],
        "source": row.source,
        "confirms": row.confirms,
        "status": status,
        "utility_me": content["utility_me"],
        "utility_them_estimate": content["utility_them_estimate"],
        "concession_me": content["concession_me"],
        "concession_them": content["concession_them"],
        "past_limits": content.get("past_limits", []),
        "override": content["override"],
        "approval": content["approval"] and {**content["approval"], "status": row.approval},
    }


def _counts(row: OfferRow) -> bool:
    return row.approval not in _HELD and row.source != DETECTED_SOURCE


def _moment(at: int) -> datetime:
    return datetime.fromtimestamp(at / 1000, UTC)


def advised_terms(terms: Terms, rows: Sequence[OfferRow], now: int) -> Terms:
    """The terms that advice keeps: the user's limits, moved as far as their standing offer goes beyond them.

    Only an offer that the user allowed, or made with an override, moves a limit. Without one these are `terms`
    themselves. `now` is in milliseconds since the epoch.
    """
    standing = live_offers(rows, now, side="me")
    if not standing or standing[-1].content.get("override") is None:
        return terms
    whole = completed_offers(ledger_offers(rows))
    package = next((row.package for row in whole if row.seq == standing[-1].seq), None)
    return terms if package is None else _as_far_as(terms, package)


def _as_far_as(terms: Terms, package: Package) -> Terms:
    broken = limits.broken_constraints(terms, package)
    on = {rule.issue for rule in broken} | set(limits.unpaid_issues(terms, package))
    issues = tuple(replace(issue, limit=package[issue.name]) if issue.name in on else issue for issue in terms.issues)
    return replace(
        terms,
        preferences=replace(terms.preferences, issues=issues),
        walk_away=_lowered(terms, package),
        constraints=tuple(rule for rule in terms.constraints if rule not in broken),
        allowed=tuple(
            trade for trade in terms.allowed if trade.issue not in on or _goes_further(terms, trade, package)
        ),
    )


def _goes_further(terms: Terms, trade: AllowedTrade, package: Package) -> bool:
    issue = terms.issue(trade.issue)
    return issue is not None and limits.falls_short(issue, trade.to, package[trade.issue])


def _lowered(terms: Terms, package: Package) -> Worth | None:
    """The walk-away, or what the package is worth where that is less: its values where no worth can be counted."""
    given, single = terms.walk_away, limits.single_limit(terms)
    if given is None or not limits.is_below_floor(terms, package, binding=True):
        return given
    if given.package is not None and (len(terms.issues) == 1 or terms.unvalued):
        worse = {
            issue.name: package[issue.name]
            for issue in terms.issues
            if issue.name in given.package
            and issue.name in package
            and limits.falls_short(issue, package[issue.name], given.package[issue.name])
        }
        return Worth(package={**given.package, **worse})
    floor, worth = limits.utility_floor(terms), package_utility(terms.preferences, package).low
    if single is not None and floor is not None and worth >= floor:
        return Worth(utility=floor)
    return Worth(utility=worth)
