"""Queries of tools: the functions through which every module reads and changes the catalogue, and the feed of changes.

The feed has an entry for every change, deletions too; it is append-only and numbered without gaps, in commit order.
Writes are serial, so a reader of the feed up to a number has missed no change.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from sqlalchemy import bindparam, delete, func, select, update
from sqlmodel import col

from negotiator.base import values
from negotiator.base.errors import Conflict, Gone, NotFound, PreconditionFailed
from negotiator.directory.record_text import SLUG_LENGTH, slugify
from negotiator.directory.tables import ToolChange, ToolKey, ToolRow, ToolSlug
from negotiator.directory.tool_record import (
    CanonicalKey,
    ChangeKind,
    ToolDraft,
    ToolPopularity,
    ToolRecord,
    ToolStatus,
    ToolView,
    keys_of,
)
from negotiator.store import audit
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, entity, table

_TOGETHER: Final = 20
_NO_TOOLS: Final = {f"tool{place}": "" for place in range(_TOGETHER)}
_DOCUMENTS = Query(
    select(col(ToolRow.id), col(ToolRow.document)).where(col(ToolRow.id).in_([bindparam(name) for name in _NO_TOOLS])),
    lambda row: (str(row[0]), bytes(row[1])),
)


_COUNT = Query(select(func.count()).select_from(ToolRow), lambda row: int(row[0]))


def count_tools(tx: Transaction) -> int:
    """The number of tools, deleted ones too."""
    return tx.one(_COUNT) or 0


def read_documents(tx: Transaction, ids: Sequence[str]) -> dict[str, bytes]:
    """The documents of these tools, deleted ones too, by id."""
    found: dict[str, bytes] = {}
    for start in range(0, len(ids), _TOGETHER):
        batch = ids[start : start + _TOGETHER]
        parameters = {f"tool{place}": key for place, key in enumerate(batch)}
        found.update(tx.all(_DOCUMENTS, **{**_NO_TOOLS, **parameters}))
    return found


_MOVES: Final[dict[ToolStatus, frozenset[ToolStatus]]] = {
    "active": frozenset({"deprecated", "quarantined", "deleted"}),
    "deprecated": frozenset({"active", "quarantined", "deleted"}),
    "quarantined": frozenset({"active", "deleted"}),
    "deleted": frozenset(),
}
_MAX_NUMBERED: Final = 50
_REMOVED: Final = "Removed from the directory."


@dataclass(frozen=True, slots=True)
class CatalogueTool:
    """A stored tool; `document` is its `ToolView` as JSON, times are milliseconds."""

    id: str
    slug: str
    status: ToolStatus
    saves: int
    seq: int
    revision: int
    document: bytes
    created_at: int
    updated_at: int

    @property
    def view(self) -> ToolView:
        """The record, parsed from its document."""
        return ToolView.model_validate_json(self.document)


_select = select(*(table(ToolRow).c[each.name] for each in fields(CatalogueTool)))


def _tool(row: Sequence[Any]) -> CatalogueTool:
    return CatalogueTool(*row)


_BY_ID = Query(_select.where(col(ToolRow.id) == bindparam("tool")), _tool)
_BY_SLUG = Query(
    _select.join(ToolSlug, col(ToolSlug.tool) == col(ToolRow.id)).where(col(ToolSlug.slug) == bindparam("slug")), _tool
)
_BY_EXTERNAL = Query(_select.where(col(ToolRow.external_id) == bindparam("name")), _tool)
_BY_KEY = Query(
    select(col(ToolKey.tool))
    .where(col(ToolKey.kind) == bindparam("kind"), col(ToolKey.value) == bindparam("value"))
    .order_by(col(ToolKey.tool)),
    lambda row: str(row[0]),
)
_TAKEN = Query(select(col(ToolSlug.tool)).where(col(ToolSlug.slug) == bindparam("slug")), lambda row: str(row[0]))
_ADD = RowInsertion(ToolRow)
_ADD_SLUG = RowInsertion(ToolSlug)
_ADD_KEY = RowInsertion(ToolKey)
_DROP_KEYS = Statement(delete(ToolKey).where(col(ToolKey.tool) == bindparam("tool")))
_ADD_CHANGE = RowInsertion(ToolChange)
_LATEST_CHANGE = Query(select(func.coalesce(func.max(col(ToolChange.seq)), 0)), lambda row: int(row[0]))
_CHANGE = Query(
    select(col(ToolChange.tool), col(ToolChange.at)).where(col(ToolChange.seq) == bindparam("seq")),
    lambda row: (str(row[0]), int(row[1])),
)
_CHANGES = Query(
    select(ToolChange)
    .where(col(ToolChange.seq) > bindparam("since"))
    .order_by(col(ToolChange.seq))
    .limit(bindparam("limit")),
    entity(ToolChange),
)
_SINCE = Query(
    _select.where(col(ToolRow.seq) > bindparam("since")).order_by(col(ToolRow.seq)).limit(bindparam("limit")), _tool
)
_CHANGED: Final = ("slug", "external_id", "status", "saves", "seq", "revision", "document", "updated_at")
_SAVE = Statement(
    update(ToolRow)
    .where(col(ToolRow.id) == bindparam("tool"))
    .values({name: bindparam(f"new_{name}", type_=table(ToolRow).c[name].type) for name in _CHANGED})
)


def find(tx: Transaction, id_or_slug: str) -> CatalogueTool | None:
    """The tool with this id or slug, present or former; deleted tools too."""
    if values.is_id(id_or_slug, "tool"):
        return tx.one(_BY_ID, tool=id_or_slug)
    return tx.one(_BY_SLUG, slug=id_or_slug)


def require(tx: Transaction, id_or_slug: str) -> CatalogueTool:
    """The tool with this id or slug; 404 for none, 410 for a deleted one."""
    tool = find(tx, id_or_slug)
    if tool is None:
        raise NotFound("There is no such tool.")
    if tool.status == "deleted":
        raise Gone("The tool was removed.", members={"id": tool.id, "slug": tool.slug})
    return tool


def require_revision(current: CatalogueTool, expected: int | None) -> None:
    """412 when `expected` is not the current revision."""
    if expected is not None and expected != current.revision:
        raise PreconditionFailed("The tool has changed since that revision.", members={"revision": current.revision})


def by_external(tx: Transaction, name: str) -> CatalogueTool | None:
    """The tool with this name in the MCP registry."""
    return tx.one(_BY_EXTERNAL, name=name)


def duplicates(tx: Transaction, draft: ToolDraft, *, of: str = "") -> dict[CanonicalKey, str]:
    """The keys of a draft that other tools have, with their ids; `of` is the draft's own tool."""
    found: dict[CanonicalKey, str] = {}
    for key in keys_of(draft):
        holders = tx.all(_BY_KEY, kind=key[0], value=key[1])
        if others := [tool for tool in holders if tool != of]:
            found[key] = others[0]
    return found


