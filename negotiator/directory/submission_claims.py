"""A submitter proves the host of a new tool by a file on it, while the submission waits (docs/contract 9.6)."""

from dataclasses import dataclass
from typing import Any

import orjson

from negotiator.base.errors import Conflict
from negotiator.directory import submissions_drafts, submissions_queries, submissions_transitions
from negotiator.directory.claim_files import ClaimFile, ClaimFiles, provable_host
from negotiator.directory.name_index import ToolNameIndex
from negotiator.directory.schemas_submissions import SubmissionId, SubmissionView
from negotiator.directory.submissions_routes import WRITE, submission_view
from negotiator.directory.tables import Submission
from negotiator.directory.tool_record import ToolDraft
from negotiator.http.operation import Call, Operation
from negotiator.store.statement import Transaction
from negotiator.store.store import Store


class SubmissionClaimRequest(ClaimFile):
    """What to publish: a JSON object with `negotiator_claims`, a list that has `value`, at `url`."""

    submission_id: str


@dataclass(frozen=True, slots=True)
class SubmissionClaims:
    """The two steps of the proof."""

    base: str
    store: Store
    files: ClaimFiles
    name_index: ToolNameIndex

    def operations(self) -> list[Operation]:
        return [
            Operation(
                name="request_submission_claim",
                method="POST",
                path="/api/v1/submissions/{id}/claim",
                summary="Say which file proves that you publish the new tool, while its submission waits",
                run=self.request,
                input=SubmissionId,
                output=SubmissionClaimRequest,
                scopes=WRITE,
                refusals=(403, 404, 409),
                tag="submissions",
            ),
            Operation(
                name="complete_submission_claim",
                method="POST",
                path="/api/v1/submissions/{id}/claim/proof",
                summary="Read that file; the tool's publisher is verified as soon as the tool is listed",
                run=self.complete,
                input=SubmissionId,
                output=SubmissionView,
                scopes=WRITE,
                refusals=(403, 404, 409, 503),
                tag="submissions",
            ),
        ]

    async def request(self, call: Call[SubmissionId]) -> dict[str, Any]:
        """The file to publish, the same for the same caller and submission."""
        row, draft = await self._open(call)
        return {"submission_id": row.id, **self.files.describe(call.caller, row.id, provable_host(draft))}

    async def complete(self, call: Call[SubmissionId]) -> dict[str, Any]:
        """403 `claim_not_proven` while the file does not have the value."""
        row, draft = await self._open(call)
        host, owner = provable_host(draft), call.caller.principal
        await self.files.require(call.caller, row.id, host)
        screening = await self.name_index.see(draft)

        def unit(tx: Transaction) -> dict[str, Any]:
            current = submissions_queries.find_own(tx, owner, row.id)
            after = submissions_transitions.prove(tx, call.caller, current, screening, host)
            return submission_view(tx, after, self.base)

        return await self.store.write(unit)

    async def _open(self, call: Call[SubmissionId]) -> tuple[Submission, ToolDraft]:
        """The caller's submission of a new tool and its draft; 404, 409 for a decided one or that of a change."""
        owner, key = call.caller.principal, call.input.id

        def unit(tx: Transaction) -> tuple[Submission, ToolDraft]:
            row = submissions_queries.find_own(tx, owner, key, expected=call.expected)
            if row.type != "create":
                raise Conflict("The tool is listed: claim the tool.", error="claim_the_tool")
            if row.status not in submissions_queries.OPEN_STATUSES:
                raise Conflict(f"The submission is {row.status}.", error="illegal_transition")
            return row, submissions_drafts.draft_of(tx, row, orjson.loads(row.proposed))

        return await self.store.read(unit)
