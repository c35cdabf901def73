"""From what was proposed to a record: patches applied, duplicates refused, the publisher believed or not."""

import hashlib
from collections.abc import Sequence
from typing import Any, Final

import orjson

from negotiator import values
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
from negotiator.errors import Conflict
from negotiator.http.input import validate
from negotiator.schema import apply_merge_patch
from negotiator.store.statement import Transaction

_DRAFT: Final = frozenset(ToolDraft.model_fields)
_MOST_EVIDENCE: Final = 40


def draft_json(draft: ToolDraft) -> dict[str, Any]:
    """A draft as the JSON a submitter would send: what it does not say is left out."""
    said = draft.model_dump(mode="json", include=set(_DRAFT))
    if draft.publisher:
        said["publisher"] = {"name": draft.publisher.name, "domain": draft.publisher.domain}
    return {name: value for name, value in said.items() if value not in (None, [], {})}


def patched_draft(current: ToolDraft, patch: dict[str, Any]) -> ToolDraft:
    """The draft that a merge patch makes of one; 422 with a pointer for each fault."""
    draft: ToolDraft = validate(ToolDraft, apply_merge_patch(draft_json(current), patch))
    draft_checks.require_acceptable(draft)
    return draft


def combined_proposal(row: Submission, patch: dict[str, Any]) -> dict[str, Any]:
    """What a submission proposes once its submitter changed it: a draft merges, a patch is a wish for each member."""
    before: dict[str, Any] = orjson.loads(row.proposed)
    return apply_merge_patch(before, patch) if row.type == "create" else {**before, **patch}


def draft_of(tx: Transaction, row: Submission, proposed: dict[str, Any]) -> ToolDraft:
    """The draft that a submission comes to: its own, or the tool as it is now with the patch applied; 410, 422."""
    if row.tool and row.type == "update":
        return patched_draft(catalogue_queries.require(tx, row.tool).view, proposed)
    draft: ToolDraft = validate(ToolDraft, proposed)
    draft_checks.require_acceptable(draft)
    return draft


def require_new(tx: Transaction, draft: ToolDraft, *, of: str = "") -> None:
    """Refuse with 409 `duplicate` a draft that has an exact coordinate of another tool, be it one that was removed."""
    found = catalogue_queries.duplicates(tx, draft, of=of)
    for (kind, value), key in found.items():
        tool = catalogue_queries.find(tx, key)
        if tool is not None:
            raise duplicate_conflict({"id": tool.id, "slug": tool.slug, "on": kind, "value": value})


def duplicate_conflict(existing: dict[str, Any]) -> Conflict:
    """The refusal of what is there already; `existing` leads to it."""
    return Conflict(
        "The directory has this already.", error="duplicate", members={"existing": existing}
    )


def reference_of(row: Submission) -> dict[str, Any]:
    """An open submission of the caller's own, as a refusal names it."""
    return {"submission": row.id, "status": row.status}


def record_of(
    tx: Transaction, row: Submission, draft: ToolDraft, *, proofs: Sequence[OwnershipProof]
) -> ToolRecord:
    """What is put into the catalogue: the draft, where it is from, its publisher if the submitter proved to be it."""
    ownership = tool_ownership.find_ownership(proofs, draft)
    method: EvidenceMethod = "owner" if ownership else "submission"
    moment, source = values.timestamp(values.now()), f"submission {row.id}"
    said = draft.model_dump(include=set(_DRAFT))
    if row.type == "create" or row.tool is None:
        lines = [FieldEvidence(source=source, checked_at=moment, method=method)]
        return ToolRecord.model_validate(
            {**said, "publisher": _publisher(draft, ownership, None), "evidence": lines}
        )
    current = catalogue_queries.require(tx, row.tool).view
    changed = sorted(orjson.loads(row.proposed)) or ["publisher"]
    lines = [
        *(line for line in current.evidence if line.field not in changed),
        *(
            FieldEvidence(field=name, source=source, checked_at=moment, method=method)
            for name in changed
        ),
    ]
    return ToolRecord.model_validate(
        {
            **current.record.model_dump(),
            **said,
            "publisher": _publisher(draft, ownership, current),
            "evidence": lines[-_MOST_EVIDENCE:],
        }
    )


def digest(document: bytes) -> str | None:
    """SHA-256 of a document, for the trail; None where there is none."""
    return hashlib.sha256(document).hexdigest() if document else None


def _publisher(
    draft: ToolDraft, ownership: ToolOwnership | None, current: ToolView | None
) -> ProvenPublisher | None:
    """The publisher as claimed, believed only if proven now, or before and nothing it rests on has changed."""
    claimed = draft.publisher
    if ownership:
        return ProvenPublisher(
            name=claimed.name if claimed else None,
            domain=ownership.domain,
            verified=True,
            method=ownership.method,
        )
    if claimed is None:
        return None
    before = current.publisher if current else None
    stays = current is not None and (
        (claimed.name, claimed.domain) == ((before.name, before.domain) if before else None)
        and (draft.homepage_url, draft.repository) == (current.homepage_url, current.repository)
    )
    if stays:
        return before
    return ProvenPublisher(name=claimed.name, domain=claimed.domain)