_RESERVED: Final = frozenset({"submit", "submissions"})
"""Slugs that are other pages below the page of tools."""


def free_slug(tx: Transaction, name: str) -> str:
    """A slug for a name that no tool has or had, with a number or, after fifty, a random suffix."""
    base = slug = slugify(name)
    number = 1
    while slug in _RESERVED or tx.one(_TAKEN, slug=slug) is not None:
        number += 1
        end = str(number) if number < _MAX_NUMBERED else values.new_ulid()[-8:]
        slug = f"{base[: SLUG_LENGTH - len(end) - 1].rstrip('-')}-{end}"
    return slug


def put(tx: Transaction, record: ToolRecord, *, actor: str) -> CatalogueTool:
    """Store a record: a new tool when it has no id, else that tool's next revision.

    404 and 410 for an id that no longer exists, 409 `slug_taken`. A record that equals the current one changes nothing.
    """
    if record.id is None:
        return _create(tx, record, actor=actor)
    current = require(tx, record.id)
    slug = record.slug or current.slug
    if slug != current.slug:
        _claim(tx, slug, current.id)
    before = current.view
    view = ToolView.model_validate({**before.model_dump(), **_record_fields(record), "slug": slug})
    if view == before:
        return current
    return _save(tx, current, view, kind="updated", actor=actor)


def withdraw(tx: Transaction, id_or_slug: str, status: ToolStatus, *, message: str, actor: str) -> CatalogueTool:
    """Move a tool to another status; 409 `illegal_transition`. `deleted` is final.

    A deleted tool keeps id, slug, name, category and keys, so that no other tool gets them.
    """
    current = require(tx, id_or_slug)
    if status == current.status:
        return current
    if status not in _MOVES[current.status]:
        members = {"status": current.status, "allowed": sorted(_MOVES[current.status])}
        raise Conflict("The tool's state forbids it.", error="illegal_transition", members=members)
    now = values.timestamp(values.now())
    moved = {"status": status, "status_message": message or None, "status_changed_at": now}
    before = current.view
    if status == "deleted":
        members = {"id", "slug", "name", "kind", "category", "external_ids", "version", "created_at"}
        content = {**before.model_dump(include=members), "summary": _REMOVED}
    else:
        content = before.model_dump()
    content |= {**moved, "revision": current.revision, "updated_at": before.updated_at}
    kind = "restored" if status == "active" else status
    return _save(tx, current, ToolView.model_validate(content), kind=kind, actor=actor)


def record_event(
    tx: Transaction, event: str, before: CatalogueTool, after: CatalogueTool, *, actor: str, **detail: str
) -> None:
    """An event of the audit trail about a change of a tool, with digests of its content before and after."""
    digests = {"before": values.digest(before.document.decode()), "after": values.digest(after.document.decode())}
    audit.record(tx, event, before.id, actor=actor, **digests, **detail)


