"""Which of two sayings about a tool holds: field by field, the one whose evidence is stronger."""

from collections import Counter
from typing import Any, Final

from negotiator.directory.record.tool import METHODS, Evidence, Known, Record, ToolDraft

_STRENGTH: Final = {method: place for place, method in enumerate(METHODS)}
_BLANK: Final[dict[str, Any]] = {
    name: field.get_default(call_default_factory=True)
    for name, field in ToolDraft.model_fields.items()
}


def strength(evidence: tuple[Evidence, ...], field: str) -> int:
    """How strong the evidence for a field is: that of its own line, else that of `*`, else -1."""
    lines = {line.field: _STRENGTH[line.method] for line in evidence}
    return lines.get(field, lines.get("*", -1))


def merge(current: Record, incoming: Record) -> Record:
    """The current record with what the incoming one knows and has evidence at least as strong for.

    What the incoming record does not say is not forgotten, and a proven publisher gives way to a proven one only.
    Evidence lines follow the values they are for.
    """
    taken = {
        name: getattr(incoming, name)
        for name in ToolDraft.model_fields
        if not _blank(incoming, name)
        and (
            _blank(current, name)
            or strength(incoming.evidence, name) >= strength(current.evidence, name)
        )
    }
    if proven(current) and not proven(incoming):
        taken.pop("publisher", None)
    if "subcategories" not in taken and taken.get("category", current.category) != current.category:
        taken["subcategories"] = ()
    sources = {
        name: _line(incoming.evidence if name in taken else current.evidence, name)
        for name in ToolDraft.model_fields
        if name in taken or not _blank(current, name)
    }
    values = Record.model_construct(**taken).model_dump(include=set(taken))
    evidence = [line.model_dump() for line in _folded(sources)]
    return Record.model_validate({**current.model_dump(), **values, "evidence": evidence})


def _blank(record: Known, field: str) -> bool:
    return getattr(record, field) in (None, (), _BLANK[field])


def proven(record: Known) -> bool:
    """Whether somebody proved to be the record's publisher."""
    return record.publisher is not None and record.publisher.verified


def _line(evidence: tuple[Evidence, ...], field: str) -> Evidence | None:
    """The line that speaks for a field, as if it spoke for all."""
    by_field = {line.field: line for line in evidence}
    found = by_field.get(field, by_field.get("*"))
    return found.model_copy(update={"field": "*"}) if found else None


def _folded(sources: dict[str, Evidence | None]) -> list[Evidence]:
    """One line for the source of most fields, one more for every field of another source."""
    named = {field: line for field, line in sources.items() if line is not None}
    if not named:
        return []
    # A field without any evidence leaves no line that speaks for all.
    counts = Counter(named.values()) if len(named) == len(sources) else Counter[Evidence]()
    star = max(counts, key=lambda line: counts[line]) if counts else None
    rest = [
        line.model_copy(update={"field": field}) for field, line in named.items() if line != star
    ]
    return [star, *rest] if star else rest
