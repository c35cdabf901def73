"""Recording, editing and erasing wins, each with a memory that describes it."""

from decimal import Decimal
from typing import Any, Final

from negotiator.base import values
from negotiator.base.errors import Conflict, FieldError, ValidationFailed
from negotiator.base.values import MINOR_UNITS, format_money, milliseconds, money_text, number_text
from negotiator.memory import memories_lifecycle, wins_queries
from negotiator.memory import memories_queries as memories
from negotiator.memory.memories_lifecycle import MemoryWriter, ReferenceChecks
from negotiator.memory.memories_queries import StoredEmbedding
from negotiator.memory.schemas_memories import NewMemory
from negotiator.memory.schemas_wins import (
    BaselineKind,
    NewWin,
    WinSavings,
    WinTactic,
    calculate_savings,
    gains_when_higher,
)
from negotiator.memory.wins_queries import WinDocument
from negotiator.store.statement import Transaction

_BASELINES: Final[dict[BaselineKind, str]] = {
    "previous_price": "previous price",
    "first_quote": "first quote",
    "list_price": "list price",
    "budget": "budget",
    "market": "market price",
    "should_cost": "worked-out cost",
    "other": "figure to compare with",
}


def validated_savings(body: NewWin) -> WinSavings:
    """What the win saved; 422 for invalid amounts or a `savings_total` that differs."""
    faults = [
        FieldError(f"/{name}/currency", "Must be the win's own currency.")
        for name, part in (("baseline", body.baseline), ("achieved", body.achieved))
        if part.currency not in {None, body.currency}
    ]
    if body.baseline.amount <= 0:
        faults.append(FieldError("/baseline/amount", "Must be more than zero."))
    if body.achieved.amount < 0:
        faults.append(FieldError("/achieved/amount", "Must not be negative."))
    if Decimal(body.quantity) <= 0:
        faults.append(FieldError("/quantity", "Must be more than zero."))
    if faults:
        raise ValidationFailed(faults)
    found = calculate_savings(
        body.baseline.amount,
        body.achieved.amount,
        quantity=Decimal(body.quantity),
        period_months=body.period_months,
        above=gains_when_higher(body.role, body.savings_type),
        places=MINOR_UNITS[body.currency],
    )
    if body.savings_total is not None and body.savings_total != found.total:
        figure = format_money(found.total, body.currency)
        raise ValidationFailed([FieldError("/savings_total", f"Comes to {figure}; send yours as claimed_savings.")])
    return found


def describe_win(body: NewWin, saved: WinSavings) -> str:
    """The win in a few sentences, for its memory."""
    what = " ".join(word.replace("_", " ") for word in (body.category, body.kind) if word not in {"", "other"})
    who = f" with {body.counterparty}" if body.counterparty else ""
    subject = f"{what or 'deal'}{who}"
    won = saved.total >= 0
    more = gains_when_higher(body.role, body.savings_type) == won
    percent = number_text(abs(saved.rate * 100).quantize(Decimal("0.1")))
    parts = [
        f"{subject[0].upper()}{subject[1:]}, as the {body.role}: agreed at "
        f"{money_text(body.achieved.amount, body.currency)} instead of the {_BASELINES[body.baseline.kind]} of "
        f"{money_text(body.baseline.amount, body.currency)}. That is {percent}% {'more' if more else 'less'}, "
        f"a {'gain' if won else 'loss'} of {money_text(abs(saved.total), body.currency)} in all."
    ]
    helped = [name for used in body.tactics_used if used.helped > 0 and (name := _tactic_name(used))]
    if helped:
        parts.append(f"What helped: {', '.join(helped)}.")
    if body.notes:
        parts.append(body.notes)
    return " ".join(parts)[:4000]


def _tactic_name(used: WinTactic) -> str:
    """The words in the id of a tactic of the shelf; empty for a user's own, whose ids have none."""
    name = used.tactic_id.removeprefix("tac_").replace("_", " ")
    return "" if any(mark.isdigit() for mark in name) else name


def record_win(
    tx: Transaction, writer: MemoryWriter, body: NewWin, embedded: StoredEmbedding, *, references: ReferenceChecks
) -> WinDocument:
    """Store a win and its memory; 404 for references the owner does not have, 409 for a negotiation's second win."""
    _check_references(tx, writer.owner, body, before=None, references=references)
    _check_negotiation(tx, writer.owner, body.negotiation_id, win=None)
    now = values.timestamp(values.now())
    key = values.new_id("win")
    saved = validated_savings(body)
    memory = _remember(tx, writer, body, saved, embedded=embedded, win=key)
    view = {
        "id": key,
        **_author_members(body, saved),
        "source": {"type": writer.author, "client_id": writer.client_id, "at": now},
        "origin": None,
        "revision": 1,
        "created_at": now,
        "updated_at": now,
    }
    wins_queries.add(tx, writer.owner, view, _columns(view, body, saved, memory=memory))
    return {**view, "memory_id": memory}


