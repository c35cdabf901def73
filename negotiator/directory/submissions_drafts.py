"""Turns a proposal into a record: applies patches, refuses duplicates, verifies the publisher."""

import hashlib
from collections.abc import Sequence
from typing import Any, Final

import orjson

from negotiator.base import values
from negotiator.base.errors import Conflict
from negotiator.base.schema import apply_merge_patch
from negotiator.directory import catalogue_queries, draft_checks, tool_ownership
from negotiator.directory.tables import Submission
from negotiator.directory.tool_ownership import OwnershipProof, ToolOwnership
from negotiator.directory.tool_record import (
    EvidenceMethod,
    FieldEvidence,
    ProvenPublisher,
    ToolDraft,
    ToolRecord,
    ToolView,
)
from negotiator.http.input import validate
from negotiator.store.statement import Transaction

_DRAFT: Final = frozenset(ToolDraft.model_fields)
_MOST_EVIDENCE: Final = 40

DraftJson = dict[str, Any]
"""A draft or a merge patch of one, as a submitter sends it."""


def draft_json(draft: ToolDraft) -> DraftJson:
    """A draft as the JSON a submitter would send, without empty members."""
    members = draft.model_dump(mode="json", include=set(_DRAFT))
    if draft.publisher:
        members["publisher"] = {"name": draft.publisher.name, "domain": draft.publisher.domain}
    return {name: value for name, value in members.items() if value not in (None, [], {})}


def patched_draft(current: ToolDraft, patch: DraftJson) -> ToolDraft:
    """The draft with a merge patch applied; 422 with a pointer for each fault."""
    draft: ToolDraft = validate(ToolDraft, apply_merge_patch(draft_json(current), patch))
    draft_checks.require_acceptable(draft)
    return draft


def combined_proposal(row: Submission, patch: DraftJson) -> DraftJson:
    """The proposal after its submitter's change: merged into a draft, or members of a patch replaced."""
    before: DraftJson = orjson.loads(row.proposed)
    return apply_merge_patch(before, patch) if row.type == "create" else {**before, **patch}


def draft_of(tx: Transaction, row: Submission, proposed: DraftJson) -> ToolDraft:
    """The draft of a submission: its own, or the present tool with the patch applied; 410, 422."""
    if row.tool and row.type == "update":
        return patched_draft(catalogue_queries.require(tx, row.tool).view, proposed)
    draft: ToolDraft = validate(ToolDraft, proposed)
    draft_checks.require_acceptable(draft)
    return draft


def require_new(tx: Transaction, draft: ToolDraft, *, of: str = "") -> None:
    """Refuse with 409 `duplicate` a draft that shares a key with another tool, deleted tools included."""
    found = catalogue_queries.duplicates(tx, draft, of=of)
    for (kind, value), key in found.items():
        tool = catalogue_queries.find(tx, key)
        if tool is not None:
            raise duplicate_conflict({"id": tool.id, "slug": tool.slug, "on": kind, "value": value})


def duplicate_conflict(existing: dict[str, str]) -> Conflict:
    """The 409 for a duplicate; `existing` refers to the original."""
    return Conflict("The directory has this already.", error="duplicate", members={"existing": existing})


def record_of(tx: Transaction, row: Submission, draft: ToolDraft, *, proofs: Sequence[OwnershipProof]) -> ToolRecord:
    """The record to store: the draft, its evidence, and its publisher, verified if the submitter owns the tool."""
    ownership = tool_ownership.find_ownership(proofs, draft)
    method: EvidenceMethod = "owner" if ownership else "submission"
    moment, source = values.timestamp(values.now()), f"submission {row.id}"
    members = draft.model_dump(include=set(_DRAFT))
    if row.type == "create" or row.tool is None:
        lines = [FieldEvidence(source=source, checked_at=moment, method=method)]
        return ToolRecord.model_validate(
            {**members, "publisher": _publisher(draft, ownership, None), "evidence": lines}
        )
    current = catalogue_queries.require(tx, row.tool).view
    changed = sorted(orjson.loads(row.proposed)) or ["publisher"]
    lines = [
        *(line for line in current.evidence if line.field not in changed),
        *(FieldEvidence(field=name, source=source, checked_at=moment, method=method) for name in changed),
    ]
    return ToolRecord.model_validate(
        {
            **current.record.model_dump(),
            **members,
            "publisher": _publisher(draft, ownership, current),
            "evidence": lines[-_MOST_EVIDENCE:],
        }
    )


def digest(document: bytes) -> str | None:
    """SHA-256 of a document for the audit trail; None when it is empty."""
    return hashlib.sha256(document).hexdigest() if document else None


def _publisher(draft: ToolDraft, ownership: ToolOwnership | None, current: ToolView | None) -> ProvenPublisher | None:
    """The claimed publisher, verified if proven now, or before and nothing relevant has changed."""
    claimed = draft.publisher
    if ownership:
        return ProvenPublisher(
            name=claimed.name if claimed else None, domain=ownership.domain, verified=True, method=ownership.method
        )
    if claimed is None:
        return None
    before = current.publisher if current else None
    unchanged = current is not None and (
        (claimed.name, claimed.domain) == ((before.name, before.domain) if before else None)
        and (draft.homepage_url, draft.repository) == (current.homepage_url, current.repository)
    )
    if unchanged:
        return before
    return ProvenPublisher(name=claimed.name, domain=claimed.domain)
