"""The user's own tactics: validated by the rules of the catalogue, stored, changed and read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import BigInteger, bindparam, delete, select, update
from sqlmodel import col

from negotiator.advice.tactics.catalogue import built_in_catalogue, parse_clause, parse_condition, parse_tactic
from negotiator.advice.tactics.tactic import Tactic
from negotiator.base import values
from negotiator.base.errors import Conflict, FieldError, Forbidden, NotFound, PreconditionFailed, ValidationFailed
from negotiator.base.schema import apply_merge_patch
from negotiator.http.input import validate
from negotiator.negotiations.schemas_tactics import EditTactic, NewTactic
from negotiator.negotiations.tables import OwnTactic
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction

MAX_OWN_TACTICS: Final = 200
"""The number of own tactics per principal: each suggestion evaluates all of them."""
_TESTED: Final = {"use_when": parse_clause, "avoid_when": parse_clause, "preconditions": parse_condition}


@dataclass(frozen=True, slots=True)
class StoredTactic:
    """One tactic of a principal, with its revision, its times in milliseconds, and the agent it came from."""

    tactic: Tactic
    revision: int
    created_at: int
    updated_at: int
    origin: str | None


def _owned(row: Sequence[Any]) -> StoredTactic:
    tactic_id, document, revision, created_at, updated_at, origin = row
    tactic = parse_tactic({**orjson.loads(document), "id": tactic_id}, owner="user")
    return StoredTactic(tactic, revision, created_at, updated_at, origin)


_columns = (
    col(OwnTactic.id),
    col(OwnTactic.document),
    col(OwnTactic.revision),
    col(OwnTactic.created_at),
    col(OwnTactic.updated_at),
    col(OwnTactic.origin),
)
_mine = (col(OwnTactic.id) == bindparam("tactic"), col(OwnTactic.owner) == bindparam("owner"))
_ADD = RowInsertion(OwnTactic)
_FIND = Query(select(*_columns).where(*_mine), _owned)
_RAW = Query(select(col(OwnTactic.document)).where(*_mine), lambda row: orjson.loads(row[0]))
_ALL = Query(
    select(*_columns).where(col(OwnTactic.owner) == bindparam("owner")).order_by(col(OwnTactic.id).desc()), _owned
)
_SAVE = Statement(
    update(OwnTactic)
    .where(*_mine)
    .values(
        document=bindparam("new_document"),
        revision=OwnTactic.revision + 1,
        updated_at=bindparam("now", type_=BigInteger),
    )
)
_REMOVE = Statement(delete(OwnTactic).where(*_mine))


def list_own_tactics(tx: Transaction, owner: str) -> list[StoredTactic]:
    """All tactics of a principal, newest first."""
    return tx.all(_ALL, owner=owner)


def own_tactics(tx: Transaction, owner: str) -> tuple[Tactic, ...]:
    """All tactics of a principal, newest first, without the columns of their rows."""
    return tuple(one.tactic for one in list_own_tactics(tx, owner))


def add(tx: Transaction, owner: str, body: NewTactic) -> StoredTactic:
    """Keep a new tactic; 409 when there are too many, 422 with every field error."""
    others = list_own_tactics(tx, owner)
    if len(others) >= MAX_OWN_TACTICS:
        raise Conflict(f"You have {MAX_OWN_TACTICS} tactics; delete one first.", error="too_many_tactics")
    document = _document(body)
    _check(document, {one.tactic.id for one in others})
    key, now = values.new_id("tac"), values.now()
    tx.run(
        _ADD,
        id=key,
        owner=owner,
        origin=None,
        document=orjson.dumps(document),
        revision=1,
        created_at=now,
        updated_at=now,
    )
    return find(tx, owner, key)


def find(tx: Transaction, owner: str, key: str) -> StoredTactic:
    """The principal's tactic of this id; 404 for everybody else's."""
    found = tx.one(_FIND, tactic=key, owner=owner)
    if found is None:
        raise NotFound("There is no such tactic.")
    return found


def require_tactic(tx: Transaction, owner: str, key: str) -> None:
    """Refuse with 404 a reference to what is neither a built-in tactic nor one of the principal's."""
    if built_in_catalogue().get(key) is None and tx.one(_RAW, tactic=key, owner=owner) is None:
        raise NotFound(f"tactic_id: there is no tactic {key}.")


def edit(tx: Transaction, owner: str, change: EditTactic, *, expected: int | None) -> StoredTactic:
    """Apply a merge patch and check the result as a whole; 403 for a built-in tactic."""
    _changeable(tx, owner, change.id, expected)
    before = tx.one(_RAW, tactic=change.id, owner=owner)
    body: NewTactic = validate(NewTactic, apply_merge_patch(before, change.patch))
    document = _document(body)
    _check(document, {one.tactic.id for one in list_own_tactics(tx, owner)})
    saved = orjson.dumps(document)
    tx.run(_SAVE, tactic=change.id, owner=owner, new_document=saved, now=values.now())
    return find(tx, owner, change.id)


def remove(tx: Transaction, owner: str, key: str, *, expected: int | None) -> None:
    """Delete a tactic of the principal's; 403 for a built-in tactic."""
    _changeable(tx, owner, key, expected)
    tx.run(_REMOVE, tactic=key, owner=owner)


def _changeable(tx: Transaction, owner: str, key: str, expected: int | None) -> None:
    if built_in_catalogue().get(key) is not None:
        raise Forbidden("A built-in tactic cannot be changed; add one of your own.")
    found = find(tx, owner, key)
    if expected is not None and found.revision != expected:
        raise PreconditionFailed("The tactic has changed since that revision.", members={"revision": found.revision})


def _document(body: NewTactic) -> dict[str, Any]:
    """The body in the schema of the built-in tactics, without empty lists."""
    document = body.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {name: value for name, value in document.items() if value != []}


def _check(document: Mapping[str, Any], own: set[str]) -> None:
    """Raise 422 with a pointer for each condition that no fact has, and each tactic that is not known."""
    found: list[FieldError] = []
    for member, parse in _TESTED.items():
        for place, item in enumerate(document.get(member, ())):
            try:
                parse(item)
            except ValueError as fault:
                found.append(FieldError(f"/{member}/{place}", f"{fault}."))
    known = set(built_in_catalogue().by_id) | own
    for member in ("counter_to", "countered_by"):
        found += [
            FieldError(f"/{member}/{place}", "There is no tactic with this id.")
            for place, other in enumerate(document.get(member, ()))
            if other not in known
        ]
    if found:
        raise ValidationFailed(found)