def edit_win(
    tx: Transaction,
    writer: MemoryWriter,
    win: str,
    body: NewWin,
    embedded: StoredEmbedding,
    *,
    expected: int,
    references: ReferenceChecks,
) -> WinDocument:
    """Replace the win's content and its memory; 404, 409, 412."""
    before = wins_queries.load(tx, writer.owner, win, expected=expected)
    _check_references(tx, writer.owner, body, before=before, references=references)
    _check_negotiation(tx, writer.owner, body.negotiation_id, win=win)
    saved = validated_savings(body)
    _forget(tx, writer.owner, before)
    memory = _remember(tx, writer, body, saved, embedded=embedded, win=win)
    view = {
        **before,
        **_author_members(body, saved),
        "revision": before["revision"] + 1,
        "updated_at": values.timestamp(values.now()),
    }
    if body.closed_at is None:
        view["closed_at"] = before["closed_at"]
    wins_queries.save(tx, writer.owner, view, _columns(view, body, saved, memory=memory))
    return {**view, "memory_id": memory}


def erase_win(tx: Transaction, owner: str, win: str, *, expected: int | None) -> None:
    """Erase a win with its memory; 404, 412."""
    before = wins_queries.load(tx, owner, win, expected=expected)
    _forget(tx, owner, before)
    wins_queries.delete_win(tx, owner, win)


def _check_references(
    tx: Transaction, owner: str, body: NewWin, *, before: WinDocument | None, references: ReferenceChecks
) -> None:
    """Check every reference that is new in this revision; objects that older ones name may be deleted since."""
    known = {used["tactic_id"] for used in before["tactics_used"]} if before else set[str]()
    if body.negotiation_id is not None and (before is None or body.negotiation_id != before["negotiation_id"]):
        references.deal(tx, owner, body.negotiation_id)
    for used in body.tactics_used:
        if used.tactic_id not in known:
            references.tactic(tx, owner, used.tactic_id)


def _check_negotiation(tx: Transaction, owner: str, negotiation: str | None, *, win: str | None) -> None:
    if negotiation is None:
        return
    existing = wins_queries.find_by_negotiation(tx, owner, negotiation)
    if existing not in {None, win}:
        raise Conflict("That negotiation has a win already.", error="win_exists", members={"existing": existing})


def _remember(
    tx: Transaction, writer: MemoryWriter, body: NewWin, saved: WinSavings, *, embedded: StoredEmbedding, win: str
) -> str | None:
    """The id of the win's memory; None when the owner has reached the limit of memories."""
    memory = NewMemory.model_validate(
        {
            "text": describe_win(body, saved),
            "kind": "win",
            "category": body.category,
            "counterparty": body.counterparty,
            "negotiation_id": body.negotiation_id,
            "attributes": {"win_id": win},
        }
    )
    try:
        view, new = memories_lifecycle.create_memory(tx, writer, memory, embedded)
    except Conflict:
        return None
    return view["id"] if new else None


def _forget(tx: Transaction, owner: str, win: WinDocument) -> None:
    if win["memory_id"] is not None:
        memories.delete_memory(tx, owner, win["memory_id"])


def _author_members(body: NewWin, saved: WinSavings) -> dict[str, Any]:
    """The members that the author decides, and those computed from them."""
    currency = body.currency

    def money(amount: Decimal | None) -> str | None:
        return None if amount is None else format_money(amount, currency)

    evidence = body.baseline.evidence
    return {
        **body.model_dump(
            include={
                *("negotiation_id", "counterparty", "category", "kind", "role", "currency"),
                *("period_months", "savings_type", "lead_time_days", "rounds", "notes"),
                "visibility",
            }
        ),
        "closed_at": values.timestamp(milliseconds(body.closed_at) or values.now()),
        "baseline": {**body.baseline.model_dump(exclude={"amount", "currency"}), "amount": money(body.baseline.amount)},
        "achieved": {"amount": money(body.achieved.amount)},
        "quantity": format(Decimal(body.quantity), "f"),
        "savings_total": money(saved.total),
        "savings_annualised": money(saved.annualised),
        "savings_rate": float(saved.rate),
        "tcv": money(saved.tcv),
        "claimed_savings": money(body.claimed_savings),
        "non_price_terms": [
            {**term.model_dump(by_alias=True), "est_value": money(term.est_value)} for term in body.non_price_terms
        ],
        "tactics_used": [used.model_dump() for used in body.tactics_used],
        "validated": {"status": "evidenced" if evidence else "claimed", "by": None, "at": None},
    }


def _columns(view: WinDocument, body: NewWin, saved: WinSavings, *, memory: str | None) -> dict[str, Any]:
    above = gains_when_higher(body.role, body.savings_type)
    return {
        "negotiation": body.negotiation_id,
        "counterparty": body.counterparty,
        "category": body.category,
        "kind": body.kind,
        "side": "sell" if above else "buy",
        "currency": body.currency,
        "closed_at": milliseconds(body.closed_at) or values.parse_timestamp(view["closed_at"]),
        "rate": format(saved.rate, "f"),
        "weight": format(body.baseline.amount * Decimal(body.quantity), "f"),
        "rounds": body.rounds,
        "days": body.lead_time_days,
        "contributed": body.visibility == "contribute_anonymously",
        "memory": memory,
    }