def count_saves(tx: Transaction, tool: str, saves: int) -> None:
    """Store in how many collections a tool is; its `updated_at` does not change."""
    current = find(tx, tool)
    if current is None or current.saves == saves or current.status == "deleted":
        return
    popularity = ToolPopularity(saves=saves, score=round(1 - 1 / (1 + saves / 10), 3))
    view = current.view.model_copy(update={"popularity": popularity})
    _save(tx, current, view, kind="counted", actor="", saves=saves)


def latest_change(tx: Transaction) -> int:
    """The number of the last change, 0 before the first."""
    return tx.one(_LATEST_CHANGE) or 0


def find_change(tx: Transaction, seq: int) -> tuple[str, int] | None:
    """The tool and the moment of a change."""
    return tx.one(_CHANGE, seq=seq)


def list_changes(tx: Transaction, since: int, *, limit: int) -> list[dict[str, Any]]:
    """Up to `limit` changes after number `since`, oldest first, as the API shows them."""
    return [
        {
            "seq": change.seq,
            "change": change.kind,
            "tool_id": change.tool,
            "slug": change.slug,
            "status": change.status,
            "revision": change.revision,
            "at": values.timestamp(change.at),
        }
        for change in tx.all(_CHANGES, since=since, limit=limit)
    ]


def tools_since(tx: Transaction, since: int, *, limit: int) -> list[CatalogueTool]:
    """Every tool whose last change is after number `since`, in the order of those changes."""
    return tx.all(_SINCE, since=since, limit=limit)


def _create(tx: Transaction, record: ToolRecord, *, actor: str) -> CatalogueTool:
    now, key = values.now(), values.new_id("tool")
    slug = record.slug or free_slug(tx, record.name)
    _claim(tx, slug, key)
    moment = values.timestamp(now)
    ours = {"id": key, "slug": slug, "status_changed_at": moment, "revision": 1}
    view = ToolView.model_validate({**_record_fields(record), **ours, "created_at": moment, "updated_at": moment})
    seq = _append_change(tx, view, kind="created", actor=actor, at=now)
    row: dict[str, Any] = _row(view, seq, 0) | {"created_at": now, "updated_at": now}
    tx.run(_ADD, id=key, **row)
    _rekey(tx, view)
    tool = find(tx, key)
    assert tool is not None  # noqa: S101  added above
    return tool


def _save(
    tx: Transaction, current: CatalogueTool, view: ToolView, *, kind: ChangeKind, actor: str, saves: int | None = None
) -> CatalogueTool:
    now = values.now()
    touched = current.updated_at if kind == "counted" else now
    view = view.model_copy(update={"revision": current.revision + 1, "updated_at": values.timestamp(touched)})
    seq = _append_change(tx, view, kind=kind, actor=actor, at=now)
    row = _row(view, seq, current.saves if saves is None else saves) | {"updated_at": touched}
    tx.run(_SAVE, tool=current.id, **{f"new_{name}": value for name, value in row.items()})
    if kind == "updated":
        tx.run(_DROP_KEYS, tool=current.id)
        _rekey(tx, view)
    del row["external_id"]
    return replace(current, **row)


def _append_change(tx: Transaction, view: ToolView, *, kind: ChangeKind, actor: str, at: int) -> int:
    """Add the next change and return its number; writes are serial."""
    seq = latest_change(tx) + 1
    columns = {"tool": view.id, "slug": view.slug, "status": view.status, "revision": view.revision}
    tx.run(_ADD_CHANGE, seq=seq, kind=kind, actor=actor, at=at, **columns)
    return seq


def _row(view: ToolView, seq: int, saves: int) -> dict[str, Any]:
    return {
        "slug": view.slug,
        "external_id": view.external_ids.mcp_registry,
        "status": view.status,
        "saves": saves,
        "seq": seq,
        "revision": view.revision,
        "document": view.document(),
    }


def _record_fields(record: ToolRecord) -> dict[str, Any]:
    return record.model_dump(include=set(ToolRecord.model_fields) - {"id", "slug"})


def _rekey(tx: Transaction, view: ToolView) -> None:
    for kind, value in keys_of(view):
        tx.run(_ADD_KEY, kind=kind, value=value, tool=view.id)


def _claim(tx: Transaction, slug: str, tool: str) -> None:
    """Reserve a slug for the tool for good; the tool may have had it before."""
    holder = tx.one(_TAKEN, slug=slug)
    if holder is None:
        tx.run(_ADD_SLUG, slug=slug, tool=tool)
    elif holder != tool:
        raise Conflict("The slug is another tool's.", error="slug_taken", members={"id": holder})
